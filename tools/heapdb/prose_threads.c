/*
 * heapdb/prose_threads.c - prints threads: as a table by retained size with threads of the same
 * kind in one row, or, for selected threads, their stacks as in a thread dump, with the retained
 * size of each local variable.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"
#include "heapdb/prose_groups.h"

#include <ctype.h>

/* ---- stacks ---- */

/* Prints a word such as ", daemon" if the column is true. */
static void put_word(struct output *out, const struct hdb_rows *rows, const char *column,
		     const char *word)
{
	const struct hdb_value *value = rows_value(rows, column);

	if (has_value(value) && value->u)
		output_format(out, " %s", word);
}

static void put_thread(struct output *out, const struct render_style *style,
		       const struct hdb_rows *rows)
{
	const struct hdb_value *locals = rows_value(rows, "locals");

	prose_bold(out, style, true);
	prose_row(out, rows, "\"{thread}\"");
	prose_bold(out, style, false);
	prose_row(out, rows, "[ tid={tid}]");
	put_word(out, rows, "virtual", "virtual");
	put_word(out, rows, "daemon", "daemon");
	prose_row(out, rows,
		  "[ prio={priority}][ carrier={carrier}][ carries={carries}] {text}[ {id}]\n"
		  "  [{state}, ]shallow {shallow}[, retained {retained}]");
	prose_row(out, rows,
		  has_value(locals) && locals->u ? ", local variables: {locals}\n" : "\n");
	if (has_value(rows_value(rows, "waits_for")))
		prose_row(
			out, rows,
			"  waits for {waits_for_class} {waits_for}[, held by \"{lock_owner}\"]\n");
	else if (has_value(rows_value(rows, "lock_owner")))
		prose_row(out, rows, "  waits for a monitor held by \"{lock_owner}\"\n");
}

/* Prints a local variable, or an object that holds frames of a virtual thread. */
static void put_held(struct output *out, const struct hdb_rows *rows)
{
	output_string(out, rows_is(rows, "kind", "chunk") ? "    - " : "      - ");
	prose_row(out, rows,
		  "{kind}: {text}[ {id}][, retained {retained}][, frames {stack_bytes}]\n");
}

/* Returns whether a local variable of the thread already referred to the object. Records it. */
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
	bytes_add(seen, &id->u, sizeof(id->u));
	return false;
}

