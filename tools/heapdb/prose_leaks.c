/*
 * heapdb/prose_leaks.c - prints the answer of the leaks query as text: leaking objects with their
 * traces, then each suspect with its share, owner, path and accumulated objects. The rows arrive in
 * the order in which they are printed. A heading is printed whenever the kind of row changes.
 */
#include "heapdb/call_rows.h"
#include "heapdb/prose.h"
#include "heapdb/prose_groups.h"

/* Headings of lists of classes or objects, by kind of row. */
static const struct list {
	const char *kind, *heading;
} lists[] = {
	{ "point", "Accumulates in" },
	{ "member", "The largest members" },
	{ "child", "Objects immediately dominated there, by class" },
	{ "element", "Objects held below entries of collections, by class" },
	{ "content", "All retained objects, by class" },
	{ "thread", "Held by the thread" },
	{ "common", "First steps shared by paths to several suspects" },
	{ "unreachable", "Unreachable leaking objects, which the next garbage collection frees" },
};

static const struct list *list_of(const struct hdb_rows *rows)
{
	for (size_t i = 0; i < BASE_COUNT(lists); i++) {
		if (rows_is(rows, "kind", lists[i].kind))
			return &lists[i];
	}
	return NULL;
}

static bool is_step(const struct hdb_rows *rows)
{
	return rows_is(rows, "kind", "path") || rows_is(rows, "kind", "trace") ||
	       rows_is(rows, "kind", "gap");
}

static void put_sentence(struct output *out, const struct render_style *style,
			 const struct hdb_rows *rows)
{
	prose_wrap_value(out, style, (struct prose_place){ 2, 0 }, rows_value(rows, "text"));
}

/* Prints the explanation and the advice of the rules that matched the leak. */
static void put_explanation(struct output *out, const struct render_style *style,
			    const struct hdb_rows *rows)
{
	const char *title = rows_is(rows, "kind", "advice") ? "What to do: " : "";

	output_format(out, "  %s", title);
	prose_wrap_value(out, style, (struct prose_place){ 2, strlen(title) + 2 },
			 rows_value(rows, "text"));
}

static void put_suspect(struct output *out, const struct render_style *style,
			const struct hdb_rows *rows)
{
	char number[OUTPUT_NUMBER_SIZE + 2];
	const int size =
		snprintf(number, sizeof(number), "%" PRIu64 ". ", rows_value(rows, "suspect")->u);

	prose_bold(out, style, true);
	output_bytes(out, number, (size_t)size);
	prose_wrap_value(out, style, (struct prose_place){ 2, (size_t)size },
			 rows_value(rows, "text"));
	prose_bold(out, style, false);
}

static void put_leaking(struct output *out, const struct render_style *style,
			const struct hdb_rows *rows)
{
	const struct hdb_value *count = rows_value(rows, "objects");

	prose_bold(out, style, true);
	prose_row(out, rows,
		  rows_is(rows, "kind", "library") ? "{suspect}. Library leak: {label}[ {id}]" :
						     "{suspect}. Leaking object: {label}[ {id}]");
	prose_bold(out, style, false);
	output_char(out, '\n');
	put_sentence(out, style, rows);
	prose_row(out, rows, "[  Held by: {via_field}\n]");
	prose_row(out, rows, "[  Leak fingerprint: {signature}\n]");
	output_format(out, "  Retained: %.2f %% of the heap (", rows_value(rows, "percent")->d);
	prose_row(out, rows,
		  has_value(count) && count->u > 1 ?
			  "{retained}) in {objects} objects held by the same references\n" :
			  "{retained})\n");
}

/* ---- the path ---- */

/*
 * Prints a step of a path from the root. The last step has no field, because it holds no further
 * object.
 */
static void put_step(struct output *out, const struct hdb_rows *rows)
{
	const struct hdb_value *holds = rows_value(rows, "via_field");
	const struct hdb_value *is_suspect = rows_value(rows, "is_suspect_reference");
	const bool is_last = !has_value(holds);
	const char *bar = is_last ? " " : prose_stroke(STROKE_BAR);

	if (rows_is(rows, "kind", "gap")) {
		output_format(out, "    %s  ... ", prose_stroke(STROKE_BAR));
		prose_row(out, rows, "{text}\n");
		return;
	}
	if (has_value(rows_value(rows, "root"))) {
		output_format(out, "    %s ", prose_stroke(STROKE_ROOT));
		prose_row(out, rows, "GC root: {root}\n");
	}
	output_format(out, "    %s ", prose_stroke(is_last ? STROKE_LAST : STROKE_STEP));
	prose_row(out, rows, "{label}[ {id}][, retained {retained}]\n");
	if (has_value(rows_value(rows, "short_text"))) {
		output_format(out, "    %s    ", bar);
		prose_row(out, rows, "{short_text}\n");
	}
	if (is_last)
		return;
	output_format(out, "    %s    %s ", bar, prose_stroke(STROKE_DOWN));
	prose_row(out, rows, "{via_field}\n");
	if (!has_value(is_suspect) || !is_suspect->u)
		return;
	output_format(out, "    %s      ", bar);
	for (size_t i = 0; i < holds->text_size; i++)
		output_char(out, '~');
	output_char(out, '\n');
}

