"""checks.py - what tests in Python share: checks that print what differs and count it, and the end of a test."""
import sys

failed = 0


def check(what, good):
    global failed
    if not good:
        print("FAILED:", what, flush=True)
        failed += 1


def want(what, have, expected):
    check(f"{what}: {have!r}, not {expected!r}", have == expected)


def end(bad=False):
    """Exits with 1 if a check failed, or if `bad`."""
    sys.exit(1 if failed or bad else 0)
