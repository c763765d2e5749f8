# tools/rules.awk - makes rows of a table in C of a rules file, for the build (Makefile).
#
# A line is a word and what follows it; a line that is indented continues the one before; `#` begins
# a comment line; `rule NAME` begins a row. `cost 40` of the fifth line becomes
#
#	#line 5 "src/derive/strange.rules"
#	RULE_cost(40, "40", 0),
#
# and the C file that includes the rows defines RULE_cost, so that the compiler finds words that no
# table has, and names their line. The last number counts lines with this word in the rule. Only what
# is one word of letters and digits, or several with | between them, comes without quotes, too; `16M`
# comes as a number.

function fail(text) {
	print FILENAME ":" FNR ": error: " text > "/dev/stderr"
	failed = 1
	exit 1
}

function flush_line(    key, value, word) {
	if (!held)
		return
	key = held
	sub(/[ \t].*/, "", key)
	value = substr(held, length(key) + 1)
	gsub(/^[ \t]+|[ \t]+$/, "", value)
	if (value == "")
		fail("nothing follows \"" key "\"")
	if (key == "rule") {
		print rows++ ? "},{" : "{"
		split("", nth)
	} else if (!rows) {
		fail("expected \"rule NAME\" at the start of a rule, not \"" key "\"")
	}
	word = value ~ /^[A-Za-z0-9_]+( ?[|] ?[A-Za-z0-9_]+)*$/ ? value : ""
	if (word ~ /^[0-9]+[KMG]$/)
		word = "(" (word + 0) "ull << " 10 * index("KMG", substr(word, length(word))) ")"
	gsub(/[\\"]/, "\\\\&", value)
	printf "#line %d \"%s\"\nRULE_%s(%s, \"%s\", %d),\n", held_line, FILENAME, key, word, value, nth[key]++
	held = ""
}

/^[ \t]+[^ \t]/ && held {
	sub(/^[ \t]+/, "")
	held = held " " $0
	next
}
{ flush_line() }
/^#/ || /^[ \t]*$/ { next }
{
	held = $0
	held_line = FNR
}
END {
	if (failed)
		exit 1
	flush_line()
	print "}"
}
