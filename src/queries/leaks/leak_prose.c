/*
 * queries/leaks/leak_prose.c - builds sentences about leaks from facts, such as "Cache.entries
 * holds 12,000 Session (1.6 KiB each), 61.7 % of the heap."
 *
 * Singular or plural depends on the counts of owners and objects, never on names, because a thread
 * may be called "fetch and parse". No other file builds these sentences, and no program has to
 * parse them, because all facts have their own columns.
 */
#include "queries/leaks/leak_prose.h"

#include "analysis/groups.h"
#include "heap/threads.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Maximum size of a class name or description. */
#define NAME_MAX_BYTES 1024
/*
 * The sentence adds "and others" if the named objects retain less than two thirds of the suspect. A
 * smaller difference is the collection's own keys and tables.
 */
#define ALL_PART 3u
/* In a group of threads, the limit is 95 % instead of two thirds. */
#define THREADS_PART 20u

/* Appends formatted text, truncated to fit. */
static void HDB_PRINTF(2, 3) add(struct base_text to, const char *format, ...)
{
	const size_t used = strlen(to.buf);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(to.buf + used, to.size - used, format, args);
	va_end(args);
}

/* ---- names ---- */

/*
 * Returns whether a character can be part of a qualified class name. Bytes from 0x80 on belong to
 * UTF-8 letters.
 */
static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' ||
	       (unsigned char)c >= 0x80;
}

/*
 * Returns the length of the package in a name: everything before the first component with an
 * initial capital letter.
 */
static size_t package_size(const char *name, size_t size)
{
	size_t start = 0;

	for (size_t i = 0; i < size; i++) {
		if (i == start && name[i] >= 'A' && name[i] <= 'Z')
			return start;
		if (name[i] == '.')
			start = i + 1;
	}
	return 0;
}

/*
 * Returns the length of a lambda's number and address after "$$Lambda", such as
 * "$14+0x0000000800c03000" or "+0x00007f12c8003a40", or "$14.1798286609" in JDK 8. Sentences omit
 * them because they are meaningless to readers; columns include them.
 */
static size_t lambda_size(const char *text)
{
	size_t size = 0;

	if (text[0] == '$')
		size = 1 + strspn(text + 1, "0123456789");
	if (text[size] && strchr("/+.", text[size]) && isdigit((unsigned char)text[size + 1])) {
		size += strncmp(text + size + 1, "0x", 2) == 0 ? 3 : 1;
		size += strspn(text + size, "0123456789abcdef");
	}
	return size;
}

/* Appends text with shortened class names, except inside quotes, where thread names are. */
void query_leak_add_short(struct base_text to, const char *text)
{
	size_t used = strlen(to.buf), size;
	bool is_quoted = false;

	while (*text && used + 1 < to.size) {
		size = 0;
		while (!is_quoted && is_name_char(text[size]))
			size++;
		if (size) {
			const char *lambda = memmem(text, size, "$$Lambda", 8);
			const size_t number = lambda ? lambda_size(lambda + 8) : 0;
			const size_t shown = number ? (size_t)(lambda + 8 - text) : size;
			const size_t package = package_size(text, shown);

			assert(package < shown);
			used += (size_t)snprintf(to.buf + used, to.size - used, "%.*s",
						 (int)(shown - package), text + package);
			text += shown + number;
			continue;
		}
		is_quoted ^= *text == '"';
		to.buf[used++] = *text++;
		to.buf[used] = '\0';
	}
}

/* ---- owners ---- */

/* Appends "Class.a", or "Class.a and b" for several fields that hold the same object. */
static void add_fields(const char *class_name, const char *fields, struct base_text to)
{
	const char *last = strrchr(fields, ',');

	if (last)
		add(to, "%s.%.*s and%s", class_name, (int)(last - fields), fields, last + 1);
	else
		add(to, "%s.%s", class_name, fields);
}

