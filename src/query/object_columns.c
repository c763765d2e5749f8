/* query/object_columns.c - columns and options that many queries share. See object_columns.h. */
#include "query/object_columns.h"

#include "base/scope.h"
#include "heap/heap_database.h"
#include "query/rows.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 64
#define LIST_SIZE 256

static const struct {
	unsigned use;
	struct hdb_option_spec option;
} shared[] = {
	{ QUERY_USES_STRENGTH,
	  { "retained", HDB_OPTION_CHOICE, "strong|soft|finalizer|weak|phantom",
	    "Weakest references to follow. Objects held only by weaker references count as "
	    "unreachable.",
	    .default_value = "phantom" } },
	{ QUERY_USES_HEAP,
	  { "heap", HDB_OPTION_TEXT, "NAME",
	    "Show only objects in this Android heap, such as app, image or zygote",
	    .example = "default" } },
	{ QUERY_ROWS_ARE_OBJECTS,
	  { "depth", HDB_OPTION_FLAG,
	    .help = "Add the depth column: length of the shortest path from a GC root" } },
};

const struct hdb_option_spec *query_shared_option(const struct query_def *def, unsigned no)
{
	for (size_t i = 0; i < BASE_COUNT(shared); i++) {
		if (!(def->uses & shared[i].use))
			continue;
		/*
		 * If the user chooses the columns, that choice determines whether depth is shown.
		 */
		if (def->uses & QUERY_CHOOSES_COLUMNS && shared[i].use == QUERY_ROWS_ARE_OBJECTS)
			continue;
		if (!no--)
			return &shared[i].option;
	}
	return NULL;
}

/* ---- heaps ---- */

static int heap_name(struct heap *of, uint32_t heap_no, char *name, size_t size,
		     struct hdb_error *err)
{
	struct store_heap heap;

	(void)snprintf(name, size, "default");
	if (!heap_no)
		return HDB_OK;
	TRY(heap_record(of, STORE_HEAPS, heap_no - 1, &heap, err));
	return heap_text(of, heap.name_text, name, size, err);
}

/* Finds a heap by name. If no heap has the name, fails with HDB_NOTFOUND and a list of names. */
static int find_heap(struct heap *heap, const char *wanted, uint32_t *out, struct hdb_error *err)
{
	const uint64_t count = heap_record_count(heap, STORE_HEAPS);
	char list[LIST_SIZE] = "", name[NAME_SIZE];
	size_t used = 0;

	for (uint64_t no = count ? 1 : 0; no <= count; no++) {
		TRY(heap_name(heap, (uint32_t)no, name, sizeof(name), err));
		if (strcmp(name, wanted) == 0) {
			*out = (uint32_t)no;
			return HDB_OK;
		}
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", name);
	}
	return hdb_fail(err, HDB_NOTFOUND, "no such heap: \"%s\"; available heaps: %s", wanted,
			list);
}

/*
 * Finds the heap in all databases. An earlier dump without a heap of this name has no matching
 * objects.
 */
static int find_heaps(struct query *q, const char *wanted, struct hdb_error *err)
{
	int r = find_heap(q->heap, wanted, &q->only_heap, err);

	if (r != HDB_OK)
		return r;
	q->is_filtered = true;
	TRY(BASE_ALLOC(q->only_before, q->before_count + 1, "heaps", err));
	for (size_t i = 0; i < q->before_count && r >= 0; i++) {
		q->only_before[i] = HEAP_NONE;
		r = find_heap(q->before[i].heap, wanted, &q->only_before[i], NULL);
	}
	return r < 0 ? r : HDB_OK;
}

/*
 * Names the column of a heap, for example "retained_app", using only letters, digits and
 * underscores.
 */
static int name_heap_column(struct query *q, size_t column, uint32_t heap_no, struct hdb_error *err)
{
	char text[NAME_SIZE], name[2 * NAME_SIZE];

	assert(heap_no > 0);
	TRY(heap_name(q->heap, heap_no, text, sizeof(text), err));
	for (char *p = text; *p; p++) {
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + 'a' - 'A');
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= '0' && *p <= '9'))
			*p = '_';
	}
	(void)snprintf(name, sizeof(name), "retained_%s", text);
	/* Another column may have the same name. */
	if (query_find_column(q, name) != SIZE_MAX)
		(void)snprintf(name, sizeof(name), "retained_heap_%u", (unsigned)heap_no);
	query_rename(q, column, name, HDB_TYPE_BYTES);
	return HDB_OK;
}

