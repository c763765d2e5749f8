# tools/query.awk - makes C of the definitions of queries and answers in a .query file, for the build (Makefile).
#
# A line is a word and what follows it; a line that is indented continues the one before; `#` begins
# a comment line. Texts need no quotes, and {NAME} in a text is the text of that macro of C.
#
#	query ID               begins the definition of query_ID
#	name, aliases, group, summary, example, targets, never-null, one-population, heap, no-rows
#	                       texts of struct query_def; the name is ID unless it is given
#	types FLAGS            types of targets; `count LOW HIGH` is their number
#	is-query, population, order, uses, keeps
#	                       values of struct query_def
#	option TYPE NAME ARGUMENT
#	                       then its help, indented, and the lines that it needs of: range LOW HIGH,
#	                       unit, default, example, repeated 1
#	column NUMBER TYPE NAME "TITLE"
#	                       then its help, indented. The title is the name unless it is given.
#	fact TYPE NAME "TITLE"
#	                       the same
#	options, columns, facts MACRO
#	                       those that definitions share; numbers of such columns follow
#	answer ID              begins the columns of an answer that no query gives: the array ID_columns and its
#	                       size ID_COLUMNS
#	shared MACRO           begins options, columns (numbered -) or facts that definitions share
#	text MACRO TEXT        a text that definitions share
#
# The C file includes the result and defines query_ID by QUERY_ID, which has all these members, and
# its functions.

function fail(text) {
	print FILENAME ":" held_line ": error: " text > "/dev/stderr"
	failed = 1
	exit 1
}

# A text as a literal of C, or as several.
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

# Takes the first word of what follows.
function take(    word) {
	word = value
	sub(/[ \t].*/, "", word)
	if (word == "")
		fail("\"" key "\" needs more words")
	value = substr(value, length(word) + 1)
	sub(/^[ \t]+/, "", value)
	return word
}

# A row of an array, whose errors are those of the line; of a macro, in one line with the others.
function row(text) {
	if (macro != "") {
		shared = shared (shared == "" ? "" : ", ") text
		return ""
	}
	return "#line " held_line " \"" FILENAME "\"\n\t" text ",\n"
}

# A column or a fact.
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

# One line: `key` and `value`; `help` is the text of indented lines below.
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
