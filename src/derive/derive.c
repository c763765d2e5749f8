/* derive/derive.c - the registry of derived tables. Builds tables on demand. */
#include "derive/derive.h"

#include "derive/build.h"

#include <assert.h>
#include <libgen.h>
#include <string.h>

static const struct derive_builder *const builders[] = {
	&derive_build_referrers,       &derive_build_reach,          &derive_build_reach_strong,
	&derive_build_dominators,      &derive_build_children,       &derive_build_totals,
	&derive_build_whole,           &derive_build_orphans,        &derive_build_native,
	&derive_build_retained_native, &derive_build_retained_heaps, &derive_build_depth,
	&derive_build_top_level,
};

/* Maximum length of a chain of dependencies. A longer chain means that the registry has a cycle. */
#define NEEDS_DEPTH_MAX 8

static const struct derive_builder *builder_of(enum store_table table)
{
	for (size_t b = 0; b < BASE_COUNT(builders); b++)
		for (size_t t = 0; t < 3 && builders[b]->tables[t]; t++)
			if (builders[b]->tables[t] == table)
				return builders[b];
	return NULL;
}

/*
 * Returns the table of a view. Tables that depend on reachability exist once per view; the others
 * are shared by all views.
 */
enum store_table derive_table(const struct derive *derive, enum store_table table)
{
	static const uint8_t of_view[STORE_TABLE_END] = {
		[STORE_REACH] = 1 + STORE_VIEW_REACH,
		[STORE_DOMINATORS] = 1 + STORE_VIEW_DOMINATORS,
		[STORE_RETAINED] = 1 + STORE_VIEW_RETAINED,
		[STORE_CHILDREN] = 1 + STORE_VIEW_CHILDREN,
		[STORE_CHILDREN_BIG] = 1 + STORE_VIEW_CHILDREN_BIG,
		[STORE_TOTALS] = 1 + STORE_VIEW_TOTALS,
		[STORE_WHOLE] = 1 + STORE_VIEW_WHOLE,
		[STORE_RETAINED_NATIVE] = 1 + STORE_VIEW_RETAINED_NATIVE,
		[STORE_RETAINED_HEAPS] = 1 + STORE_VIEW_RETAINED_HEAPS,
		[STORE_DEPTH] = 1 + STORE_VIEW_DEPTH,
	};

	if (table == STORE_TOP_LEVEL || table == STORE_TOP_LEVEL_BIG)
		return STORE_TOP_LEVEL_VIEW(derive->view, table);
	if (derive->view == DERIVE_PHANTOM || !of_view[table])
		return table;
	if (derive->view == DERIVE_STRONG && table == STORE_REACH)
		return STORE_REACH_STRONG;
	return STORE_VIEW(derive->view, of_view[table] - 1);
}

static void init_column(struct derive *derive, struct store_column *column, enum store_table table)
{
	*column = (struct store_column){
		.store = derive->heap->store,
		.table = derive_table(derive, table),
		.ix_count = derive->heap->object_count,
	};
}

static void init_columns(struct derive *derive)
{
	init_column(derive, &derive->reach, STORE_REACH);
	init_column(derive, &derive->reach_strong, STORE_REACH_STRONG);
	init_column(derive, &derive->dominators, STORE_DOMINATORS);
	init_column(derive, &derive->retained, STORE_RETAINED);
	init_column(derive, &derive->native, STORE_NATIVE);
	init_column(derive, &derive->retained_native, STORE_RETAINED_NATIVE);
	init_column(derive, &derive->retained_heaps, STORE_RETAINED_HEAPS);
	init_column(derive, &derive->depth, STORE_DEPTH);
}

void derive_init(struct derive *derive, struct heap *heap, struct base_work *work)
{
	const uint64_t anonymous = (uint64_t)heap->object_count * DERIVE_ANONYMOUS_OBJECT;

	memset(derive, 0, sizeof(*derive));
	derive->heap = heap;
	derive->work = work;
	base_work_limit_anonymous(work, anonymous > DERIVE_ANONYMOUS_MIN ? anonymous :
									   DERIVE_ANONYMOUS_MIN);
	init_columns(derive);
}

bool derive_counts(enum derive_view view, uint8_t strength)
{
	/* For each strength, the first view in which references of this strength count. */
	static const enum derive_view first[] = {
		[STORE_STRONG] = DERIVE_STRONG,       [STORE_SOFT] = DERIVE_SOFT,
		[STORE_FINALIZER] = DERIVE_FINALIZER, [STORE_WEAK] = DERIVE_WEAK,
		[STORE_PHANTOM] = DERIVE_VIEWS,
	};

	return view == DERIVE_PHANTOM || (strength < BASE_COUNT(first) && first[strength] <= view);
}

/*
 * Returns a view. Views share the heap and the work, but have their own columns, because
 * reachability differs between views. A view of a view is a view of the main struct.
 */
int derive_get_view(struct derive *derive, enum derive_view view, struct derive **out,
		    struct hdb_error *err)
{
	struct derive *main = derive->main ? derive->main : derive;

	assert(view < DERIVE_VIEWS);
	assert(main->view == DERIVE_PHANTOM);
	*out = main;
	if (view == DERIVE_PHANTOM)
		return HDB_OK;
	if (!main->views[view]) {
		struct derive *made;

		TRY(BASE_ALLOC(made, 1, "a view of the heap", err));
		made->heap = main->heap;
		made->work = main->work;
		made->view = view;
		made->main = main;
		init_columns(made);
		main->views[view] = made;
	}
	*out = main->views[view];
	return HDB_OK;
}

