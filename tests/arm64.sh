#!/bin/sh
# tests/arm64.sh - `make test-arm64`: the C tests and the golden cases of the command, built for
# aarch64, under an emulator. From the caller: BUILD, and RUN, the emulator's command.
#
# Left out: programs that kill others, wait for faults of pages or make thousands of databases. What
# they look for does not depend on the processor, or is not what an emulator shows.
set -eu

cd "$(dirname "$0")/.."
HDB_ROOT=$PWD
BUILD=$PWD/$BUILD
DUMP=$PWD/build/sample.hprof
HEAPDB_SMALL=1
TMPDIR=$(mktemp -d)
trap 'rm -rf "$TMPDIR"' EXIT
mkdir "$TMPDIR/bin" "$TMPDIR/tmp"
# What scripts call `heapdb` is the emulator on the command for aarch64.
printf '#!/bin/sh\nexec %s %s/heapdb "$@"\n' "$RUN" "$BUILD" >"$TMPDIR/bin/heapdb"
chmod +x "$TMPDIR/bin/heapdb"
work=$TMPDIR
TMPDIR=$work/tmp
export HDB_ROOT BUILD DUMP HEAPDB_SMALL TMPDIR
skip="store_flips import_damage import_faults cli_faults store_crash base_truncated cli_truncated derive_company"
skip=" $skip import_growth query_growth base_sigbus derive_local "

passed=0
failed=0
tell()
{
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok   $2"
	else
		failed=$((failed + 1))
		echo "FAIL $2 (exit $1)"
		tail -n 40 "$work/log"
	fi
}
for test in "$BUILD"/tests/*_test; do
	name=$(basename "$test" _test)
	case $skip in *" $name "*) continue ;; esac
	rc=0
	timeout 1200 "$RUN" "$test" >"$work/log" 2>&1 </dev/null || rc=$?
	tell $rc "$name"
done
PATH=$work/bin:$PATH
export PATH
for case in tests/cli/*.sh; do
	# these need the processor's own pages, or a terminal's timing
	case $case in */output_fails.sh | */terminal.sh) continue ;; esac
	rc=0
	BUILD=$work/bin timeout 1200 sh tests/run_cli.sh "$case" >"$work/log" 2>&1 </dev/null || rc=$?
	tell $rc "$case"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
