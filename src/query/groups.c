/*
 * query/groups.c - objects counted by class, superclass, package or loader.
 */
#include "query/groups.h"

#include "derive/class_tree.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of objects between two looks at the cancel flag. */
#define STEP_BLOCKS 16

int query_by(const struct query *q, enum derive_group fallback, enum derive_group *out,
	     struct hdb_error *err)
{
	static const char *const names[] = { "class", "superclass", "package", "loader" };
	const char *text = query_option(q, "by");

	*out = fallback;
	if (!text)
		return HDB_OK;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], text) == 0) {
			*out = (enum derive_group)i;
			return HDB_OK;
		}
	}
	return hdb_fail(err, HDB_EUSAGE, "--by must be one of %s, not \"%s\"",
			"class, superclass, package, loader", text);
}

void query_groups_release(struct query_groups *groups)
{
	free(groups->totals);
	*groups = (struct query_groups){ 0 };
}

static void add(struct derive_total *to, const struct derive_total *from)
{
	to->count += from->count;
	to->shallow_bytes += from->shallow_bytes;
	to->unreachable_count += from->unreachable_count;
	to->unreachable_bytes += from->unreachable_bytes;
	to->retained_bytes += from->retained_bytes;
}

/* Drops groups without objects. */
static void drop_empty(struct query_groups *groups)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++)
		if (groups->totals[i].count || groups->totals[i].unreachable_count)
			groups->totals[kept++] = groups->totals[i];
	groups->count = kept;
}

int query_load_groups(struct query *q, enum derive_group by, struct query_groups *out,
		      struct hdb_error *err)
{
	int r;

	*out = (struct query_groups){ .by = by };
	r = heap_load_classes(q->heap, err);
	if (r == HDB_OK)
		r = derive_totals(q->derive, by, &out->totals, &out->count, err);
	if (r == HDB_OK)
		drop_empty(out);
	return r;
}

/* ---- one pass over all objects ---- */

static bool is_invented(const struct heap *heap, const struct heap_block *block, uint32_t i)
{
	return block->first_ix + i == HEAP_BOOT_LOADER ||
	       (block->kind[i] == STORE_CLASS &&
		heap_class(heap, (uint32_t)block->length[i])->flags & STORE_CLASS_INVENTED);
}

static void count_block(const struct heap *heap, const struct heap_block *block,
			const uint8_t *reachable, struct derive_total *by_class)
{
	for (uint32_t i = 0; i < block->count; i++) {
		struct derive_total *total = &by_class[block->class_no[i]];

		if (is_invented(heap, block, i))
			continue;
		if (reachable[i]) {
			total->count++;
			total->shallow_bytes += block->shallow[i];
		} else {
			total->unreachable_count++;
			total->unreachable_bytes += block->shallow[i];
		}
	}
}

/* Adds objects that the import has counted to the totals of their class. */
static int add_counted(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct derive_total *total = (struct derive_total *)ctx + count->class_no;

	(void)err;
	if (count->is_invented)
		return HDB_OK;
	total->count += count->count;
	total->shallow_bytes += count->shallow_bytes;
	return HDB_OK;
}

/* Fills by_class, one a class, by looking at all objects. */
static int count_objects(struct query *q, enum query_counting counting,
			 struct derive_total *by_class, struct hdb_error *err)
{
	struct heap *heap = q->heap;
	struct heap_block *block = malloc(sizeof(*block));
	uint8_t *reachable = malloc(STORE_BLOCK_OBJECTS);
	int r = block && reachable ? HDB_OK :
				     hdb_fail_memory(err, "a block of objects", sizeof(*block));

	if (r == HDB_OK)
		memset(reachable, 1, STORE_BLOCK_OBJECTS);
	/* Builds what tells them apart, before the stage begins. */
	if (r == HDB_OK && counting == QUERY_COUNT_REACHED && heap_block_count(heap))
		r = derive_reachable_block(q->derive, 0, reachable, err);
	base_stage(q->work, "counting objects", heap->object_count, "objects");
	for (uint32_t b = 0; b < heap_block_count(heap) && r == HDB_OK; b++) {
		r = heap_read_block(heap, b, block, err);
		if (r == HDB_OK && counting == QUERY_COUNT_REACHED)
			r = derive_reachable_block(q->derive, b, reachable, err);
		if (r == HDB_OK)
			count_block(heap, block, reachable, by_class);
		if (r == HDB_OK && b % STEP_BLOCKS == 0)
			r = base_step(q->work, block->first_ix, err);
	}
	free(block);
	free(reachable);
	return r;
}