/* ---- lists ---- */

/* Prints "     20.1 MiB", or blanks if unknown. */
static void put_size(struct output *out, const struct hdb_value *bytes)
{
	struct bytes text = { 0 };

	if (has_value(bytes)) {
		prose_add(&text, out, bytes);
		output_format(out, "  %10.*s", (int)text.size, text.data ? text.data : "");
		output_release(out, &text);
	}
}

/* Prints the headings for put_class. */
static void put_class_head(struct output *out, const struct hdb_rows *rows)
{
	if (has_value(rows_value(rows, "objects")))
		output_format(out, "    %11s  %9s  %10s%s  class\n", "objects", "% of heap",
			      "shallow",
			      has_value(rows_value(rows, "retained")) ? "    retained" : "");
}

/* Prints "   8,492  61.47 %  265.4 KiB   20.1 MiB  java.util.HashMap$Node". */
static void put_class(struct output *out, const struct hdb_rows *rows)
{
	const bool has_class = has_value(rows_value(rows, "class"));

	output_format(out, "    %11s  %7.2f %%", base_number(rows_value(rows, "objects")->u).text,
		      rows_value(rows, "percent")->d);
	put_size(out, rows_value(rows, "shallow"));
	put_size(out, rows_value(rows, "retained"));
	prose_row(out, rows, has_class ? "  {class}\n" : "  {label}\n");
}

static void put_object(struct output *out, const struct hdb_rows *rows)
{
	prose_row(out, rows, "    {label}[ {id}][, retained {retained}]");
	output_format(out, " (%.2f %%)\n", rows_value(rows, "percent")->d);
}

/* Prints a row of a list, with additional values below it. */
static void put_row(struct output *out, const struct render_style *style,
		    const struct answer *answer)
{
	const struct hdb_rows *rows = answer->rows;
	const struct hdb_value *text = rows_value(rows, "text");

	if (answer->sampled && answer->sampled->value.type != HDB_TYPE_NULL)
		text = &answer->sampled->value;
	/* omit the row that combines the remaining classes if it is 0.00 % of the heap */
	if (!has_value(rows_value(rows, "class")) && rows_value(rows, "percent")->d < 0.005)
		return;
	if (has_value(rows_value(rows, "objects")))
		put_class(out, rows);
	else if (has_value(rows_value(rows, "label")))
		put_object(out, rows);
	prose_wrap_value(out, style, (struct prose_place){ 6, 0 }, text);
}

/* Prints a frame, or a local variable, of the thread that holds a suspect. */
static void put_stack(struct output *out, const struct hdb_rows *rows)
{
	if (rows_is(rows, "kind", "frame"))
		prose_row(out, rows, "      {text}\n");
	else
		prose_row(out, rows, "        - local: {label}[ {id}][, retained {retained}]\n");
}

/* ---- the text ---- */

static void put_heap(struct answer *answer, struct output *out)
{
	const struct hdb_value *is_out = answer_fact(answer, "out_of_memory");

	prose_facts(out, answer, "Reachable heap: {heap_shallow}[ of at most {max_heap}]");
	output_string(out,
		      has_value(is_out) && is_out->u ? "; a thread ran out of memory\n" : "\n");
}

/* Target of the next query for a suspect or leak: its object, or the objects of a group. */
struct next {
	uint64_t id; /* 0 means a group */
	struct bytes command;
};

static void take_next(struct next *next, const struct hdb_rows *rows)
{
	const struct hdb_value *id = rows_value(rows, "id");

	next->id = has_value(id) ? id->u : 0;
	next->command.size = 0;
	if (!next->id)
		prose_add_command(&next->command, rows_value(rows, "action"),
				  rows_value(rows, "target"));
}

/* Prints the command once. */
static void put_next(struct output *out, struct next *next)
{
	const size_t width = out->fit;

	if (next->id)
		output_format(out,
			      "  Next: heapdb object 0x%" PRIx64 "   heapdb path 0x%" PRIx64 "\n",
			      next->id, next->id);
	else if (next->command.size) {
		/* a wrapped or shortened command could not be pasted */
		output_fit(out, 0);
		output_string(out, "  Next: ");
		output_bytes(out, next->command.data, next->command.size);
		output_char(out, '\n');
		output_fit(out, width);
	}
	next->id = next->command.size = 0;
}

