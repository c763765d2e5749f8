/*
 * heapdb/prose_overview.c - prints the overview of a dump: one line on the dump, one per suspect
 * and finding, and suggested commands.
 */
#include "heapdb/prose.h"

#include <ctype.h>

/*
 * Prints "  1  LeakyService leaks: ..., 378 B". The size comes last because even a small leak
 * matters.
 */
static void put_leak(struct answer *answer, uint64_t number, const struct render_style *style,
		     struct output *out)
{
	struct bytes line = { 0 };

	prose_add_row(&line, out, answer->rows, "{text}[ ({retained})]");
	output_format(out, "%3llu  ", (unsigned long long)number);
	prose_wrap(out, style, (struct prose_place){ 5, 5 }, line.data ? line.data : "", line.size);
	bytes_release(&line);
}

/* Prints "  1  61.7 %  20.1 MiB  StandardManager.sessions holds ..."; the share comes first. */
static void put_suspect(struct answer *answer, uint64_t number, const struct render_style *style,
			struct output *out)
{
	const struct hdb_rows *rows = answer->rows;
	const struct hdb_value *why = rows_value(rows, "explanation");
	struct bytes size = { 0 };

	prose_add(&size, out, rows_value(rows, "retained"));
	output_format(out, "%3llu", (unsigned long long)number);
	/*
	 * Faults, such as a pool without free connections, are reported regardless of their size.
	 */
	if (rows_is(rows, "kind", "suspect") && rows_value(rows, "percent")->d < 0.05)
		output_blanks(out, 20);
	else
		output_format(out, " %5.1f %% %9.*s  ", rows_value(rows, "percent")->d,
			      (int)size.size, size.data ? size.data : "");
	prose_wrap_value(out, style, (struct prose_place){ 23, 23 },
			 rows_value(rows, "short_text"));
	if (has_value(why)) {
		output_blanks(out, 23);
		prose_wrap_value(out, style, (struct prose_place){ 23, 23 }, why);
	}
	bytes_release(&size);
}

static void put_finding(struct answer *answer, const struct render_style *style, struct output *out)
{
	const struct hdb_value *severity = rows_value(answer->rows, "severity");
	const struct hdb_value *name = rows_value(answer->rows, "text");
	const struct hdb_value *percent = rows_value(answer->rows, "percent");
	const struct hdb_value *size = rows_value(answer->rows, "retained");
	struct bytes text = { 0 };

	if (!has_value(severity) || !has_value(name))
		return;
	bytes_add(&text, name->text, name->text_size);
	if (has_value(size) && has_value(percent) && percent->d >= 0.05 && percent->d < 99.95) {
		bytes_string(&text, " (");
		prose_add(&text, out, size);
		bytes_format(&text,
			     rows_is(answer->rows, "share_of", "the heap") ?
				     ", %.1f %%)" :
				     ", %.1f %% of the heap, garbage included)",
			     percent->d);
	}
	output_format(out, "  %.*s: ", (int)severity->text_size, severity->text);
	prose_wrap(out, style, (struct prose_place){ 4, severity->text_size + 4 }, text.data,
		   text.size);
	bytes_release(&text);
}

/* Prints "tomcat9.hprof  JDK 17.0.15, G1, 32.6 MiB reachable (maximum 2.0 GiB), ..." */
static void put_head(struct answer *answer, const struct render_style *style, struct output *out)
{
	const struct hdb_value *dump = answer_fact(answer, "dump");
	const struct hdb_value *runtime = answer_fact(answer, "runtime");
	const struct hdb_value *collector = answer_fact(answer, "collector");
	const struct hdb_value *threads = answer_fact(answer, "threads");
	const bool is_openj9 = has_value(runtime) && strncmp(runtime->text, "OpenJ9", 6) == 0;
	const char *slash = has_value(dump) ? memrchr(dump->text, '/', dump->text_size) : NULL;
	const char *name = slash ? slash + 1 : has_value(dump) ? dump->text : "";
	struct bytes text = { 0 };

	prose_bold(out, style, true);
	if (has_value(dump))
		escape_text(&text, name, dump->text_size - (size_t)(name - dump->text));
	output_bytes(out, text.data ? text.data : "", text.size);
	text.size = 0;
	prose_bold(out, style, false);
	output_char(out, '\n');
	prose_add_facts(&text, out, answer,
			!has_value(runtime)                      ? "a VM of unknown version" :
			isdigit((unsigned char)runtime->text[0]) ? "JDK {runtime}" :
								   "{runtime}");
	if (has_value(collector)) {
		const char *bracket = memchr(collector->text, '(', collector->text_size);

		bytes_add(&text, ", ", 2);
		bytes_add(&text, collector->text,
			  bracket > collector->text ? (size_t)(bracket - collector->text - 1) :
						      collector->text_size);
	}
	prose_add_facts(
		&text, out, answer,
		", {heap_shallow} reachable[ (maximum {max_heap})], {heap_objects} objects");
	/*
	 * thread states are unknown if the dump has no threads, and stacks from OpenJ9's javacores
	 * do not include them
	 */
	if (has_value(threads) && threads->u)
		prose_add_facts(&text, out, answer,
				has_value(answer_fact(answer, "out_of_memory")) || is_openj9 ?
					", {threads} threads[ ({virtual_threads} virtual)]" :
					", {threads} threads[ ({virtual_threads} virtual)], no "
					"OutOfMemoryError");
	output_string(out, "  ");
	prose_wrap(out, style, (struct prose_place){ 2, 2 }, text.data, text.size);
	bytes_release(&text);
}

