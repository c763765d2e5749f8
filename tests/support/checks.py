"""checks.py - shared by tests in Python: checks that print and count differences, and the end of a test."""
import sys
import traceback

failed = 0


def check(what, good):
    global failed
    if not good:
        print("FAILED:", what, flush=True)
        failed += 1


def want(what, have, expected):
    check(f"{what}: {have!r}, not {expected!r}", have == expected)


def end(bad=False):
    """Exits with 1 if a check failed, if `bad`, or if an exception ended the checks before (`finally: end()`)."""
    if sys.exc_info()[0]:
        traceback.print_exc()
        bad = True
    sys.exit(1 if failed or bad else 0)
