#!/bin/sh
# tests/run.sh: which tests T selects, and the output if some tests are skipped or none is selected.
set -eu
cd "$TMPDIR"
mkdir -p tests/some build
cp "$HDB_ROOT/tests/run.sh" tests/
echo 'exit 0' > tests/some/good_test.sh
echo 'echo no moon tonight; exit 77' > tests/some/moon_test.sh
echo 'exit 1' > tests/some/bad_test.sh
printf '# Slow: it waits.\nexit 0\n' > tests/some/snail_test.sh

failed=0
# run T EXIT LINE...: the exit status of a run with T, and lines of its output.
run() {
	rc=0
	T=$1 BUILD=build LIMIT=30 DUMP=none sh tests/run.sh > said 2>&1 || rc=$?
	[ $rc -eq "$2" ] || { echo "T=$1: exit $rc instead of $2"; cat said; failed=1; }
	name=$1
	shift 2
	for line; do
		grep -qx "$line" said || { echo "T=$name: no line \"$line\""; cat said; failed=1; }
	done
}
run good 0 "1 passed, 0 failed"
run moon 0 "skipped moon_test: no moon tonight" "1 skipped" "0 passed, 0 failed"
run bad 1 "0 passed, 1 failed"
run nothing 1 "no test is called nothing"
run _test 1 "1 skipped" "2 passed, 1 failed"
SET=quick
export SET
run '' 1 "1 skipped" "1 passed, 1 failed"
run snail 0 "1 passed, 0 failed"
SET=slow
run '' 0 "1 passed, 0 failed"
exit $failed
