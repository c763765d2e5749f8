# tools/rules.awk - converts a rules file to rows of a C table, for the build (Makefile).
#
# A line consists of a keyword and its argument. An indented line continues the previous line, `#` begins a
# comment line, and `rule NAME` begins a row. `cost 40` in line 5 becomes
#
#	#line 5 "src/derive/strange.rules"
#	RULE_cost(40, "40", 0),
#
# and the C file that includes the rows defines RULE_cost, so the compiler reports unknown keywords with their
# line. The last argument is the number of previous lines of the rule with this keyword. The first argument is
# empty unless the value is a word of letters and digits, or several such words separated by |. `16M` becomes
# a number.

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
