/*
 * queries/leaks/leak_held.c - finds which objects a suspect holds (objects of one class, entries of
 * a collection, a single array, or objects of any class), and which query lists exactly these
 * objects.
 *
 * The sentence should name what the program stored: 300,000 Session objects, not one HashMap. So
 * the sentence names the largest class among the elements if this class retains half of the
 * suspect, and otherwise the entries of the last collection on the path.
 */
#include "analysis/groups.h"
#include "analysis/members.h"
#include "base/glob.h"
#include "heap/collections/collections.h"
#include "heap/platform_classes.h"
#include "heap/threads.h"
#include "queries/leaks/leak_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A single class describes the held objects if it retains at least 1/MAIN_PART of the suspect. */
#define MAIN_PART 2u
/*
 * Otherwise, an application class describes the held objects if at least OWN_COUNT of its objects
 * together retain 1/OWN_PART of the suspect.
 */
#define OWN_COUNT 100u
#define OWN_PART 4u
/*
 * Tolerance for the comparison of two counts of a class, because a few objects may be elsewhere
 * below the suspect.
 */
#define SOME_PART 10u
/* Counts that differ by at most 1/SAME_PART are assumed to be counts of the same objects. */
#define SAME_PART 1000u
/* Number of entries that are examined to decide whether all entries are of one class. */
#define ENTRIES_LOOKED 32u
/*
 * Maximum number of a map's inner collections to count, and minimum average number of their
 * entries.
 */
#define INNER_LOOKED 10000u
#define INNER_PART 4u
/* Minimum size of any object, in bytes. */
#define INNER_BYTES 8u
/* Maximum number of entries to count in collections that do not record their size. */
#define INNER_COUNTED 1000000u
/* Maximum number of steps to count the entries of a collection that does not record its size. */
#define ENTRIES_COUNTED 10000000u
/* Maximum size of a thread's name. Longer names are truncated. */
#define THREAD_NAME_MAX 256
/* Number of threads between two checks of the cancel flag. */
#define STEP_THREADS 4096u

/*
 * Finds the last collection on the path that retains at least half of the suspect, so that the
 * sentence says that the suspect holds the entries. Sets *class_no to the known class of the
 * collection, or to HEAP_NONE if there is no such collection.
 */
static int find_entries(struct query *q, const struct query_leak_suspect *about,
			struct leak_held *out, uint32_t *class_no, struct hdb_error *err)
{
	const struct query_leak_path *path = about->path;

	bool is_top = false;

	*class_no = HEAP_NONE;
	/* Stop at the suspect, because objects above the suspect also hold other objects. */
	for (size_t i = path->count; i-- > 0 && !is_top;) {
		struct heap_collection collection = { 0 };
		struct heap_object object;
		uint64_t bytes;
		int r;

		TRY(heap_object(q->heap, path->nodes[i], &object, err));
		TRY(derive_retained(q->derive, path->nodes[i], &bytes, err));
		is_top = path->nodes[i] == about->suspect->ix;
		if (object.kind != STORE_INSTANCE ||
		    bytes < about->suspect->retained_bytes / MAIN_PART ||
		    !heap_collection_rule(q->heap, object.class_no))
			continue;
		r = heap_collection_open(q->heap, path->nodes[i], &collection, err);
		if (r == HDB_OK && !collection.has_size) {
			uint64_t budget = ENTRIES_COUNTED;

			r = heap_collection_count(q->heap, &collection, &budget, err);
			collection.has_size = r == HDB_OK;
		}
		if (r < 0)
			return r == HDB_ECHANGED ? HDB_OK : r;
		if (r != HDB_OK || !collection.has_size || collection.size <= 1)
			continue;
		/* the map inside a set or a wrapper has the same entries as the set or wrapper */
		if (*class_no != HEAP_NONE) {
			out->is_nested |= bytes - out->bytes > bytes / SOME_PART;
		} else {
			*out = (struct leak_held){ collection.size, bytes, HEAP_NONE,
						   .is_entries = true,
						   .collection_ix = path->nodes[i] };
			*class_no = collection.inner ? collection.inner_class : object.class_no;
		}
	}
	return HDB_OK;
}

