# tools/rows.awk - makes rows of a table in C of a .rows file, for the build (Makefile).
#
# A line is a macro of C and its arguments, with blanks between them. A line that is indented continues
# the one before. `#` begins a comment line; after two blanks, the rest of a line. An argument is
#
#	java.util.Vector       a text; in quotes if it has blanks or is a number
#	-                      NULL
#	HEAP_MAP, A|B, 12      capitals or a number: C
#	size=count             a member of the row and its value
#	ENTRY(key,value)       another macro
#
# `ARRAY java.util.Vector HEAP_LIST count data` becomes
#
#	#line 5 "src/heap/collections/collections.rows"
#	ARRAY("java.util.Vector", HEAP_LIST, "count", "data"),

# Arguments of a macro within one, up to the bracket that closes it.
function arguments(text,    out, depth, i, from, c) {
	from = 1
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		depth += (c == "(") - (c == ")")
		if (c == "," && !depth) {
			out = out argument(substr(text, from, i - from)) ", "
			from = i + 1
		}
	}
	return out argument(substr(text, from))
}

# An argument in C.
function argument(text,    name) {
	if (text == "-")
		return "NULL"
	if (text ~ /^"/ || text ~ /^[0-9]+$/ || text ~ /^[A-Z][A-Z0-9_|]*$/)
		return text
	name = text
	if (text ~ /^[a-z]+=/) {
		sub(/=.*/, "", name)
		return "." name " = " argument(substr(text, length(name) + 2))
	}
	if (text !~ /^[A-Z_]+\(.*\)$/)
		return "\"" text "\""
	sub(/\(.*/, "", name)
	return name "(" arguments(substr(text, length(name) + 2, length(text) - length(name) - 2)) ")"
}

function flush_line(    out, word) {
	if (held == "")
		return
	match(held, /^[A-Z_]+/)
	out = substr(held, 1, RLENGTH) "("
	held = substr(held, RLENGTH + 1)
	for (nth = 0; match(held, /^[ \t]+([a-z]+=)?("[^"]*"|[A-Z_]+\([^()]*(\([^()]*\)[^()]*)*\)|[^ \t]+)/); nth++) {
		word = substr(held, 1, RLENGTH)
		held = substr(held, RLENGTH + 1)
		sub(/^[ \t]+/, "", word)
		out = out (nth ? ", " : "") argument(word)
	}
	printf "#line %d \"%s\"\n%s),\n", held_line, FILENAME, out
	held = ""
}

{ sub(/(^|[ \t][ \t])[ \t]*#.*/, "") }
/^[ \t]*$/ { next }
/^[ \t]/ {
	held = held $0
	next
}
{
	flush_line()
	held = $0
	held_line = FNR
}
END { flush_line() }
