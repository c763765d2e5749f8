/*
 * heapdb/gate_format.c - prints the results of `heapdb gate`: as text, as Markdown for a comment,
 * as JUnit XML, as SARIF 2.1.0, and as workflow commands of GitHub Actions.
 */
#include "heapdb/gate.h"
#include "heapdb/report.h"

#include <ctype.h>

/* Returns whether nothing was measured because neither dump contains the target. */
static bool gate_is_skipped(const struct gate_check *c)
{
	return c->is_unknown && !c->has_failed;
}

static void put_summary(struct output *out, const struct gate_budget *b)
{
	output_format(out, "%zu of %zu checks failed", b->failed, b->count);
}

/* ---- text ---- */

/* Prints text from a dump or a budget, escaped for a terminal. */
static void put_text(struct output *out, const char *head, const char *text, const char *tail)
{
	struct bytes line = { 0 };

	if (!*text)
		return;
	escape_text(&line, text, strlen(text));
	output_string(out, head);
	output_bytes(out, line.data, line.size);
	output_string(out, tail);
	output_release(out, &line);
}

static void print_text(struct output *out, const struct gate_budget *b)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct gate_check *c = &b->checks[i];

		put_text(out, c->has_failed ? "FAIL  " : "ok    ", c->name, ": ");
		put_text(out, "", c->text, "");
		put_text(out, " (", b->path, "");
		output_format(out, ":%zu)\n", c->line);
		for (size_t k = 0; k < c->culprit_count && c->has_failed; k++) {
			put_text(out, "      object ", c->culprits[k].object, "\n");
			put_text(out, "      owner  ", c->culprits[k].owner, "\n");
			put_text(out, "      path   ", c->culprits[k].path, "\n");
		}
	}
	put_summary(out, b);
	output_char(out, '\n');
}

/* ---- Markdown ---- */

static void put_code(struct output *out, const char *head, const char *text)
{
	if (!*text)
		return;
	output_format(out, "  - %s ", head);
	markdown_code(out, text, strlen(text));
	output_char(out, '\n');
}

static void print_markdown(struct output *out, const struct gate_budget *b)
{
	output_string(out, "### Heap budget: ");
	put_summary(out, b);
	output_string(out, "\n\n| | check | result |\n|---|---|---|\n");
	for (size_t i = 0; i < b->count; i++) {
		const struct gate_check *c = &b->checks[i];

		output_string(out, c->has_failed ? "| :x: | " : "| :white_check_mark: | ");
		markdown_text(out, c->name, strlen(c->name));
		output_string(out, " | ");
		markdown_text(out, c->text, strlen(c->text));
		output_string(out, " |\n");
	}
	for (size_t i = 0; i < b->count; i++) {
		const struct gate_check *c = &b->checks[i];

		if (!c->has_failed || !c->culprit_count)
			continue;
		output_string(out, "\n**");
		markdown_text(out, c->name, strlen(c->name));
		output_string(out, "**\n\n");
		for (size_t k = 0; k < c->culprit_count; k++) {
			output_string(out, "- object ");
			markdown_code(out, c->culprits[k].object, strlen(c->culprits[k].object));
			output_char(out, '\n');
			put_code(out, "owner", c->culprits[k].owner);
			put_code(out, "path", c->culprits[k].path);
		}
	}
}

/* ---- a failure as one string, for programs ---- */

/* Adds a line of text from a dump, escaped because build logs are shown on terminals. */
static void add_line(struct bytes *to, const char *head, const char *text)
{
	if (!*text)
		return;
	bytes_string(to, head);
	escape_text(to, text, strlen(text));
}

/* Writes the result and the objects that made the check fail, one per line. */
static void add_story(struct bytes *to, const struct gate_check *c)
{
	bytes_string(to, c->text);
	for (size_t k = 0; k < c->culprit_count; k++) {
		add_line(to, "\nobject ", c->culprits[k].object);
		add_line(to, "\nowner ", c->culprits[k].owner);
		add_line(to, "\npath ", c->culprits[k].path);
	}
}

/* ---- JUnit ---- */

static void print_junit(struct output *out, const struct gate_budget *b)
{
	size_t skipped = 0;

	for (size_t i = 0; i < b->count; i++)
		skipped += gate_is_skipped(&b->checks[i]);
	output_format(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"heapdb "
		      "gate\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n  <testsuite name=\"",
		      b->count, b->failed);
	output_xml(out, b->path, strlen(b->path));
	output_format(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
		      b->count, b->failed, skipped);
	for (size_t i = 0; i < b->count; i++) {
		const struct gate_check *c = &b->checks[i];
		struct bytes story = { 0 };

		output_string(out, "    <testcase classname=\"heapdb.gate\" name=\"");
		output_xml(out, c->name, strlen(c->name));
		if (c->has_failed) {
			add_story(&story, c);
			output_string(out, "\">\n      <failure type=\"budget\" message=\"");
			output_xml(out, c->text, strlen(c->text));
			output_string(out, "\">");
			output_xml(out, story.data, story.size);
			output_string(out, "</failure>\n    </testcase>\n");
		} else if (gate_is_skipped(c)) {
			output_string(out, "\">\n      <skipped message=\"");
			output_xml(out, c->text, strlen(c->text));
			output_string(out, "\"/>\n    </testcase>\n");
		} else {
			output_string(out, "\"/>\n");
		}
		output_release(out, &story);
	}
	output_string(out, "  </testsuite>\n</testsuites>\n");
}

