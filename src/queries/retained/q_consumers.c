/*
 * queries/retained/q_consumers.c - the top-consumers query: the largest objects at the top level of
 * the dominator tree or of a set, and their sums by class, class loader and package.
 *
 * Sections and rules are those of Eclipse MAT. Items are objects that no other object (in a set, no
 * other member) dominates. A section lists the groups that retain more than a share of the items'
 * total.
 */
#include "analysis/dominator_children.h"
#include "analysis/members.h"
#include "base/sort.h"
#include "queries/queries.h"

#include <queries/retained/q_consumers.query.h>

/* An object that is listed. */
struct item {
	uint32_t ix;
	uint64_t retained_bytes;
};

/* A package, or a class in a package. */
struct package {
	const char *name; /* the first name_size bytes; borrowed from the heap */
	size_t name_size;
	uint32_t level;
	bool is_class; /* whether this is a class, not a package */
	struct derive_total total;
	/* if not 0, the row represents this many packages that are not listed separately */
	uint64_t others;
};

/* Groups that a section or package does not list. */
struct rest {
	uint64_t groups;
	struct derive_total total;
};

enum { ITEMS, CLASSES, LOADERS, PACKAGES, SECTIONS };

struct consumers {
	struct derive_total *by_class;
	struct base_vec items; /* struct item, largest first */
	struct analysis_groups classes, loaders;
	struct base_vec packages; /* struct package, in order of name, parents first */
	uint64_t count, retained_bytes, threshold, percent;
	struct rest rest[SECTIONS]; /* by section; the rests of packages are rows */
	bool has_native;
};

/* ---- items ---- */

/* Returns the threshold for a total of `bytes`. */
static uint64_t share(const struct consumers *s, uint64_t bytes)
{
	return bytes / 100 * s->percent + bytes % 100 * s->percent / 100;
}

/*
 * Adds the native memory of an item: its own, and that of the objects it retains. Items are
 * reachable, so the totals' members for unreachable objects are free to hold these two numbers.
 */
static int add_native(struct query *q, uint32_t ix, struct derive_total *total,
		      struct hdb_error *err)
{
	uint64_t own = 0, retained = 0;

	TRY(derive_native_of(q->derive, ix, &own, err));
	TRY(derive_retained_native(q->derive, ix, &retained, err));
	total->unreachable_count += own;
	total->unreachable_bytes += retained;
	return HDB_OK;
}

static int add_item(struct query *q, struct consumers *s, uint32_t ix, struct hdb_error *err)
{
	struct heap_object object;
	struct item item = { .ix = ix };
	struct derive_total *total;

	TRY(heap_object(q->heap, ix, &object, err));
	TRY(derive_retained(q->derive, ix, &item.retained_bytes, err));
	/*
	 * A class object counts for the class that it represents, and therefore for the loader of
	 * that class.
	 */
	total = &s->by_class[heap_known_class(&object)];
	total->count++;
	total->shallow_bytes += object.shallow_bytes;
	total->retained_bytes += item.retained_bytes;
	if (s->has_native)
		TRY(add_native(q, ix, total, err));
	s->count++;
	s->retained_bytes += item.retained_bytes;
	/*
	 * The total, and with it the threshold, only grows, so an item below the present threshold
	 * will never be listed.
	 */
	if (item.retained_bytes > share(s, s->retained_bytes) || !s->percent)
		TRY(base_vec_push(&s->items, &item, sizeof(item), err));
	return HDB_OK;
}

static int add_top(struct query *q, struct consumers *s, struct hdb_error *err)
{
	struct analysis_level level;
	uint32_t ix;
	int r;

	TRY_FOUND(analysis_level_begin(&q->session, HEAP_NONE, true, &level, err));
	while ((r = analysis_level_next(&q->session, &level, &ix, err)) == HDB_OK) {
		TRY_FOUND(add_item(q, s, ix, err));
		if (s->count % 65536 == 0)
			TRY_FOUND(base_step(q->work, s->count, err));
	}
	return r < 0 ? r : HDB_OK;
}

static int add_member(void *ctx, uint32_t ix, struct hdb_error *err)
{
	struct query *q = ctx;

	return add_item(q, q->state, ix, err);
}

