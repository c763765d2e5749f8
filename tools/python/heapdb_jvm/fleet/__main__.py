"""python -m heapdb_jvm.fleet: see --help. `heapdb fleet DIR` calls it."""
import sys

from ._command import main

if __name__ == "__main__":
    sys.exit(main())
