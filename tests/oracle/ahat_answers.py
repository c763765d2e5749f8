#!/usr/bin/env python3
"""Compares all objects of a dump with what Android's ahat says of them.

ahat_answers.py AHAT.tsv STRENGTH OBJECTS.tsv [STRENGTH OBJECTS.tsv ...] -- LOCALS CLASSES

OBJECTS.tsv is what `heapdb export objects --all --retained STRENGTH --columns id,shallow,native,reachable,dominator,
retained,retained_native[,retained_HEAP...]` printed of a dump that was imported with --sizes ahat. For every object
these must be equal: shallow and native size, whether references of that strength reach it, immediate dominator, retained
size with native memory, retained size in each heap. The differences, each of a known kind and no others:

- LOCALS objects at most have a thread as dominator here and none there: heapdb, like Eclipse MAT, hangs local variables
  on their thread, ahat makes each of them a root.
- CLASSES class objects at most are reachable here and not there, or dominated by nothing here and by a class loader
  (its list of classes) there: HotSpot's dumps do not say what holds the classes of arrays, which heapdb, like Eclipse MAT, takes for held.
- Retained sizes of what dominates one of these objects, here or there.
"""
import csv
import sys

KEPT = {"strong": ("strong",), "soft": ("strong", "soft"),
        "phantom": ("strong", "soft", "finalizer", "weak", "phantom")}


def read(path):
    with open(path, encoding="utf-8", newline="") as lines:
        return {int(row[next(iter(row))] or "0", 16): row
                for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}


class Comparison:
    def __init__(self, ahat, ours, strength):
        self.ahat, self.ours, self.strength = ahat, ours, strength
        self.locals, self.classes, self.sizes, self.failures = [], [], [], []

    def theirs(self, ix):
        return int(self.ahat[ix]["dominator_" + self.strength], 16)

    def mine(self, ix):
        return int(self.ours[ix]["dominator"] or "0", 16)

    def is_live(self, ix):
        return self.ahat[ix]["reachability"] in KEPT[self.strength]

    def is_of_loader(self, ix):
        """Whether a class loader dominates it there, itself or by its list of classes."""
        at = self.theirs(ix)
        while at and "ClassLoader" not in self.ahat[at]["class"]:
            at = self.theirs(at)
        return at != 0

    def compare_place(self, ix):
        ahat, ours = self.ahat[ix], self.ours[ix]
        is_class = ahat["class"] == "java.lang.Class"
        if int(ahat["java_size"]) != int(ours["shallow"]) or int(ahat["native_size"]) != int(ours["native"] or "0"):
            self.failures.append((ix, "size"))
        if self.is_live(ix) != (ours["reachable"] == "true"):
            (self.classes if is_class and not self.is_live(ix) else self.failures).append(ix)
        elif self.is_live(ix) and self.theirs(ix) != self.mine(ix):
            if self.theirs(ix) == 0 and "Thread" in self.ahat[self.mine(ix)]["class"]:
                self.locals.append(ix)
            elif is_class and self.mine(ix) == 0 and self.is_of_loader(ix):
                self.classes.append(ix)
            else:
                self.failures.append((ix, "dominator"))

    def above(self):
        """Returns the objects that differ and all their dominators, in heapdb or in ahat."""
        found = set()
        for ix in self.locals + self.classes:
            for step in (self.theirs, self.mine):
                at = ix
                while at and (at, step) not in found:
                    found.add((at, step))
                    at = step(at)
        return {ix for ix, _ in found}

    def compare_sizes(self, ix, excused):
        ahat, ours = self.ahat[ix], self.ours[ix]
        name = "retained_" + self.strength
        pairs = [(ahat[name], int(ours["retained"]) + int(ours["retained_native"] or "0"))]
        for column in ours:
            if column.startswith("retained_") and column != "retained_native":
                # ahat's are with native memory.
                pairs.append((ahat[name + column[len("retained"):]], int(ours[column])))
        if any(int(a) != b for a, b in pairs):
            (self.sizes if ix in excused else self.failures).append(ix)

    def run(self):
        for ix in self.ahat:
            self.compare_place(ix)
        excused = self.above()
        for ix in self.ahat:
            if self.is_live(ix):
                self.compare_sizes(ix, excused)


def main():
    at = sys.argv.index("--")
    most_locals, most_classes = (int(text) for text in sys.argv[at + 1:at + 3])
    ahat, failed = read(sys.argv[1]), 0
    for i in range(2, at, 2):
        c = Comparison(ahat, read(sys.argv[i + 1]), sys.argv[i])
        if set(c.ahat) != set(c.ours):
            print("FAILED: other objects")
            return 1
        c.run()
        print(f"{len(ahat)} objects, {c.strength}: {len(c.locals)} locals, {len(c.classes)} classes, "
              f"{len(c.sizes)} sizes of what dominates them")
        if c.failures or len(c.locals) > most_locals or len(c.classes) > most_classes:
            print(f"FAILED: {len(c.failures)} differ for another reason: {c.failures[:5]}")
            failed = 1
    return failed


sys.exit(main())