void leak_holder_text(const struct leak_holder *h, struct base_text to)
{
	const char *class_name = h->class_name ? h->class_name : "";

	add(to, "%s", h->is_thread_local ? "thread-local " : "");
	switch (h->kind) {
	case LEAK_HOLDER_NONE:
		break;
	case LEAK_HOLDER_STATIC:
		if (strcmp(h->field, ANALYSIS_CONSTANTS) == 0) {
			add(to, "constant pool of %s", class_name);
			break;
		}
		add_fields(class_name, h->field, to);
		add(to, " (static)");
		break;
	case LEAK_HOLDER_FIELD:
		add_fields(class_name, h->field, to);
		break;
	case LEAK_HOLDER_LOCAL:
		if (h->threads == LEAK_THREADS_MANY)
			add(to, "local variables of threads %s", h->thread);
		else if (h->threads > 1)
			add(to, "local variables of %s threads %s", base_number(h->threads).text,
			    h->thread);
		else
			add(to, "a local variable of thread %s", h->thread);
		add(to, "%s%s", h->frame[0] ? " in " : "", h->frame);
		break;
	case LEAK_HOLDER_THREAD:
		add(to, "thread %s", h->thread);
		break;
	case LEAK_HOLDER_CLASS:
		add(to, "class %s%s%s", class_name, h->field[0] ? " " : "", h->field);
		break;
	case LEAK_HOLDER_OBJECT:
		add(to, "%s%s%s", class_name, h->field[0] == '<' ? " " : "", h->field);
		break;
	case LEAK_HOLDER_ROOT:
		add(to, "a GC root (%s)", h->field);
		break;
	case LEAK_HOLDER_NOTHING:
		add(to, "nothing in the dump");
		break;
	case LEAK_HOLDER_GONE:
		add(to, "a removed ThreadLocal");
		break;
	case LEAK_HOLDER_ENTRIES:
		add(to, "a ThreadLocal referenced only by its entries");
		break;
	}
	if (h->is_thread_local && h->threads)
		add(to, " of %s thread%s", base_number(h->threads).text,
		    h->threads == 1 ? "" : "s");
	else if (h->is_thread_local)
		add(to, " of thread %s", h->thread);
}

void leak_owner_text(const struct query_leak_owner *o, struct base_text to)
{
	const bool is_whole = !o->more && !o->has_others;

	to.buf[0] = '\0';
	if (o->top.kind) {
		leak_holder_text(&o->top, to);
		add(to, ", in ");
	}
	for (size_t i = 0; i < o->named; i++) {
		add(to, "%s", i == 0 ? "" : i + 1 == o->named && is_whole ? " and " : ", ");
		leak_holder_text(&o->list[i], to);
	}
	if (o->has_others)
		add(to, " and others");
	else if (o->more)
		add(to, " and %" PRIu64 " more", o->more);
}

/* Returns the holder that the sentence begins with. */
static const struct leak_holder *first_holder(const struct query_leak_owner *o)
{
	return o->top.kind ? &o->top : &o->list[0];
}

bool leak_owner_is_several(const struct query_leak_owner *o)
{
	bool several = o->named > 1 || o->more || o->has_others || o->top.count > 1;

	for (size_t i = 0; i < o->named; i++)
		several |= (!o->top.kind && o->list[i].count > 1) ||
			   (o->list[i].kind == LEAK_HOLDER_LOCAL && o->list[i].threads > 1);
	return several;
}

/* Sets the owner columns, for programs. */
static int set_owner(struct leak_rows *rows, struct leak_row *row, const struct query_leak_owner *o,
		     struct hdb_error *err)
{
	static const char *const kinds[] = {
		[LEAK_HOLDER_NONE] = "object",          [LEAK_HOLDER_STATIC] = "static field",
		[LEAK_HOLDER_FIELD] = "field",          [LEAK_HOLDER_LOCAL] = "local variable",
		[LEAK_HOLDER_THREAD] = "thread",        [LEAK_HOLDER_CLASS] = "class",
		[LEAK_HOLDER_OBJECT] = "object",        [LEAK_HOLDER_ROOT] = "GC root",
		[LEAK_HOLDER_NOTHING] = "nothing",      [LEAK_HOLDER_GONE] = "thread-local",
		[LEAK_HOLDER_ENTRIES] = "thread-local",
	};
	const struct leak_holder *first = first_holder(o);
	const bool is_thread =
		first->kind == LEAK_HOLDER_LOCAL || first->kind == LEAK_HOLDER_THREAD;
	char text[LEAK_TEXT_MAX_BYTES];

