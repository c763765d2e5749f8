# tests/support/rows.sh - runs the command lines on standard input, one a line, quoted as for a
# shell, and prints each with its exit code and its error message; what it writes to standard output
# is dropped unless the message is there, as JSON. For golden cases of error messages.
while IFS= read -r row; do
	[ -n "$row" ] || continue
	rc=0
	eval "heapdb $row" >rows.out 2>rows.err </dev/null || rc=$?
	echo "\$ heapdb $row" | cut -c 1-200
	echo "exit $rc"
	head -n 4 rows.err | cut -c 1-400
	if [ $rc -ne 0 ] && [ ! -s rows.err ]; then
		grep -A 2 '"error"' rows.out | cut -c 1-400
	fi
done
