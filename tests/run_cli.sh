#!/bin/sh
# tests/run_cli.sh - golden cases of the command: tests/cli/NAME.sh and its expected output.
#
# A case runs with `sh -u`, with build/heapdb first on PATH, in an empty temporary directory, and with DUMP set to the
# sample dump. Its standard output must equal NAME.stdout (if missing: must be empty), its standard error NAME.stderr
# (if missing: not compared), and its exit status NAME.exit (if missing: 0). Before the comparison, the current
# directory is replaced by @CWD@ and the dump's path by @DUMP@. A case that exits with 77 cannot run here, and prints
# the reason to standard error.
#
#   run_cli.sh CASE.sh      checks one case, shows a diff; `make test` does this
#   run_cli.sh --write      rewrites what all cases expect (with T: those whose name contains it)
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
case $DUMP in /*) ;; *) DUMP=$root/$DUMP ;; esac
PATH=$BUILD:$BUILD/examples:$PATH
LC_ALL=C.UTF-8
COLUMNS=80
HDB_ROOT=$root
PAGER="cat"
export BUILD DUMP PATH LC_ALL COLUMNS HDB_ROOT PAGER
unset HEAPDB || true

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# Runs the case $1. Writes stdout, stderr and exit to $tmp.
run_case()
{
	rm -rf "$tmp/cwd"
	mkdir "$tmp/cwd"
	rc=0
	(cd "$tmp/cwd" && timeout -k 5 "${LIMIT:-300}" sh -u "$root/$1") \
		>"$tmp/raw.stdout" 2>"$tmp/raw.stderr" </dev/null || rc=$?
	echo "$rc" >"$tmp/exit"
	for stream in stdout stderr; do
		sed -e "s|$tmp/cwd|@CWD@|g" -e "s|$DUMP|@DUMP@|g" -e "s|$root/||g" \
			<"$tmp/raw.$stream" >"$tmp/$stream"
	done
}

if [ "${1:-}" = --write ]; then
	for script in tests/cli/*.sh; do
		case $(basename "$script" .sh) in *"${T:-}"*) ;; *) continue ;; esac
		[ -f "$script" ] || continue
		base=${script%.sh}
		run_case "$script"
		if [ "$(cat "$tmp/exit")" = 77 ]; then
			echo "left $base: $(tail -n 1 "$tmp/stderr")"
			continue
		fi
		rm -f "$base.stdout" "$base.stderr" "$base.exit"
		[ -s "$tmp/stdout" ] && cp "$tmp/stdout" "$base.stdout"
		[ -s "$tmp/stderr" ] && cp "$tmp/stderr" "$base.stderr"
		[ "$(cat "$tmp/exit")" = 0 ] || cp "$tmp/exit" "$base.exit"
		echo "wrote $base (exit $(cat "$tmp/exit"))"
	done
	exit 0
fi

script=$1
base=${script%.sh}
run_case "$script"
if [ "$(cat "$tmp/exit")" = 77 ]; then
	cat "$tmp/stderr"
	exit 77
fi
bad=0
[ -f "$base.stdout" ] && expected=$base.stdout || expected=/dev/null
diff -u --label expected --label actual "$expected" "$tmp/stdout" || bad=1
if [ -f "$base.stderr" ]; then
	diff -u --label expected.stderr --label actual.stderr "$base.stderr" "$tmp/stderr" || bad=1
elif [ $bad -ne 0 ]; then
	cat "$tmp/stderr"
fi
want=0
[ -f "$base.exit" ] && want=$(cat "$base.exit")
if [ "$(cat "$tmp/exit")" != "$want" ]; then
	echo "exit code $(cat "$tmp/exit"), expected $want"
	cat "$tmp/stderr"
	bad=1
fi
exit $bad
