#!/bin/sh
# tests/lint/english.sh - rejects phrases that were replaced by plain English. Part of `make lint-text`.
#
# Checks help texts, messages, comments, manuals, rules and pages, ignoring case and line ends. A phrase belongs in the
# list only if it is wrong wherever it occurs, so only this check and its test are exempt. The argument is another
# project root to check, for the check's own test.
set -eu

cd "${1:-$(dirname "$0")/../..}"

# Extended regular expressions in lower case, one per line; [replacement].
phrases='
said otherwise                [unless stated otherwise]
(can|cannot) be had           [is not available]
(is|are|was|were) wanted      [expected, required, requested]
not the one (any more|that was) [has changed since]
in the place of               [instead of]
(super|sub) class(es)?        [superclass, subclass]
at hand                       [available]
hangs on                      [is retained by, depends on]
by now                        [meanwhile, already]
piles? up                     [accumulates]
(is|are) met                  [is found, is visited]
lends                         [returns, provides]
is there already              [exists, is already installed]
(can|cannot) be told          [is known, can be determined]
(is|are|was|were) told        [is reported, is given]
parted by                     [separated by]
what goes if                  [would be freed without]
sets? free                    [frees]
holds? good                   [applies]
for want of                   [without]
much for little               [GC is reclaiming little]
tells of                      [describes, mentions, records]
speaks? of                    [describes, is about]
as (a |the )?(java|jdk|python|json|sqlite|mat|git|dump|record|file|command) ha(s|ve) (it|them) [as in]
what is said here             [the answer]
in no other size              [not included in other columns]
exists already                [already exists]
nothing is named              [no name matches]
statements? of sql            [SQL statement]
files? of (rules|notes)       [rules file, notes file]
report of one page            [one-page report]
ends by that signal           [terminates with the same signal]
collects no garbage           [does not run a garbage collection]
standard error (says|names)   [heapdb prints ... to standard error]
beside (it|them|the)          [next to]
anew                          [again]
passed over                   [skipped]
leads? on                     [links, continues]
the other way round           [in reverse order, reversed]
called so                     [that has this name]
one a line                    [one per line]
(bytes|rows|seconds) a (dump|build|day|thread) [bytes per dump]
is at work                    [is running, is in progress]
where it is there             [if it exists]
the query (leaks|info|sizes|tables|layout|triage|histogram|diff|path) [the leaks query]
'

# Only in string literals of C: messages and help. ^ matches the beginning of a literal.
literals='
there (is|are) no             [no such, unknown, missing, without]
no memory for                 [cannot allocate memory for]
smallest (share|number|size|change|drop) [minimum]
^(bytes|rows|steps) of (the|its|an?|all|this|these) [size of, number of, length of]
wrong settings                [misconfigurations]
in the current folder         [in the current directory]
is wrong: resumed             [has a wrong length]
'

# shellcheck disable=SC2016
bad=$(find include src tools tests bench .ci .github Makefile ./*.md -type f \( -name '*.[ch13]' \
	-o -name '*.sh' -o -name '*.md' -o -name '*.py' -o -name '*.rules' -o -name '*.query' \
	-o -name '*.rows' -o -name '*.awk' -o -name '*.java' -o -name '*.ts' -o -name '*.tsx' -o -name '*.yml' \
	-o -name Makefile -o -path '.ci/*' \) \
	! -path 'tests/lint/english*' ! -path '*/node_modules/*' | sort | xargs -r awk \
	-v phrases="$phrases" -v literals="$literals" '
	BEGIN {
		count = split(phrases, line, "\n")
		for (i = 1; i <= count; i++)
			if (split(line[i], part, / *[][]/) > 1) {
				instead[part[1]] = part[2]
				any = any (any ? "|" : "") part[1]
			}
		any = "[^a-z_](" any ")[^a-z_]"
		count = split(literals, line, "\n")
		for (i = 1; i <= count; i++)
			if (split(line[i], part, / *[][]/) > 1)
				literal_instead[part[1]] = part[2]
	}
	FNR == 1 { before = "" }
	{
		text = tolower($0)
		gsub(/^[ \t*#\/"]+|[ \t"\\]+$/, "", text)
		gsub(/ told (apart|to)([^a-z]|$)/, " ", text)
		# The end of the previous line, for phrases that span two lines.
		both = before " " text " "
		for (past = 0; match(substr(both, past + 1), any); past += RSTART + RLENGTH - 2) {
			found = substr(both, past + RSTART + 1, RLENGTH - 2)
			for (phrase in instead)
				if (past + RSTART + RLENGTH > length(before) + 3 && found ~ "^(" phrase ")$")
					print FILENAME ":" FNR ": \"" found "\": say: " instead[phrase]
		}
		before = " " substr(text, length(text) > 30 ? length(text) - 30 : 1)
		rest = FILENAME ~ /^(src|tools).*[.][ch]$/ && $0 !~ /^[ \t]*(\/?\*|#include)/ ? tolower($0) : ""
		sub(/\/\*.*/, "", rest)
		while (match(rest, /"([^"\\]|\\.)*"/)) {
			words = substr(rest, RSTART + 1, RLENGTH - 2)
			rest = substr(rest, RSTART + RLENGTH)
			for (phrase in literal_instead) {
				at_start = phrase ~ /^\^/
				regex = (at_start ? "^ " substr(phrase, 2) : "[^a-z_]" phrase) "[^a-z_]"
				if (match(" " words " ", regex))
					print FILENAME ":" FNR ": \"" substr(words, RSTART, RLENGTH - 2) \
						"\": say: " literal_instead[phrase]
			}
		}
	}')

if [ -n "$bad" ]; then
	echo "$bad" >&2
	exit 1
fi
echo "english: clean"
