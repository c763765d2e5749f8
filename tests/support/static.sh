# support/static.sh - sets $command to the static heapdb (make static). Ends the test that sources it with 77 if it was
# not built from these sources.
# shellcheck shell=sh
command=$HDB_ROOT/build/static/heapdb
if [ ! -x "$command" ] ||
	[ -n "$(find "$HDB_ROOT/src" "$HDB_ROOT/tools" "$HDB_ROOT/include" -name '*.[ch]' -newer "$command")" ]; then
	echo "no build/static/heapdb of these sources: make static"
	exit 77
fi