/* ---- SARIF ---- */

static void put_json(struct output *out, const char *before, const char *text)
{
	output_string(out, before);
	output_json(out, text, strlen(text));
}

/* Writes a path as a URI. Bytes that RFC 3986 does not allow are escaped. */
static void put_uri(struct output *out, const char *path)
{
	for (; *path; path++)
		output_format(out,
			      isalnum((unsigned char)*path) || strchr("-._~/", *path) ? "%c" :
											"%%%02X",
			      (unsigned)(unsigned char)*path);
}

static void put_result(struct output *out, const struct gate_budget *b, size_t i)
{
	const struct gate_check *c = &b->checks[i];
	struct bytes story = { 0 };

	add_story(&story, c);
	put_json(out, "{\"ruleId\":", c->name);
	output_format(out, ",\"ruleIndex\":%zu,\"level\":\"%s\",\"message\":{\"text\":", i,
		      c->has_failed ? "error" : "warning");
	output_json(out, story.data, story.size);
	output_string(out,
		      "},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"");
	put_uri(out, b->path);
	output_format(out, "\"},\"region\":{\"startLine\":%zu,\"startColumn\":%zu}}", c->line,
		      c->column);
	for (size_t k = 0; k < c->culprit_count; k++) {
		const char *name =
			*c->culprits[k].owner ? c->culprits[k].owner : c->culprits[k].object;

		put_json(out,
			 k ? ",{\"fullyQualifiedName\":" :
			     ",\"logicalLocations\":[{\"fullyQualifiedName\":",
			 name);
		output_string(out, ",\"kind\":\"member\"}");
	}
	output_format(out, "%s}]}", c->culprit_count ? "]" : "");
	output_release(out, &story);
}

static void print_sarif(struct output *out, const struct gate_budget *b)
{
	const char *comma = "";

	output_string(out,
		      "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
		      "\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"heapdb\","
		      "\"version\":\"" HDB_VERSION "\",\"rules\":[\n");
	for (size_t i = 0; i < b->count; i++) {
		put_json(out, i ? ",\n{\"id\":" : "{\"id\":", b->checks[i].name);
		put_json(out, ",\"shortDescription\":{\"text\":", gate_words[b->checks[i].measure]);
		output_string(out, "}}");
	}
	output_string(out, "]}},\"columnKind\":\"unicodeCodePoints\",\"results\":[\n");
	for (size_t i = 0; i < b->count; i++) {
		if (!b->checks[i].has_failed && !b->checks[i].is_unknown)
			continue;
		output_string(out, comma);
		put_result(out, b, i);
		comma = ",\n";
	}
	output_string(out, "]}]}\n");
}

/* ---- GitHub ---- */

/*
 * Escapes text for a workflow command. In the properties of a command, : and , must be escaped as
 * well.
 */
static void put_escaped(struct output *out, const char *text, size_t size, bool is_property)
{
	for (size_t i = 0; i < size; i++) {
		const char c = text[i];

		if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ',')))
			output_format(out, "%%%02X", (unsigned)(unsigned char)c);
		else
			output_char(out, c);
	}
}

static void print_github(struct output *out, const struct gate_budget *b)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct gate_check *c = &b->checks[i];
		struct bytes story = { 0 };

		if (!c->has_failed && !c->is_unknown)
			continue;
		add_story(&story, c);
		output_format(out, "::%s file=", c->has_failed ? "error" : "warning");
		put_escaped(out, b->path, strlen(b->path), true);
		output_format(out, ",line=%zu,col=%zu,title=", c->line, c->column);
		put_escaped(out, c->name, strlen(c->name), true);
		output_string(out, "::");
		put_escaped(out, story.data, story.size, false);
		output_char(out, '\n');
		output_release(out, &story);
	}
	output_string(out, "::notice title=heapdb gate::");
	put_summary(out, b);
	output_char(out, '\n');
}

void gate_print(struct output *out, const struct gate_budget *budget, enum gate_format format)
{
	static void (*const print[])(struct output * out, const struct gate_budget *b) = {
		[GATE_TEXT] = print_text,     [GATE_MARKDOWN] = print_markdown,
		[GATE_JUNIT] = print_junit,   [GATE_SARIF] = print_sarif,
		[GATE_GITHUB] = print_github,
	};

	print[format](out, budget);
}
