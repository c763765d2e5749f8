/*
 * query/q_consumers.c - the top consumers: the biggest objects of the dominator tree's top level, or
 * of a set, and what they are together by class, loader and package.
 *
 * Sections and rule of Eclipse MAT's query: items are what no object dominates, or, of a set, its
 * members that no other member dominates; all groups above a threshold of the items' sum are listed.
 */
#include "query/describe.h"
#include "query/groups.h"
#include "query/level.h"
#include "query/members.h"
#include "query/queries.h"

#include <stdlib.h>
#include <string.h>

enum { KIND, LEVEL, ID, NAME, COUNT, SHALLOW, RETAINED, PERCENT };

/* Without --threshold, as in Eclipse MAT. */
#define THRESHOLD_PERCENT 1

static const struct hdb_option_spec options[] = {
	{ "threshold", "PERCENT", "what is listed retains more than this, of all the items (1)" },
	{ "sub", NULL, "with the sub classes of the classes that are named" },
	{ NULL, NULL, NULL },
};

static const struct hdb_column columns[] = {
	{ "kind", HDB_TYPE_TEXT, "kind", "object, class, loader or package" },
	{ "level", HDB_TYPE_COUNT, "level", "of packages: 0 for the first word of the name; the "
	  "packages and classes in a package follow it" },
	{ "id", HDB_TYPE_ID, "id", "the object, or the loader" },
	{ "name", HDB_TYPE_TEXT, "name", "what it is; a class object counts with the class that it stands "
	  "for" },
	{ "count", HDB_TYPE_COUNT, "objects", "items in it" },
	{ "shallow", HDB_TYPE_BYTES, "shallow", "bytes of the items themselves" },
	{ "retained", HDB_TYPE_BYTES, "retained", "the sum of what the items retain" },
	{ "percent", HDB_TYPE_DOUBLE, "%", "retained as a share of what all items retain" },
};

static const struct hdb_column facts[] = {
	{ "items", HDB_TYPE_COUNT, "items", "objects that no other of them dominates" },
	{ "retained", HDB_TYPE_BYTES, "retained", "what they retain: 100 %" },
	{ "threshold", HDB_TYPE_BYTES, "threshold", "what is listed retains more" },
};

/* An object that is listed. */
struct item {
	uint32_t ix;
	uint64_t retained_bytes;
};

/* A package, or a class in it. */
struct package {
	const char *name; /* its first name_size bytes; lent by the heap */
	size_t name_size;
	uint32_t level;
	struct derive_total total;
};

struct consumers {
	struct derive_total *by_class;
	struct base_vec items;           /* struct item, largest first */
	struct query_groups classes, loaders;
	struct base_vec packages;        /* struct package, in order of name: parents first */
	uint64_t count, retained_bytes, threshold, percent;
	unsigned section;
	size_t at;
};

/* ---- items ---- */

/* The threshold if `bytes` were all. */
static uint64_t share(const struct consumers *s, uint64_t bytes)
{
	return bytes / 100 * s->percent + bytes % 100 * s->percent / 100;
}

static int add_item(struct query *q, struct consumers *s, uint32_t ix, struct hdb_error *err)
{
	struct heap_object object;
	struct item item = { .ix = ix };
	struct derive_total *total;
	int r = heap_object(q->heap, ix, &object, err);

	if (r == HDB_OK)
		r = derive_retained(q->derive, ix, &item.retained_bytes, err);
	if (r < 0)
		return r;
	/* A class object stands for its class, as a loader's class does for its loader. */
	total = &s->by_class[object.kind == STORE_CLASS ? (uint32_t)object.length : object.class_no];
	total->count++;
	total->shallow_bytes += object.shallow_bytes;
	total->retained_bytes += item.retained_bytes;
	s->count++;
	s->retained_bytes += item.retained_bytes;
	/* The sum only grows: what is below its share now will not be listed. */
	if (item.retained_bytes > share(s, s->retained_bytes) || !s->percent)
		r = base_vec_push(&s->items, &item, sizeof(item), err);
	return r;
}

static int add_top(struct query *q, struct consumers *s, struct hdb_error *err)
{
	struct query_level level;
	uint32_t ix;
	int r = query_level_begin(q, HEAP_NONE, true, &level, err);

	while (r == HDB_OK && (r = query_level_next(q, &level, &ix, err)) == HDB_OK) {
		r = add_item(q, s, ix, err);
		if (r == HDB_OK && s->count % 65536 == 0)
			r = base_step(q->work, s->count, err);
	}
	return r < 0 ? r : HDB_OK;
}