static int add_set(struct query *q, struct hdb_error *err)
{
	BASE_SCOPED(analysis_members_release) struct analysis_members members = { 0 };

	TRY(analysis_members_find(&q->session, q->targets[0], query_option(q, "subclasses") != NULL,
				  &members, err));
	return analysis_members_topmost(&q->session, &members, add_member, q, err);
}

BASE_ORDER(compare_items, struct item, BASE_DOWN(retained_bytes), BASE_UP(ix))

/* ---- groups ---- */

static void add_total(struct derive_total *to, const struct derive_total *total)
{
	to->count += total->count;
	to->shallow_bytes += total->shallow_bytes;
	to->retained_bytes += total->retained_bytes;
	to->unreachable_count += total->unreachable_count;
	to->unreachable_bytes += total->unreachable_bytes;
}

/* For sorting classes by name, so that packages are in the order of a tree. */
struct named {
	const char *name;
	uint32_t no;
};

BASE_ORDER(compare_named, struct named, BASE_BY_TEXT(name), BASE_UP(no))

/* Returns the size of the first `level` + 1 parts of a class name, or of all if there are fewer. */
static size_t words(const char *name, uint32_t level)
{
	size_t size = strcspn(name, ".");

	for (; level && name[size]; level--)
		size += 1 + strcspn(name + size + 1, ".");
	return size;
}

/*
 * Adds a class to each package that contains it. `path` holds the packages of the previous class.
 */
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
			if (package->is_class != !class->name[size] || package->name_size != size ||
			    memcmp(package->name, class->name, size) != 0)
				package = NULL;
		}
		if (!package) {
			const struct package new = {
				.name = class->name,
				.name_size = size,
				.level = level,
				.is_class = !class->name[size],
			};
			const size_t no = s->packages.count;

			path->count = level;
			TRY(base_vec_push(&s->packages, &new, sizeof(new), err));
			TRY(base_vec_push(path, &no, sizeof(no), err));
			package = base_vec_at(&s->packages, struct package, no);
		}
		add_total(&package->total, total);
	}
	return HDB_OK;
}

static int add_packages(struct query *q, struct consumers *s, struct hdb_error *err)
{
	const uint32_t n = q->heap->class_count;
	BASE_FREED struct named *classes = NULL;
	BASE_SCOPED(base_vec_release) struct base_vec path = { 0 };
	size_t count = 0;

	TRY(BASE_ALLOC(classes, (size_t)n + 1, "classes", err));
	for (uint32_t no = 0; no < n; no++)
		if (s->by_class[no].count)
			classes[count++] = (struct named){ heap_class_name(q->heap, no), no };
	if (count)
		qsort(classes, count, sizeof(*classes), compare_named);
	for (size_t i = 0; i < count; i++)
		TRY(add_class(s, &classes[i], &path, err));
	return HDB_OK;
}

/* Adds an unlisted group to the rest of its section or package. */
static void add_rest(struct rest *rest, const struct derive_total *total)
{
	rest->groups++;
	add_total(&rest->total, total);
}

/* Keeps the groups that retain more than the threshold. */
static void drop_small_groups(const struct consumers *s, struct analysis_groups *groups,
			      struct rest *rest)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++) {
		if (groups->totals[i].retained_bytes > s->threshold)
			groups->totals[kept++] = groups->totals[i];
		else
			add_rest(rest, &groups->totals[i]);
	}
	groups->count = kept;
}

/* Drops small items. Their sum is the difference from the total. */
static int drop_small_items(struct query *q, struct consumers *s, struct hdb_error *err)
{
	struct item *items = s->items.data;
	struct derive_total *rest = &s->rest[ITEMS].total;
	size_t kept = 0;

	for (uint32_t no = 0; no < q->heap->class_count; no++)
		rest->shallow_bytes += s->by_class[no].shallow_bytes;
	rest->count = s->count;
	rest->retained_bytes = s->retained_bytes;
	for (size_t i = 0; i < s->items.count; i++) {
		struct heap_object object;

		if (items[i].retained_bytes <= s->threshold)
			continue;
		TRY(heap_object(q->heap, items[i].ix, &object, err));
		rest->shallow_bytes -= object.shallow_bytes;
		rest->retained_bytes -= items[i].retained_bytes;
		rest->count--;
		items[kept++] = items[i];
	}
	s->items.count = kept;
	s->rest[ITEMS].groups = rest->count;
	return HDB_OK;
}

