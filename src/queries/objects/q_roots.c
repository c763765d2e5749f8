/*
 * queries/objects/q_roots.c - the roots query: GC roots by kind, or the objects of one kind.
 */
#include "heap/threads.h"
#include "queries/queries.h"

#include <strings.h>

#define NAME_MAX_BYTES 256

#include <queries/objects/q_roots.query.h>

struct roots_query {
	bool is_list;
	uint8_t kind;
	bool all;
	uint64_t at;
	struct {
		uint64_t records, objects, bytes;
		uint32_t last_ix;
	} kinds[256];
};

static int count_kinds(struct query *q, struct roots_query *s, struct hdb_error *err)
{
	uint64_t objects = 0;

	query_fact(q, "records", q->heap->roots.count);
	for (unsigned k = 0; k < 256; k++)
		s->kinds[k].last_ix = HEAP_NONE;
	for (uint64_t i = 0; i < q->heap->roots.count; i++) {
		const struct store_root *root = &q->heap->roots.records[i];
		struct heap_object object;

		s->kinds[root->kind].records++;
		if (heap_is_root(q->heap, root->ix) && (i == 0 || root[-1].ix != root->ix))
			objects++;
		if (s->kinds[root->kind].last_ix == root->ix)
			continue;
		s->kinds[root->kind].last_ix = root->ix;
		TRY(heap_object(q->heap, root->ix, &object, err));
		if (heap_leaves_out(q->heap, object.heap_no))
			continue;
		s->kinds[root->kind].objects++;
		s->kinds[root->kind].bytes += object.shallow_bytes;
	}
	query_fact(q, "objects", objects);
	return HDB_OK;
}

/* Finds a kind by its name, ignoring case and punctuation. */
static int find_kind(struct roots_query *s, const char *name, struct hdb_error *err)
{
	if (strcasecmp(name, "all") == 0) {
		s->all = true;
		return HDB_OK;
	}
	for (unsigned k = 0; k < 256; k++) {
		if (s->kinds[k].records && strcasecmp(name, heap_root_name((uint8_t)k)) == 0) {
			s->kind = (uint8_t)k;
			return HDB_OK;
		}
	}
	return hdb_fail(err, HDB_NOTFOUND, "no GC roots of kind \"%s\"", name);
}

static int open_roots(struct query *q, struct hdb_error *err)
{
	const char *kind = query_option(q, "kind");
	struct roots_query *s = q->state;
	int r;

	TRY(heap_load_roots(q->heap, err));
	TRY(count_kinds(q, s, err));
	q->total = 0;
	if (!kind) {
		for (unsigned k = 0; k < 256; k++)
			q->total += s->kinds[k].records != 0;
		query_choose(q, "kind,records,objects,shallow");
		return HDB_OK;
	}
	s->is_list = true;
	r = find_kind(s, kind, err);
	q->total = s->all ? q->heap->roots.count : s->kinds[s->kind].records;
	if (r == HDB_OK)
		query_choose(q, "kind,id,class,label,shallow,retained,thread,local");
	return r;
}

static int next_kind(struct query *q, struct roots_query *s)
{
	while (s->at < 256 && !s->kinds[s->at].records)
		s->at++;
	assert(s->at <= 256);
	if (s->at == 256)
		return HDB_END;
	query_set(q, RECORDS, s->kinds[s->at].records);
	query_set(q, OBJECTS, s->kinds[s->at].objects);
	query_set(q, SHALLOW, s->kinds[s->at].bytes);
	query_set_text(q, KIND, heap_root_name((uint8_t)s->at++));
	return HDB_OK;
}

static int set_thread(struct query *q, uint32_t serial, struct hdb_error *err)
{
	struct store_thread thread;
	char name[NAME_MAX_BYTES] = "";
	int r = heap_thread_by_serial(q->heap, serial, &thread, err);

	TRY_FOUND(r);
	if (thread.ix != STORE_NONE && heap_is_thread(q->heap, thread.ix))
		r = heap_thread_name(q->heap, thread.ix, name, sizeof(name), err);
	else
		r = heap_text(q->heap, thread.name_text, name, sizeof(name), err);
	if (r == HDB_OK)
		query_set_text(q, THREAD, name);
	return r;
}

static int next_roots(struct query *q, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SHALLOW, RETAINED };
	struct roots_query *s = q->state;
	const struct store_root *root;

	if (!s->is_list)
		return next_kind(q, s);
	while (s->at < q->heap->roots.count && !s->all &&
	       q->heap->roots.records[s->at].kind != s->kind)
		s->at++;
	assert(s->at <= q->heap->roots.count);
	if (s->at == q->heap->roots.count)
		return HDB_END;
	root = &q->heap->roots.records[s->at++];
	query_set_text(q, KIND, heap_root_name(root->kind));
	query_set_object(q, &cells, root->ix);
	query_set(q, LOCAL, root->is_local);
	return root->thread_serial ? set_thread(q, root->thread_serial, err) : HDB_OK;
}

QUERY_DEFINE(roots, .state_size = sizeof(struct roots_query), .open = open_roots,
	     .next = next_roots);
