/*
 * api/api_references.c - implements references between objects, retained sizes of sets, GC roots,
 * and threads.
 */
#include "api/handle.h"

#include "base/sort.h"
#include "base/scope.h"
#include "heap/heap_database.h"
#include "heap/threads.h"
#include "heap/values/named_references.h"
#include "heap/values/text.h"
#include "analysis/describe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

struct hdb_list {
	struct hdb *db;
	enum hdb_list_kind kind;
	struct store_lists lists;
};

int hdb_list_open(struct hdb *db, enum hdb_list_kind kind, struct hdb_list **out,
		  struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	struct hdb_list *list;
	int r = HDB_OK;

	TRY(BASE_ALLOC(list, 1, "a list of objects", err));
	list->db = db;
	list->kind = kind;
	switch (kind) {
	case HDB_REFERENCES:
		heap_references(db->heap, &list->lists);
		break;
	case HDB_REFERRERS:
		r = derive_referrers(&db->derive, &list->lists, err);
		break;
	case HDB_DOMINATED:
		r = derive_children(&db->derive, &list->lists, err);
		break;
	default:
		r = hdb_fail(err, HDB_EUSAGE,
			     "invalid kind of list: %d (expected a value of enum hdb_list_kind)",
			     (int)kind);
	}
	if (r < 0) {
		free(list);
		return r;
	}
	*out = list;
	return HDB_OK;
}

int hdb_list_begin(struct hdb_list *list, uint32_t ix, uint64_t *length, struct hdb_error *err)
{
	API_NEEDS(list, err);

	int r;

	if (ix == HDB_NONE && list->kind == HDB_DOMINATED)
		ix = list->db->heap->object_count;
	else if ((r = api_check_ix(list->db, ix, err)) < 0)
		return r;
	return store_lists_begin(&list->lists, ix, length, err);
}

int hdb_list_next(struct hdb_list *list, const uint32_t **ixs, size_t *count, struct hdb_error *err)
{
	API_NEEDS(list && ixs && count, err);

	*count = 0;
	return store_lists_next(&list->lists, ixs, count, err);
}

void hdb_list_close(struct hdb_list *list)
{
	free(list);
}

/* NOLINTNEXTLINE(readability-function-size): buffer and size are one argument, as in snprintf */
int hdb_holder(struct hdb *db, uint32_t from, uint32_t to, char *buf, size_t size,
	       struct hdb_error *err)
{
	API_NEEDS(db && buf, err);

	const struct session session = api_session(db);
	int r = api_check_ix(db, from, err);

	if (r == HDB_OK)
		r = api_check_ix(db, to, err);
	if (r == HDB_OK)
		r = size ? analysis_holder(&session, from, to, (struct base_text){ buf, size },
					   err) :
			   hdb_fail(err, HDB_EUSAGE, "buffer too small for the name");
	return api_end(db, r, err);
}

int hdb_strength(struct hdb *db, uint32_t from, uint32_t to, unsigned *strength,
		 struct hdb_error *err)
{
	API_NEEDS(db && strength, err);

	uint8_t found = 0;
	int r = api_check_ix(db, from, err);

	if (r == HDB_OK)
		r = api_check_ix(db, to, err);
	if (r == HDB_OK)
		r = heap_strength(db->heap, from, to, &found, err);
	*strength = found;
	return api_end(db, r, err);
}

const char *hdb_strength_name(unsigned strength)
{
	return analysis_strength_name(strength <= STORE_FINALIZER ? (uint8_t)strength : 0);
}

/* ---- references one by one ---- */

struct hdb_references {
	struct hdb *db;
	struct heap_named_references *named;
	struct hdb_reference now;
};

int hdb_references_open(struct hdb *db, const char *name, struct hdb_references **out,
			struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	struct hdb_references *refs;
	int r;

	TRY(BASE_ALLOC(refs, 1, "references", err));
	refs->db = db;
	if ((r = heap_named_open(db->heap, name, &refs->named, err)) < 0) {
		free(refs);
		return r;
	}
	*out = refs;
	return HDB_OK;
}

int hdb_references_classes(struct hdb_references *refs, uint8_t *marks, struct hdb_error *err)
{
	API_NEEDS(refs && marks, err);

	return api_end(refs->db, heap_named_marks(refs->named, marks, err), err);
}

