# tools/query.awk - converts the definitions of queries and answers in a .query file to C, for the build
# (Makefile).
#
# A line consists of a keyword and its arguments. An indented line continues the previous line, and `#` begins
# a comment line. Strings need no quotes. In a string, {NAME} is replaced by the C macro NAME.
#
#	query ID               begins the definition of query_ID
#	name, aliases, group, summary, example, targets, never-null, one-population, heap, no-rows
#	                       strings in struct query_def; the name defaults to ID
#	types FLAGS            types of targets; `count LOW HIGH` is their number
#	is-query, population, order, uses, keeps
#	                       values of struct query_def
#	option TYPE NAME ARGUMENT
#	                       followed by its help, indented, and optionally by these lines: range LOW HIGH,
#	                       unit, default, example, repeated 1
#	column NUMBER TYPE NAME "TITLE"
#	                       followed by its help, indented. The title defaults to the name.
#	fact TYPE NAME "TITLE"
#	                       as for columns
#	options, columns, facts MACRO
#	                       shared options, columns or facts; the numbers of such columns follow
#	answer ID              begins the columns of an answer that does not come from a query: the array
#	                       ID_columns, and its size ID_COLUMNS
#	shared MACRO           begins options, columns (numbered -) or facts that definitions share
#	text MACRO TEXT        a shared string
#
# The C file includes the output and defines query_ID with the macro QUERY_ID, which sets all these members,
# and with its own functions.

function fail(text) {
	print FILENAME ":" held_line ": error: " text > "/dev/stderr"
	failed = 1
	exit 1
}