/* A package whose children are being visited. The first package represents the top level. */
struct open_package {
	uint32_t level; /* level of its children */
	struct rest rest;
};

/*
 * Closes the packages whose children are below `level`, and appends a row for the small items of
 * each package.
 */
static int close_packages(struct base_vec *open, uint32_t level, struct base_vec *out,
			  struct hdb_error *err)
{
	while (open->count) {
		const struct open_package *last =
			base_vec_at(open, struct open_package, open->count - 1);
		const struct package others = {
			.level = last->level,
			.total = last->rest.total,
			.others = last->rest.groups,
		};

		if (last->level <= level && level != UINT32_MAX)
			break;
		if (others.others)
			TRY(base_vec_push(out, &others, sizeof(others), err));
		open->count--;
	}
	return HDB_OK;
}

/* Drops packages below the threshold, together with their contents. */
static int drop_small_packages(struct consumers *s, struct hdb_error *err)
{
	struct open_package top = { .level = 0 };
	BASE_SCOPED(base_vec_release) struct base_vec open = { 0 }, all = s->packages;

	s->packages = (struct base_vec){ 0 };
	TRY(base_vec_push(&open, &top, sizeof(top), err));
	for (size_t i = 0; i < all.count; i++) {
		const struct package *p = base_vec_at(&all, struct package, i);
		const struct open_package new = { .level = p->level + 1 };
		struct open_package *above;

		TRY(close_packages(&open, p->level, &s->packages, err));
		assert(open.count);
		above = base_vec_at(&open, struct open_package, open.count - 1);
		if (p->total.retained_bytes > s->threshold) {
			TRY(base_vec_push(&s->packages, p, sizeof(*p), err));
			TRY(base_vec_push(&open, &new, sizeof(new), err));
		} else if (above->level == p->level) {
			add_rest(&above->rest, &p->total);
		}
	}
	return close_packages(&open, UINT32_MAX, &s->packages, err);
}

static int drop_small(struct query *q, struct consumers *s, struct hdb_error *err)
{
	struct analysis_cut cut;

	TRY(drop_small_items(q, s, err));
	drop_small_groups(s, &s->classes, &s->rest[CLASSES]);
	drop_small_groups(s, &s->loaders, &s->rest[LOADERS]);
	TRY(drop_small_packages(s, err));
	cut = (struct analysis_cut){
		s->rest[ITEMS].groups,
		s->rest[ITEMS].total.count,
		s->rest[ITEMS].total.retained_bytes,
	};
	query_cut(q, &cut,
		  "items that retain at most %" PRIu64 " bytes each (--threshold) "
		  "are combined into one \"(others)\" row per section",
		  s->threshold);
	return HDB_OK;
}

/*
 * Sets the sizes of class loaders to the retained sizes that all other answers show. These are
 * larger than the sizes of the loaders' items if other items hold some of the memory.
 */
static int size_loaders(struct query *q, struct consumers *s, struct hdb_error *err)
{
	struct analysis_groups items = s->loaders;
	const int r = analysis_load_groups(&q->session, DERIVE_LOADER, &s->loaders, err);

	for (size_t i = 0; r == HDB_OK && i < s->loaders.count; i++) {
		struct derive_total *loader = &s->loaders.totals[i];
		const struct derive_total *own = analysis_groups_find(&items, loader->no);
		const uint64_t retained_bytes = loader->retained_bytes;

		*loader = own ? *own : (struct derive_total){ DERIVE_LOADER, .no = loader->no };
		loader->retained_bytes = retained_bytes;
	}
	analysis_groups_release(&items);
	return r;
}

