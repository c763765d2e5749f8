/*
 * import/import_roots.c - numbers GC roots by index, and adds the edges that roots imply: from a
 * thread to its local variables.
 *
 * The rules are those of Eclipse MAT. A local variable of a known thread is an edge from the thread
 * object and not a root. If the dump has no sticky class roots, all classes of the boot loader
 * except array classes become sticky class roots.
 */
#include "base/search.h"
#include "base/sort.h"
#include "import/context.h"

#include <assert.h>
#include <stdlib.h>

static int push_extra(struct import *im, uint32_t from, uint32_t to, struct hdb_error *err)
{
	const struct import_edge edge = { .from_ix = from, .to_ix = to };

	assert(from < im->object_count);
	assert(to < im->object_count);
	return base_vec_push(&im->links.extras, &edge, sizeof(edge), err);
}

/* Translates a root record. Drops a root whose object is not in the dump. */
static int number_root(struct import *im, const struct import_root *in, struct hdb_error *err)
{
	struct store_root out = {
		.ix = import_idset_find(&im->ids, in->id),
		.thread_serial = in->thread_serial,
		.frame_number = in->frame_number,
		.kind = in->kind,
	};

	if (in->id == 0 || out.ix == IDSET_NONE)
		return HDB_OK;
	if (in->thread_id) {
		const uint32_t thread_ix = import_idset_find(&im->ids, in->thread_id);

		if (thread_ix == IDSET_NONE)
			return HDB_OK;
		out.is_local = 1;
		TRY(push_extra(im, thread_ix, out.ix, err));
	}
	return base_vec_push(&im->links.numbered_roots, &out, sizeof(out), err);
}

BASE_ORDER(compare_roots, struct store_root, BASE_UP(ix), BASE_UP(kind), BASE_UP(thread_serial),
	   BASE_UP(frame_number))

BASE_ORDER(compare_edges, struct import_edge, BASE_UP(from_ix), BASE_UP(to_ix))

/* Returns whether an object is already a root, by searching the sorted part of the roots. */
static bool is_root(const struct import *im, uint64_t sorted_count, uint32_t ix)
{
	const struct store_root *roots = im->links.numbered_roots.data;
	struct base_search search = base_search_in(sorted_count);

	assert(sorted_count <= im->links.numbered_roots.count);
	while (base_search_next(&search))
		base_search_step(&search, roots[search.mid].ix < ix);
	for (uint64_t i = search.low; i < sorted_count && roots[i].ix == ix; i++)
		if (!roots[i].is_local)
			return true;
	return false;
}

static void sort_roots(struct import *im)
{
	if (im->links.numbered_roots.count)
		qsort(im->links.numbered_roots.data, im->links.numbered_roots.count,
		      sizeof(struct store_root), compare_roots);
}

/* Adds sticky-class roots for the classes of the boot loader. */
static int invent_sticky(struct import *im, struct hdb_error *err)
{
	const uint64_t sorted = im->links.numbered_roots.count;

	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);
		const struct store_root root = {
			.ix = class->out.ix,
			.kind = HPROF_ROOT_STICKY_CLASS,
			.frame_number = STORE_NONE,
			.is_invented = 1,
		};

		if (class->out.loader_ix || class->out.flags & STORE_CLASS_ARRAY ||
		    is_root(im, sorted, class->out.ix))
			continue;
		TRY(base_vec_push(&im->links.numbered_roots, &root, sizeof(root), err));
	}
	sort_roots(im);
	return HDB_OK;
}

/*
 * If no class belongs to the boot loader, adds an edge from each class loader to its classes, as
 * MAT does.
 */
static int hold_by_loaders(struct import *im, struct hdb_error *err)
{
	if (im->known.any_boot_class)
		return HDB_OK;
	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);

		if (!class->out.loader_ix)
			continue;
		TRY(push_extra(im, class->out.loader_ix, class->out.ix, err));
	}
	return HDB_OK;
}

/*
 * Replaces IDs with indexes. If the dump records no sticky classes, the classes of the boot loader
 * become sticky class roots, and class loaders hold the other classes.
 */
int import_number_roots(struct import *im, struct hdb_error *err)
{
	for (size_t i = 0; i < im->records.roots.count; i++) {
		TRY(number_root(im, base_vec_at(&im->records.roots, struct import_root, i), err));
	}
	base_vec_release(&im->records.roots);
	sort_roots(im);
	im->links.root_count = im->links.numbered_roots.count;
	if (!im->links.root_count || im->origin.phd.version)
		im->damage.incomplete |= STORE_LACKS_ROOTS;
	if (!im->records.has_sticky)
		TRY(invent_sticky(im, err));
	TRY(hold_by_loaders(im, err));
	if (im->links.extras.count)
		qsort(im->links.extras.data, im->links.extras.count, sizeof(struct import_edge),
		      compare_edges);
	return HDB_OK;
}

/*
 * Returns the number of the first extra edge that starts at this object or a later one. Edges are
 * sorted by source.
 */
size_t import_extras_from(const struct import *im, uint32_t ix)
{
	const struct import_edge *edges = im->links.extras.data;
	struct base_search search = base_search_in(im->links.extras.count);

	while (base_search_next(&search))
		base_search_step(&search, edges[search.mid].from_ix < ix);
	return search.low;
}

int import_write_roots(struct import *im, struct hdb_error *err)
{
	return store_records_put_all(im->writer, STORE_ROOTS, im->links.numbered_roots.data,
				     im->links.numbered_roots.count, err);
}
