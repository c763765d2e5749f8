#!/bin/sh
# tests/e2e/completion_test.sh - what bash, zsh and fish offer for the same beginnings of a line is
# what `heapdb help --names` lists. Shells that are not installed are named and passed over.
# Functions are called by their names, and what stands in single quotes is for the shell that is
# asked.
# shellcheck disable=SC2016,SC2317
set -eu

# bash's <(...) is a file there.
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

# Names of a kind and owner, one a line, sorted.
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

# The completion function with the names that it would give to compadd and _describe.
in_zsh()
{
	zsh -f -c '
		compadd() { [[ $1 == -- ]] && shift; print -l -- "$@" }
		_describe() { local -a all; all=("${(@P)4}"); print -l -- "${(@)all%%:*}" }
		_files() { print FILES }
		words=("$@")
		CURRENT=$#
		_heapdb() { . "$HDB_ROOT/tools/heapdb/_heapdb"; }
		_heapdb' zsh "$@"
}

# same SHELL KIND OWNER WORD...: the shell offers just these names for the words.
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
	"in_$shell" heapdb histogram -- 2>&1 | sort -u | diff -u "$TMPDIR/options" - ||
		fail "$shell: options of a query that is the command"
done
if [ $tried -eq 0 ]; then
	echo "none of bash, zsh and fish is installed"
	exit 77
fi
exit $bad
