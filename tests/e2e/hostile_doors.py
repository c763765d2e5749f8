"""Asks heapdb questions with damaged files; see hostile_doors_test.sh."""
import os
import random
import re
import subprocess

import jfr_make
from checks import end, want

VARIANTS = 40
SECONDS = 20  # of processor time: a limit for hangs and not for slow machines
ROOT = os.environ["HDB_ROOT"]
HAS_GATE = "built without" not in subprocess.run(["heapdb", "help", "gate"], capture_output=True, text=True).stderr


def run(arguments):
    def limit():
        import resource
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    done = subprocess.run(["heapdb", *arguments], capture_output=True, preexec_fn=limit)
    return done.returncode, done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")


def check(what, arguments, data, pattern=None):
    """A file is read, or refused in one line that names it and matches the pattern."""
    with open("in", "wb") as f:
        f.write(data)
    code, text = run(arguments)
    kept = os.path.join(os.environ["TMPDIR"], "in")
    if code not in (0, 1, 2, 3) or "Sanitizer" in text or "runtime error" in text:
        want("%s: exit code of %s, %r: %s" % (what, kept, data[:200], text[-2000:]), code, "0 to 3")
    if code > 1:
        want("%s: a message that names the file: %r" % (what, text), "in" in re.split(r"[\s:,\"]", text), True)
    if pattern:
        want("%s: %s in %r" % (what, pattern, text), bool(re.search(pattern, text)), True)


def damaged(data, seed):
    """A cut, flipped bits, or a piece of the file elsewhere."""
    r = random.Random(seed)
    at = r.randrange(len(data))
    if seed % 4 == 0:
        return data[:at]
    if seed % 4 == 1:
        other = r.randrange(len(data))
        return data[:at] + data[other:other + r.randrange(1, 64)] + data[at:]
    out = bytearray(data)
    for _ in range(r.choice((1, 1, 8))):
        out[r.randrange(len(out))] ^= 1 << r.randrange(8)
    return bytes(out)


def damage(what, arguments, data):
    check(what, arguments, data)
    for seed in range(VARIANTS):
        check("%s, variant %d" % (what, seed), arguments, damaged(data, seed))


def gate():
    budget = b"""margin: 10 %
checks:
  strings: { objects: java.lang.String <= 100000 }
  heap:
    shallow: "* <= 50 MB"
  leaks: { leaks: none }
"""
    ask = ["gate", "s.heapdb", "--quiet", "--budget", "in"]
    damage("budget", ask, budget)
    levels = ["a0: &a0 [x]"] + ["a%d: &a%d [%s]" % (i, i, ",".join(["*a%d" % (i - 1)] * 9)) for i in range(1, 12)]
    for what, text, pattern in (
            ("billion laughs", "\n".join(levels) + "\nchecks: *a11\n", r"in:1:1: expected checks or margin"),
            ("laughs as checks", "checks:\n  " + "\n  ".join(levels), r"in:2:\d+: expected"),
            ("an alias of itself", "checks: &a\n  b: *a\n", r"in:\d+:\d+: "),
            ("an unknown alias", "checks: *none\n", r"in:1:9: .*alias"),
            ("depth", "checks: " + "[" * 100000, r"in:1:\d+: maps and lists are nested too deeply"),
            ("depth of maps", "checks: " + "{a: " * 100000, r"in:1:\d+: maps and lists are nested too deeply"),
            ("depth of lists in lines", "- " * 100000, r"in:1:\d+: maps and lists are nested too deeply"),
            ("depth of keys", "? " * 100000, r"in:1:\d+: maps and lists are nested too deeply"),
            ("a huge number", "checks: { a: { objects: x <= 1%s } }" % ("0" * 400), r"in:1:\d+: expected TARGET <= NUMBER"),
            ("not a number", "checks: { a: { objects: x <= nan } }", r"in:1:\d+: expected TARGET <= NUMBER"),
            ("a negative number", "checks: { a: { objects: x <= -1 } }", r"in:1:\d+: expected TARGET <= NUMBER"),
            ("one name twice", "checks:\n  a: { leaks: none }\n  a: { leaks: none }\n", r"in:3:3: two checks"),
            ("checks twice", "checks:\n  a: { leaks: none }\nchecks:\n  b: { leaks: none }\n", r"in:4:3: expected a single list"),
            ("a zero byte", "checks:\0\n", r"in:\d+:\d+: "),
            ("a zero in a string", 'checks: { a: { objects: "x\\0y <= 1" } }', r"in:1:\d+: |: x"),
            ("a list", "- a\n- b\n", r"in:1:1: expected \"checks:\""),
            ("a list of checks", "checks: [a, b]\n", r"in:1:9: expected names of checks"),
            ("a number as check", "checks: { a: 7 }\n", r"in:1:14: expected a measure"),
            ("a map as limit", "checks: { a: { leaks: { b: c } } }\n", r"in:1:23: expected none"),
            ("nothing", "", r"in:1:1: expected"),
            ("two documents", "checks: { a: { leaks: none } }\n---\nchecks: 1\n", None),
            ("UTF-16", "\ufeffchecks: { a: { leaks: none } }\n", None),
            ("control characters", "checks: { \x1b[31m: 1 }", r"in:1:\d+: ")):
        check(what, ask, text.encode("utf-16" if what == "UTF-16" else "utf-8"), pattern)
    with open("budget", "w") as f:
        f.write("checks: { a: { new-fingerprints: none } }\n")
    with open("s.heapdb", "rb") as f:
        database = f.read()
    damage("baseline", ["gate", "s.heapdb", "--quiet", "--budget", "budget", "--baseline", "in"], database)


def others():
    series = subprocess.run(["python3", ROOT + "/tests/e2e/growth_make.py", "leak"], capture_output=True).stdout
    damage("series", ["growth", "in"], series)
    damage("series, points", ["growth", "--points", "--json", "in"], series)
    damage("recording", ["jfr", "in", "--json"], bytes(jfr_make.sample(40).data()))
    with open(ROOT + "/src/queries/explain/rules/" + min(
            name for name in os.listdir(ROOT + "/src/queries/explain/rules") if name.endswith(".rules")), "rb") as f:
        rules = f.read()[:6000]
    ask = ["explain", "--db", "s.heapdb", "--rules", "in", "--quiet"]
    damage("rules", ask, rules.replace(b"class   ", b"class   java.lang.String, "))
    for what, text in (("depth", "rule a\nclass java.lang.String\nwhere " + "(" * 100000),
                       ("a long line", "rule " + "a" * 1000000),
                       ("a zero byte", "rule a\0b\nclass x\n"),
                       ("a huge number", "rule a\nclass java.lang.String\nwhere 1" + "0" * 400 + " > 2\nsays x\n"),
                       ("many rules", "rule a\nclass java.lang.String\nsays x\n" * 20000),
                       ("continued lines", "rule a\nclass java.lang.String\nsays x" + "\n  y" * 50000)):
        check("rules: " + what, ask, text.encode())


if HAS_GATE:
    gate()
others()
end()
