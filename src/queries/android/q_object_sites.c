/*
 * queries/android/q_object_sites.c - the object-sites query: where objects were allocated, if the
 * dump has stack traces of objects.
 */
#include "queries/android/object_sites.h"
#include "queries/queries.h"

#include <queries/android/q_object_sites.query.h>

struct state {
	struct object_sites counted;
};

BASE_ORDER(compare_sites, struct object_site, BASE_DOWN(bytes), BASE_UP(trace), BASE_UP(class_no))

/* Keeps sites with frames, and counts all other objects. */
static void keep_sites(struct query *q, struct state *s)
{
	struct object_site *list = s->counted.sites.list.data;
	uint64_t count = 0, bytes = 0, others = 0;
	size_t n = 0;
	for (size_t i = 0; i < s->counted.sites.list.count; i++) {
		if (!list[i].stack.frame_count) {
			others += list[i].count;
			continue;
		}
		count += list[i].count;
		bytes += list[i].bytes;
		list[n++] = list[i];
	}
	s->counted.sites.list.count = n;
	if (n)
		qsort(list, n, sizeof(*list), compare_sites);
	q->total = n;
	query_fact(q, "objects", count);
	query_fact(q, "shallow", bytes);
	query_fact(q, "others", others);
}

static int open_sites(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;

	s->counted.is_by_class = query_choice(q, "by") == 1;
	TRY(object_sites_count(q, &s->counted, err));
	keep_sites(q, s);
	if (!s->counted.is_by_class)
		query_choose(q, "trace,objects,shallow,frames,site,stack");
	return HDB_OK;
}

static int site_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct state *s = q->state;
	const struct object_site *site =
		base_vec_at(&s->counted.sites.list, struct object_site, no);

	query_set(q, TRACE, site->trace);
	query_set(q, COUNT, site->count);
	query_set(q, SHALLOW, site->bytes);
	query_set(q, FRAMES, site->stack.frame_count);
	if (s->counted.is_by_class)
		query_set_text(q, CLASS, heap_class_name(q->heap, site->class_no));
	return object_sites_set_stack(q, &site->stack, SITE, STACK, err);
}

static void close_sites(struct query *q)
{
	struct state *s = q->state;

	object_sites_release(&s->counted);
}

QUERY_DEFINE(object_sites, .state_size = sizeof(struct state), .open = open_sites, .row = site_row,
	     .close = close_sites);
