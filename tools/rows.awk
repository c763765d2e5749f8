# tools/rows.awk - converts a .rows file to rows of a C table, for the build (Makefile).
#
# A line consists of a C macro and its arguments, separated by blanks. An indented line continues the previous
# line. A comment begins with `#` at the start of a line or after two blanks. An argument is
#
#	java.util.Vector       a string; in quotes if it contains blanks or is a number
#	-                      NULL
#	HEAP_MAP, A|B, 12      constants and numbers, which are copied unchanged
#	:name                  a name, which is copied without the colon
#	size=count             member of the row and its value
#	ENTRY(key,value)       a nested macro
#
# `ARRAY java.util.Vector HEAP_LIST count data` becomes
#
#	#line 5 "src/heap/collections/collections.rows"
#	ARRAY("java.util.Vector", HEAP_LIST, "count", "data"),

# Converts the arguments of a nested macro.
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

# Converts an argument to C.
function argument(text,    name) {
	if (text == "-")
		return "NULL"
	if (text ~ /^"/ || text ~ /^[0-9]+$/ || text ~ /^[A-Z][A-Z0-9_|]*$/)
		return text
	if (text ~ /^:/)
		return substr(text, 2)
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
