#!/bin/sh
# mutants_test.sh - each mutant of tests/mutants/mutants.txt still applies: its line is in its file, once.
set -eu
# In the tree that has the mutant, its line is not there.
[ -z "${IS_MUTANT:-}" ] || {
	echo "the sources have a mutant"
	exit 77
}
command -v python3 >/dev/null || {
	echo "python3 is not installed"
	exit 77
}
python3 tests/mutants/mutants.py --check