int hdb_references_begin(struct hdb_references *refs, uint32_t from, uint32_t to,
			 struct hdb_error *err)
{
	API_NEEDS(refs, err);

	TRY(api_check_ix(refs->db, from, err));
	if (to != HDB_NONE)
		TRY(api_check_ix(refs->db, to, err));
	return heap_named_begin(refs->named, from, to, err);
}

int hdb_references_next(struct hdb_references *refs, const struct hdb_reference **out,
			struct hdb_error *err)
{
	API_NEEDS(refs && out, err);

	struct heap_named_reference next = { 0 };

	TRY(heap_named_next(refs->named, &next, err));
	refs->now = (struct hdb_reference){ next.to_id, next.name, next.element, next.strength };
	*out = &refs->now;
	return HDB_OK;
}

void hdb_references_close(struct hdb_references *refs)
{
	if (!refs)
		return;
	heap_named_close(refs->named);
	free(refs);
}

/* ---- sets ---- */

/*
 * Copies the members of a set, sorted and without duplicates. The caller frees *out. Fails with
 * HDB_EUSAGE if a member is not a valid object number.
 */
static int sort_members(struct hdb *db, const struct hdb_set *set, uint32_t **out, size_t *count,
			struct hdb_error *err)
{
	uint32_t *members;
	size_t n = 0;

	assert(!*out);
	if (set->count && !set->ixs)
		return hdb_fail(err, HDB_EUSAGE,
				"a set of %zu objects requires an array, but its pointer is NULL",
				set->count);
	TRY(BASE_ALLOC(members, set->count, "a set of objects", err));
	*out = members;
	if (set->count)
		memcpy(members, set->ixs, set->count * sizeof(*members));
	qsort(members, set->count, sizeof(*members), base_compare_u32);
	for (size_t i = 0; i < set->count; i++)
		if (!n || members[n - 1] != members[i])
			members[n++] = members[i];
	*count = n;
	return n ? api_check_ix(db, members[n - 1], err) : HDB_OK;
}

int hdb_retained_sets(struct hdb *db, struct hdb_set *sets, size_t set_count, struct hdb_error *err)
{
	API_NEEDS(db && (sets || !set_count), err);

	struct derive_set *sorted = calloc(set_count + 1, sizeof(*sorted));
	uint32_t **members = calloc(set_count + 1, sizeof(*members));
	int r = sorted && members ?
			HDB_OK :
			hdb_fail_memory(err, "sets of objects", set_count * sizeof(*sorted));

	for (size_t i = 0; i < set_count && r >= 0; i++) {
		r = sort_members(db, &sets[i], &members[i], &sorted[i].count, err);
		sorted[i].members = members[i];
	}
	if (r >= 0)
		r = derive_retained_sets(&db->derive, sorted, set_count, err);
	for (size_t i = 0; i < set_count && r == HDB_OK; i++) {
		sets[i].retained_bytes = sorted[i].retained_bytes;
		sets[i].retained_count = sorted[i].retained_count;
	}
	for (size_t i = 0; members && i < set_count; i++)
		free(members[i]);
	free(members);
	free(sorted);
	return api_end(db, r, err);
}

int hdb_retained_marks(struct hdb *db, const struct hdb_set *set, uint64_t *bits,
		       struct hdb_error *err)
{
	API_NEEDS(db && set && bits, err);

	BASE_FREED uint32_t *members = NULL;
	size_t n = 0;
	int r = sort_members(db, set, &members, &n, err);

	if (r >= 0)
		r = derive_retained_marks(&db->derive, members, n, bits, err);
	return api_end(db, r, err);
}

/* ---- roots ---- */

int hdb_root_count(struct hdb *db, uint64_t *count, struct hdb_error *err)
{
	API_NEEDS(db && count, err);

	const int r = heap_load_roots(db->heap, err);

	*count = db->heap->roots.count;
	return r;
}

int hdb_root_at(struct hdb *db, uint64_t no, struct hdb_root *out, struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	const struct store_root *root;
	struct hdb_root facts;

	API_CHECK(out, err);
	TRY(heap_load_roots(db->heap, err));
	if (no >= db->heap->roots.count)
		return hdb_fail(err, HDB_EUSAGE, "GC root number out of range: %" PRIu64, no);
	root = &db->heap->roots.records[no];
	facts = (struct hdb_root){
		.ix = root->ix,
		.kind = heap_root_name(root->kind),
		.thread_serial = root->thread_serial,
		.frame_depth = root->frame_number == STORE_NONE ? HDB_NONE : root->frame_number,
		.is_local = root->is_local,
	};
	API_WRITE(out, &facts);
	return HDB_OK;
}