	if (!o->named)
		return HDB_OK;
	assert(o->rule && o->why);
	leak_owner_text(o, BASE_TEXT(text));
	row->cells[LEAK_OWNER_COUNT] = o->named + o->more;
	TRY(leak_rows_text(rows, row, LEAK_VIA_FIELD, err, "%s", text));
	TRY(leak_rows_text(rows, row, LEAK_OWNER_KIND, err, "%s",
			   first->is_thread_local ? "thread-local" : kinds[first->kind]));
	TRY(leak_rows_text(rows, row, LEAK_OWNER, err, "%s",
			   is_thread         ? first->thread :
			   first->class_name ? first->class_name :
					       ""));
	TRY(leak_rows_text(rows, row, LEAK_FIELD, err, "%s",
			   first->kind == LEAK_HOLDER_ROOT ? "" : first->field));
	if (first->kind == LEAK_HOLDER_ROOT)
		TRY(leak_rows_text(rows, row, LEAK_ROOT, err, "%s", first->field));
	TRY(leak_rows_text(rows, row, LEAK_OWNER_RULE, err, "%s", o->rule));
	return leak_rows_text(rows, row, LEAK_OWNER_WHY, err, "%s", o->why);
}

/* ---- the sentence on a suspect ---- */

/* Returns whether another class has the same name, so that the text must name the class loader. */
static bool has_twin(struct heap *heap, uint32_t class_no)
{
	const char *name = heap_class_name(heap, class_no);

	for (uint32_t no = 0; no < heap->class_count; no++)
		if (no != class_no && strcmp(heap_class_name(heap, no), name) == 0)
			return true;
	return false;
}

/* Appends ", loaded by com.acme.Loader 0x12c4" if two classes have the same name. */
static int add_loader(struct query *q, uint32_t class_no, struct base_text to,
		      struct hdb_error *err)
{
	const struct store_class *class = heap_class(q->heap, class_no);
	uint64_t id;

	if (class->loader_ix == HEAP_BOOT_LOADER || !has_twin(q->heap, class_no))
		return HDB_OK;
	TRY(heap_id(q->heap, class->loader_ix, &id, err));
	add(to, ", loaded by %s 0x%" PRIx64, heap_loader_name(q->heap, class), id);
	return HDB_OK;
}

/* Maximum number of captured classes to name. */
#define CAPTURED_MAX 3u

/* An object of a class. */
struct example {
	uint32_t class_no, ix;
};

static int find_example(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct example *e = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count && e->ix == HEAP_NONE; i++)
		if (block->class_no[i] == e->class_no && block->kind[i] == STORE_INSTANCE)
			e->ix = block->first_ix + i;
	return e->ix == HEAP_NONE ? HDB_OK : HDB_END;
}

/*
 * Appends " that capture Cart and Order" to a text about lambdas, judging by the fields of one of
 * them.
 */
static int add_captured(struct query *q, uint32_t class_no, bool is_one, struct base_text to,
			struct hdb_error *err)
{
	struct example e = { class_no, HEAP_NONE };
	BASE_FREED uint8_t *is_wanted = NULL;
	struct heap_fields fields;
	unsigned count = 0;
	int r;

	TRY(BASE_ALLOC(is_wanted, (size_t)q->heap->class_count + 1, "classes", err));
	is_wanted[class_no] = 1;
	TRY_ERRORS(heap_each_block_of(q->heap, &(struct heap_pass){ q->work, is_wanted },
				      find_example, &e, err));
	TRY_FOUND(e.ix == HEAP_NONE ? HDB_NOTFOUND : HDB_OK);
	r = heap_fields_begin(q->heap, e.ix, &fields, err);
	while (r == HDB_OK && count < CAPTURED_MAX &&
	       (r = heap_fields_next(&fields, err)) == HDB_OK) {
		uint32_t ix;

		if (fields.value.type != HPROF_OBJECT || !fields.value.bits)
			continue;
		TRY_ERRORS(r = heap_find(q->heap, fields.value.bits, &ix, err));
		if (r != HDB_OK)
			continue;
		add(to, "%s", count++ ? " and " : is_one ? " that captures " : " that capture ");
		query_leak_add_short(to, heap_class_name_of(q->heap, ix));
	}
	return r < 0 && r != HDB_ECHANGED ? r : HDB_OK;
}

/*
 * Writes "200 lambdas of Shop that capture Order": the declaring class, and the captured objects.
 */
static int lambda_text(struct query *q, const struct leak_held *held, const char *count,
		       struct base_text to, struct hdb_error *err)
{
	const char *name = heap_class_name(q->heap, held->class_no);
	char outer[NAME_MAX_BYTES];

	(void)snprintf(outer, sizeof(outer), "%.*s", (int)(strstr(name, "$$Lambda") - name), name);
	add(to, "%s lambda%s of ", count, held->count == 1 ? "" : "s");
	query_leak_add_short(to, outer);
	return add_captured(q, held->class_no, held->count == 1, to, err);
}