/*
 * Finds the largest class among the rows for the suspect's elements. If it does not retain enough,
 * describes all objects of the suspect together. Sets *own to the first application class with many
 * objects that retain enough.
 */
static void find_class(struct heap *heap, const struct leak_rows *rows,
		       const struct query_leak_suspect *about, struct leak_held *out,
		       struct leak_held *own)
{
	const uint64_t whole = about->suspect->retained_bytes;
	uint64_t objects = 0;

	*own = (struct leak_held){ .class_no = HEAP_NONE, .collection_ix = HEAP_NONE };
	*out = *own;
	for (size_t i = about->first_row; i < rows->rows.count; i++) {
		const struct leak_row *row = leak_rows_at(rows, i);
		const struct leak_held held = { row->cells[LEAK_COUNT], row->cells[LEAK_RETAINED],
						.class_no = row->class_no,
						.collection_ix = HEAP_NONE };

		if (row->kind == LEAK_ROW_CONTENT)
			objects += row->cells[LEAK_COUNT];
		if (row->kind != LEAK_ROW_ELEMENT || row->class_no == HEAP_NONE)
			continue;
		if (row->cells[LEAK_STEP] == 0 && held.bytes >= whole / MAIN_PART)
			*out = held;
		if (own->class_no == HEAP_NONE && held.count >= OWN_COUNT &&
		    held.bytes >= whole / OWN_PART &&
		    !heap_is_platform_class(heap_class_name(heap, row->class_no)))
			*own = held;
	}
	if (out->class_no == HEAP_NONE) {
		out->count = objects;
		out->bytes = whole;
	}
}

/*
 * Corrects the count if the suspect as a whole retains clearly more objects of the held class than
 * are below the accumulation point. Estimates their total size from the average.
 */
static void count_content(const struct leak_rows *rows, const struct query_leak_suspect *about,
			  struct leak_held *held)
{
	for (size_t i = about->first_row; i < rows->rows.count; i++) {
		const struct leak_row *row = leak_rows_at(rows, i);

		if (row->kind != LEAK_ROW_CONTENT || row->class_no != held->class_no ||
		    !held->count || row->cells[LEAK_COUNT] <= held->count ||
		    row->cells[LEAK_COUNT] - held->count <= row->cells[LEAK_COUNT] / SOME_PART)
			continue;
		held->bytes = held->bytes / held->count * row->cells[LEAK_COUNT];
		if (held->bytes > about->suspect->retained_bytes)
			held->bytes = about->suspect->retained_bytes;
		held->count = row->cells[LEAK_COUNT];
		held->collection_ix = HEAP_NONE;
	}
}

/*
 * Finds the common class of the first entries of a collection, or HEAP_NONE if the entries have
 * several classes or are not objects.
 */
static int entries_class(struct heap *heap, const struct heap_collection *collection, uint32_t *out,
			 struct hdb_error *err)
{
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	bool is_one = true;
	int r = heap_entries_begin(heap, collection, &entries, err);

	*out = HEAP_NONE;
	for (unsigned i = 0; r == HDB_OK && is_one && i < ENTRIES_LOOKED; i++) {
		struct heap_object object = { .class_no = HEAP_NONE };
		uint32_t ix;

		if ((r = heap_entries_next(&entries, err)) != HDB_OK)
			break;
		if (entries.value.type != HPROF_OBJECT || !entries.value.bits)
			continue;
		if ((r = heap_find(heap, entries.value.bits, &ix, err)) == HDB_OK)
			r = heap_object(heap, ix, &object, err);
		is_one = *out == HEAP_NONE || *out == object.class_no;
		*out = object.class_no;
	}
	if (!is_one)
		*out = HEAP_NONE;
	return r < 0 && r != HDB_ECHANGED ? r : HDB_OK;
}

/*
 * If the values of a map are collections, as in a Map<Topic, List<Listener>>, counts the entries of
 * these collections instead: the program stored listeners, not lists.
 */
