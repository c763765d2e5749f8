#!/bin/sh
# bench/analyses.sh - runs every query on one or more dumps with derived tables built, and prints its time and memory.
#
#   analyses.sh [--max N] [--only PATTERN] [--limit SECONDS] [--runs N] [--save] [--keep] [FILE...]
#
# FILE is a dump, or a heap database with its dump. Default: the heap of bench/java's orders (needs JDK 17). --only runs
# queries whose text matches (grep -E). --limit is the maximum time in seconds (default 5). --runs is the number of runs
# of each query (default 1). BENCH_OPTIONS is passed to all commands.
# Exit status: 0 all within the limit, 1 a query was too slow or failed.
set -eu

# shellcheck source=bench/common.sh
. "$(dirname "$0")/common.sh"

only=.
limit=5
runs=1
while [ $# -gt 0 ]; do
	case $1 in
	--max)
		BENCH_MAX=${2:?}
		shift
		;;
	--only)
		only=${2:?}
		shift
		;;
	--limit)
		limit=${2:?}
		shift
		;;
	--runs)
		runs=${2:?}
		shift
		;;
	--save) save=yes ;;
	--keep) keep=yes ;;
	-*) die "usage: analyses.sh [--max N] [--only PATTERN] [--limit SECONDS] [--runs N]" \
		"[--save] [--keep] [FILE...]" ;;
	*) break ;;
	esac
	shift
done
prepare
bad=0

# The queries, one per line. choose selects the objects and classes.
questions()
{
	cat <<-END
		info
		check
		query retained $biggest
		query retained $class
		query retained $class --lower-bound
		query retained $class --exclude java.util.HashMap\$Node:value
		query retained $biggest --exclude java.util.HashMap\$Node:value
		query histogram
		query histogram --by package
		query histogram --shallow
		query dominators
		query dominators $biggest
		query top
		query path $member
		query path $member --all 5
		query object $biggest
		query object $member
		query references $biggest
		query referrers $member
		query referrers $class_id
		query class *
		query class $class
		query layout $class
		query roots
		query threads
		query strings
		query strings --by prefix
		query strings --by length
		query strings --by encoding
		query strings --match a.*z
		query strings --objects
		query leaks
		query triage
		query duplicates
		query duplicates --arrays
		query duplicates --no-holders
		query arrays --empty
		query arrays --zero
		query arrays --constant
		query arrays --trailing-zeros
		query substrings
		query reference-stats
		query reference-leaks
		query finalizers
		query entries $map
		query collections
		query collections --by fill
		query collections --by collisions
		query collections --by object
		query collections --arrays
		query group-by-value $class
		query group-by-value java.lang.String
		query group-by-value java.util.HashMap\$Node --by field:hash
		query group-by-value java.util.HashMap\$Node --by field:key
		query properties
		query unreachable
		query unreachable --by holder
		query unreachable --holders
		query sizes
		query problems
		query dangling
		query tables
		query records
		query dominator-tree
		query dominator-tree --by package
		query immediate-dominators $class
		query immediate-dominators $class --exclude java.*
		query big-drops
		query merged-paths $class
		query merged-paths $class --exclude none
		query merged-paths $class --exclude java.util.HashMap\$Node:value
		query merged-paths $class --exclude java.util.HashMap\$Node:key
		query top-consumers
		query top-consumers $class
		query loaders
		query loaders --classes
		query duplicate-classes
		query alloc-sites
		query cpu-samples
		query heap-summaries
		diff $db $db
		diff $db $db --by package
		diff $db $db --by object
		diff $db $db --by path
		diff $db $db --by dominator
		diff $db $db --by suspect
		report
		report --json
		export objects
		export objects --columns id,class,shallow,retained,dominator
		export strings
	END
}

# cell FILE ROW COLUMN: a cell of a CSV answer. Row 1 is the heading.
cell()
{
	sed -n "$2p" "$1" | cut -d , -f "$3"
}

# ask_csv QUERY...: writes an answer to $tmp/csv, for choose.
ask_csv()
{
	# shellcheck disable=SC2086
	"$heapdb" query "$@" --db "$db" --csv --quiet $BENCH_OPTIONS >"$tmp/csv" || true
}

