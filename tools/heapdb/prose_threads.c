/*
 * heapdb/prose_threads.c - threads: a table of them by retained size, those with the same stack in
 * one row; or, of threads that are asked for, their stacks in the manner of a thread dump, with
 * what each local variable retains.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"

#include <stdlib.h>
#include <string.h>

/* ---- stacks ---- */

/* ", daemon" and the like: a word where the column is true. */
static void put_word(struct output *out, const struct hdb_rows *rows, const char *column,
		     const char *word)
{
	const struct hdb_value *value = rows_value(rows, column);

	if (has_value(value) && value->u)
		output_format(out, " %s", word);
}

/* " prio=5": where the dump tells. */
static void put_number(struct output *out, const struct hdb_rows *rows, const char *column,
		       const char *name)
{
	const struct hdb_value *value = rows_value(rows, column);

	if (!has_value(value))
		return;
	output_format(out, " %s=", name);
	prose_value(out, value);
}

static void put_thread(struct output *out, const struct render_style *style,
		       const struct hdb_rows *rows)
{
	const struct hdb_value *state = rows_value(rows, "state");
	const struct hdb_value *locals = rows_value(rows, "locals");

	prose_bold(out, style, true);
	output_char(out, '"');
	prose_value(out, rows_value(rows, "thread"));
	output_char(out, '"');
	prose_bold(out, style, false);
	put_number(out, rows, "tid", "tid");
	put_word(out, rows, "virtual", "virtual");
	put_word(out, rows, "daemon", "daemon");
	put_number(out, rows, "priority", "prio");
	put_number(out, rows, "carrier", "carrier");
	put_number(out, rows, "carries", "carries");
	output_char(out, ' ');
	prose_object_name(out, rows_value(rows, "text"), rows_value(rows, "id"));
	output_string(out, "\n  ");
	if (has_value(state)) {
		prose_value(out, state);
		output_string(out, ", ");
	}
	output_string(out, "shallow ");
	prose_value(out, rows_value(rows, "shallow"));
	prose_retained(out, rows_value(rows, "retained"));
	if (has_value(locals) && locals->u) {
		output_string(out, ", local variables: ");
		prose_value(out, locals);
	}
	output_char(out, '\n');
}

static void put_frame(struct output *out, const struct hdb_rows *rows)
{
	output_string(out, "    at ");
	prose_value(out, rows_value(rows, "text"));
	output_char(out, '\n');
}

/* A local variable, or an object that holds frames of a virtual thread. */
static void put_held(struct output *out, const struct hdb_rows *rows)
{
	const struct hdb_value *stack_bytes = rows_value(rows, "stack_bytes");

	output_string(out, rows_is(rows, "kind", "chunk") ? "    - " : "      - ");
	prose_value(out, rows_value(rows, "kind"));
	output_string(out, ": ");
	prose_object_name(out, rows_value(rows, "text"), rows_value(rows, "id"));
	prose_retained(out, rows_value(rows, "retained"));
	if (has_value(stack_bytes)) {
		output_string(out, ", frames ");
		prose_value(out, stack_bytes);
	}
	output_char(out, '\n');
}

/* Whether a local variable of the thread refers to the object already; notes that one does. */
static bool is_repeated(struct bytes *seen, const struct hdb_value *id)
{
	uint64_t have;

	if (!has_value(id))
		return false;
	for (size_t at = 0; at + sizeof(have) <= seen->size; at += sizeof(have)) {
		memcpy(&have, seen->data + at, sizeof(have));
		if (have == id->u)
			return true;
	}
	bytes_add(seen, (const char *)&id->u, sizeof(id->u));
	return false;
}

static int put_stacks(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct bytes seen = { 0 };
	uint64_t threads = 0;
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK) {
		if (rows_is(answer->rows, "kind", "frame")) {
			put_frame(out, answer->rows);
			continue;
		}
		if (has_value(rows_value(answer->rows, "kind")) &&
		    !rows_is(answer->rows, "kind", "thread")) {
			if (!is_repeated(&seen, rows_value(answer->rows, "id")))
				put_held(out, answer->rows);
			continue;
		}
		if (style->parts && threads++ == style->parts) {
			prose_parts_footer(style, out, answer_fact(answer, "threads")->u,
					   "threads");
			break;
		}
		output_string(out, answer->row_count > 1 ? "\n" : "");
		put_thread(out, style, answer->rows);
		seen.size = 0;
	}
	output_release(out, &seen);
	if (rc < 0 || rc == HDB_OK)
		return rc;
	if (answer->row_count == 0)
		output_string(out, "no threads\n");
	return prose_footer(answer, style, out);
}