static bool is_lambda(const char *class_name)
{
	const char *mark = strstr(class_name, "$$Lambda");

	return mark && mark != class_name && mark[-1] != '.' && !strchr(mark, '[');
}

/*
 * Describes the held objects: "12,000 Session", "one byte[134217728]", "20.1 MiB in 300,000
 * objects".
 */
static int held_text(struct query *q, const struct leak_held *held, struct base_text to,
		     struct hdb_error *err)
{
	const char *class_name =
		held->class_no == HEAP_NONE ? "" : heap_class_name(q->heap, held->class_no);
	const size_t stem = strlen(class_name) > 2 ? strlen(class_name) - 2 : 0;
	const struct base_number number = base_number(held->count);
	const char *count = held->count == 1 ? "one" : number.text;

	to.buf[0] = '\0';
	if (held->text) {
		add(to, "%s", held->text);
	} else if (held->class_no == HEAP_NONE && !held->is_entries) {
		add(to, "%s in %s object%s", base_size(held->bytes).text, number.text,
		    held->count == 1 ? "" : "s");
	} else if (held->length) {
		add(to, "%s %.*s[%" PRIu64 "]", count, (int)stem, class_name, held->length);
	} else if (is_lambda(class_name)) {
		return lambda_text(q, held, count, to, err);
	} else {
		add(to, "%s ", count);
		query_leak_add_short(to, held->is_entries ? "entries" : class_name);
	}
	return HDB_OK;
}

/*
 * Writes "40 threads "transfer-*"" or "3,000 virtual threads", or "5 threads such as "a"" if the
 * names have nothing in common.
 */
static int threads_text(struct query *q, const struct leak_held *held,
			const struct leak_incident *incident, struct base_text to,
			struct hdb_error *err)
{
	char name[LEAK_PATTERN_MAX];

	TRY(heap_thread_name(q->heap, incident->example_ix, name, sizeof(name), err));
	to.buf[0] = '\0';
	add(to, "%s %sthread%s", base_number(held->count).text,
	    incident->is_virtual ? "virtual " : "", held->count == 1 ? "" : "s");
	if (name[0])
		add(to, incident->is_most ? " \"%s\"" : " such as \"%s\"",
		    incident->is_most ? incident->pattern : name);
	return HDB_OK;
}

/* Appends the object that threads are waiting for: "for the ReentrantLock of thread "main"". */
static int add_blocker(struct query *q, const struct leak_incident *incident, struct base_text to,
		       struct hdb_error *err)
{
	const char *class_name = heap_class_name_of(q->heap, incident->blocker_ix);
	char outer[NAME_MAX_BYTES], name[LEAK_PATTERN_MAX], condition[NAME_MAX_BYTES];

	(void)snprintf(outer, sizeof(outer), "%.*s", (int)strcspn(class_name, "$"), class_name);
	add(to, " for ");
	if (strstr(class_name, "$ConditionObject")) {
		TRY(leak_condition_name(q, incident->example_ix, incident->blocker_ix,
					BASE_TEXT(condition), err));
		add(to, condition[0] ? "the condition " : "one condition of a lock");
		query_leak_add_short(to, condition);
	} else if (incident->owner_ix == HEAP_NONE) {
		add(to, "one ");
		query_leak_add_short(to, outer);
	} else {
		TRY(heap_thread_name(q->heap, incident->owner_ix, name, sizeof(name), err));
		add(to, incident->is_monitor ? "the monitor of the " : "the ");
		query_leak_add_short(to, incident->is_monitor ? class_name : outer);
		add(to, name[0] ? " that thread \"%s\" holds" : " that another thread holds", name);
	}
	return HDB_OK;
}

/*
 * Appends what the threads are doing: ", waiting in Job.run(Job.java:7) for one CountDownLatch,".
 */
static int add_doing(struct query *q, const struct leak_incident *incident, bool is_subject,
		     struct base_text to, struct hdb_error *err)
{
	static const struct {
		const char *state, *word;
	} words[] = {
		{ "NEW", "never started" },     { "RUNNABLE", "running" },
		{ "BLOCKED", "blocked" },       { "WAITING", "waiting" },
		{ "TIMED_WAITING", "waiting" }, { "TERMINATED", "ended" },
	};
	const char *word = NULL;