/* Suggested commands for the findings, in order; at most NEXT_MAX. */
#define NEXT_MAX 3u
struct next {
	struct bytes commands[NEXT_MAX];
	unsigned count;
	bool has_suspects, is_brief;
	uint64_t leak_rows;
};

/* Adds the command of a row, unless an earlier row had the same command. */
static void take_next(struct next *next, const struct hdb_rows *rows)
{
	const struct hdb_value *action = rows_value(rows, "action");
	const struct hdb_value *target = rows_value(rows, "target");
	struct bytes *to = &next->commands[next->count];

	next->has_suspects |= rows_is(rows, "kind", "suspect") || rows_is(rows, "kind", "leak");
	if (!has_value(action) || next->count == NEXT_MAX)
		return;
	if (has_value(target))
		prose_add_command(to, action, target);
	else if (!rows_is(rows, "action", "leaks"))
		bytes_format(to, "heapdb %.*s", (int)action->text_size, action->text);
	for (unsigned i = 0; i < next->count; i++)
		if (next->commands[i].size == to->size &&
		    memcmp(next->commands[i].data, to->data, to->size) == 0)
			to->size = 0;
	next->count += to->size > 0;
}

static void put_file(struct output *out, const struct hdb_value *file)
{
	if (has_value(file))
		prose_file(out, file->text, file->text_size);
}

static void put_next(struct answer *answer, const struct next *next,
		     const struct render_style *style, struct output *out)
{
	const struct {
		const char *command, *what;
		bool is_put;
	} usual[] = {
		{ "leaks", "suspects in detail", next->has_suspects },
		{ "top", "the biggest objects", !next->has_suspects },
		{ "serve", "the same in a browser", true },
	};
	const struct hdb_value *file = answer_fact(answer, "database");
	const size_t width = out->fit;

	output_string(out, "\nNext:\n");
	/* a command with wrapped lines or shortened names could not be pasted */
	output_fit(out, 0);
	for (unsigned i = 0; i < next->count; i++) {
		output_string(out, "  ");
		output_bytes(out, next->commands[i].data, next->commands[i].size);
		output_char(out, ' ');
		put_file(out, file);
		output_char(out, '\n');
	}
	output_fit(out, width);
	for (size_t i = 0; i < BASE_COUNT(usual); i++) {
		if (!usual[i].is_put)
			continue;
		output_format(out, "  heapdb %-8s ", usual[i].command);
		put_file(out, file);
		/*
		 * if the description were wrapped to a second line, the command could not be pasted
		 */
		if (strlen(usual[i].what) + (has_value(file) ? file->text_size : 0) + 23 <=
		    style->width)
			output_format(out, "   # %s", usual[i].what);
		output_char(out, '\n');
	}
}

/* Prints the lines that follow the rows. */
static void put_rest(struct answer *answer, const struct next *next,
		     const struct render_style *style, struct output *out)
{
	const struct hdb_value *leaks = answer_fact(answer, "leaks");

	if (has_value(leaks) && leaks->u > next->leak_rows)
		output_format(out, "\n  %llu more leak%s: heapdb leaks\n",
			      (unsigned long long)(leaks->u - next->leak_rows),
			      leaks->u - next->leak_rows == 1 ? "" : "s");
	if (!answer->row_count)
		output_string(out, "\n  No object retains more than 10 % of the heap, and no known "
				   "problem was found.\n");
	if (!next->is_brief)
		put_next(answer, next, style, out);
}

int prose_overview(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct next next = { .count = 0 };
	uint64_t suspect_count = 0; /* leaks and suspects, which are numbered */
	bool is_finding, was_finding = false;
	int rc;

	put_head(answer, style, out);
	while ((rc = answer_next(answer, out)) == HDB_OK) {
		next.is_brief |= rows_is(answer->rows, "kind", "object");
		take_next(&next, answer->rows);
		is_finding = has_value(rows_value(answer->rows, "severity"));
		output_string(out, answer->row_count == 1 || is_finding != was_finding ? "\n" : "");
		was_finding = is_finding;
		if (is_finding) {
			put_finding(answer, style, out);
		} else if (rows_is(answer->rows, "kind", "leak")) {
			next.leak_rows++;
			put_leak(answer, ++suspect_count, style, out);
			notes_of_row(answer, style, 5, out);
		} else {
			put_suspect(answer, ++suspect_count, style, out);
			notes_of_row(answer, style, 23, out);
		}
	}
	if (rc == HDB_END)
		put_rest(answer, &next, style, out);
	for (unsigned i = 0; i < NEXT_MAX; i++)
		bytes_release(&next.commands[i]);
	return rc == HDB_END ? HDB_OK : rc;
}