static int count_inner(struct heap *heap, const struct heap_collection *outer,
		       struct leak_held *held, struct hdb_error *err)
{
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	uint32_t class_no = HEAP_NONE, inner_no;
	uint64_t sum = 0, budget = INNER_COUNTED;
	int r = heap_entries_begin(heap, outer, &entries, err);

	for (unsigned i = 0; r == HDB_OK && i < INNER_LOOKED; i++) {
		struct heap_collection inner = { .size = 0 };
		uint32_t ix;

		if ((r = heap_entries_next(&entries, err)) != HDB_OK)
			break;
		if (entries.value.type != HPROF_OBJECT || !entries.value.bits)
			continue;
		TRY_FOUND(heap_find(heap, entries.value.bits, &ix, err));
		TRY_FOUND(heap_collection_open(heap, ix, &inner, err));
		if (inner.rule->kind == HEAP_MAP)
			return HDB_OK;
		if (!inner.has_size)
			TRY_FOUND(heap_collection_count(heap, &inner, &budget, err));
		sum += inner.size;
		if (!inner.size)
			continue;
		TRY(entries_class(heap, &inner, &inner_no, err));
		if (inner_no == HEAP_NONE || (class_no != HEAP_NONE && class_no != inner_no))
			return HDB_OK;
		class_no = inner_no;
	}
	if (r < 0 && r != HDB_ECHANGED)
		return r;
	/* An element in several collections would be counted several times. */
	if (r == HDB_OK || class_no == HEAP_NONE || sum < held->count * INNER_PART ||
	    held->bytes / sum < INNER_BYTES)
		return HDB_OK;
	held->count = sum;
	held->class_no = class_no;
	held->is_entries = false;
	held->collection_ix = HEAP_NONE;
	return HDB_OK;
}

/*
 * Names the class of the entries of a list, set or queue, or of the entries of the collections in a
 * map, if there is only one class.
 */
static int name_entries(struct heap *heap, struct leak_held *held, struct hdb_error *err)
{
	struct heap_collection collection = { .size = 0 };
	int r = heap_collection_open(heap, held->collection_ix, &collection, err);

	if (r == HDB_OK && collection.rule->kind != HEAP_MAP)
		TRY(entries_class(heap, &collection, &held->class_no, err));
	held->is_entries = held->class_no == HEAP_NONE;
	if (r == HDB_OK && held->is_entries)
		TRY(count_inner(heap, &collection, held, err));
	return r < 0 && r != HDB_ECHANGED ? r : HDB_OK;
}

/*
 * If a single collection is held and all its entries have the same class, describes the entries
 * instead.
 */
static int look_inside(struct query *q, uint32_t end_ix, struct leak_held *held,
		       struct hdb_error *err)
{
	struct heap_collection collection = { 0 };
	struct store_lists children;
	struct heap_object child;
	const uint32_t *batch;
	uint32_t class_no;
	size_t count;
	int r;

	if (held->class_no == HEAP_NONE || held->count != 1 ||
	    !heap_collection_rule(q->heap, held->class_no))
		return HDB_OK;
	TRY(derive_children(q->derive, &children, err));
	TRY(store_lists_begin(&children, end_ix, NULL, err));
	TRY(store_lists_next(&children, &batch, &count, err));
	if (!count)
		return HDB_OK;
	TRY(heap_object(q->heap, batch[0], &child, err));
	if (child.class_no != held->class_no)
		return HDB_OK;
	r = heap_collection_open(q->heap, child.ix, &collection, err);
	if (r != HDB_OK || !collection.has_size || collection.size < 2)
		return r < 0 && r != HDB_ECHANGED ? r : HDB_OK;
	TRY(entries_class(q->heap, &collection, &class_no, err));
	if (class_no == HEAP_NONE)
		return HDB_OK;
	held->count = collection.size;
	held->class_no = class_no;
	held->collection_ix = child.ix;
	return HDB_OK;
}

/*
 * Returns whether two numbers are close enough to count the same objects, such as the first and the
 * last object of a queue.
 */
static bool is_about(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= b / SAME_PART;
}

/*
 * Returns whether an object of the class is on the path after the object from_ix, or anywhere if
 * from_ix is HEAP_NONE.
 */