	for (size_t i = 0; incident->state && i < BASE_COUNT(words); i++)
		if (strcmp(words[i].state, incident->state) == 0)
			word = words[i].word;
	if (!incident->is_most || !word)
		return HDB_OK;
	add(to, ", ");
	if (incident->blocker_ix != HEAP_NONE && incident->blocked < incident->count)
		add(to, "%s of them ",
		    incident->blocked ? base_number(incident->blocked).text : "most");
	/* A thread that waits for a socket is RUNNABLE, but does not run. */
	add(to, "%s", incident->call[0] && incident->frame[0] ? "" : word);
	if (incident->frame[0]) {
		add(to, incident->call[0] ? "in " : " in ");
		query_leak_add_short(to, incident->frame);
	}
	if (incident->call[0])
		add(to, " (%s)", incident->call);
	if (incident->blocker_ix != HEAP_NONE)
		TRY(add_blocker(q, incident, to, err));
	add(to, "%s", is_subject ? "," : "");
	return HDB_OK;
}

/* Returns whether an average size is meaningful. For objects of several classes, it is not. */
static bool has_each(const struct leak_held *held)
{
	return held->text || held->class_no != HEAP_NONE || held->is_entries;
}

/*
 * Returns whether the "owner" is only the local variable at which the path starts. Such a variable
 * does not hold the objects.
 */
static bool is_way(const struct query_leak_suspect *about)
{
	const struct query_leak_owner *o = about->owner;

	return about->path->is_passing && o->named && !leak_owner_is_several(o) &&
	       first_holder(o)->kind == LEAK_HOLDER_LOCAL && !first_holder(o)->is_thread_local;
}

/*
 * Writes the subject of the sentence, such as "Cache.entries" or "Thread "main"", or "" for a group
 * without an owner. Sets *several to whether it is plural.
 */
static void owner_text(struct query *q, const struct query_leak_suspect *about, bool *several,
		       struct base_text to)
{
	const struct query_leak_owner *owner = about->owner;
	const struct leak_holder *first = first_holder(owner);
	const struct analysis_suspect *s = about->suspect;
	char text[LEAK_TEXT_MAX_BYTES];
	bool is_name = false;

	*several = false;
	to.buf[0] = '\0';
	if (owner->named && !owner->is_of_members && !is_way(about)) {
		leak_owner_text(owner, BASE_TEXT(text));
		query_leak_add_short(to, text);
		*several = leak_owner_is_several(owner);
		is_name = !first->is_thread_local && first->class_name;
	} else if (s->ix != HEAP_NONE) {
		const bool is_thread = heap_is_thread(q->heap, s->ix);

		analysis_describe(&q->session, s->ix, text, NAME_MAX_BYTES);
		query_leak_add_short(to, is_thread ? "thread " : "");
		query_leak_add_short(to, text[0] ? text : heap_class_name(q->heap, s->class_no));
		is_name = !is_thread;
	}
	/* Capitalises a description such as "a local variable", but not a class name. */
	if (to.buf[0] && !is_name)
		to.buf[0] = (char)toupper((unsigned char)to.buf[0]);
}

/*
 * Appends how the objects are reached, if the path does not start at the owner: ", by the
 * thread-local X of 22 threads" or ", reached through a local variable ...".
 */
static void add_way(const struct query_leak_suspect *about, const struct leak_held *held,
		    struct base_text to)
{
	const struct query_leak_owner *owner = about->owner;
	char text[LEAK_TEXT_MAX_BYTES];

	leak_owner_text(owner, BASE_TEXT(text));
	add(to, ", %s", owner->is_of_members ? "by the " : "reached through ");
	query_leak_add_short(to, text);
	if (is_way(about))
		add(to, ", which does not hold %s", held->count == 1 ? "it" : "them");
}

/*
 * Sets *out to the size of the largest member of a group if the average would mislead because a few
 * members retain most, otherwise to 0.
 */
static int find_largest(struct query *q, const struct analysis_suspect *s, uint64_t each,
			uint64_t *out, struct hdb_error *err)
{
	*out = 0;
	if (s->members.count)
		TRY(derive_retained(q->derive, *base_vec_at(&s->members, uint32_t, 0), out, err));
	if (*out / 2 <= each)
		*out = 0;
	return HDB_OK;
}

static uint64_t each_of(const struct leak_held *held)
{
	return held->count ? held->bytes / held->count : 0;
}

/*
 * Begins the sentence with the holder, "a.Cache.map holds ", and, for a group, with the number of
 * members that the holder holds.
 */
static void add_holder(const struct query_leak_suspect *about, const char *holder, bool is_several,
		       struct base_text to)
{
	const struct query_leak_owner *owner = about->owner;
	const bool is_group = about->suspect->ix == HEAP_NONE &&
			      owner->count < about->suspect->count && !about->holds &&
			      !about->incident;

