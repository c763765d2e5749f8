# tests/support/rows.sh - runs the command lines on standard input, one per line and quoted as for a shell, and prints
# each with its exit status and error message. Standard output is dropped unless it contains the message as JSON. For
# golden cases of error messages.
while IFS= read -r row; do
	[ -n "$row" ] || continue
	rc=0
	eval "heapdb $row" >rows.out 2>rows.err </dev/null || rc=$?
	printf '$ heapdb %.200s\n' "$row"
	printf 'exit %d\n' "$rc"
	head -n 4 rows.err | cut -c 1-400
	[ $rc -eq 0 ] || grep -a '^{"schema":[0-9]*,"error"' rows.out | cut -c 1-400
done
true
