"""Reports the leaks of a fleet to CI and people: exit codes, JUnit XML, messages to a webhook."""
import json
import os
import urllib.error
import urllib.request
from urllib.parse import urlsplit
from xml.etree import ElementTree

from .._picture import amount

# The conditions of --fail-if, as functions of a row of the report "leaks". A renamed leak also counts as new,
# because its match with an earlier leak is only a guess, and a build must not pass because of a guess.
CONDITIONS = {"new-leak": lambda leak: leak["is_new_name"], "growing": lambda leak: leak["state"] == "growing"}
_SENT = ".webhook.json"  # Spark and DuckDB ignore files whose names begin with a dot
_LINES = 20


def leaks_of(answers):
    """Returns the rows of the report "leaks" as dicts."""
    for name, columns, rows in answers:
        if name == "leaks":
            return [dict(zip(columns, row)) for row in rows]
    return []


def sentence(leak):
    """Describes a leak: "shop 2.4: new leak: ... retains 1.2 MiB per dump"."""
    was = f" (was {leak['was']})" if leak["is_new_name"] and leak["was"] else ""
    if leak["state"] == "growing":
        return (f"{leak['app']} {leak['last_build']}: growing leak: {leak['name']}{was} retains "
                f"{amount(leak['last_bytes'])} per dump, {amount(leak['first_bytes'])} in {leak['first_build']}")
    return (f"{leak['app']} {leak['last_build']}: {leak['state']} leak: {leak['name']}{was} "
            f"retains {amount(leak['last_bytes'])} per dump")


def failing(leaks, conditions):
    return [leak for leak in leaks if any(CONDITIONS[name](leak) for name in conditions)]


def junit(leaks, conditions, failures=()):
    """Returns JUnit XML with a suite per application and a test case per leak. A test case fails if the leak meets a
    condition. Dumps that could not be imported are errors; `failures` has the rows of that report as dicts.
    """
    wrong = {(leak["app"], leak["leak"]) for leak in failing(leaks, conditions)}
    top = ElementTree.Element("testsuites", name="heapdb fleet")
    bad = [row for row in failures if row["code"] != "copy"]
    for app in sorted({row["app"] for row in leaks + bad}):
        mine = [leak for leak in leaks if leak["app"] == app]
        errors = [row for row in bad if row["app"] == app]
        suite = ElementTree.SubElement(
            top, "testsuite", name=app, tests=str(len(mine) + len(errors) or 1), errors=str(len(errors)),
            failures=str(sum((app, leak["leak"]) in wrong for leak in mine)), skipped="0", time="0")
        for leak in mine:
            case = ElementTree.SubElement(suite, "testcase", classname=f"heapdb.{app}", time="0",
                                          name=_clean(leak["name"]))
            if (app, leak["leak"]) in wrong:
                ElementTree.SubElement(case, "failure", type=f"{leak['state']} leak",
                                       message=_clean(sentence(leak))).text = _clean(
                    f"{leak['name']}\nsignature {leak['leak']}\nfirst build {leak['first_build']}, "
                    f"last build {leak['last_build']}, {leak['percent']} % of the heap")
        for row in errors:
            case = ElementTree.SubElement(suite, "testcase", classname=f"heapdb.{app}", time="0",
                                          name=_clean(f"dump {row['build']}/{row['day']}/{row['dump']}"))
            ElementTree.SubElement(case, "error", type=row["code"], message=_clean(row["reason"] or ""))
    ElementTree.indent(top, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode") + "\n"


def _clean(text):
    """Removes characters that XML 1.0 does not allow: names come from dumps."""
    return "".join(c if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff"
                   else "\ufffd" for c in text)


def message(leaks):
    """Returns the message for a webhook: "text", which Slack, Mattermost and Teams show, and the leaks."""
    lines = [sentence(leak) for leak in leaks[:_LINES]]
    if len(leaks) > _LINES:
        lines.append(f"and {len(leaks) - _LINES} more")
    return {"text": "\n".join(lines), "schema": 1, "leaks": leaks}


def _read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return {tuple(key) for key in json.load(f)}
    except (FileNotFoundError, ValueError):
        return set()


def notify(folder, url, leaks):
    """Posts leaks that were not posted before and returns their number. A leak is posted once for each state and build.
    FOLDER/.webhook.json records posted leaks; if `folder` is None, nothing is recorded. Raises OSError if the post
    fails.
    """
    path = folder and os.path.join(folder, _SENT)
    sent = _read(path) if path else set()
    keys = {(leak["app"], leak["leak"], leak["state"], leak["last_build"]): leak for leak in leaks}
    fresh = [leak for key, leak in keys.items() if key not in sent]
    if not fresh:
        return 0
    try:
        request = urllib.request.Request(url, json.dumps(message(fresh)).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
    except (urllib.error.URLError, ValueError) as error:
        # The address is a secret, so the message contains only the host.
        reason = getattr(error, "reason", "no valid address")
        raise OSError(f"the webhook at {urlsplit(url).hostname or '?'}: "
                      f"{getattr(reason, 'strerror', None) or reason}") from None
    if path:
        with open(path + ".tmp", "w", encoding="utf-8") as f:
            json.dump(sorted(sent | set(keys)), f)
        os.replace(path + ".tmp", path)
    return len(fresh)