static int put_stacks(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct bytes seen = { 0 };
	uint64_t threads = 0;
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK) {
		if (rows_is(answer->rows, "kind", "frame")) {
			prose_row(out, answer->rows, "    at {text}\n");
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

enum { NAME, FRAME, HOLDS, STATE };

static const struct prose_column columns[] = {
	{ { "retained", HDB_TYPE_BYTES, NULL, NULL }, PROSE_RETAINED },
	{ { "thread", HDB_TYPE_TEXT, NULL, NULL }, NAME },
	{ { "state", HDB_TYPE_TEXT, NULL, NULL }, STATE },
	{ { "frame", HDB_TYPE_TEXT, NULL, NULL }, FRAME },
	{ { "largest local", HDB_TYPE_TEXT, NULL, NULL }, HOLDS },
	{ { "id", HDB_TYPE_ID, NULL, NULL }, PROSE_ID },
};

/* Maximum width of a thread's name, unless --wide is given. */
#define NAME_WIDTH 40u

/*
 * A thread while its rows are read. Threads are later grouped by the pattern of their name, frame
 * and state.
 */
struct thread {
	/* `shallow` is the retained size of the local variable in text[HOLDS] */
	struct prose_group g;
	bool is_own; /* whether the frame belongs to the application */
};

/* Prefixes of platform frames. Application frames are more informative. */
static const char *const platform[] = {
	"java.",  "javax.",   "jdk.",      "sun.",    "com.sun.", "kotlin.",
	"scala.", "android.", "androidx.", "dalvik.", "libcore.", "com.android.internal.",
};

static bool is_of_platform(const struct hdb_value *frame)
{
	for (size_t i = 0; i < BASE_COUNT(platform); i++) {
		const size_t size = strlen(platform[i]);

		if (frame->text_size >= size && memcmp(frame->text, platform[i], size) == 0)
			return true;
	}
	return false;
}

/* Converts "app.Cache.load(Cache.java:12)" to "app.Cache.load:12". */
static void set_frame(struct bytes *to, const struct hdb_value *text)
{
	const char *file = memchr(text->text, '(', text->text_size);
	const char *line = memrchr(text->text, ':', text->text_size);

	prose_set(to, text);
	if (!file || file == text->text || text->text[text->text_size - 1] != ')')
		return;
	to->size = (size_t)(file - text->text);
	if (line && line > file)
		bytes_add(to, line, (size_t)(text->text + text->text_size - line) - 1);
}

/*
 * Writes the state of a thread, and what it waits for: "WAITING on ReentrantLock of main". A lock
 * of the JDK is named after its outer class. Conditions are omitted, because they have neither an
 * owner nor a name.
 */
static void set_state(struct bytes *to, const struct hdb_rows *rows)
{
	const struct hdb_value *name = rows_value(rows, "waits_for_class");
	const struct hdb_value *owner = rows_value(rows, "lock_owner");

	prose_set(to, rows_value(rows, "state"));
	if (has_value(name) && !memmem(name->text, name->text_size, "$ConditionObject", 16)) {
		const char *dot = memrchr(name->text, '.', name->text_size);
		const char *start = dot ? dot + 1 : name->text, *end = name->text + name->text_size;
		const char *inner = memchr(start, '$', (size_t)(end - start));

		if (inner && memmem(inner, (size_t)(end - inner), "Sync", 4))
			end = inner;
		bytes_format(to, " on %.*s", (int)(end - start), start);
	} else if (has_value(owner)) {
		bytes_format(to, " on a monitor");
	}
	if (has_value(owner))
		bytes_format(to, " of %.*s", (int)owner->text_size, owner->text);
}

static void start_thread(struct thread *t, const struct hdb_rows *rows)
{
	const struct hdb_value *retained = rows_value(rows, "retained");
	const struct hdb_value *id = rows_value(rows, "id");

	t->g.count = 1;
	t->g.has_retained = has_value(retained);
	t->g.retained = t->g.has_retained ? retained->u : 0;
	t->g.id = has_value(id) ? id->u : 0;
	t->g.shallow = t->g.text[FRAME].size = t->g.text[HOLDS].size = 0;
	t->is_own = false;
	prose_set(&t->g.text[NAME], rows_value(rows, "thread"));
	set_state(&t->g.text[STATE], rows);
}

/* Adds a frame of the thread, or an object that a frame holds. */
static void add_to_thread(struct thread *t, const struct output *out, const struct hdb_rows *rows)
{
	const struct hdb_value *text = rows_value(rows, "text");
	const struct hdb_value *retained = rows_value(rows, "retained");

	if (rows_is(rows, "kind", "frame")) {
		if (t->g.text[FRAME].size == 0 || (!t->is_own && !is_of_platform(text))) {
			set_frame(&t->g.text[FRAME], text);
			t->is_own = !is_of_platform(text);
		}
	} else if (has_value(retained) && retained->u > t->g.shallow &&
		   rows_value(rows, "id")->u != t->g.id) {
		t->g.text[HOLDS].size = 0;
		prose_add(&t->g.text[HOLDS], out, retained);
		bytes_add(&t->g.text[HOLDS], " ", 1);
		bytes_add(&t->g.text[HOLDS], text->text, has_value(text) ? text->text_size : 0);
		t->g.shallow = retained->u;
	}
}

/* Appends a name in which each number is replaced by an asterisk, such as "pool-*-thread-*". */
static void add_pattern(struct bytes *to, const struct bytes *name)
{
	for (size_t i = 0; i < name->size; i++) {
		if (!isdigit((unsigned char)name->data[i]))
			bytes_add(to, name->data + i, 1);
		else if (i == 0 || !isdigit((unsigned char)name->data[i - 1]))
			bytes_add(to, "*", 1);
	}
}

static void swap(struct bytes *a, struct bytes *b)
{
	const struct bytes kept = *a;

	*a = *b;
	*b = kept;
}

/* Returns the key of a thread: a hash of its state, its frame and the pattern of its name. */
static uint64_t key_of(const struct prose_group *thread)
{
	static const unsigned texts[] = { STATE, FRAME };
	struct bytes pattern = { 0 };
	struct hdb_value value = { .type = HDB_TYPE_TEXT };
	uint64_t key = 0;

	for (size_t i = 0; i < BASE_COUNT(texts); i++) {
		value.text = thread->text[texts[i]].data;
		value.text_size = thread->text[texts[i]].size;
		key = prose_hash(key, &value);
	}
	add_pattern(&pattern, &thread->text[NAME]);
	value.text = pattern.data;
	value.text_size = pattern.size;
	key = prose_hash(key, &value);
	bytes_release(&pattern);
	return key;
}

/* Adds a thread to its group. Returns false if memory is exhausted. */
static bool add_thread(struct prose_groups *all, struct prose_group *thread)
{
	struct prose_group *g;

	thread->key = key_of(thread);
	if (!(g = prose_groups_find(all, thread->key)))
		return false;
	if (g->count == 0) {
		*g = *thread;
		*thread = (struct prose_group){ 0 };
		return true;
	}
	g->count++;
	g->retained += thread->retained;
	if (thread->shallow > g->shallow) {
		swap(&g->text[HOLDS], &thread->text[HOLDS]);
		g->shallow = thread->shallow;
	}
	return true;
}

static int collect(struct answer *answer, struct prose_groups *all, struct output *out)
{
	struct thread thread = { 0 };
	bool is_good = true;
	int rc = HDB_OK;

	while (is_good && (rc = answer_next(answer, out)) == HDB_OK) {
		const struct hdb_value *kind = rows_value(answer->rows, "kind");

		if (has_value(kind) && !rows_is(answer->rows, "kind", "thread")) {
			add_to_thread(&thread, out, answer->rows);
			continue;
		}
		is_good = thread.g.count == 0 || add_thread(all, &thread.g);
		start_thread(&thread, answer->rows);
	}
	if (is_good && thread.g.count > 0)
		is_good = add_thread(all, &thread.g);
	for (size_t i = 0; i < PROSE_TEXTS; i++)
		output_release(out, &thread.g.text[i]);
	if (!is_good)
		return hdb_fail(answer->err, HDB_ENOMEM, "cannot allocate memory for threads");
	return rc == HDB_END ? HDB_OK : rc;
}

/*
 * Renames groups to "http-exec-* (10)": the pattern of the names and the number of threads.
 * Truncates long names, so that the frame fits next to them.
 */
static void name_groups(struct prose_groups *all, const struct render_style *style,
			struct output *out)
{
	for (size_t i = 0; i < all->count; i++) {
		struct prose_group *g = &all->items[i];
		struct bytes name = { 0 };

		if (g->count > 1)
			add_pattern(&name, &g->text[NAME]);
		else
			swap(&name, &g->text[NAME]);
		if (name.size > NAME_WIDTH && !style->is_wide) {
			name.size = NAME_WIDTH;
			while ((name.data[name.size] & 0xc0) == 0x80)
				name.size--;
			bytes_format(&name, "...");
			out->was_shortened = true;
		}
		if (g->count > 1)
			bytes_format(&name, "%s(%s)", name.size ? " " : "no name ",
				     base_number(g->count).text);
		swap(&name, &g->text[NAME]);
		bytes_release(&name);
	}
}

static int put_table(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct prose_groups all = { .columns = columns, .column_count = BASE_COUNT(columns) };
	int rc = collect(answer, &all, out);

	if (rc == HDB_OK) {
		name_groups(&all, style, out);
		rc = prose_groups_table(answer, &all, style, out);
	}
	if (rc == HDB_OK && answer->row_count > 0)
		output_string(out, "For stacks and local variables: heapdb threads NAME, heapdb "
				   "threads '*PART*',\n  or heapdb threads --stacks\n");
	prose_groups_release(&all, out);
	return rc;
}

int prose_threads(struct answer *answer, const struct render_style *style, struct output *out)
{
	return style->is_whole || (answer->args && answer->args->target_count > 0) ?
		       put_stacks(answer, style, out) :
		       put_table(answer, style, out);
}
