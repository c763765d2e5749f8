# Completion of heapdb for bash. Names come from `heapdb help --names`: kind, owner, name,
# argument, help and of options of queries the type, separated by tabs.

_heapdb_names()
{
	"$1" help --names 2>/dev/null | awk -F '\t' -v kind="$2" -v owner="$3" \
		'$1 == kind && $2 == owner { print $3 }'
}

# The options of the command $2, and of the query $3, but those that it does not take.
_heapdb_options()
{
	"$1" help --names 2>/dev/null | awk -F '\t' -v command="$2" -v query="query $3" '
		$1 == "untaken" && $2 == query { untaken[$3] = 1 }
		$1 == "option" && ($2 == command || $2 == query) { names[++n] = $3 }
		END { for (i = 1; i <= n; i++) if (!(names[i] in untaken)) print names[i] }'
}

# What the option $2 of the owner $3 takes: "a|b|c", "FILE", nothing.
_heapdb_argument()
{
	"$1" help --names 2>/dev/null | awk -F '\t' -v name="$2" -v owner="$3" \
		'$1 == "option" && $2 == owner && $3 == name { print ($6 ~ /^(choice|flag)?$/ ? $4 : "TEXT"); exit }'
}

_heapdb()
{
	local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=
	local command=${COMP_WORDS[1]} query owner argument i

	COMPREPLY=()
	query=
	if [ "$COMP_CWORD" -le 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_heapdb_names "$program" command -)
			$(_heapdb_names "$program" query query)" -- "$current")
		[ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
	fi
	# The name of a query is a command.
	if _heapdb_names "$program" query query | grep -qxF -e "$command"; then
		query=$command
		command=query
	fi
	previous=${COMP_WORDS[COMP_CWORD - 1]}
	case $command in
	query | export)
		for ((i = 2; i < COMP_CWORD && ${#query} == 0; i++)); do
			if _heapdb_names "$program" command "$command" | grep -qxF -e "${COMP_WORDS[i]}"; then
				command="$command ${COMP_WORDS[i]}"
				break
			fi
			if _heapdb_names "$program" query query | grep -qxF -e "${COMP_WORDS[i]}" ||
				[ "${COMP_WORDS[i]}" = objects ]; then
				query=${COMP_WORDS[i]}
				break
			fi
		done
		;;
	info | check | diff)
		query=$command
		;;
	esac

	for owner in "$command" "query $query"; do
		case $previous in
		--*) argument=$(_heapdb_argument "$program" "$previous" "$owner") ;;
		-o) argument=FILE ;;
		*) argument= ;;
		esac
		case $argument in
		'') ;;
		FILE | PATH)
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
			return
			;;
		*'|'*)
			mapfile -t COMPREPLY < <(compgen -W "${argument//|/ }" -- "$current")
			return
			;;
		*)
			return
			;;
		esac
	done

	case $current in
	-*)
		mapfile -t COMPREPLY < <(compgen -W "$(_heapdb_options "$program" "$command" "$query")" -- "$current")
		return
		;;
	esac
	case $command in
	import | report | diff | convert | strip | redact | sql)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		;;
	capture)
		mapfile -t COMPREPLY < <(compgen -W "$("$program" capture --csv --columns pid 2>/dev/null |
			tail -n +2)" -- "$current")
		;;
	notes)
		if [ "$COMP_CWORD" -eq 2 ]; then
			mapfile -t COMPREPLY < <(compgen -W 'list add remove' -- "$current")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
		fi
		;;
	mcp | fleet)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		;;
	query)
		if [ -n "$query" ]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
		else
			mapfile -t COMPREPLY < <(compgen -W "$(_heapdb_names "$program" query query)" -- "$current")
		fi
		;;
	info | check | serve)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		;;
	export)
		[ -n "$query" ] || mapfile -t COMPREPLY < <(compgen -W "objects refs classes
			$(_heapdb_names "$program" command export) $(_heapdb_names "$program" query query)" -- "$current")
		;;
	help)
		if [ "$COMP_CWORD" -eq 2 ]; then
			mapfile -t COMPREPLY < <(compgen -W "$(_heapdb_names "$program" command -)
				$(_heapdb_names "$program" query query)" -- "$current")
		elif [ "$previous" = query ]; then
			mapfile -t COMPREPLY < <(compgen -W "$(_heapdb_names "$program" query query)" -- "$current")
		fi
		;;
	esac
}

complete -o filenames -F _heapdb heapdb
