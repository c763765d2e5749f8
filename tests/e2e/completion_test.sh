#!/bin/sh
# tests/e2e/completion_test.sh - the completions of bash, zsh and fish equal the output of `heapdb help --names`. Shells
# that are not installed are listed and skipped. Functions are called indirectly, and single-quoted text is evaluated by
# the tested shell.
# shellcheck disable=SC2016,SC2317
set -eu

# bash needs a file for <(...) here.
if [ ! -e /dev/fd/0 ]; then
	echo "there is no /dev/fd: /proc is not mounted"
	exit 77
fi
bad=0
tried=0
fail()
{
	echo "completion: $*"
	bad=1
}

# Names of a kind and owner, one per line, sorted.
names()
{
	"$BUILD/heapdb" help --names | awk -F '\t' -v kind="$1" -v owner="$2" \
		'$1 == kind && $2 == owner { print $3 }' | sort -u
}

in_bash()
{
	bash --norc -c '
		. "$HDB_ROOT/tools/heapdb/heapdb.bash"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_heapdb
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

in_fish()
{
	fish --no-config -c '
		set -gx PATH $BUILD $PATH
		source $HDB_ROOT/tools/heapdb/heapdb.fish
		complete --do-complete (string join " " -- $argv)' "$@" | cut -f 1
}

# The completion function with the names that it would pass to compadd and _describe.
in_zsh()
{
	zsh -f -c '
		compadd() { [[ $1 == -- ]] && shift; print -l -- "$@" }
		_describe() { local -a all; all=("${(@P)4}"); print -l -- "${(@)all%%:*}" }
		_files() { print -r -- FILES "$@" }
		words=("$@")
		CURRENT=$#
		_heapdb() { . "$HDB_ROOT/tools/heapdb/_heapdb"; }
		_heapdb' zsh "$@"
}

# same SHELL KIND OWNER WORD...: the shell offers exactly these names for the words.
same()
{
	shell=$1 kind=$2 owner=$3
	shift 3
	names "$kind" "$owner" >"$TMPDIR/want"
	[ -s "$TMPDIR/want" ] || fail "there are no names of $kind $owner"
	"in_$shell" "$@" 2>"$TMPDIR/said" | sort -u >"$TMPDIR/have" || true
	if ! diff -u "$TMPDIR/want" "$TMPDIR/have" || [ -s "$TMPDIR/said" ]; then
		fail "$shell: $*: $(cat "$TMPDIR/said")"
	fi
}

# The completions for the words, in a directory with files; for zsh also FILES and how it requests them.
offers()
{
	shell=$1
	shift
	(cd "$TMPDIR/files" && "in_$shell" "$@" 2>&1)
}

# files SHELL WORD...: the shell completes rec to the file, and to no file of LMDB.
files()
{
	shell=$1
	shift
	offers "$shell" "$@" rec >"$TMPDIR/have"
	case $shell in
	zsh) grep -qxF 'FILES -F *.heapdb-lock' "$TMPDIR/have" || fail "$shell: $* rec: $(cat "$TMPDIR/have")" ;;
	*)
		grep -qx rec.jfr "$TMPDIR/have" || fail "$shell: $* rec: $(cat "$TMPDIR/have")"
		! grep -q lock "$TMPDIR/have" || fail "$shell: $* rec: the lock file is offered"
		;;
	esac
}

mkdir "$TMPDIR/files"
heapdb import "$DUMP" -o "$TMPDIR/files/a.heapdb" --quiet >/dev/null
touch "$TMPDIR/files/rec.jfr" "$TMPDIR/files/rec.heapdb-lock"
# As in Python's parsers.
sed -n 's/.*add_argument("\(--[a-z-]*\)".*/\1/p' "$HDB_ROOT/tools/python/heapdb_jvm/fleet/_command.py" |
	grep -vxe --master -e --conf | sort -u >"$TMPDIR/want"
names option fleet | grep -vxe --help | diff -u "$TMPDIR/want" - || fail "options of fleet"

