#!/usr/bin/env python3
"""Compares the leak traces of a dump with those that LeakCanary's Shark gave.

shark_answers.py SHARK.tsv MODE TRACES.csv [APP.csv]: MODE is leaks or keyed; TRACES.csv is what
`heapdb query leak-traces [--watched] --csv` printed, APP.csv what `heapdb query app --csv` did. Both are made the
same lists of paths; what differs is printed. Deliberate differences, and where the two say the same in other words, are the tables below.
"""
import csv
import re
import sys

# What Shark says, and how heapdb says it.
WORDS = [
    (r"ObjectWatcher was watching this because ", "a watcher expects it to be collected: "),
    (r"ObjectWatcher was watching this", "a watcher expects it to be collected"),
    (r"\ba class is never leaking", "classes stay"),
    (r"A ClassLoader is never leaking", "a class loader is never leaking"),
    (r"↓ is not leaking", " below is not leaking"),
    (r"↑ is leaking", " above is leaking"),
    (r"(ActivityThread|Application|InputMethodManager) is a singleton", "there is one in each process"),
    (r"Service not held by ActivityThread", "the activity thread does not know this service"),
    (r"Service held by ActivityThread", "the activity thread knows this service"),
    (r"View.mContext references a destroyed activity", "View.mContext is of a destroyed activity"),
    (r"View detached yet still part of window view hierarchy", "detached, but still among the views of a window"),
    (r"View is part of a window view hierarchy", "among the views of a window"),
    (r"View not part of a window view hierarchy", "not among the views of a window"),
    (r"View.mAttachInfo is null \(view detached\)", "View.mAttachInfo is null"),
    (r"View.mAttachInfo is not null \(view attached\)", "View.mAttachInfo is not null"),
    (r"View attached\b", "attached to a window"),
    (r"Composition disposed", "CompositionImpl#disposed is true"),
    (r"Composition not disposed", "CompositionImpl#disposed is false"),
    (r"mOuterContext is an instance of ([\w.$]+) which extends android.app.Application",
     r"mOuterContext is the application \1"),
    (r"Recomposer is in state ", "Recomposer's state is "),
    (r"(\w+) instance of ([\w.$]+) with mDestroyed = (\w+)", r"\1: \2, mDestroyed = \3"),
    (r"^(\w+) instance of ([\w.$]+)$", r"\1: \2"),
]
# Labels that only one of them has: Shark makes the one of binders and drops it; which leak of a library a
# reference is has a column of its own here.
ONLY = re.compile(r"^(a binder stub: .*|Library leak match: .*)$")
KINDS = {"INSTANCE_FIELD": "field", "STATIC_FIELD": "static", "LOCAL": "local", "ARRAY_ENTRY": "entry"}
STATUSES = {"LEAKING": "leaking", "NOT_LEAKING": "not leaking", "UNKNOWN": "unknown"}
ROOTS = {"STICKY_CLASS": "sticky class", "JNI_GLOBAL": "JNI global", "THREAD_OBJECT": "thread object",
         "JNI_LOCAL": "JNI local", "JAVA_FRAME": "Java frame", "NATIVE_STACK": "native stack",
         "MONITOR_USED": "busy monitor", "THREAD_BLOCK": "thread block", "JNI_MONITOR": "JNI monitor"}


def translate(text):
    for pattern, words in WORDS:
        text = re.sub(pattern, words, text)
    return text


def labels(text, is_shark):
    parts = [translate(part) if is_shark else part for part in text.split("; ") if part]
    return tuple(part for part in parts if not ONLY.match(part))


def shark_reference(text):
    if not text:
        return None
    found = re.match(r"(\S+) (\S+) (.*?) ?generic=(.*) shown=(.*?)( SUSPECT)?$", text)
    kind, owner, name, generic, _, suspect = found.groups()
    kind = KINDS[kind]
    return kind, owner, "<Java Local>" if kind == "local" else name, generic, bool(suspect)