bool derive_has(struct derive *derive, enum store_table table)
{
	struct store_table_info info;

	assert(table < STORE_TABLE_END);
	table = derive_table(derive, table);
	if (!derive->is_ready[table])
		derive->is_ready[table] =
			store_table_info(derive->heap->store, table, &info, NULL) == HDB_OK;
	return derive->is_ready[table];
}

/*
 * Writes the tables of one builder. Temporary files are created in the directory of the database.
 */
static int write_tables(struct derive *derive, const struct derive_builder *builder,
			struct store_tables tables, struct hdb_error *err)
{
	const char *before = derive->work->scratch_dir;
	BASE_FREED char *folder = strdup(store_path(derive->heap->store));
	struct store_writer *writer;
	int r;

	if (!folder)
		return hdb_fail_memory(err, "a file name", 0);
	TRY(store_build(derive->heap->store, tables, derive->work, &writer, err));
	derive->work->scratch_dir = dirname(folder);
	r = builder->build(derive, writer, err);
	/*
	 * A read error of the store may not be visible in the builder's result, so it is checked
	 * here before anything is published.
	 */
	if (r == HDB_OK)
		r = store_failed(derive->heap->store, err);
	derive->work->scratch_dir = before;
	if (r == HDB_OK)
		return store_publish(writer, NULL, err);
	store_abort(writer);
	return r;
}

/* Builds the tables of one builder. All tables on which they depend already exist. */
static int build(struct derive *derive, const struct derive_builder *builder, struct hdb_error *err)
{
	HEAP_FILTER_SCOPE(heap_show_all, derive->heap);
	const bool was_read_only = store_is_read_only(derive->heap->store);
	enum store_table tables[3];
	uint64_t counted = 0;
	size_t count = 0;
	int r;

	for (; count < 3 && builder->tables[count]; count++)
		tables[count] = derive_table(derive, builder->tables[count]);
	base_work_count(derive->work, &counted, heap_memory_bytes(derive->heap));
	r = write_tables(derive, builder, (struct store_tables){ tables, count }, err);
	/* If the disk is full, the tables may fit into a private file on another disk. */
	if (r == HDB_EIO && !was_read_only && store_is_read_only(derive->heap->store))
		r = write_tables(derive, builder, (struct store_tables){ tables, count }, err);
	base_work_count(derive->work, &counted, 0);
	return r < 0 ? r : HDB_OK;
}

/*
 * Loads the roots and, if needed, the orphans. The search for orphans loads the graph, which itself
 * needs the roots. is_finding_orphans breaks this cycle: during the search, the recorded roots
 * suffice.
 */
int derive_need_roots(struct derive *derive, struct hdb_error *err)
{
	int r = heap_load_roots(derive->heap, err);

	if (derive->main)
		return derive_need_roots(derive->main, err);
	if (r < 0 || !derive->heap->state.takes_orphans || derive->has_orphans ||
	    derive->is_finding_orphans)
		return r;
	/* building the orphans loads the graph, which calls derive_need_roots again */
	derive->is_finding_orphans = true;
	if (!derive_has(derive, STORE_ORPHANS))
		r = build(derive, &derive_build_orphans, err);
	derive->is_finding_orphans = false;
	TRY(r);
	TRY(heap_add_orphans(derive->heap, err));
	derive->has_orphans = true;
	return HDB_OK;
}

int derive_need(struct derive *derive, enum store_table table, struct hdb_error *err)
{
	/*
	 * Tables that have yet to be built, next table on top. An explicit stack replaces
	 * recursion.
	 */
	enum store_table stack[NEEDS_DEPTH_MAX];
	size_t depth = 0;

	/*
	 * Reachability depends on the orphans, which count as roots. Referrers do not depend on
	 * them.
	 */
	if (derive->heap->state.takes_orphans && builder_of(table) != &derive_build_referrers) {
		TRY(derive_need_roots(derive, err));
	}
	if (derive_has(derive, table))
		return HDB_OK;
	stack[depth++] = table;
	while (depth) {
		const enum store_table top = stack[depth - 1];
		const struct derive_builder *builder = builder_of(top);
		bool is_waiting = false;

		assert(depth <= NEEDS_DEPTH_MAX);
		if (!builder)
			return hdb_fail(err, HDB_EBUG, "no function builds table %s",
					store_table_name(top));
		for (size_t n = 0; n < 3 && builder->needs[n] && !is_waiting; n++) {
			if (derive_has(derive, builder->needs[n]))
				continue;
			/*
			 * The registry is part of the program, and its dependencies contain no
			 * cycle.
			 */
			assert(depth < NEEDS_DEPTH_MAX);
			stack[depth++] = builder->needs[n];
			is_waiting = true;
		}
		if (is_waiting)
			continue;
		if (!derive_has(derive, top)) {
			TRY(build(derive, builder, err));
			/*
			 * The tables of a builder are published together. If this table is missing
			 * now, another process has changed the database.
			 */
			if (!derive_has(derive, top))
				return hdb_fail(err, HDB_ECORRUPT,
						"%s: damaged: table %s is missing, but %s exists",
						store_path(derive->heap->store),
						store_table_name(top),
						store_table_name(builder->tables[0]));
		}
		depth--;
	}
	return HDB_OK;
}