struct add_context {
	struct query *q;
	struct consumers *consumers;
};

static int add_member(void *ctx, uint32_t ix, struct hdb_error *err)
{
	const struct add_context *c = ctx;

	return add_item(c->q, c->consumers, ix, err);
}

static int add_set(struct query *q, struct consumers *s, struct hdb_error *err)
{
	struct add_context c = { q, s };
	struct query_members members = { 0 };
	int r = query_members_find(q, q->args->targets[0], query_option(q, "sub") != NULL, &members,
				   err);

	if (r == HDB_OK)
		r = query_members_topmost(q, &members, add_member, &c, err);
	query_members_release(q, &members);
	return r;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->retained_bytes != y->retained_bytes)
		return x->retained_bytes > y->retained_bytes ? -1 : 1;
	return x->ix < y->ix ? -1 : x->ix > y->ix;
}

/* ---- groups ---- */

/* Classes by name, so that packages come as a tree does. */
struct named {
	const char *name;
	uint32_t no;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const int c = strcmp(x->name, y->name);

	return c ? c : x->no < y->no ? -1 : x->no > y->no;
}

/* Length of the first `level` + 1 words of a class name; all of it for its last level. */
static size_t words(const char *name, uint32_t level)
{
	size_t size = strcspn(name, ".");

	for (; level && name[size]; level--)
		size += 1 + strcspn(name + size + 1, ".");
	return size;
}

/* Adds a class to each package that it is in; `path` has the packages of the class before. */
static int add_class(struct consumers *s, const struct named *class, struct base_vec *path,
		     struct hdb_error *err)
{
	const struct derive_total *total = &s->by_class[class->no];
	size_t size = 0;

	for (uint32_t level = 0; class->name[size] || !level; level++) {
		struct package *package = NULL;

		size = words(class->name, level);
		if (level < path->count) {
			const size_t no = *base_vec_at(path, size_t, level);

			package = base_vec_at(&s->packages, struct package, no);
			if (package->name_size != size || memcmp(package->name, class->name, size) != 0)
				package = NULL;
		}
		if (!package) {
			const struct package new = {
				.name = class->name, .name_size = size, .level = level,
			};
			const size_t no = s->packages.count;
			int r;

			path->count = level;
			r = base_vec_push(&s->packages, &new, sizeof(new), err);
			if (r == HDB_OK)
				r = base_vec_push(path, &no, sizeof(no), err);
			if (r < 0)
				return r;
			package = base_vec_at(&s->packages, struct package, no);
		}
		package->total.count += total->count;
		package->total.shallow_bytes += total->shallow_bytes;
		package->total.retained_bytes += total->retained_bytes;
	}
	return HDB_OK;
}

static int add_packages(struct query *q, struct consumers *s, struct hdb_error *err)
{
	const uint32_t n = q->heap->class_count;
	struct named *classes = malloc(((size_t)n + 1) * sizeof(*classes));
	struct base_vec path = { 0 };
	size_t count = 0;
	int r = classes ? HDB_OK : hdb_fail_memory(err, "classes", n * sizeof(*classes));

	for (uint32_t no = 0; r == HDB_OK && no < n; no++)
		if (s->by_class[no].count)
			classes[count++] = (struct named){ heap_class_name(q->heap, no), no };
	if (count)
		qsort(classes, count, sizeof(*classes), compare_named);
	for (size_t i = 0; r == HDB_OK && i < count; i++)
		r = add_class(s, &classes[i], &path, err);
	base_vec_release(&path);
	free(classes);
	return r;
}

/* Keeps what retains more than the threshold. */
static void drop_small(struct consumers *s)
{
	struct query_groups *both[] = { &s->classes, &s->loaders };
	struct item *items = s->items.data;
	struct package *packages = s->packages.data;
	size_t kept;

	for (size_t g = 0; g < 2; g++) {
		kept = 0;
		for (size_t i = 0; i < both[g]->count; i++)
			if (both[g]->totals[i].retained_bytes > s->threshold)
				both[g]->totals[kept++] = both[g]->totals[i];
		both[g]->count = kept;
	}
	kept = 0;
	for (size_t i = 0; i < s->items.count; i++)
		if (items[i].retained_bytes > s->threshold)
			items[kept++] = items[i];
	s->items.count = kept;
	kept = 0;
	for (size_t i = 0; i < s->packages.count; i++)
		if (packages[i].total.retained_bytes > s->threshold)
			packages[kept++] = packages[i];
	s->packages.count = kept;
}