/* Prints "Leaks found: 34; listed: 20" if some are not listed. */
static void put_left_out(struct answer *answer, struct output *out, uint64_t listed)
{
	const struct hdb_value *leaks = answer_fact(answer, "leaks");
	const struct hdb_value *held_by_other = answer_fact(answer, "held_by_others");

	if (has_value(leaks) && leaks->u > listed) {
		prose_facts(out, answer, "\nLeaks found: {leaks}");
		output_format(out, "; listed: %" PRIu64 "\n", listed);
	}
	if (has_value(held_by_other) && held_by_other->u)
		prose_facts(out, answer,
			    "\nLeaking objects held by another leaking object, not listed: "
			    "{held_by_others}\n");
}

/*
 * If a suspect with the same fingerprint and sentence was already printed in full, prints one line
 * and returns true. Otherwise, records the suspect in `shown`, with its number as the ID.
 */
static bool put_repeated(struct answer *answer, struct prose_groups *shown, struct output *out)
{
	const uint64_t no = rows_value(answer->rows, "suspect")->u;
	const struct hdb_value *same_as = rows_value(answer->rows, "same_as");
	struct prose_group *g =
		prose_groups_find(shown, prose_hash(has_value(same_as) ? same_as->u : no,
						    rows_value(answer->rows, "signature")));

	if (!g || g->count++ == 0) {
		if (g)
			g->id = no;
		return false;
	}
	output_format(out, "%" PRIu64 ". Like %" PRIu64 ": ", no, g->id);
	prose_row(out, answer->rows, "{label}[ {id}], retained {retained} ({percent} %)\n");
	return true;
}

/* Returns the total number of leaks and suspects in the answer. */
static uint64_t count_leaks(const struct answer *answer)
{
	static const char *const facts[] = { "leaks", "library_leaks", "suspects" };
	uint64_t count = 0;

	for (size_t i = 0; i < BASE_COUNT(facts); i++) {
		const struct hdb_value *fact = answer_fact(answer, facts[i]);

		count += has_value(fact) ? fact->u : 0;
	}
	return count;
}

static void put_end(struct answer *answer, struct output *out, uint64_t listed)
{
	put_left_out(answer, out, listed);
	if (answer->row_count == 0)
		prose_facts(out, answer,
			    "No leak suspects: no object or class retains more than "
			    "{threshold}.\n");
}

int prose_leaks(struct answer *answer, const struct render_style *style, struct output *out)
{
	const struct hdb_rows *rows = answer->rows;
	const struct list *open = NULL;
	bool in_path = false, is_cut = false;
	struct next next = { .id = 0 };
	struct prose_groups shown = { .columns = NULL };
	uint64_t listed = 0, parts = 0;
	bool is_skipped = false;
	int rc;

	put_heap(answer, out);
	while ((rc = answer_next(answer, out)) == HDB_OK) {
		const bool is_suspect = rows_is(rows, "kind", "suspect");
		const struct list *list = list_of(rows);

		if (is_suspect || rows_is(rows, "kind", "leaking") ||
		    rows_is(rows, "kind", "library")) {
			put_next(out, &next);
			if (style->parts && parts++ == style->parts) {
				prose_parts_footer(style, out, count_leaks(answer), "leaks");
				rc = HDB_END;
				is_cut = true;
				break;
			}
			output_char(out, '\n');
			is_skipped = is_suspect && put_repeated(answer, &shown, out);
			if (is_skipped)
				continue;
			take_next(&next, rows);
			if (is_suspect)
				put_suspect(out, style, rows);
			else
				put_leaking(out, style, rows);
			notes_of_row(answer, style, 2, out);
			listed += !is_suspect;
		} else if (is_skipped && has_value(rows_value(rows, "suspect"))) {
			continue;
		} else if (rows_is(rows, "kind", "explanation") ||
			   rows_is(rows, "kind", "advice")) {
			put_explanation(out, style, rows);
		} else if (is_step(rows)) {
			output_string(out, in_path ? "" : "\n  Path from a GC root:\n");
			put_step(out, rows);
		} else if (list) {
			if (list != open && (rows_is(rows, "kind", "common") ||
					     rows_is(rows, "kind", "unreachable")))
				put_next(out, &next);
			if (list != open) {
				output_format(out, "\n  %s:\n", list->heading);
				put_class_head(out, rows);
			}
			put_row(out, style, answer);
		} else {
			put_stack(out, rows);
		}
		in_path = is_step(rows);
		open = list;
	}
	if (rc == HDB_END && !is_cut)
		put_next(out, &next);
	bytes_release(&next.command);
	prose_groups_release(&shown, out);
	if (rc != HDB_END || is_cut)
		return rc == HDB_END ? HDB_OK : rc;
	put_end(answer, out, listed);
	return prose_footer(answer, style, out);
}