static int open_consumers(struct query *q, struct hdb_error *err)
{
	struct consumers *s = q->state;
	int r;

	s->percent = query_number(q, "threshold", 0);
	TRY(derive_has_native(q->derive, &s->has_native, err));
	TRY(analysis_make_class_totals(&q->session, &s->by_class, err));
	TRY(q->target_count ? add_set(q, err) : add_top(q, s, err));
	TRY(analysis_fold_groups(&q->session, DERIVE_CLASS, s->by_class, &s->classes, err));
	TRY(analysis_fold_groups(&q->session, DERIVE_LOADER, s->by_class, &s->loaders, err));
	if (!q->target_count)
		TRY(size_loaders(q, s, err));
	TRY(add_packages(q, s, err));
	s->threshold = share(s, s->retained_bytes);
	r = drop_small(q, s, err);
	base_vec_sort(&s->items, sizeof(struct item), compare_items);
	analysis_sort_groups(&s->classes, ANALYSIS_BY_RETAINED);
	analysis_sort_groups(&s->loaders, ANALYSIS_BY_RETAINED);
	q->total = s->items.count + s->classes.count + s->loaders.count + s->packages.count;
	for (unsigned i = 0; i < SECTIONS; i++)
		q->total += s->rest[i].groups != 0;
	TRY(r);
	query_fact(q, "objects", s->count);
	query_fact(q, "retained", s->retained_bytes);
	query_report_heap(q);
	query_fact(q, "threshold", s->threshold);
	return HDB_OK;
}

/* ---- rows ---- */

static void set_total(struct query *q, const struct consumers *s, const char *kind,
		      const struct derive_total *total)
{
	query_lend_text(q, KIND, kind);
	query_set(q, COUNT, total->count);
	query_set(q, SHALLOW, total->shallow_bytes);
	query_set(q, RETAINED, total->retained_bytes);
	query_set_double(q, PERCENT, analysis_percent(total->retained_bytes, s->retained_bytes));
	query_set(q, NATIVE, total->unreachable_count);
	query_set(q, RETAINED_NATIVE, total->unreachable_bytes);
}

static void object_row(struct query *q, const struct consumers *s, const struct item *item)
{
	static const struct query_object_columns cells = { ID, SIZE_MAX, NAME, SHALLOW, SIZE_MAX };
	const struct derive_total total = { .count = 1, .retained_bytes = item->retained_bytes };

	set_total(q, s, "object", &total);
	/* set later by the columns that describe the object of the row */
	query_null(q, NATIVE);
	query_null(q, RETAINED_NATIVE);
	query_set_object(q, &cells, item->ix);
}

static void others_row(struct query *q, const struct consumers *s, unsigned section,
		       const struct rest *rest)
{
	static const char *const kinds[] = { "object", "class", "loader", "package" };

	set_total(q, s, kinds[section], &rest->total);
	/* the native memory of all other objects is unknown */
	if (section == ITEMS) {
		query_null(q, NATIVE);
		query_null(q, RETAINED_NATIVE);
	}
	query_set(q, OTHERS, rest->groups);
	query_format(q, NAME, "(%s other%s)", base_number(rest->groups).text,
		     rest->groups == 1 ? "" : "s");
}

static int consumer_row(struct query *q, size_t at, struct hdb_error *err)
{
	struct consumers *s = q->state;
	const size_t counts[] = { s->items.count, s->classes.count, s->loaders.count,
				  s->packages.count };
	const struct package *package;
	unsigned section = ITEMS;

	(void)err;
	for (; at >= counts[section] + (s->rest[section].groups != 0); section++) {
		at -= counts[section] + (s->rest[section].groups != 0);
		assert(section + 1 < BASE_COUNT(counts));
	}
	if (at == counts[section]) {
		others_row(q, s, section, &s->rest[section]);
		return HDB_OK;
	}
	switch (section) {
	case ITEMS:
		object_row(q, s, base_vec_at(&s->items, struct item, at));
		return HDB_OK;
	case CLASSES:
		set_total(q, s, "class", &s->classes.totals[at]);
		query_set_group(q, NAME, &s->classes, &s->classes.totals[at]);
		return HDB_OK;
	case LOADERS:
		set_total(q, s, "loader", &s->loaders.totals[at]);
		query_set_group(q, NAME, &s->loaders, &s->loaders.totals[at]);
		query_set_id(q, ID, s->loaders.totals[at].no);
		return HDB_OK;
	default:
		package = base_vec_at(&s->packages, struct package, at);
		query_set(q, LEVEL, package->level);
		if (package->others) {
			others_row(q, s, section,
				   &(struct rest){ package->others, package->total });
			return HDB_OK;
		}
		set_total(q, s, "package", &package->total);
		query_lend_text_n(q, NAME, package->name, package->name_size);
		return HDB_OK;
	}
}

QUERY_DEFINE(consumers, QUERY_STATE(struct consumers, by_class, items, packages, classes, loaders),
	     .open = open_consumers, .row = consumer_row);