static void find_columns(struct query *q)
{
	struct query_object_places *at = &q->extra;
	char name[NAME_SIZE];

	at->id = query_find_column(q, "id");
	at->native = query_find_column(q, "native");
	at->retained_native = query_find_column(q, "retained_native");
	at->heap = query_find_column(q, "heap");
	at->depth = query_find_column(q, "depth");
	for (unsigned i = 0; i < QUERY_HEAPS; i++) {
		(void)snprintf(name, sizeof(name), "retained_heap%u", i + 1);
		at->heaps[i] = query_find_column(q, name);
	}
}

int query_begin_columns(struct query *q, struct hdb_error *err)
{
	const uint64_t heaps = heap_record_count(q->heap, STORE_HEAPS);

	static_assert(QUERY_HEAPS == BASE_COUNT(q->extra.heaps), "a place for each heap");
	q->extra.is_used = q->def->uses & (QUERY_ROWS_ARE_OBJECTS | QUERY_HAS_NATIVE);
	if (!q->extra.is_used)
		return HDB_OK;
	find_columns(q);
	q->extra.heap_count = heaps > 1 && heaps <= QUERY_HEAPS ? (unsigned)heaps : 0;
	if (q->def->uses & QUERY_HAS_NATIVE)
		q->extra.heap_count = 0;
	for (unsigned i = 0; i < q->extra.heap_count; i++)
		TRY(name_heap_column(q, q->extra.heaps[i], i + 1, err));
	return HDB_OK;
}

int query_begin_shared(struct query *q, struct hdb_error *err)
{
	static const enum derive_view views[] = { DERIVE_STRONG, DERIVE_SOFT, DERIVE_FINALIZER,
						  DERIVE_WEAK, DERIVE_PHANTOM };
	const char *name;

	TRY(query_begin_columns(q, err));
	if (q->def->uses & QUERY_USES_STRENGTH && query_option(q, "retained")) {
		const unsigned choice = query_choice(q, "retained");

		if (choice < BASE_COUNT(views))
			TRY(derive_get_view(q->derive, views[choice], &q->derive, err));
		q->session.derive = q->derive;
		query_report_strength(q, query_text(q, "retained"));
	}
	name = q->def->uses & QUERY_USES_HEAP ? query_option(q, "heap") : NULL;
	if (name)
		TRY(find_heaps(q, name, err));
	if (name)
		query_report_only_heap(q, name);
	return HDB_OK;
}

/* ---- columns ---- */

static void hide(struct query *q, size_t column)
{
	size_t kept = 0;

	for (size_t i = 0; i < q->column_count; i++)
		if (q->columns[i] != column)
			q->columns[kept++] = q->columns[i];
	q->column_count = kept;
}

/* Moves a column to the end of the shown columns, or hides it. */
static void show(struct query *q, size_t column, bool is_shown)
{
	if (column == SIZE_MAX)
		return;
	hide(q, column);
	if (is_shown)
		q->columns[q->column_count++] = column;
}

int query_show_object_columns(struct query *q, struct hdb_error *err)
{
	const struct query_object_places *at = &q->extra;
	const bool is_known =
		!(q->def->uses & QUERY_IF_KNOWN) || derive_has(q->derive, STORE_RETAINED);
	bool has_native = false, has_id;

	if (!at->is_used || query_option(q, "columns"))
		return HDB_OK;
	has_id = query_is_shown(q, at->id) && !(q->def->uses & QUERY_CHOOSES_COLUMNS);
	if (has_id)
		TRY(derive_has_native(q->derive, &has_native, err));
	if (!(q->def->uses & QUERY_CHOOSES_COLUMNS)) {
		show(q, at->heap, has_id && at->heap_count);
		if (!(q->def->uses & QUERY_OWN_NATIVE))
			show(q, at->native, has_native);
	}
	show(q, at->retained_native, has_native && is_known);
	show(q, at->depth, has_id && query_option(q, "depth"));
	for (unsigned i = 0; i < QUERY_HEAPS; i++)
		show(q, at->heaps[i], has_id && is_known && i < at->heap_count);
	return HDB_OK;
}

