#!/bin/sh
# tests/lint/file_names.sh - file names in comments must exist. Part of `make lint-text`.
#
# In C files and scripts, each NAME.c, NAME.h or NAME.sh in a comment must be a file of the tree, with the directories
# before it. The name at the beginning of a file must be its own. Words in capitals stand for any name. Files of other
# projects are listed here.
set -eu

cd "${1:-$(dirname "$0")/../..}"
others='linux/magic.h hprof_b_spec.h runtime/mirror/array.h tools/hprof-conv/HprofConv.c ParseHeapDump.sh'

# shellcheck disable=SC2016
bad=$(find include src tools tests bench .ci \( -name '*.[ch]' -o -name '*.sh' \) -type f | sort |
	awk -v others="$others" '
	# Returns whether a file of the tree has this path, or ends with it.
	function exists(name) {
		gsub(/^(\.\.\/)+/, "", name)
		return name in known
	}
	# The file names in a part of a comment.
	function check(text,    name) {
		while (match(text, /[A-Za-z0-9_.\/*{},$<-]*[A-Za-z0-9_*}]\.(c|h|sh)/)) {
			name = substr(text, RSTART, RLENGTH)
			text = substr(text, RSTART + RLENGTH)
			if (text !~ /^([A-Za-z0-9_(\/-]|\.[A-Za-z0-9])/ && name !~ /[*{}$<,]|(^|\/)[A-Z]+[_.\/]/ &&
			    !exists(name))
				print file ":" line ": no file " name
		}
	}
	{
		files[++count] = $0
		part = $0
		for (known[part]; sub(/^[^\/]*\//, "", part);)
			known[part]
	}
	END {
		n = split(others, other, " ")
		for (i = 1; i <= n; i++)
			known[other[i]]
		for (f = 1; f <= count; f++) {
			file = files[f]
			inside = 0
			for (line = 1; (getline text < file) > 0; line++) {
				if (file ~ /\.sh$/) {
					if (text ~ /^[ \t]*# /)
						check(text)
					continue
				}
				if (line == 2 && text ~ /^ \* [^ ]+\.[ch] - /) {
					split(text, word, " ")
					if (substr(file, length(file) - length(word[2]) + 1) != word[2])
						print file ":2: opens with the name " word[2]
				}
				while (text != "") {
					if (!inside) {
						if (!(at = index(text, "/*")))
							break
						text = substr(text, at + 2)
						inside = 1
					}
					if ((at = index(text, "*/"))) {
						check(substr(text, 1, at - 1))
						text = substr(text, at + 2)
						inside = 0
					} else {
						check(text)
						text = ""
					}
				}
			}
			close(file)
		}
	}')

if [ -n "$bad" ]; then
	echo "$bad" >&2
	exit 1
fi
echo "file names in comments: clean"