static bool is_on_path(struct query *q, const struct query_leak_suspect *about, uint32_t from_ix,
		       uint32_t class_no)
{
	size_t i = 0;

	while (from_ix != HEAP_NONE && i < about->path->count && about->path->nodes[i++] != from_ix)
		;
	for (; i < about->path->count; i++)
		if (heap_class_name_of(q->heap, about->path->nodes[i]) ==
		    heap_class_name(q->heap, class_no))
			return true;
	return false;
}

/*
 * Sets *out to whether the held objects are in some of the entries of a map whose values are of
 * another class. In this case, the sentence begins with the size of the map.
 */
static int is_inside(struct heap *heap, const struct leak_held *entries,
		     const struct leak_held *held, bool *out, struct hdb_error *err)
{
	struct heap_collection collection;
	uint32_t class_no;

	*out = false;
	if (held->count >= entries->count || entries->is_nested)
		return HDB_OK;
	TRY_FOUND(heap_collection_open(heap, entries->collection_ix, &collection, err));
	TRY(entries_class(heap, &collection, &class_no, err));
	*out = collection.rule->kind == HEAP_MAP && class_no != HEAP_NONE &&
	       class_no != held->class_no;
	return HDB_OK;
}

/*
 * Sets *out to the object itself or, if the object is the array of a list, to the elements of the
 * array.
 */
static int hold_itself(struct query *q, const struct query_leak_suspect *about,
		       const struct heap_object *end, struct leak_held *out, struct hdb_error *err)
{
	struct leak_held entries;
	uint32_t collection;

	*out = (struct leak_held){ 1, end->shallow_bytes, .class_no = end->class_no,
				   .collection_ix = HEAP_NONE };
	if (end->kind == STORE_PRIMITIVE_ARRAY || end->kind == STORE_OBJECT_ARRAY)
		out->length = end->length;
	TRY(find_entries(q, about, &entries, &collection, err));
	if (end->kind != STORE_OBJECT_ARRAY || collection == HEAP_NONE ||
	    entries.count < end->length / INNER_PART)
		return HDB_OK;
	*out = entries;
	return name_entries(q->heap, out, err);
}

/*
 * Determines which objects a single suspect holds. If an array or another object retains half of
 * the suspect by itself, names that object instead.
 */
static int find_held(struct query *q, const struct leak_rows *rows,
		     const struct query_leak_suspect *about, struct leak_held *out,
		     struct hdb_error *err)
{
	const struct analysis_suspect *s = about->suspect;
	const uint32_t end_ix = s->point_ix == HEAP_NONE ? s->ix : s->point_ix;
	struct heap_object end;
	struct leak_held entries, own;
	const char *class, *of;
	uint32_t collection;
	bool is_other;

	assert(s->ix != HEAP_NONE);
	find_class(q->heap, rows, about, out, &own);
	TRY(heap_object(q->heap, end_ix, &end, err));
	if (out->class_no == HEAP_NONE && end.shallow_bytes >= s->retained_bytes / MAIN_PART)
		return hold_itself(q, about, &end, out, err);
	TRY(find_entries(q, about, &entries, &collection, err));
	if (collection == HEAP_NONE) {
		if (out->class_no == HEAP_NONE && own.class_no != HEAP_NONE)
			*out = own;
		TRY(look_inside(q, end_ix, out, err));
		count_content(rows, about, out);
		return HDB_OK;
	}
	/*
	 * The collection's own entries (java.util.HashMap$Node) are internals, as are the nodes of
	 * a tree, some of which are below the collection on the path.
	 */
	of = heap_class_name(q->heap, collection);
	class = out->class_no == HEAP_NONE ? NULL : heap_class_name(q->heap, out->class_no);
	if (!class || (strncmp(class, of, strlen(of)) == 0 && class[strlen(of)] == '$') ||
	    is_on_path(q, about, entries.collection_ix, out->class_no)) {
		*out = entries;
		TRY(name_entries(q->heap, out, err));
		/*
		 * Each node of a tree holds other nodes of the same class, so all nodes are
		 * counted.
		 */
		if (out->class_no != HEAP_NONE &&
		    (entries.is_nested || out->collection_ix == HEAP_NONE ||
		     is_on_path(q, about, HEAP_NONE, out->class_no)))
			count_content(rows, about, out);
		return HDB_OK;
	}
	TRY(is_inside(q->heap, &entries, out, &is_other, err));
	if (is_about(out->count, entries.count) && !entries.is_nested &&
	    !is_on_path(q, about, HEAP_NONE, out->class_no))
		out->count = entries.count;
	else if (!is_other)
		count_content(rows, about, out);
	if (!is_other)
		return HDB_OK;
	*out = entries;
	return name_entries(q->heap, out, err);
}