static bool is_wanted(const struct query *q, size_t column)
{
	return column != SIZE_MAX && query_is_shown(q, column) &&
	       q->cells[column].type == HDB_TYPE_NULL;
}

static bool wants_heap(const struct query *q)
{
	return heap_record_count(q->heap, STORE_HEAPS) && is_wanted(q, q->extra.heap);
}

static bool is_any_wanted(const struct query *q)
{
	const struct query_object_places *at = &q->extra;
	bool is_any = is_wanted(q, at->native) || is_wanted(q, at->retained_native) ||
		      is_wanted(q, at->depth) || wants_heap(q);

	for (unsigned i = 0; i < at->heap_count && !is_any; i++)
		is_any = is_wanted(q, at->heaps[i]);
	return is_any;
}

static int fill_sizes(struct query *q, uint32_t ix, struct hdb_error *err)
{
	const struct query_object_places *at = &q->extra;
	uint64_t bytes = 0;

	if (is_wanted(q, at->native)) {
		TRY(derive_native_of(q->derive, ix, &bytes, err));
		query_set(q, at->native, bytes);
	}
	if (is_wanted(q, at->retained_native)) {
		TRY(derive_retained_native(q->derive, ix, &bytes, err));
		query_set(q, at->retained_native, bytes);
	}
	for (unsigned i = 0; i < at->heap_count; i++) {
		if (!is_wanted(q, at->heaps[i]))
			continue;
		TRY(derive_retained_in(q->derive, ix, i + 1, &bytes, err));
		query_set(q, at->heaps[i], bytes);
	}
	return HDB_OK;
}

bool query_is_object_column(const struct query *q, size_t column)
{
	const struct query_object_places *at = &q->extra;
	bool is_one = column == at->native || column == at->retained_native || column == at->heap ||
		      column == at->depth;

	for (unsigned i = 0; i < at->heap_count; i++)
		is_one |= column == at->heaps[i];
	return is_one;
}

int query_fill_object_columns(struct query *q, struct hdb_error *err)
{
	const struct query_object_places *at = &q->extra;
	struct heap_object object;
	char name[NAME_SIZE];
	bool reachable;
	uint32_t ix, depth;
	int r;

	if (!at->is_used || q->is_counting || at->id == SIZE_MAX ||
	    q->cells[at->id].type == HDB_TYPE_NULL || !is_any_wanted(q))
		return HDB_OK;
	TRY_FOUND(heap_find(q->heap, q->cells[at->id].u, &ix, err));
	TRY(fill_sizes(q, ix, err));
	if (is_wanted(q, at->depth)) {
		TRY(derive_depth(q->derive, ix, &reachable, &depth, err));
		if (reachable)
			query_set(q, at->depth, depth);
	}
	if (!wants_heap(q))
		return HDB_OK;
	if ((r = heap_object(q->heap, ix, &object, err)) < 0 || !object.heap_no)
		return r;
	TRY_FOUND(heap_name(q->heap, object.heap_no, name, sizeof(name), err));
	query_set_text(q, at->heap, name);
	return HDB_OK;
}

int query_is_elsewhere(struct query *q, bool *is_elsewhere, struct hdb_error *err)
{
	const size_t id = q->extra.id;
	struct heap_object object;
	uint32_t ix;

	*is_elsewhere = false;
	if (!q->is_filtered || !(q->def->uses & QUERY_ROWS_ARE_OBJECTS) || !q->extra.is_used ||
	    id == SIZE_MAX || q->cells[id].type == HDB_TYPE_NULL)
		return HDB_OK;
	TRY_FOUND(heap_find(q->heap, q->cells[id].u, &ix, err));
	TRY(heap_object(q->heap, ix, &object, err));
	*is_elsewhere = object.heap_no != q->only_heap;
	return HDB_OK;
}