/* Fills by_class, one a class. */
static int count_classes(struct query *q, enum query_counting counting,
			 struct derive_total *by_class, struct hdb_error *err)
{
	int r = counting == QUERY_COUNT_ALL ? heap_each_count(q->heap, add_counted, by_class, err) :
					      HDB_NOTFOUND;

	return r == HDB_NOTFOUND ? count_objects(q, counting, by_class, err) : r;
}

/* Each class's objects count for it and all its superclasses. */
static int fold_supers(const struct heap *heap, const struct derive_total *by_class,
		       struct derive_total *out, struct hdb_error *err)
{
	struct class_tree tree = { 0 };
	const int r = class_tree_init(&tree, heap, err);

	for (uint32_t i = r == HDB_OK ? tree.count : 0; i-- > 0;) {
		const uint32_t no = tree.order[i], parent = tree.parent[no];

		add(&out[no], &by_class[no]);
		if (parent != STORE_NONE)
			add(&out[parent], &out[no]);
	}
	class_tree_release(&tree);
	return r;
}

/* A class and what it is sorted by: its package, or its loader. */
struct member {
	const char *name;
	size_t name_size;
	uint32_t loader_ix;
	uint32_t no;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	const size_t n = x->name_size < y->name_size ? x->name_size : y->name_size;
	const int c = n ? memcmp(x->name, y->name, n) : 0;

	if (c)
		return c;
	if (x->name_size != y->name_size)
		return x->name_size < y->name_size ? -1 : 1;
	if (x->loader_ix != y->loader_ix)
		return x->loader_ix < y->loader_ix ? -1 : 1;
	return x->no < y->no ? -1 : x->no > y->no;
}

/* Adds classes up by package or loader. */
static int fold_sorted(struct heap *heap, enum derive_group by, const struct derive_total *by_class,
		       struct query_groups *out, struct hdb_error *err)
{
	struct member *members = calloc((size_t)heap->class_count + 1, sizeof(*members));
	size_t count = 0;

	if (!members)
		return hdb_fail_memory(err, "classes", heap->class_count * sizeof(*members));
	for (uint32_t no = 0; no < heap->class_count; no++) {
		struct member *m = &members[no];

		m->no = no;
		m->loader_ix = by == DERIVE_LOADER ? heap_class(heap, no)->loader_ix : 0;
		m->name = by == DERIVE_PACKAGE ? heap_class_name(heap, no) : "";
		m->name_size = heap_package_size(m->name);
	}
	qsort(members, heap->class_count, sizeof(*members), compare_members);
	for (uint32_t i = 0; i < heap->class_count; i++) {
		const struct member *m = &members[i], *before = i ? m - 1 : m;
		const bool is_new = i == 0 || m->loader_ix != before->loader_ix ||
				    m->name_size != before->name_size ||
				    memcmp(m->name, before->name, m->name_size) != 0;

		if (is_new)
			out->totals[count++] = (struct derive_total){
				.group = by,
				.no = by == DERIVE_LOADER ? m->loader_ix : m->no,
			};
		add(&out->totals[count - 1], &by_class[m->no]);
	}
	out->count = count;
	free(members);
	return HDB_OK;
}

int query_make_class_totals(struct query *q, struct derive_total **out, struct hdb_error *err)
{
	const struct heap *heap = q->heap;
	const size_t n = (size_t)heap->class_count + 1;
	const int r = heap_load_classes(q->heap, err);

	*out = NULL;
	if (r < 0)
		return r;
	*out = calloc(n, sizeof(**out));
	if (!*out)
		return hdb_fail_memory(err, "totals by class", n * sizeof(**out));
	for (uint32_t no = 0; no < heap->class_count; no++)
		(*out)[no] = (struct derive_total){ .group = DERIVE_CLASS, .no = no };
	return HDB_OK;
}

int query_fold_groups(struct query *q, enum derive_group by, const struct derive_total *by_class,
		      struct query_groups *out, struct hdb_error *err)
{
	struct heap *heap = q->heap;
	int r;

	*out = (struct query_groups){ .by = by };
	r = query_make_class_totals(q, &out->totals, err);
	if (r < 0)
		return r;
	out->count = heap->class_count;
	for (uint32_t no = 0; no < heap->class_count; no++)
		out->totals[no].group = by;
	if (by == DERIVE_CLASS)
		memcpy(out->totals, by_class, heap->class_count * sizeof(*by_class));
	else if (by == DERIVE_SUPERCLASS)
		r = fold_supers(heap, by_class, out->totals, err);
	else
		r = fold_sorted(heap, by, by_class, out, err);
	if (r == HDB_OK)
		drop_empty(out);
	return r;
}