# Chooses arguments of queries: the biggest object, the class with most instances, one of these, a map.
choose()
{
	ask_csv top --limit 1 --columns id
	biggest=$(cell "$tmp/csv" 2 1)
	ask_csv histogram --shallow --sort objects --columns name,id
	grep -v '\[\]' "$tmp/csv" >"$tmp/classes"
	class=$(cell "$tmp/classes" 2 1)
	class_id=$(cell "$tmp/classes" 2 2)
	ask_csv group "$class" --limit 1 --columns id
	member=$(cell "$tmp/csv" 2 1)
	ask_csv collections 'java.util.HashMap' --by object --limit 1 --columns id
	map=$(cell "$tmp/csv" 2 1)
	if [ -z "$member" ] || [ -z "$class_id" ]; then
		die "$db: nothing to ask about"
	fi
	map=${map:-$biggest}
}

# Builds the derived tables, including those of both reach trees.
build_tables()
{
	for query in "top" "referrers $biggest" "paths $class" "paths $class --exclude none"; do
		# shellcheck disable=SC2086
		"$heapdb" query $query --db "$db" --limit 1 --quiet $BENCH_OPTIONS >/dev/null ||
			die "$db: $query failed"
	done
}

ask()
{
	question=$1
	given="--db $db"
	case $question in diff*) given= ;; esac
	rc=0
	set -f
	# shellcheck disable=SC2086
	"$peak" -n "$runs" -o "$tmp/ask" "$heapdb" $question $given --quiet $BENCH_OPTIONS \
		>/dev/null 2>"$tmp/ask.err" || rc=$?
	set +f
	if [ $rc -gt 1 ]; then
		say "exit $rc: $question: $(tail -n 1 "$tmp/ask.err")"
		bad=1
		return
	fi
	wall=$(figure ask 1)
	over=
	if [ "$(calc "$wall > $limit" %d)" = 1 ]; then
		over=yes
		bad=1
	fi
	printf '%s\t' "$(echo "$question" | sed "s|$db|DB|g")" "$(calc "$wall")" \
		"$(calc "$(figure ask 2) + $(figure ask 3)")" "$(calc "$wall * 1e9 / $objects" %.1f)" \
		"$(calc "$(figure ask 4) / 1024" %.0f)" "$(calc "$(figure ask 5) / 1024" %.0f)" \
		>>"$tmp/rows"
	echo "$over" >>"$tmp/rows"
}

# analyse NAME: runs all queries on $db.
analyse()
{
	say "asking about $1"
	"$heapdb" info --db "$db" --json --quiet >"$tmp/info"
	objects=$("$heapdb" query histogram --shallow --db "$db" --json --quiet --limit 1 |
		sed -n 's/.*"objects":\([0-9]*\).*/\1/p' | head -n 1)
	choose
	build_tables
	dump=$(sed -n 's/.*"section":"dump","key":"path","value":"\([^"]*\)".*/\1/p' "$tmp/info")
	warm "$db"
	[ ! -r "$dump" ] || warm "$dump"
	printf '%s\t' question 'wall s' 'CPU s' 'ns/object' 'peak RSS MB' 'peak anon MB' >"$tmp/rows"
	echo "over $limit s" >>"$tmp/rows"
	questions | grep -E -e "$only" >"$tmp/questions" || true
	while read -r question <&3; do
		ask "$question"
	done 3<"$tmp/questions"
	{
		echo "$1, $objects objects:"
		echo
		table "$tmp/rows"
	} >>"$tmp/tables"
}

if [ $# -eq 0 ]; then
	orders
	set -- "$dump"
fi
for file; do
	[ -r "$file" ] || die "$file cannot be read"
	db=$file
	case $file in
	*.heapdb) ;;
	*)
		db=$BENCH_DIR/analyses.$$.heapdb
		made "$db"
		say "importing $file"
		# shellcheck disable=SC2086
		"$heapdb" import "$file" -o "$db" --force --quiet $BENCH_OPTIONS >/dev/null ||
			die "$file: import failed"
		;;
	esac
	analyse "$(basename "$file" | sed 's/\.[a-z]*$//')"
done

{
	machine
	echo
	cat "$tmp/tables"
	echo "Whole processes, all tables built, dump and database in the page cache."
} >"$tmp/report"
cat "$tmp/report"
[ -z "$save" ] || save_section "Analyses" "$tmp/report"
exit $bad