/* ---- a table of threads ---- */

enum { RETAINED, NAME, FRAME, HOLDS, STATE, ID, COLUMNS };

static const struct hdb_column columns[COLUMNS] = {
	[RETAINED] = { "retained", HDB_TYPE_BYTES, NULL, NULL },
	[NAME] = { "thread", HDB_TYPE_TEXT, NULL, NULL },
	[FRAME] = { "frame", HDB_TYPE_TEXT, NULL, NULL },
	[HOLDS] = { "holds", HDB_TYPE_TEXT, NULL, NULL },
	[STATE] = { "state", HDB_TYPE_TEXT, NULL, NULL },
	[ID] = { "id", HDB_TYPE_ID, NULL, NULL },
};

/* Threads with the same stack in the same state. */
struct group {
	uint64_t key;
	uint64_t threads, retained, id;
	struct bytes name;  /* what names of several begin with */
	struct bytes state; /* empty: the dump does not tell */
	struct bytes frame; /* the innermost of the application, or else of all; empty: none */
	struct bytes holds; /* the local variable that retains most, and how much; empty: none */
	uint64_t held;      /* bytes that it retains */
	bool is_own;        /* the frame is the application's */
	bool has_retained;
};

struct groups {
	struct group *items; /* owned */
	size_t count, room;
};

/* What frames of the platform begin with: an application's are more telling. */
static const char *const platform[] = {
	"java.",  "javax.",   "jdk.",      "sun.",    "com.sun.", "kotlin.",
	"scala.", "android.", "androidx.", "dalvik.", "libcore.", "com.android.internal.",
};

static bool is_of_platform(const struct hdb_value *frame)
{
	for (size_t i = 0; i < sizeof(platform) / sizeof(platform[0]); i++) {
		const size_t size = strlen(platform[i]);

		if (frame->text_size >= size && memcmp(frame->text, platform[i], size) == 0)
			return true;
	}
	return false;
}

/* FNV-1a: goes on with the text. */
static uint64_t hash(uint64_t key, const struct hdb_value *text)
{
	for (size_t i = 0; has_value(text) && i < text->text_size; i++)
		key = (key ^ (unsigned char)text->text[i]) * 0x100000001b3;
	return (key ^ 0xff) * 0x100000001b3;
}

static void set_text(struct bytes *to, const struct hdb_value *value)
{
	to->size = 0;
	if (has_value(value))
		bytes_add(to, value->text, value->text_size);
}

/* "app.Cache.load:12" of "app.Cache.load(Cache.java:12)". */
static void set_frame(struct bytes *to, const struct hdb_value *text)
{
	const char *file = memchr(text->text, '(', text->text_size);
	const char *line = memrchr(text->text, ':', text->text_size);

	set_text(to, text);
	if (!file || file == text->text || text->text[text->text_size - 1] != ')')
		return;
	to->size = (size_t)(file - text->text);
	if (line && line > file)
		bytes_add(to, line, (size_t)(text->text + text->text_size - line) - 1);
}

static void start_thread(struct group *g, const struct hdb_rows *rows)
{
	const struct hdb_value *retained = rows_value(rows, "retained");
	const struct hdb_value *id = rows_value(rows, "id");

	g->key = hash(0xcbf29ce484222325, rows_value(rows, "state"));
	g->threads = 1;
	g->has_retained = has_value(retained);
	g->retained = g->has_retained ? retained->u : 0;
	g->id = has_value(id) ? id->u : 0;
	g->held = g->frame.size = g->holds.size = 0;
	g->is_own = false;
	set_text(&g->name, rows_value(rows, "thread"));
	set_text(&g->state, rows_value(rows, "state"));
}

/* A frame of the thread, or what one holds. */
static void add_to_thread(struct group *g, const struct output *out, const struct hdb_rows *rows)
{
	const struct hdb_value *text = rows_value(rows, "text");
	const struct hdb_value *retained = rows_value(rows, "retained");

	if (rows_is(rows, "kind", "frame")) {
		g->key = hash(g->key, text);
		if (g->frame.size == 0 || (!g->is_own && !is_of_platform(text))) {
			set_frame(&g->frame, text);
			g->is_own = !is_of_platform(text);
		}
	} else if (has_value(retained) && retained->u > g->held &&
		   rows_value(rows, "id")->u != g->id) {
		g->holds.size = 0;
		prose_add(&g->holds, out, retained);
		bytes_add(&g->holds, " ", 1);
		bytes_add(&g->holds, text->text, has_value(text) ? text->text_size : 0);
		g->held = retained->u;
	}
}