	if (!holder[0])
		return;
	add(to, "%s%s %s ", holder, owner->top.kind && !owner->is_of_members ? "," : "",
	    is_several ? "hold" : "holds");
	if (is_group)
		add(to, "%s of ", owner->count ? base_number(owner->count).text : "most");
}

/*
 * Appends the size of each held object, their class loader, and a note if there are other objects.
 */
static int add_details(struct query *q, const struct query_leak_suspect *about,
		       const struct leak_held *held, struct base_text to, struct hdb_error *err)
{
	const struct analysis_suspect *s = about->suspect;
	const uint64_t each = each_of(held);
	/* In a group of threads, the rest consists of other threads, not of keys and tables. */
	const unsigned part = about->incident ? THREADS_PART : ALL_PART;
	uint64_t largest = 0, point = 0;
	uint32_t class_no = HEAP_NONE;

	if (about->incident)
		TRY(find_largest(q, s, each, &largest, err));
	if (has_each(held))
		add(to, " (%s%s%s)", largest ? "up to " : "",
		    base_size(largest ? largest : each).text,
		    held->count == 1 && !held->text ? "" : " each");
	if (held->class_no != HEAP_NONE)
		TRY(add_loader(q, held->class_no, to, err));
	if (held->bytes >= s->retained_bytes / part * (part - 1))
		return HDB_OK;
	if (s->ix != HEAP_NONE && s->point_ix != HEAP_NONE)
		TRY(derive_retained(q->derive, s->point_ix, &point, err));
	if (!point || point >= s->retained_bytes / 10 * 9) {
		add(to, " and others");
		return HDB_OK;
	}
	/* The size of the suspect differs from the size of the named field. */
	add(to, ", %s of the %s that ", base_size(point).text, base_size(s->retained_bytes).text);
	TRY(heap_class_of_object(q->heap, s->ix, &class_no, err));
	query_leak_add_short(to, class_no == HEAP_NONE ? heap_class_name_of(q->heap, s->ix) :
							 heap_class_name(q->heap, class_no));
	add(to, " retains");
	return HDB_OK;
}

int leak_say_suspect(struct query *q, struct leak_rows *rows,
		     const struct query_leak_suspect *about, const struct leak_held *held,
		     struct hdb_error *err)
{
	struct leak_row *row = leak_rows_at(rows, about->first_row);
	const struct query_leak_owner *owner = about->owner;
	const struct analysis_suspect *s = about->suspect;
	char text[LEAK_TEXT_MAX_BYTES], holder[LEAK_TEXT_MAX_BYTES], what[NAME_MAX_BYTES];
	const struct base_text to = BASE_TEXT(text);
	const bool has_way = owner->is_of_members || is_way(about);
	bool several;

	TRY(set_owner(rows, row, owner, err));
	owner_text(q, about, &several, BASE_TEXT(holder));
	TRY(about->incident ? threads_text(q, held, about->incident, BASE_TEXT(what), err) :
			      held_text(q, held, BASE_TEXT(what), err));
	text[0] = '\0';
	add_holder(about, holder, several, to);
	add(to, "%s", what);
	TRY(add_details(q, about, held, to, err));
	if (about->incident)
		TRY(add_doing(q, about->incident, !holder[0], to, err));
	if (owner->strength)
		add(to, " through a %s reference only", analysis_strength_name(owner->strength));
	if (holder[0] && !has_way)
		TRY(leak_rows_text(rows, row, LEAK_SHORT_TEXT, err, "%s", text));
	add(to, "%s %.1f %% of the heap",
	    holder[0]        ? "," :
	    held->count == 1 ? " holds" :
			       " hold",
	    analysis_percent(s->retained_bytes, about->whole_bytes));
	if (has_way)
		add_way(about, held, to);
	TRY(leak_rows_text(rows, row, LEAK_TEXT, err, "%s.", text));
	if (!holder[0] || has_way)
		TRY(leak_rows_text(rows, row, LEAK_SHORT_TEXT, err, "%s.", text));
	TRY(leak_rows_text(rows, row, LEAK_OWNER_TEXT, err, "%s", holder));
	TRY(leak_rows_text(rows, row, LEAK_HELD_TEXT, err, "%s", what));
	row->cells[LEAK_HELD] = held->count;
	if (has_each(held))
		row->cells[LEAK_EACH] = each_of(held);
	return leak_rows_text(
		rows, row, LEAK_HELD_CLASS, err, "%s",
		held->class_no == HEAP_NONE ? "" : heap_class_name(q->heap, held->class_no));
}