static int open_consumers(struct query *q, struct hdb_error *err)
{
	struct consumers *s = calloc(1, sizeof(*s));
	int r;

	q->state = s;
	if (!s)
		return hdb_fail_memory(err, "top consumers", sizeof(*s));
	r = query_targets(q, 0, 1, err);
	if (r == HDB_OK)
		r = query_number(q, "threshold", 0, 100, THRESHOLD_PERCENT, &s->percent, err);
	if (r == HDB_OK)
		r = query_make_class_totals(q, &s->by_class, err);
	if (r == HDB_OK)
		r = q->args->target_count ? add_set(q, s, err) : add_top(q, s, err);
	if (r == HDB_OK)
		r = query_fold_groups(q, DERIVE_CLASS, s->by_class, &s->classes, err);
	if (r == HDB_OK)
		r = query_fold_groups(q, DERIVE_LOADER, s->by_class, &s->loaders, err);
	if (r == HDB_OK)
		r = add_packages(q, s, err);
	if (r != HDB_OK)
		return r;
	s->threshold = share(s, s->retained_bytes);
	drop_small(s);
	if (s->items.count)
		qsort(s->items.data, s->items.count, sizeof(struct item), compare_items);
	query_sort_groups(&s->classes, QUERY_BY_RETAINED);
	query_sort_groups(&s->loaders, QUERY_BY_RETAINED);
	q->total = s->items.count + s->classes.count + s->loaders.count + s->packages.count;
	r = query_fact(q, "items", s->count, err);
	if (r == HDB_OK)
		r = query_fact(q, "retained", s->retained_bytes, err);
	return r == HDB_OK ? query_fact(q, "threshold", s->threshold, err) : r;
}

/* ---- rows ---- */

static void set_total(struct query *q, const struct consumers *s, const char *kind,
		      const struct derive_total *total)
{
	query_lend_text(q, KIND, kind, strlen(kind));
	query_set(q, COUNT, total->count);
	query_set(q, SHALLOW, total->shallow_bytes);
	query_set(q, RETAINED, total->retained_bytes);
	query_set_double(q, PERCENT, query_percent(total->retained_bytes, s->retained_bytes));
}

static int object_row(struct query *q, const struct consumers *s, const struct item *item,
		      struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, SIZE_MAX, NAME, SHALLOW, SIZE_MAX };
	const struct derive_total total = { .count = 1, .retained_bytes = item->retained_bytes };

	set_total(q, s, "object", &total);
	return query_set_object(q, &cells, item->ix, err);
}

static int next_consumer(struct query *q, struct hdb_error *err)
{
	struct consumers *s = q->state;
	const size_t counts[] = { s->items.count, s->classes.count, s->loaders.count,
				  s->packages.count };
	const struct package *package;
	size_t at;

	while (s->section < 4 && s->at == counts[s->section]) {
		s->section++;
		s->at = 0;
	}
	at = s->at++;
	switch (s->section) {
	case 0:
		return object_row(q, s, base_vec_at(&s->items, struct item, at), err);
	case 1:
		set_total(q, s, "class", &s->classes.totals[at]);
		query_set_group(q, NAME, &s->classes, &s->classes.totals[at]);
		return HDB_OK;
	case 2:
		set_total(q, s, "loader", &s->loaders.totals[at]);
		query_set_group(q, NAME, &s->loaders, &s->loaders.totals[at]);
		return query_set_id(q, ID, s->loaders.totals[at].no, err);
	case 3:
		package = base_vec_at(&s->packages, struct package, at);
		set_total(q, s, "package", &package->total);
		query_set(q, LEVEL, package->level);
		query_lend_text(q, NAME, package->name, package->name_size);
		return HDB_OK;
	default:
		return HDB_END;
	}
}

static void close_consumers(struct query *q)
{
	struct consumers *s = q->state;

	if (!s)
		return;
	free(s->by_class);
	base_vec_release(&s->items);
	base_vec_release(&s->packages);
	query_groups_release(&s->classes);
	query_groups_release(&s->loaders);
	free(s);
}

const struct query_def query_consumers = {
	.spec = {
		.name = "consumers", .targets = "[CLASS|PATTERN|loader:OBJECT|loader:CLASS]",
		.summary = "the top consumers: biggest objects, and their classes, loaders, packages",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 1,
	},
	.open = open_consumers, .next = next_consumer, .close = close_consumers,
};