int leak_held_find(struct query *q, const struct leak_rows *rows,
		   const struct query_leak_suspect *about, struct leak_held *out,
		   struct hdb_error *err)
{
	const struct analysis_suspect *s = about->suspect;

	*out = (struct leak_held){ s->count, s->retained_bytes, s->class_no,
				   .collection_ix = HEAP_NONE };
	if (about->incident) {
		if (about->incident->is_most) {
			out->count = about->incident->count;
			out->bytes = about->incident->bytes;
		}
		return HDB_OK;
	}
	if (!about->holds)
		return s->ix == HEAP_NONE ? HDB_OK : find_held(q, rows, about, out, err);
	out->count = about->held;
	out->class_no = HEAP_NONE;
	out->text = about->holds;
	return HDB_OK;
}

/* ---- the query that lists the held objects ---- */

/* Adds the number of instances of a class in one heap, from the import's counts. */
static int add_instances(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	(void)err;
	((uint64_t *)ctx)[count->class_no] += count->count;
	return HDB_OK;
}

/* Facts about all classes that have the same name as the class of the held objects. */
struct name_share {
	/*
	 * whether the held objects are all reachable instances, so that `instances NAME` lists
	 * exactly them
	 */
	bool is_all;
	unsigned classes; /* number of classes with the name */
};

static int find_share(struct query *q, struct leak_rows *rows, const struct leak_held *held,
		      struct name_share *out, struct hdb_error *err)
{
	const char *name = heap_class_name(q->heap, held->class_no);
	BASE_SCOPED(analysis_members_release) struct analysis_members members = { 0 };
	struct derive_heap_totals whole;
	uint64_t instances = 0;

	assert(held->class_no != HEAP_NONE);
	if (!rows->instances) {
		TRY(heap_load_classes(q->heap, err));
		TRY(BASE_ALLOC(rows->instances, (size_t)q->heap->class_count + 1,
			       "instances by class", err));
		TRY(heap_count_all(q->heap, q->session.work, add_instances, rows->instances, err));
	}
	out->classes = 0;
	for (uint32_t no = heap_class_by_name(q->heap, name, 0); no != HEAP_NONE;
	     no = heap_class_by_name(q->heap, name, no + 1)) {
		instances += rows->instances[no];
		++out->classes;
	}
	/*
	 * The import's counts include unreachable objects. In most cases, they decide without a
	 * pass over all instances: the result is false if there are fewer instances than held
	 * objects, or if unreachable objects cannot account for the difference.
	 */
	out->is_all = instances == held->count;
	TRY(derive_heap_totals(q->derive, &whole, err));
	if (instances <= held->count ||
	    instances - held->count > whole.unreachable_count + heap_invented_count(q->heap))
		return HDB_OK;
	TRY(analysis_members_count(&q->session, name, false, &members, err));
	out->is_all = members.reachable_count == held->count;
	return HDB_OK;
}

/*
 * Sets the action to an SQL statement that lists the members of a group: the objects of the class
 * that have no dominator.
 */
static int set_statement(struct leak_rows *rows, struct leak_row *row,
			 const struct query_leak_suspect *about, const char *name,
			 struct hdb_error *err)
{
	/*
	 * A class without a package may have the same name as an SQL table, and arrays have no
	 * tables.
	 */
	const bool is_table = strchr(name, '.') && !strchr(name, '[');
	char least[64] = "", most[64] = "";

