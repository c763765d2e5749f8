"""Prints the biggest leak suspect of a dump and its path to a GC root: find_leak.py DUMP."""
import sys

import heapdb_jvm

with heapdb_jvm.open(sys.argv[1]) as db:
    suspect = db.leaks(brief=True).first()
    print(suspect.text)
    for step in db.object(suspect.id).path_to_root():
        print(f"  {step.label}  {step.via_field or step.root or ''}")
    print(db.dominators(suspect.id, limit=5))
