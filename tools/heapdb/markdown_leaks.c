/*
 * heapdb/markdown_leaks.c - opening lines of the report: the main suspect, its share and the path
 * to it, from the rows of leaks.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"

/*
 * Minimum share of the culprit. A smaller suspect is only called the largest, because every heap
 * has a largest object.
 */
#define HOLDER_PERCENT 50.0
#define HOLDER_BYTES (4u << 20)
/*
 * Minimum fullness of the heap for which a large suspect is called the culprit. In a heap with free
 * space, large data may be intended.
 */
#define CULPRIT_FULL_PERCENT 70.0
/* Maximum number of classes listed as held by a suspect, and the minimum share of each. */
#define HELD_SHOWN 3u
#define HELD_PERCENT 5.0

/*
 * Prints a step of a path: "class Cache `static entries`", with "~~~" below a reference that may
 * cause the leak.
 */
static void put_step(struct output *out, const struct hdb_rows *rows, bool is_first)
{
	const struct hdb_value *label = rows_value(rows, "label");
	const struct hdb_value *holds = rows_value(rows, "via_field");
	const struct hdb_value *is_suspect = rows_value(rows, "is_suspect_reference");
	struct bytes text = { 0 };

	if (!is_first)
		output_string(out, " -> ");
	if (rows_is(rows, "kind", "gap")) {
		output_string(out, "...");
		return;
	}
	bytes_add(&text, label->text, label->text_size);
	if (holds->type == HDB_TYPE_TEXT) {
		bytes_add(&text, " . ", 3);
		bytes_add(&text, holds->text, holds->text_size);
	}
	if (has_value(is_suspect) && is_suspect->u)
		bytes_add(&text, " ~~~", 4);
	markdown_code(out, text.data ? text.data : "", text.size);
	output_release(out, &text);
}

/* The fullness of the heap, from the facts. */
struct fullness {
	uint64_t bytes, limit; /* limit 0 means unknown */
	bool is_out_of_memory;
};

static struct fullness fullness_of(const struct answer *answer)
{
	const struct hdb_value *bytes = answer_fact(answer, "heap_shallow");
	const struct hdb_value *limit = answer_fact(answer, "max_heap");
	const struct hdb_value *is_out = answer_fact(answer, "out_of_memory");

	return (struct fullness){ bytes ? bytes->u : 0, limit ? limit->u : 0, is_out && is_out->u };
}

static double full_percent(const struct fullness *full)
{
	return full->limit ? 100 * (double)full->bytes / (double)full->limit : 0;
}

static const char *suspect_word(const struct fullness *full, const struct hdb_rows *rows)
{
	if (rows_value(rows, "percent")->d < HOLDER_PERCENT ||
	    rows_value(rows, "retained")->u < HOLDER_BYTES)
		return "Largest suspect";
	return full->is_out_of_memory || full_percent(full) >= CULPRIT_FULL_PERCENT ? "Culprit" :
										      "Holds most";
}

/* Prints "**Culprit: A.b holds 12,000 C (1.6 KiB each), 80.1 % of the heap.**" */
static void put_suspect_line(struct output *out, const struct fullness *full,
			     const struct hdb_rows *rows)
{
	const struct hdb_value *text = rows_value(rows, "text");

	output_format(out, "**%s: ", suspect_word(full, rows));
	markdown_text(out, text->text, text->text_size);
	output_string(out, "**\n");
}

/*
 * Prints an item of "It holds: 40,000 `com.acme.Order` (80.1 %), ...". If the held elements are
 * unknown, lists all retained objects.
 */
static void put_held(struct output *out, const struct hdb_rows *rows, bool is_first)
{
	const struct hdb_value *name = rows_value(rows, "class");
	const bool is_all = rows_is(rows, "kind", "content");

	output_string(out, !is_first ? ", " : is_all ? "\nRetained objects: " : "\nIt holds: ");
	markdown_value(out, rows_value(rows, "objects"));
	output_char(out, ' ');
	markdown_code(out, name->text, name->text_size);
	output_format(out, " (%.2f %%)", rows_value(rows, "percent")->d);
}

/* Prints "Reachable: 113.0 MiB of at most 1.0 GiB (11 %)." */
static void put_fullness(struct output *out, const struct fullness *full)
{
	output_format(out, "\nReachable: %s", base_size(full->bytes).text);
	if (full->limit)
		output_format(out, " of at most %s (%.2f %%)", base_size(full->limit).text,
			      full_percent(full));
	output_string(out, full->is_out_of_memory ? "; a thread ran out of memory.\n" : ".\n");
}

static bool is_leaking(const struct hdb_rows *rows)
{
	return rows_is(rows, "kind", "leaking") || rows_is(rows, "kind", "library");
}

/*
 * Prints "**Leaking object: `com.acme.MainActivity`, kept by `com.acme.Bus.listeners` - mDestroyed
 * is true**"
 */
static void put_leaking_line(struct output *out, const struct hdb_rows *rows)
{
	const struct hdb_value *label = rows_value(rows, "label");
	const struct hdb_value *text = rows_value(rows, "text");
	const struct hdb_value *holds = rows_value(rows, "via_field");

	output_string(out, "**Leaking object: ");
	markdown_code(out, label->text, label->text_size);
	if (holds->type == HDB_TYPE_TEXT) {
		output_string(out, ", kept by ");
		markdown_code(out, holds->text, holds->text_size);
	}
	output_string(out, " - ");
	markdown_text(out, text->text, text->text_size);
	output_string(out, "**\n");
}

