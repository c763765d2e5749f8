"""Retention: removes the rows of dumps from past days."""
import datetime
import os
import re
import shutil

from ._listing import ListingError, local_path
from ._store import TABLES, LocalStore

_UNITS = {"d": 1, "w": 7}


def first_day(keep, today=None):
    """Returns the first day to keep for "30d" or "8w"; the last day is today, in UTC."""
    found = re.fullmatch(r"(\d{1,6})([dw])", keep)
    if not found or int(found[1]) == 0:
        raise ListingError(f"{keep}: expected a time such as 30d or 8w")
    today = datetime.date.fromisoformat(today) if today else \
        datetime.datetime.now(datetime.timezone.utc).date()
    days = int(found[1]) * _UNITS[found[2]]
    return (today - datetime.timedelta(min(days - 1, (today - datetime.date.min).days))).isoformat()


def kept(entries, keep, today=None):
    """Returns the entries of a listing whose day is kept; all of them if `keep` is None."""
    return [entry for entry in entries if entry.day >= first_day(keep, today)] if keep else entries


def old(folders, first):
    """Returns those paths TABLE/day=D whose day is before `first`. The table dumps comes first, so that a dump no
    longer counts before its rows are removed."""
    names = {folder: folder.rstrip("/").split("/")[-2:] for folder in folders}
    found = [folder for folder, name in names.items() if name[1] < f"day={first}"]
    return sorted(found, key=lambda folder: (names[folder][0] != "dumps", folder))


def prune(folder, keep, *, today=None, dry_run=False):
    """Removes the rows of all dumps that are older than, for example, "30d" from the tables in a local directory.
    Returns the days that were or would be removed. The dumps themselves are not touched."""
    root = local_path(folder)
    if root is None:
        raise ListingError(f"{folder}: not a local directory: use heapdb_jvm.spark")
    store = LocalStore(os.path.abspath(root))
    if not any(os.path.isdir(os.path.join(store.root, table)) for table in TABLES):
        raise FileNotFoundError(f"{store.root}: not a fleet: it has no tables")
    first = first_day(keep, today)
    with store.lock():
        found = old({os.path.dirname(file) for file in store.files("*")}, first)
        for one in found if not dry_run else ():
            shutil.rmtree(one)
            try:
                os.rmdir(os.path.dirname(one))
            except OSError:
                pass  # the table has other days
    return days_of(found)


def days_of(folders):
    """Returns the days of directories, without duplicates."""
    return sorted({folder.rstrip("/").rsplit("day=", 1)[1] for folder in folders})