int hdb_roots_of(struct hdb *db, uint32_t ix, uint64_t *first, uint64_t *count,
		 struct hdb_error *err)
{
	API_NEEDS(db && first && count, err);

	const struct store_root *roots;
	size_t n;

	*first = *count = 0;
	TRY(api_check_ix(db, ix, err));
	TRY(heap_load_roots(db->heap, err));
	roots = heap_roots_of(db->heap, ix, &n);
	if (roots) {
		*first = (uint64_t)(roots - db->heap->roots.records);
		*count = n;
	}
	return HDB_OK;
}

/* ---- threads ---- */

uint64_t hdb_thread_count(struct hdb *db)
{
	return db ? heap_thread_count(db->heap) : 0;
}

int hdb_thread_at(struct hdb *db, uint64_t no, struct hdb_thread *out, struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	struct store_thread thread;
	struct store_trace trace;
	struct hdb_thread facts;
	int r;

	API_CHECK(out, err);
	r = heap_thread(db->heap, no, &thread, err);
	if (r == HDB_NOTFOUND)
		return hdb_fail(err, HDB_EUSAGE, "thread number out of range: %" PRIu64, no);
	TRY_ERRORS(r);
	facts = (struct hdb_thread){
		.serial = thread.thread_serial,
		.ix = thread.ix == STORE_NONE ? HDB_NONE : thread.ix,
		.trace_serial = thread.trace_serial,
	};
	TRY_ERRORS(r = heap_trace(db->heap, thread.trace_serial, &trace, err));
	facts.frame_count = r == HDB_OK ? trace.frame_count : 0;
	TRY(heap_text(db->heap, thread.name_text, facts.name, sizeof(facts.name), err));
	if (!facts.name[0] && facts.ix != HDB_NONE)
		TRY(heap_thread_name(db->heap, facts.ix, facts.name, sizeof(facts.name), err));
	facts.name_size = heap_drop_broken(facts.name, strlen(facts.name));
	facts.name[facts.name_size] = '\0';
	API_WRITE(out, &facts);
	return api_end(db, HDB_OK, err);
}

int hdb_frame_at(struct hdb *db, uint32_t trace_serial, uint32_t depth, struct hdb_frame *out,
		 struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	struct store_trace trace;
	struct store_frame frame;
	struct hdb_frame facts = { 0 };

	API_CHECK(out, err);
	TRY(heap_trace(db->heap, trace_serial, &trace, err));
	TRY(heap_trace_frame(db->heap, &trace, depth, &frame, err));
	TRY(heap_text(db->heap, frame.class_text, facts.class_name, sizeof(facts.class_name), err));
	TRY(heap_text(db->heap, frame.method_text, facts.method, sizeof(facts.method), err));
	TRY(heap_text(db->heap, frame.signature_text, facts.signature, sizeof(facts.signature),
		      err));
	TRY(heap_text(db->heap, frame.source_text, facts.source, sizeof(facts.source), err));
	for (char *p = facts.class_name; *p; p++)
		if (*p == '/')
			*p = '.';
	facts.line = frame.line;
	API_WRITE(out, &facts);
	return HDB_OK;
}

/* ---- heaps ---- */

uint32_t hdb_heap_count(struct hdb *db)
{
	const uint64_t n = db ? heap_record_count(db->heap, STORE_HEAPS) : 0;

	return n < HDB_NONE ? (uint32_t)n : HDB_NONE;
}

int hdb_heap_name(struct hdb *db, uint32_t heap_no, char *buf, size_t size, struct hdb_error *err)
{
	API_NEEDS(db && buf, err);

	struct store_heap heap;
	int r;

	if (!size)
		return hdb_fail(err, HDB_EUSAGE, "buffer too small for the name");
	r = heap_record(db->heap, STORE_HEAPS, heap_no, &heap, err);
	if (r == HDB_NOTFOUND)
		return hdb_fail(err, HDB_EUSAGE, "heap number out of range: %u", (unsigned)heap_no);
	TRY(r);
	return heap_text(db->heap, heap.name_text, buf, size, err);
}
