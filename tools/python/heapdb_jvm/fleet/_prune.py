"""Retention: the rows of dumps of days that are over are removed."""
import datetime
import os
import re
import shutil

from ._listing import ListingError, local_path
from ._store import TABLES, LocalStore

_UNITS = {"d": 1, "w": 7}


def first_day(keep, today=None):
    """The first day that is kept, of "30d" or "8w": the last one is today, in UTC."""
    found = re.fullmatch(r"(\d{1,6})([dw])", keep)
    if not found or int(found[1]) == 0:
        raise ListingError(f"{keep}: not a time to keep: 30d, 8w")
    today = datetime.date.fromisoformat(today) if today else \
        datetime.datetime.now(datetime.timezone.utc).date()
    days = int(found[1]) * _UNITS[found[2]]
    return (today - datetime.timedelta(min(days - 1, (today - datetime.date.min).days))).isoformat()


def kept(entries, keep, today=None):
    """The entries of a listing whose day is kept; all if `keep` is None."""
    return [entry for entry in entries if entry.day >= first_day(keep, today)] if keep else entries


def old(folders, first):
    """Of paths TABLE/day=D those whose day is before `first`: those of dumps first, so that a dump no longer
    counts before its rows go.
    """
    names = {folder: folder.rstrip("/").split("/")[-2:] for folder in folders}
    found = [folder for folder, name in names.items() if name[1] < f"day={first}"]
    return sorted(found, key=lambda folder: (names[folder][0] != "dumps", folder))


def prune(folder, keep, *, today=None, dry_run=False):
    """Removes the rows of all dumps whose day is before the last days, "30d", of the tables in a local
    folder: the days that went, or would. The dumps themselves are not touched.
    """
    root = local_path(folder)
    if root is None:
        raise ListingError(f"{folder}: only heapdb_jvm.spark removes what is not local")
    store = LocalStore(os.path.abspath(root))
    if not any(os.path.isdir(os.path.join(store.root, table)) for table in TABLES):
        raise FileNotFoundError(f"{store.root}: no tables of a fleet: no folder dumps")
    first = first_day(keep, today)
    with store.lock():
        found = old({os.path.dirname(file) for file in store.files("*")}, first)
        for one in found if not dry_run else ():
            shutil.rmtree(one)
            try:
                os.rmdir(os.path.dirname(one))
            except OSError:
                pass  # it has other days
    return days_of(found)


def days_of(folders):
    """The days of folders, each once."""
    return sorted({folder.rstrip("/").rsplit("day=", 1)[1] for folder in folders})