for shell in bash zsh fish; do
	if ! command -v $shell >/dev/null; then
		echo "$shell is not installed"
		continue
	fi
	tried=$((tried + 1))
	{ names command - && names query query; } | sort -u >"$TMPDIR/first"
	"in_$shell" heapdb '' 2>&1 | sort -u | diff -u "$TMPDIR/first" - ||
		fail "$shell: commands and queries"
	same "$shell" query query heapdb query ''
	{
		names option query
		names option 'query histogram'
	} | sort -u >"$TMPDIR/all"
	names untaken 'query histogram' >"$TMPDIR/untaken"
	grep -qxe --svg "$TMPDIR/untaken" || fail "a histogram is drawn"
	grep -vxFf "$TMPDIR/untaken" "$TMPDIR/all" >"$TMPDIR/options"
	[ "$("in_$shell" heapdb notes '' | sort | tr '\n' ' ')" = 'add list remove ' ] || fail "$shell: notes"
	same "$shell" option 'export dump' heapdb export dump --
	"in_$shell" heapdb query histogram -- 2>&1 | sort -u | diff -u "$TMPDIR/options" - ||
		fail "$shell: options of a query"
	"$BUILD/heapdb" help --names | awk -F '\t' '
		$1 == "option" && $2 == "query histogram" && $3 == "--by" { print $4 }' |
		tr '|' '\n' | sort -u >"$TMPDIR/values"
	[ -s "$TMPDIR/values" ] || fail "histogram has no --by"
	"in_$shell" heapdb query histogram --by '' 2>&1 | sort -u | diff -u "$TMPDIR/values" - ||
		fail "$shell: values of an option"
	"in_$shell" heapdb histogram --by '' 2>&1 | sort -u | diff -u "$TMPDIR/values" - ||
		fail "$shell: values of an option of a query that is the command"
	# Every command completes its options, and files if it takes them.
	for command in $(names command -); do
		case $command in
		info | check | diff)
			{ names option "$command" && names option "query $command"; } | sort -u >"$TMPDIR/want"
			;;
		*) names option "$command" >"$TMPDIR/want" ;;
		esac
		offers "$shell" heapdb "$command" -- | sort -u >"$TMPDIR/have"
		names untaken "query $command" >"$TMPDIR/untaken"
		grep -vxFf "$TMPDIR/untaken" "$TMPDIR/want" | diff -u - "$TMPDIR/have" ||
			fail "$shell: options of $command"
		case $command in
		query | export | help | version | capture | mcp | fleet | notes) ;;
		*) files "$shell" heapdb "$command" ;;
		esac
	done
	files "$shell" heapdb leaks
	files "$shell" heapdb notes list
	offers "$shell" heapdb fleet r | grep -qx run || fail "$shell: fleet run"
	for typed in '' 'id,'; do
		offers "$shell" heapdb top --columns "${typed}ret" | grep -qx "${typed}retained" ||
			fail "$shell: columns"
	done
	offers "$shell" heapdb top --sort ret | grep -qx retained || fail "$shell: --sort"
	offers "$shell" heapdb retained java.lang.Str | grep -qx java.lang.String || fail "$shell: classes"
	offers "$shell" heapdb retained java. | grep -qxF 'java.util.HashMap$Node' ||
		fail "$shell: not the largest classes"
	# After FILE: its classes, and no more files.
	offers "$shell" heapdb retained a.heapdb '' >"$TMPDIR/have"
	grep -qxF 'byte[]' "$TMPDIR/have" || fail "$shell: classes of the file: $(head -n 3 "$TMPDIR/have")"
	! grep -q -e '^rec.jfr' -e '^FILES' "$TMPDIR/have" || fail "$shell: files where classes are expected"
	offers "$shell" heapdb a.heapdb -- | grep -qx -e --json || fail "$shell: options of heapdb FILE"
	offers "$shell" heapdb -- | grep -qx -e --version || fail "$shell: heapdb --"
	"in_$shell" heapdb histogram -- 2>&1 | sort -u | diff -u "$TMPDIR/options" - ||
		fail "$shell: options of a query that is the command"
done
if [ $tried -eq 0 ]; then
	echo "none of bash, zsh and fish is installed"
	exit 77
fi
exit $bad