# Returns a string as one or several C literals.
function quoted(text,    out) {
	gsub(/[\\"]/, "\\\\&", text)
	while (match(text, /\{[A-Z][A-Z0-9_]*\}/)) {
		if (RSTART > 1)
			out = out "\"" substr(text, 1, RSTART - 1) "\" "
		out = out substr(text, RSTART + 1, RLENGTH - 2) " "
		text = substr(text, RSTART + RLENGTH)
	}
	return text == "" && out != "" ? out : out "\"" text "\""
}

# Removes the first word from the arguments and returns it.
function take(    word) {
	word = value
	sub(/[ \t].*/, "", word)
	if (word == "")
		fail("\"" key "\" needs more words")
	value = substr(value, length(word) + 1)
	sub(/^[ \t]+/, "", value)
	return word
}

# Returns a row of an array, with a #line directive so that errors refer to the .query file. Adds a row of a
# macro to the line of that macro.
function row(text) {
	if (macro != "") {
		shared = shared (shared == "" ? "" : ", ") text
		return ""
	}
	return "#line " held_line " \"" FILENAME "\"\n\t" text ",\n"
}

# Returns a column or a fact.
function described(    type, name, title) {
	type = take()
	name = title = take()
	gsub(/_/, " ", title)
	if (value != "" && value !~ /^".*"$/)
		fail("expected \"TITLE\", not " value)
	if (value != "")
		title = substr(value, 2, length(value) - 2)
	return row("{ \"" name "\", HDB_TYPE_" type ", " quoted(title) ", " quoted(help) " }")
}

function end_option() {
	if (option != "")
		options = options row(option " }")
	option = ""
}

function end_query(    name) {
	end_option()
	if (macro != "")
		printf "#define %s %s\n", macro, shared
	macro = shared = ""
	if (id == "")
		return
	if (is_answer) {
		end_answer()
		return
	}
	for (name in missing)
		if (!(name in is_set))
			set(name, missing[name])
	if (options != "")
		printf "static const struct hdb_option_spec %s_options[] = {\n%s\t{ .name = NULL },\n};\n", id, options
	if (numbers != "")
		printf "enum {%s };\n", numbers
	printf "static const struct hdb_column %s_columns[] = {\n%s};\n", id, columns
	if (facts != "")
		printf "static const struct hdb_column %s_facts[] = {\n%s};\n", id, facts
	printf "#define QUERY_%s .spec = {%s .options = %s, QUERY_COLUMNS(%s_columns)%s }%s\n", id, spec, \
		options == "" ? "query_no_options" : id "_options", id, \
		facts == "" ? "" : ", QUERY_FACTS(" id "_facts)", rest
}

function end_answer() {
	if (numbers != "")
		printf "enum {%s };\n", numbers
	printf "static const struct hdb_column %s_columns[] = {\n%s};\n", id, columns
	printf "enum { %s_COLUMNS = sizeof(%s_columns) / sizeof(%s_columns[0]) };\n", toupper(id), id, id
}

function begin_query() {
	is_answer = key == "answer"
	id = value
	gsub(/_/, "-", value)
	columns = numbers = options = facts = rest = ""
	spec = ""
	split("", is_set)
	missing["name"] = quoted(value)
	missing["example"] = missing["targets"] = "\"\""
	missing["is_query"] = 1
}

function set(name, what) {
	spec = spec " ." name " = " what ","
	is_set[name] = 1
}

# Processes a line: its keyword `key` and arguments `value`. `help` is the text of the indented lines below
# it.
function define(    field) {
	field = key
	gsub(/-/, "_", field)
	if (key ~ /^(query|answer|shared|text)$/) {
		end_query()
		id = ""
	}
	if (key == "query" || key == "answer")
		begin_query()
	else if (key == "shared")
		macro = value
	else if (key == "text")
		print "#define " take() " " quoted(value)
	else if (id == "" && macro == "")
		fail("expected \"query ID\" at the start, not \"" key "\"")
	else if (option != "" && key == "range")
		option = option ", .low = " take() ", .high = " take()
	else if (option != "" && key == "default")
		option = option ", .default_value = " quoted(value)
	else if (option != "" && (key == "unit" || key == "example"))
		option = option ", ." key " = " quoted(value)
	else if (option != "" && key == "repeated")
		option = option ", .is_repeated = " value
	else
		define_member(field)
}

function define_member(field,    type, number) {
	end_option()
	if (is_answer && key !~ /^columns?$/)
		fail("an answer has no \"" key "\"")
	if (key ~ /^(name|aliases|group|summary|example|targets|never-null|one-population)$/)
		set(field, quoted(value))
	else if (key == "types")
		set("target_types", value)
	else if (key == "count")
		spec = spec " .target_min = " take() ", .target_max = " take() ","
	else if (key == "is-query")
		set(field, value)
	else if (key ~ /^(population|order|uses|keeps)$/)
		rest = rest ", ." key " = " value
	else if (key == "heap")
		rest = rest ", .heap_help = " quoted(value)
	else if (key == "no-rows")
		rest = rest ", .no_rows = " quoted(value)
	else if (key == "option") {
		type = take()
		option = "{ \"" take() "\", HDB_OPTION_" type \
			", .help = " quoted(help)
		if (value != "")
			option = option ", .argument = " quoted(value)
	} else if (key == "column") {
		number = take()
		if (number != "-")
			numbers = numbers " " number ","
		columns = columns described()
	} else if (key == "fact")
		facts = facts described()
	else if (key == "options")
		options = options row(value)
	else if (key == "facts")
		facts = facts row(value)
	else if (key == "columns") {
		columns = columns row(take())
		while (value != "")
			numbers = numbers " " take() ","
	} else
		fail("unknown word \"" key "\"")
}

function flush_line() {
	if (held == "")
		return
	key = value = held
	sub(/[ \t].*/, "", key)
	value = substr(value, length(key) + 1)
	gsub(/^[ \t]+|[ \t]+$/, "", value)
	if (key !~ /^(option|column|fact)$/) {
		value = value (value == "" || help == "" ? "" : " ") help
		help = ""
	}
	if (value == "")
		fail("nothing follows \"" key "\"")
	define()
	held = help = ""
}

/^[ \t]+[^ \t]/ && held != "" {
	sub(/^[ \t]+/, "")
	help = help (help == "" ? "" : " ") $0
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
	end_query()
}