bool leak_is_same(const char *a, const char *b)
{
	static const char digits[] = "0123456789.";
	bool is_loose = false;

	while (*a && *b) {
		if (is_loose && isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			a += strspn(a, digits);
			b += strspn(b, digits);
			continue;
		}
		if (*a != *b)
			return false;
		is_loose = *a == '"' ? !is_loose : *a == '(' || (is_loose && *a != ')');
		a++;
		b++;
	}
	return *a == *b;
}

/* ---- explanations of rules ---- */

int leak_say_verdict(struct leak_rows *rows, struct leak_row *row,
		     const struct explain_answer *answer, uint64_t more, struct hdb_error *err)
{
	/*
	 * the rule's sentence already states the problem; only these two verdicts add information
	 */
	const char *judgement = answer->rule->verdict == EXPLAIN_BY_DESIGN ? " This is by design." :
				answer->rule->verdict == EXPLAIN_LEAK      ? " This is a leak." :
									     "";
	const char *verdict = explain_verdict_name(answer->rule->verdict);
	const size_t size = strlen(answer->says);
	char others[64] = "";

	if (more)
		(void)snprintf(others, sizeof(others), " %" PRIu64 " more %s like it.", more,
			       more == 1 ? "is" : "are");
	TRY(leak_rows_text(rows, row, LEAK_VERDICT, err, "%s", verdict));
	TRY(leak_rows_text(rows, row, LEAK_SHORT_TEXT, err, "%s", answer->says));
	if (answer->rule->verdict >= EXPLAIN_STUCK)
		return leak_rows_text(rows, row, LEAK_TEXT, err, "%s", answer->says);
	return leak_rows_text(rows, row, LEAK_TEXT, err, "%s%s%s%s", answer->says,
			      size && answer->says[size - 1] != '.' ? "." : "", judgement, others);
}

void leak_say_keeper(struct explain_answer *answer, const struct query_leak_owner *keeper,
		     const char *hint)
{
	char text[LEAK_TEXT_MAX_BYTES] = "", kept[EXPLAIN_SENTENCE_MAX] = " Kept by ";

	leak_owner_text(keeper, BASE_TEXT(text));
	if (!text[0])
		return;
	query_leak_add_short(BASE_TEXT(kept), text);
	/* No hint is needed if the name of the holder already mentions the thread. */
	if (hint && (strcmp(hint, "a thread") == 0 || keeper->list[0].is_thread_local ||
		     keeper->list[0].kind == LEAK_HOLDER_LOCAL))
		hint = NULL;
	add(BASE_TEXT(answer->says), "%s%s%s.", kept, hint ? ", " : "", hint ? hint : "");
}

/* ---- paths ---- */

int leak_say_root(struct leak_rows *rows, struct leak_row *row, const char *roots, bool is_passing,
		  struct hdb_error *err)
{
	static const char passing[] =
		"reached through a local variable of this thread, which does not hold it";

	if (!roots[0])
		return HDB_OK;
	TRY(leak_rows_text(rows, row, LEAK_ROOT, err, "%s", roots));
	TRY(leak_rows_text(rows, row, LEAK_SHORT_TEXT, err, "%s", is_passing ? passing : ""));
	return leak_rows_text(rows, row, LEAK_TEXT, err, "GC root: %s%s%s", roots,
			      is_passing ? "; " : "", is_passing ? passing : "");
}

int leak_say_link(struct leak_rows *rows, struct leak_row *row, const struct analysis_link *link,
		  struct hdb_error *err)
{
	static const char *const kinds[] = {
		[ANALYSIS_LINK_NONE] = "",
		[ANALYSIS_LINK_FIELD] = "field",
		[ANALYSIS_LINK_STATIC] = "static field",
		[ANALYSIS_LINK_ELEMENT] = "element",
		[ANALYSIS_LINK_LOCAL] = "local variable",
		[ANALYSIS_LINK_CLASS] = "class",
		[ANALYSIS_LINK_SUPER] = "superclass",
		[ANALYSIS_LINK_LOADER] = "class loader",
		[ANALYSIS_LINK_OTHER] = "object",
	};

	if (!link->count)
		return HDB_OK;
	TRY(leak_rows_text(rows, row, LEAK_VIA_FIELD, err, "%s", link->text));
	TRY(leak_rows_text(rows, row, LEAK_FIELD, err, "%s", analysis_link_name(link)));
	return leak_rows_text(rows, row, LEAK_OWNER_KIND, err, "%s", kinds[link->kind]);
}

