#!/bin/sh
# tests/arm64.sh - `make test-arm64`: runs the C tests and the golden cases of the command, built for aarch64, in an
# emulator. Environment: BUILD, and RUN, the emulator's command.
#
# Excluded are programs that kill others, wait for page faults or create thousands of databases: what they test does not
# depend on the processor, or cannot be shown by an emulator.
set -eu

cd "$(dirname "$0")/.."
HDB_ROOT=$PWD
BUILD=$PWD/$BUILD
DUMP=$PWD/build/sample.hprof
HEAPDB_SMALL=1
TMPDIR=$(mktemp -d)
trap 'rm -rf "$TMPDIR"' EXIT
mkdir "$TMPDIR/bin" "$TMPDIR/tmp"
# Scripts that call `heapdb` run the aarch64 command in the emulator.
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