def read_shark(path, mode):
    paths, totals, unreachable = {}, {}, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if line.startswith("#") or cells[0] != mode:
                continue
            (_, leak, trace, _, signature, kind, what, name, status, reason, size, count, reference,
             said) = cells + [""] * (14 - len(cells))
            kind, _, root = kind.partition(":")
            if kind == "metadata":
                continue
            if trace == "total":
                totals[signature] = (kind, int(size), int(count))
            elif kind == "unreachable":
                unreachable.append((name, translate(reason), labels(said, True)))
            else:
                paths.setdefault((leak, trace), []).append(
                    (signature, kind, ROOTS[root] if root else "", what.lower(), name, STATUSES[status],
                     translate(reason), size, count, shark_reference(reference), labels(said, True)))
    return sorted(paths.values(), key=repr), totals, sorted(unreachable)


def read_heapdb(path):
    paths, totals, unreachable = {}, {}, []
    with open(path, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["kind"] == "unreachable":
                unreachable.append((row["class"], row["reason"], labels(row["labels"], False)))
                continue
            reference = None
            if row["reference_type"]:
                reference = (row["reference_type"], row["owner"], row["name"], row["generic"],
                             row["suspect"] == "true")
            paths.setdefault((row["leak"], row["trace"]), []).append(
                (row["signature"], row["kind"], row["root"], row["type"], row["class"], row["status"],
                 row["reason"], row["retained"], row["retained_objects"], reference,
                 labels(row["labels"], False)))
    # What a leak retains: of each path the most that a leaking object on it does.
    for path in paths.values():
        gone = [step for step in path if step[5] == "leaking"]
        kind, size, count = totals.get(path[0][0], (path[0][1], 0, 0))
        totals[path[0][0]] = (kind, size + max(int(step[7]) for step in gone),
                              count + max(int(step[8]) for step in gone))
    return sorted(paths.values(), key=repr), totals, sorted(unreachable)


METADATA = {"Build.VERSION.SDK_INT": "sdk", "Build.MANUFACTURER": "manufacturer", "LeakCanary version": "leakcanary",
            "App process name": "process", "Class count": "classes", "Instance count": "instances",
            "Primitive array count": "primitive_arrays", "Object array count": "object_arrays",
            "Thread count": "threads", "Heap total bytes": "heap_bytes", "Bitmap count": "bitmaps",
            "Bitmap total bytes": "bitmap_bytes", "Large bitmap count": "large_bitmaps",
            "Large bitmap total bytes": "large_bitmap_bytes", "Db 1": "database"}


def compare_metadata(shark_path, mode, app_path):
    with open(app_path, encoding="utf-8", newline="") as lines:
        ours = {row["key"]: row["value"] or row["number"] for row in csv.DictReader(lines)}
    failed = count = 0
    with open(shark_path, encoding="utf-8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if cells[0] != mode or cells[5] != "metadata":
                continue
            count += 1
            want = "" if cells[9] == "Unknown" else cells[9]
            if ours.get(METADATA[cells[7]]) != want:
                print(f"  {cells[7]}: Shark {cells[9]}, heapdb {ours.get(METADATA[cells[7]])}")
                failed = 1
    print(f"{count} of metadata: {'DIFFERENT' if failed else 'equal'}")
    return failed


def main():
    shark, heapdb = read_shark(sys.argv[1], sys.argv[2]), read_heapdb(sys.argv[3])
    failed = 0
    for what, theirs, ours in zip(("paths", "totals", "unreachable"), shark, heapdb):
        if theirs == ours:
            continue
        failed = 1
        if what != "paths" or len(theirs) != len(ours):
            print(f"{what}: {len(theirs)} of Shark, {len(ours)} of heapdb")
        if what != "paths":
            print("  Shark: ", theirs)
            print("  heapdb:", ours)
            continue
        for theirs_path, ours_path in zip(theirs, ours):
            for theirs_step, ours_step in zip(theirs_path, ours_path):
                if theirs_step != ours_step:
                    print("  Shark: ", theirs_step)
                    print("  heapdb:", ours_step)
    print(f"{len(shark[0])} traces, {sum(len(path) for path in shark[0])} steps, "
          f"{len(shark[1])} leaks, {len(shark[2])} unreachable: {'DIFFERENT' if failed else 'equal'}")
    if len(sys.argv) > 4:
        failed |= compare_metadata(sys.argv[1], sys.argv[2], sys.argv[4])
    return failed


sys.exit(main())