int query_count_groups(struct query *q, enum derive_group by, enum query_counting counting,
		       struct query_groups *out, struct hdb_error *err)
{
	struct derive_total *by_class;
	int r = query_make_class_totals(q, &by_class, err);

	*out = (struct query_groups){ .by = by };
	if (r == HDB_OK)
		r = count_classes(q, counting, by_class, err);
	if (r == HDB_OK)
		r = query_fold_groups(q, by, by_class, out, err);
	free(by_class);
	return r;
}

/* ---- order, names, sums ---- */

static int compare_numbers(uint64_t a, uint64_t b, uint32_t a_no, uint32_t b_no)
{
	if (a != b)
		return a > b ? -1 : 1;
	return a_no < b_no ? -1 : a_no > b_no;
}

static int compare_shallow(const void *a, const void *b)
{
	const struct derive_total *x = a, *y = b;

	return compare_numbers(x->shallow_bytes, y->shallow_bytes, x->no, y->no);
}

static int compare_retained(const void *a, const void *b)
{
	const struct derive_total *x = a, *y = b;

	return compare_numbers(x->retained_bytes, y->retained_bytes, x->no, y->no);
}

static int compare_unreachable(const void *a, const void *b)
{
	const struct derive_total *x = a, *y = b;

	return compare_numbers(x->unreachable_bytes, y->unreachable_bytes, x->no, y->no);
}

void query_sort_groups(struct query_groups *groups, enum query_group_key key)
{
	if (groups->count)
		qsort(groups->totals, groups->count, sizeof(*groups->totals),
		      key == QUERY_BY_SHALLOW  ? compare_shallow :
		      key == QUERY_BY_RETAINED ? compare_retained :
						 compare_unreachable);
}

const char *query_group_name(struct query *q, enum derive_group by, uint32_t no, size_t *size)
{
	struct heap_object loader;
	const char *name;

	if (by != DERIVE_LOADER)
		name = heap_class_name(q->heap, no);
	else if (no == HEAP_BOOT_LOADER)
		name = "<boot>";
	else
		name = heap_object(q->heap, no, &loader, NULL) == HDB_OK ?
			       heap_class_name(q->heap, loader.class_no) :
			       "?";
	*size = strlen(name);
	if (by == DERIVE_PACKAGE) {
		*size = heap_package_size(name);
		if (!*size) {
			name = "<unnamed>";
			*size = strlen(name);
		}
	}
	return name;
}

int query_filter_groups(struct query *q, struct query_groups *groups, const char *pattern,
			struct hdb_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++) {
		size_t size;
		const char *name = query_group_name(q, groups->by, groups->totals[i].no, &size);
		char *copy = strndup(name, size);

		if (!copy)
			return hdb_fail_memory(err, "a name", size);
		if (base_glob(pattern, copy))
			groups->totals[kept++] = groups->totals[i];
		free(copy);
	}
	groups->count = kept;
	return kept ? HDB_OK : hdb_fail(err, HDB_NOTFOUND, "nothing is named %s", pattern);
}

void query_set_group(struct query *q, size_t column, const struct query_groups *groups,
		     const struct derive_total *total)
{
	size_t size;
	const char *name = query_group_name(q, groups->by, total->no, &size);

	query_lend_text(q, column, name, size);
}

int query_set_loader(struct query *q, size_t column, uint32_t loader_ix, struct hdb_error *err)
{
	size_t size;
	const char *name = query_group_name(q, DERIVE_LOADER, loader_ix, &size);
	uint64_t id;
	int r;

	if (loader_ix == HEAP_BOOT_LOADER) {
		query_lend_text(q, column, name, size);
		return HDB_OK;
	}
	r = heap_id(q->heap, loader_ix, &id, err);
	return r == HDB_OK ? query_format(q, column, err, "%s 0x%" PRIx64, name, id) : r;
}

void query_add_groups(const struct query_groups *groups, struct derive_total *out)
{
	*out = (struct derive_total){ 0 };
	for (size_t i = 0; i < groups->count; i++)
		add(out, &groups->totals[i]);
}

int query_heap_total(struct query *q, struct derive_total *out, struct hdb_error *err)
{
	struct derive_whole whole;
	const int r = derive_whole(q->derive, &whole, err);

	*out = (struct derive_total){ 0 };
	if (r != HDB_OK)
		return r;
	out->count = whole.count;
	out->shallow_bytes = whole.shallow_bytes;
	out->unreachable_count = whole.unreachable_count;
	out->unreachable_bytes = whole.unreachable_bytes;
	return HDB_OK;
}

double query_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}
