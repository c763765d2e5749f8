#!/usr/bin/env python3
"""Compares all objects of a dump with what Android's ahat says of them.

ahat_answers.py AHAT.tsv OBJECTS.tsv [LOCALS]: OBJECTS.tsv is what `heapdb export objects --all --columns
id,shallow,native,retained,dominator` printed. Shallow and native sizes must be equal for every object. With LOCALS
dominators and retained sizes (those of ahat's phantom columns: every reference counts) are compared, too: they
may differ where heapdb hangs a local variable on its thread, which ahat makes a root, and for LOCALS objects at most.
"""
import csv
import sys


def read(path):
    with open(path, encoding="utf-8", newline="") as lines:
        return {int(row[next(iter(row))] or "0", 16): row
                for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}


def native_below(ahat):
    """What each object retains of native memory, by ahat's own dominators."""
    below = {ix: int(row["native_size"]) for ix, row in ahat.items()}
    children = {}
    for ix, row in ahat.items():
        if row["reachability"] != "unreachable":
            children.setdefault(int(row["dominator_phantom"], 16), []).append(ix)
    order, stack = [], list(children.get(0, []))
    while stack:
        order.append(stack.pop())
        stack.extend(children.get(order[-1], []))
    for ix in reversed(order):
        above = int(ahat[ix]["dominator_phantom"], 16)
        if above:
            below[above] += below[ix]
    return below


def main():
    ahat, ours = read(sys.argv[1]), read(sys.argv[2])
    most = int(sys.argv[3]) if len(sys.argv) > 3 else None
    failed = 0
    if set(ahat) != set(ours):
        print(f"FAILED: other objects: {len(set(ahat) - set(ours))} missing, {len(set(ours) - set(ahat))} more")
        return 1
    for name, column in (("shallow", "java_size"), ("native", "native_size")):
        wrong = [ix for ix, row in ahat.items() if int(row[column]) != int(ours[ix][name] or "0")]
        if wrong:
            print(f"FAILED: {name} size of {len(wrong)} objects, the first 0x{wrong[0]:x}: {ahat[wrong[0]]}, "
                  f"{ours[wrong[0]]}")
            failed = 1
    if most is not None:
        below = native_below(ahat)
        live = [ix for ix, row in ahat.items() if row["reachability"] != "unreachable"]
        dominators = [ix for ix in live
                      if int(ahat[ix]["dominator_phantom"], 16) != int(ours[ix]["dominator"] or "0", 16)]
        sizes = [ix for ix in live if int(ahat[ix]["retained_phantom"]) - below[ix] != int(ours[ix]["retained"])]
        print(f"{len(ahat)} objects: dominators of {len(dominators)} differ, retained sizes of {len(sizes)}")
        # What hangs on a thread here, and the threads themselves.
        others = [ix for ix in dominators if int(ahat[ix]["dominator_phantom"], 16) != 0]
        others += [ix for ix in sizes if "Thread" not in ahat[ix]["class"] and ix not in dominators]
        if others or len(dominators) > most:
            print(f"FAILED: {len(others)} differ for another reason: {[hex(ix) for ix in others[:5]]}")
            failed = 1
    return failed


sys.exit(main())
