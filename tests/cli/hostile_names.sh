# Control characters in names from a dump or a file are never printed unescaped.
name=$(printf 'a\033[31m\nb.heapdb')
echo hello >"$name"
heapdb query top --db "$name" 2>&1 | cat -v
heapdb query top --db "$name" --json
heapdb query "$(printf 'x\033[2Jy')" 2>&1 | cat -v
heapdb import "$DUMP" -o s.heapdb --quiet >/dev/null
heapdb query strings --db s.heapdb --limit all | LC_ALL=C grep -c "$(printf '[\001-\010\013-\037\177]')" ||
	true