/*
 * Writes the reference through which a step of a trace holds the object of the next step: "static
 * listeners", "[12]", "map[\"key\"]".
 */
static int say_reference(struct leak_rows *rows, struct leak_row *row,
			 const struct leak_steps *steps, const struct leak_step *step,
			 struct hdb_error *err)
{
	static const enum analysis_link_kind kinds[] = {
		[TRACE_FIELD] = ANALYSIS_LINK_FIELD,
		[TRACE_STATIC] = ANALYSIS_LINK_STATIC,
		[TRACE_LOCAL] = ANALYSIS_LINK_LOCAL,
		[TRACE_ENTRY] = ANALYSIS_LINK_ELEMENT,
	};
	const char *name = leak_steps_text(steps, step->name);
	struct analysis_link link = { .kind = kinds[step->reference->kind], .count = 1 };
	const struct base_text to = BASE_TEXT(link.text);

	add(to,
	    link.kind == ANALYSIS_LINK_LOCAL   ? "<local variable>" :
	    link.kind == ANALYSIS_LINK_ELEMENT ? "[%s]" :
	    link.kind == ANALYSIS_LINK_STATIC  ? "static %s" :
						 "%s",
	    name);
	row->cells[LEAK_IS_SUSPECT] = step->is_suspect;
	return leak_say_link(rows, row, &link, err);
}

int leak_say_step(struct leak_rows *rows, struct leak_row *row, const struct leak_steps *steps,
		  const struct leak_step *step, struct hdb_error *err)
{
	static const char *const statuses[][2] = {
		[LEAK_UNKNOWN] = { "UNKNOWN", "unknown" },
		[LEAK_THERE] = { "NO", "not leaking" },
		[LEAK_GONE] = { "YES", "leaking" },
	};
	const char *reason = leak_steps_text(steps, step->reason);
	const char *labels = leak_steps_text(steps, step->labels);
	const char *root =
		step->place == 0 && steps->root_kind ? heap_root_name(steps->root_kind) : "";
	const struct library_rule *rule = step->reference ? step->reference->rule : NULL;
	char status[LEAK_TEXT_MAX_BYTES] = "", rest[LEAK_TEXT_MAX_BYTES] = "";

	add(BASE_TEXT(status), "Leaking: %s%s%s%s", statuses[step->status][0],
	    reason[0] ? " (" : "", reason, reason[0] ? ")" : "");
	add(BASE_TEXT(rest), "%s%s%s%s", rule ? "; known library leak: " : "", rule ? rule->id : "",
	    labels[0] ? "; " : "", labels);
	if (step->reference)
		TRY(say_reference(rows, row, steps, step, err));
	TRY(leak_rows_text(rows, row, LEAK_ROOT, err, "%s", root));
	TRY(leak_rows_text(rows, row, LEAK_STATUS, err, "%s", statuses[step->status][1]));
	TRY(leak_rows_text(rows, row, LEAK_SHORT_TEXT, err, "%s%s", status, rest));
	return leak_rows_text(rows, row, LEAK_TEXT, err, "%s%s%s%s%s%s", root[0] ? "GC root: " : "",
			      root, root[0] ? "; " : "", status,
			      step->is_suspect ? "; ~~~ suspect reference" : "", rest);
}

/* ---- leaking objects and groups of leaking objects ---- */

int leak_say_leaking(struct leak_rows *rows, struct leak_row *row,
		     const struct leak_leaking *leaking, struct hdb_error *err)
{
	const char *join = leaking->library[0] ? "; " : "";

	TRY(leak_rows_text(rows, row, LEAK_SHORT_TEXT, err, "%s%s%s", leaking->reason, join,
			   leaking->library));
	return leak_rows_text(rows, row, LEAK_TEXT, err, "%s%s%s; retains %s object%s",
			      leaking->reason, join, leaking->library,
			      base_number(leaking->objects).text, leaking->objects == 1 ? "" : "s");
}

int leak_say_common(struct leak_rows *rows, struct leak_row *row, const uint64_t *parts,
		    size_t count, struct hdb_error *err)
{
	char numbers[NAME_MAX_BYTES] = "";

	for (size_t i = 0; i < count; i++)
		add(BASE_TEXT(numbers), "%s%" PRIu64, i ? ", " : "", parts[i]);
	return leak_rows_text(
		rows, row, LEAK_TEXT, err,
		"Suspects %s may be one leak: their paths begin with the same objects.", numbers);
}