/* Leaves what both names begin with. */
static void join_names(struct bytes *name, const struct bytes *other)
{
	size_t n = 0;

	while (n < name->size && n < other->size && name->data[n] == other->data[n])
		n++;
	while (n > 0 && n < name->size && (name->data[n] & 0xc0) == 0x80)
		n--;
	name->size = n;
}

static void swap(struct bytes *a, struct bytes *b)
{
	const struct bytes kept = *a;

	*a = *b;
	*b = kept;
}

static void release_group(struct group *g, struct output *out)
{
	output_release(out, &g->name);
	output_release(out, &g->state);
	output_release(out, &g->frame);
	output_release(out, &g->holds);
}

/* Adds a thread to those with its stack, or as a group of its own: false where memory is short. */
static bool add_thread(struct groups *all, struct group *thread)
{
	/* A thread without frames is like no other. */
	for (size_t i = 0; i < all->count && thread->frame.size > 0; i++) {
		struct group *g = &all->items[i];

		if (g->key != thread->key || g->frame.size == 0)
			continue;
		g->threads++;
		g->retained += thread->retained;
		join_names(&g->name, &thread->name);
		if (thread->held > g->held) {
			swap(&g->holds, &thread->holds);
			g->held = thread->held;
		}
		return true;
	}
	if (all->count == all->room) {
		const size_t room = all->room ? 2 * all->room : 64;
		struct group *items = realloc(all->items, room * sizeof(*items));

		if (!items)
			return false;
		all->items = items;
		all->room = room;
	}
	all->items[all->count++] = *thread;
	*thread = (struct group){ 0 };
	return true;
}

static int collect(struct answer *answer, struct groups *all, struct output *out)
{
	struct group thread = { 0 };
	bool is_good = true;
	int rc;

	while (is_good && (rc = answer_next(answer, out)) == HDB_OK) {
		const struct hdb_value *kind = rows_value(answer->rows, "kind");

		if (has_value(kind) && !rows_is(answer->rows, "kind", "thread")) {
			add_to_thread(&thread, out, answer->rows);
			continue;
		}
		is_good = thread.threads == 0 || add_thread(all, &thread);
		start_thread(&thread, answer->rows);
	}
	if (is_good && thread.threads > 0)
		is_good = add_thread(all, &thread);
	release_group(&thread, out);
	if (!is_good)
		return cli_fail(answer->err, HDB_ENOMEM, "no memory for threads");
	return rc == HDB_END ? HDB_OK : rc;
}

static int compare(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	if (x->threads != y->threads)
		return x->threads > y->threads ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void set_row(const void *ctx, size_t no, struct hdb_value *row)
{
	const struct group *g = &((const struct groups *)ctx)->items[no];

	row[NAME] = prose_text(&g->name);
	row[STATE] = prose_text(&g->state);
	row[RETAINED] =
		(struct hdb_value){ .type = g->has_retained ? HDB_TYPE_BYTES : HDB_TYPE_NULL,
				    .u = g->retained };
	row[FRAME] = prose_text(&g->frame);
	row[HOLDS] = prose_text(&g->holds);
	row[ID] =
		(struct hdb_value){ .type = g->id && g->threads == 1 ? HDB_TYPE_ID : HDB_TYPE_NULL,
				    .u = g->id };
}

/* "http-exec-* (10)": how many have such a name. */
static void count_names(struct groups *all)
{
	char number[OUTPUT_NUMBER_SIZE];

	for (size_t i = 0; i < all->count; i++) {
		struct group *g = &all->items[i];

		if (g->threads == 1)
			continue;
		bytes_add(&g->name, "* (", 3);
		bytes_add(&g->name, number, format_thousands(number, g->threads, false));
		bytes_add(&g->name, ")", 1);
	}
}

static int put_table(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct groups all = { 0 };
	int rc = collect(answer, &all, out);

	if (rc == HDB_OK && all.count > 0)
		qsort(all.items, all.count, sizeof(all.items[0]), compare);
	count_names(&all);
	if (rc == HDB_OK)
		rc = prose_table(answer,
				 &(struct prose_rows){ columns, COLUMNS, all.count, &all, set_row },
				 style, out);
	if (rc == HDB_OK && all.count > 0)
		output_string(out, "threads NAME, or threads '*PATTERN*', shows stacks with local "
				   "variables; --stacks: all\n");
	for (size_t i = 0; i < all.count; i++)
		release_group(&all.items[i], out);
	free(all.items);
	return rc;
}

int prose_threads(struct answer *answer, const struct render_style *style, struct output *out)
{
	return style->is_whole || (answer->args && answer->args->target_count > 0) ?
		       put_stacks(answer, style, out) :
		       put_table(answer, style, out);
}