/*
 * A part of the opening lines. The parts are collected at the same time and printed one after
 * another.
 */
struct part_of_head {
	struct output out;
	struct bytes text;
	bool has_path, is_open; /* whether the path has begun, and whether the current line is
				 * incomplete */
};

/* The parts of the opening lines. In the rows, the suspect comes first. */
struct head {
	struct part_of_head suspect, leaking;
	uint64_t suspect_no, leaking_no; /* numbers of suspect and leak, or 0 if none */
	bool is_culprit;                 /* whether the suspect fills the heap */
	bool is_library;                 /* whether the leak is a known fault of a library */
	unsigned held;                   /* classes listed as held by the suspect */
	/* whether the elements held at the end of the path are known */
	bool has_elements;
};

static void end_line(struct part_of_head *part)
{
	if (part->is_open)
		output_char(&part->out, '\n');
	part->is_open = false;
}

static void put_head_step(struct part_of_head *part, const struct hdb_rows *rows)
{
	output_string(&part->out, part->has_path ? "" : "\nPath: ");
	put_step(&part->out, rows, !part->has_path);
	part->has_path = part->is_open = true;
}

/*
 * Returns whether a row lists the objects that the suspect holds: elements or, if these are
 * unknown, all retained objects.
 */
static bool is_held(struct head *head, const struct hdb_rows *rows)
{
	/* skip the row that sums all other classes */
	if (rows_value(rows, "class")->type == HDB_TYPE_NULL)
		return false;
	if (rows_is(rows, "kind", "element"))
		return head->has_elements = true;
	return rows_is(rows, "kind", "content") && !head->has_elements;
}

/*
 * Adds a row to the opening lines, which show only the first suspect and the first leaking object,
 * with their steps and contents.
 */
static void add_to_head(struct head *head, const struct fullness *full, const struct hdb_rows *rows)
{
	const uint64_t no = rows_value(rows, "suspect")->u;
	const bool is_step = rows_is(rows, "kind", "path") || rows_is(rows, "kind", "gap") ||
			     rows_is(rows, "kind", "trace");

	if (rows_is(rows, "kind", "suspect") && !head->suspect_no) {
		head->suspect_no = no;
		head->is_culprit = strcmp(suspect_word(full, rows), "Culprit") == 0;
		put_suspect_line(&head->suspect.out, full, rows);
	} else if (is_leaking(rows) && !head->leaking_no) {
		head->leaking_no = no;
		head->is_library = rows_is(rows, "kind", "library");
		put_leaking_line(&head->leaking.out, rows);
	} else if (is_step && no && no == head->suspect_no) {
		put_head_step(&head->suspect, rows);
	} else if (is_step && no && no == head->leaking_no) {
		put_head_step(&head->leaking, rows);
	} else if (is_held(head, rows) && no && no == head->suspect_no && head->held < HELD_SHOWN &&
		   rows_value(rows, "percent")->d >= HELD_PERCENT) {
		if (!head->held)
			end_line(&head->suspect);
		put_held(&head->suspect.out, rows, !head->held++);
		head->suspect.is_open = true;
	}
}

/*
 * Prints both parts. A leaking object is certainly a fault, but a suspect may be intended, so the
 * suspect comes first only if it fills the heap, or if the leak is a known library leak.
 */
static void put_head(struct output *out, struct head *head)
{
	const bool is_leaking_first = head->leaking_no && !head->is_culprit && !head->is_library;
	struct part_of_head *const order[] = {
		is_leaking_first ? &head->leaking : &head->suspect,
		is_leaking_first ? &head->suspect : &head->leaking,
	};
	bool is_first = true;

	for (size_t i = 0; i < 2; i++) {
		struct part_of_head *part = order[i];

		end_line(part);
		output_collect_end(&part->out);
		if (!part->text.size)
			continue;
		output_string(out, is_first ? "" : "\n");
		is_first = false;
		output_bytes(out, part->text.data ? part->text.data : "", part->text.size);
	}
}

int markdown_headline(struct answer *answer, struct output *out)
{
	const struct fullness full = fullness_of(answer);
	BASE_FREED struct head *head = NULL;
	int rc;

	TRY(BASE_ALLOC(head, 1, "the first lines", answer->err));
	output_collect(&head->suspect.out, &head->suspect.text);
	output_collect(&head->leaking.out, &head->leaking.text);
	while ((rc = answer_next(answer, out)) == HDB_OK)
		add_to_head(head, &full, answer->rows);
	if (rc == HDB_END && !head->suspect_no && !head->leaking_no)
		output_string(out, "**No suspects: no object or class retains a large part of the "
				   "heap.**\n");
	else if (rc == HDB_END)
		put_head(out, head);
	if (rc == HDB_END)
		put_fullness(out, &full);
	output_release(out, &head->suspect.text);
	output_release(out, &head->leaking.text);
	return rc == HDB_END ? HDB_OK : rc;
}
