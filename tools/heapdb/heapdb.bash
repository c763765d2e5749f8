# Completion of heapdb for bash. `heapdb --complete WORD...` says what may stand at the end of the
# line: a word and what it is, separated by a tab, or what the shell lists itself.

_heapdb()
{
	local program=${COMP_WORDS[0]} current line
	local words=("${COMP_WORDS[@]:1:COMP_CWORD}") found=()

	words=("${words[@]//\\/}")
	current=${words[${#words[@]} - 1]}
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) mapfile -t found < <(compgen -f -X '*.heapdb-lock' -- "$current") ;;
		:folders) mapfile -t found < <(compgen -d -- "$current") ;;
		:processes)
			mapfile -t found < <(compgen -W "$("$program" capture --csv --columns pid 2>/dev/null |
				tail -n +2)" -- "$current")
			;;
		*) found=("${line%%$'\t'*}") ;;
		esac
		COMPREPLY+=("${found[@]}")
	done < <("$program" --complete "${words[@]}" 2>/dev/null)
}

complete -o filenames -F _heapdb heapdb