	/* A name with quotes would have to be escaped, but real classes do not have such names. */
	if (strpbrk(name, "'\""))
		return HDB_OK;
	if (about->suspect->least_bytes)
		(void)snprintf(least, sizeof(least), " AND shallow >= %" PRIu64,
			       about->suspect->least_bytes);
	/* Larger objects of the class are separate suspects. */
	if (about->most_bytes)
		(void)snprintf(most, sizeof(most), " AND retained <= %" PRIu64, about->most_bytes);
	TRY(leak_rows_text(rows, row, LEAK_ACTION, err, "sql"));
	return leak_rows_text(rows, row, LEAK_TARGET, err,
			      "SELECT * FROM %s%s%s dominator IS NULL%s%s",
			      is_table ? "\"" : "objects WHERE class = '", name,
			      is_table ? "\" WHERE" : "' AND", least, most);
}

/* Counts the threads listed by the threads query whose names match a pattern. */
static int count_threads(struct query *q, const char *pattern, uint64_t *out, struct hdb_error *err)
{
	*out = 0;
	for (uint64_t no = 0; no < heap_thread_count(q->heap); no++) {
		char name[THREAD_NAME_MAX] = "";
		struct store_thread thread;

		TRY(heap_thread(q->heap, no, &thread, err));
		if (thread.ix != STORE_NONE)
			TRY(heap_thread_name(q->heap, thread.ix, name, sizeof(name), err));
		*out += base_glob(pattern, name);
		if (no % STEP_THREADS == 0)
			TRY(base_step(q->work, no, err));
	}
	return HDB_OK;
}

/*
 * Copies the pattern of an incident, such as "transfer-*", if the pattern matches only threads of
 * the incident. Otherwise, the result is empty.
 */
static int thread_pattern(struct query *q, const struct leak_incident *incident,
			  char pattern[THREAD_NAME_MAX], struct hdb_error *err)
{
	uint64_t count = 0;

	pattern[0] = '\0';
	/* The threads query would read the target "0x*" as an ID. */
	if (!incident || !incident->is_most || !strchr(incident->pattern, '*') ||
	    strncmp(incident->pattern, "0x", 2) == 0)
		return HDB_OK;
	TRY(count_threads(q, incident->pattern, &count, err));
	if (count == incident->count)
		(void)snprintf(pattern, THREAD_NAME_MAX, "%s", incident->pattern);
	return HDB_OK;
}

int leak_held_action(struct query *q, struct leak_rows *rows,
		     const struct query_leak_suspect *about, const struct leak_held *held,
		     struct hdb_error *err)
{
	struct leak_row *row = leak_rows_at(rows, about->first_row);
	char pattern[THREAD_NAME_MAX];
	struct name_share share;
	const char *name;
	uint64_t id;

	/*
	 * With a heap filter, other queries would select other objects, so no query is recommended.
	 */
	if (held->text || held->length || q->is_filtered)
		return HDB_OK;
	if (held->collection_ix != HEAP_NONE) {
		TRY(heap_id(q->heap, held->collection_ix, &id, err));
		TRY(leak_rows_text(rows, row, LEAK_ACTION, err, "entries"));
		return leak_rows_text(rows, row, LEAK_TARGET, err, "0x%" PRIx64, id);
	}
	if (held->class_no == HEAP_NONE)
		return HDB_OK;
	TRY(thread_pattern(q, about->incident, pattern, err));
	if (pattern[0]) {
		TRY(leak_rows_text(rows, row, LEAK_ACTION, err, "threads"));
		return leak_rows_text(rows, row, LEAK_TARGET, err, "%s", pattern);
	}
	name = heap_class_name(q->heap, held->class_no);
	TRY(find_share(q, rows, held, &share, err));
	if (share.is_all) {
		TRY(leak_rows_text(rows, row, LEAK_ACTION, err, "instances"));
		return leak_rows_text(rows, row, LEAK_TARGET, err, "%s", name);
	}
	return about->suspect->ix == HEAP_NONE && share.classes == 1 ?
		       set_statement(rows, row, about, name, err) :
		       HDB_OK;
}
