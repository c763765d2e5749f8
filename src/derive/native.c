/*
 * derive/native.c - builds the `native` table: the memory outside the Java heap that each object
 * owns.
 *
 * On Android, a Cleaner whose referent is the owner has a thunk of a NativeAllocationRegistry,
 * which records the size of each allocation. Older Android versions and JVMs store sizes in fields
 * of the owner (bitmaps, direct buffers). With --sizes ahat, only registered memory counts, as in
 * ahat. The memory of foreign-memory segments belongs to the session of their arena, which frees it
 * (segments.h).
 */
#include "derive/blocks.h"
#include "base/search.h"
#include "base/sort.h"
#include "derive/build.h"
#include "derive/native.h"
#include "derive/segments.h"

#include "heap/known.h"

#include <stdlib.h>
#include <string.h>

/*
 * A class whose instances show that an object owns native memory. Paths are field paths as in
 * heap_path_object.
 */
struct native_rule {
	const char *class_name; /* whether the rule also applies to subclasses */
	/* whether the memory is registered with a NativeAllocationRegistry */
	bool is_registered;
	/*
	 * whether to skip a Cleaner that has run (its `next` refers to itself), because its owner
	 * no longer owns memory
	 */
	bool may_be_done;
	const char *owner; /* path to the owner, or NULL if the instance itself is the owner */
	/* path to an object that must be an instance of via_class, or NULL for no condition */
	const char *via;
	const char *via_class;
	const char *bytes; /* path to the size; NULL for a foreign-memory segment */
	/* path to a reference that must not be null, or NULL for no condition */
	const char *unless_null;
	/* path to a reference that must be null, or NULL for no condition */
	const char *if_null;
};

static const struct native_rule rules[] = {
	/*
	 * Since Android 10, the lowest bit of a registered size indicates which allocator was used.
	 */
	{ "sun.misc.Cleaner", true, true, "referent", "thunk",
	  "libcore.util.NativeAllocationRegistry$CleanerThunk", "thunk.this$0.size", "thunk.this$0",
	  NULL },
	{ "jdk.internal.ref.Cleaner", true, true, "referent", "thunk",
	  "libcore.util.NativeAllocationRegistry$CleanerThunk", "thunk.this$0.size", "thunk.this$0",
	  NULL },
	/*
	 * Selects only buffers that are not slices of another buffer. A slice refers to its parent
	 * buffer.
	 */
	{ "java.nio.DirectByteBuffer", false, false, NULL, NULL, NULL, "capacity", "cleaner",
	  "att|attachment" },
	/*
	 * Android 5 to 7: selects only bitmaps whose pixels are not in a Java array. In Android 8
	 * and later, a registry records the size. Direct buffers on Android keep their contents in
	 * the Java heap.
	 */
	{ "android.graphics.Bitmap", false, false, NULL, NULL, NULL,
	  "mFinalizer.mNativeAllocationByteCount", "mFinalizer", "mBuffer" },
	/* derive_read_segment finds the size. */
	{ DERIVE_SEGMENT_CLASS, false, false, NULL, NULL, NULL, NULL, NULL, NULL },
};
#define RULES BASE_COUNT(rules)

struct finder {
	struct heap *heap;
	bool is_registered; /* whether only memory recorded by a registry is counted */
	/* indexed by class: 1 + index of the rule, or 0 if the class has no rule; owned */
	uint8_t *rule_of;
	struct base_vec *out;
	struct base_vec segments; /* struct derive_segment; owned */
};

/* Sets *out to whether the reference at the end of a path is null or missing. */
static int is_null(struct heap *heap, uint32_t ix, const char *path, bool *out,
		   struct hdb_error *err)
{
	uint32_t target;
	const int r = heap_path_object(heap, ix, path, &target, err);

	*out = r == HDB_NOTFOUND;
	return r < 0 ? r : HDB_OK;
}

/* Sets *out to whether the object meets all conditions of a rule. */
static int fulfils(struct finder *f, uint32_t ix, const struct native_rule *rule, bool *out,
		   struct hdb_error *err)
{
	struct heap_object object;
	uint32_t target;
	bool is_absent;
	int r;

	*out = false;
	/*
	 * ahat neither checks whether a Cleaner has run nor masks the lowest bit, and --sizes ahat
	 * must return the same numbers.
	 */
	if (rule->may_be_done && !f->is_registered) {
		r = heap_path_object(f->heap, ix, "next", &target, err);
		if (r < 0 || (r == HDB_OK && target == ix))
			return r;
	}
	if (rule->via) {
		TRY_FOUND(heap_path_object(f->heap, ix, rule->via, &target, err));
		TRY(heap_object(f->heap, target, &object, err));
		if (object.kind != STORE_INSTANCE ||
		    !heap_has_superclass(f->heap, object.class_no, rule->via_class))
			return HDB_OK;
	}
	if (rule->unless_null) {
		TRY(is_null(f->heap, ix, rule->unless_null, &is_absent, err));
		if (is_absent)
			return HDB_OK;
	}
	if (rule->if_null) {
		TRY(is_null(f->heap, ix, rule->if_null, &is_absent, err));
		if (!is_absent)
			return HDB_OK;
	}
	*out = true;
	return HDB_OK;
}

/*
 * Adds the native memory recorded in an instance. Ignores sizes of 0 or less, and the lowest bit of
 * a registered size (see the table of rules).
 */
static int look(struct finder *f, uint32_t ix, const struct native_rule *rule,
		struct hdb_error *err)
{
	struct derive_native native = { .ix = ix };
	bool is_so;
	int64_t bytes;

	TRY(fulfils(f, ix, rule, &is_so, err));
	if (!is_so)
		return HDB_OK;
	if (rule->owner)
		TRY_FOUND(heap_path_object(f->heap, ix, rule->owner, &native.ix, err));
	TRY_FOUND(heap_path_number(f->heap, ix, rule->bytes, &bytes, err));
	if (bytes <= 0)
		return HDB_OK;
	native.bytes = (uint64_t)bytes & ~(uint64_t)(rule->may_be_done && !f->is_registered);
	return base_vec_push(f->out, &native, sizeof(native), err);
}

/*
 * Adds a segment, unless it belongs to the global arena. The memory of that arena is never freed or
 * belongs to other code.
 */
static int add_segment(struct finder *f, uint32_t ix, struct hdb_error *err)
{
	struct derive_segment segment;

	TRY_FOUND(derive_read_segment(f->heap, ix, &segment, err));
	if (segment.is_global)
		return HDB_OK;
	return base_vec_push(&f->segments, &segment, sizeof(segment), err);
}

/*
 * Adds the memory of each session: that of its segments, except segments that are slices of other
 * segments.
 */
static int add_sessions(struct finder *f, struct hdb_error *err)
{
	derive_join_segments(&f->segments);
	for (size_t i = 0; i < f->segments.count; i++) {
		const struct derive_segment *s =
			base_vec_at(&f->segments, struct derive_segment, i);
		const struct derive_native native = {
			.ix = s->session == HEAP_NONE ? s->ix : s->session,
			.bytes = s->bytes,
		};

		if (!s->is_view)
			TRY(base_vec_push(f->out, &native, sizeof(native), err));
	}
	return HDB_OK;
}

/*
 * Sorts the entries, and merges entries with the same owner. Sizes come from the dump and may be
 * arbitrarily large, so the sums are limited.
 */
static void join(struct base_vec *out)
{
	struct derive_native *list = out->data;
	size_t n = 0;

	base_vec_sort(out, sizeof(*list), base_compare_u32);
	for (size_t i = 0; i < out->count; i++) {
		if (n && list[n - 1].ix == list[i].ix)
			list[n - 1].bytes = list[n - 1].bytes > DERIVE_NATIVE_MAX - list[i].bytes ?
						    DERIVE_NATIVE_MAX :
						    list[n - 1].bytes + list[i].bytes;
		else
			list[n++] = list[i];
		if (list[n - 1].bytes > DERIVE_NATIVE_MAX)
			list[n - 1].bytes = DERIVE_NATIVE_MAX;
	}
	out->count = n;
}

/* Chooses a rule for each class. Sets *any if at least one class has a rule. */
static int choose_classes(struct finder *f, bool *any, struct hdb_error *err)
{
	TRY(BASE_ALLOC(f->rule_of, f->heap->class_count, "classes", err));
	for (uint32_t i = 0; i < RULES; i++) {
		uint32_t no = heap_class_by_name(f->heap, rules[i].class_name, 0);

		if (f->is_registered && !rules[i].is_registered)
			continue;
		while (no != HEAP_NONE) {
			*any = true;
			for (uint32_t c = 0; c < f->heap->class_count; c++)
				if (heap_is_subclass(f->heap, c, no))
					f->rule_of[c] = (uint8_t)(i + 1);
			no = no + 1 < f->heap->class_count ?
				     heap_class_by_name(f->heap, rules[i].class_name, no + 1) :
				     HEAP_NONE;
		}
	}
	return HDB_OK;
}

static int look_at_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct finder *f = ctx;

	for (uint32_t i = 0; i < block->count; i++) {
		const unsigned rule = f->rule_of[block->class_no[i]];

		if (block->kind[i] != STORE_INSTANCE || !rule)
			continue;
		TRY(rules[rule - 1].bytes ? look(f, block->first_ix + i, &rules[rule - 1], err) :
					    add_segment(f, block->first_ix + i, err));
	}
	return HDB_OK;
}

static void release(struct finder *f)
{
	base_vec_release(&f->segments);
	free(f->rule_of);
}

/*
 * Finds the owners. Reads only blocks with classes that have a rule. The heap filter is off,
 * because the owner and the object that records the size may be in different heaps.
 */
int derive_native_sizes(struct derive *derive, enum derive_native_kind kind, struct base_vec *out,
			struct hdb_error *err)
{
	const bool is_ahat = derive->heap->layout.model == HDB_SIZES_AHAT;
	BASE_SCOPED(release)
	struct finder f = {
		.heap = derive->heap,
		.out = out,
		.is_registered = kind == DERIVE_NATIVE_REGISTERED ||
				 (kind == DERIVE_NATIVE_COUNTED && is_ahat),
	};
	HEAP_FILTER_SCOPE(heap_show_all, derive->heap);
	bool any = false;

	TRY(heap_load_classes(derive->heap, err));
	TRY(choose_classes(&f, &any, err));
	if (!any)
		return HDB_OK;
	TRY(heap_each_block_of(f.heap, &(struct heap_pass){ derive->work, f.rule_of },
			       look_at_block, &f, err));
	TRY(add_sessions(&f, err));
	join(out);
	return HDB_OK;
}

uint64_t derive_native_in(const struct base_vec *sizes, uint32_t ix)
{
	const struct derive_native wanted = { .ix = ix };
	const struct derive_native *found = sizes->count ?
						    bsearch(&wanted, sizes->data, sizes->count,
							    sizeof(wanted), base_compare_u32) :
						    NULL;

	return found ? found->bytes : 0;
}

/* ---- the table ---- */

/* Returns the index of the first list entry at or after first_ix. */
static size_t first_in(const struct base_vec *sizes, uint32_t first_ix)
{
	const struct derive_native *list = sizes->data;
	struct base_search search = base_search_in(sizes->count);

	while (base_search_next(&search))
		base_search_step(&search, list[search.mid].ix < first_ix);
	return search.low;
}

/*
 * Returns whether a block contains an owner. Most blocks do not, so their values are not computed.
 */
static bool has_native(void *ctx, const struct heap_block *objects)
{
	const struct base_vec *sizes = ctx;
	const size_t at = first_in(sizes, objects->first_ix);

	return at < sizes->count &&
	       base_vec_at(sizes, struct derive_native, at)->ix - objects->first_ix <
		       objects->count;
}

static int fill_native(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct base_vec *sizes = ctx;
	const struct derive_native *list = sizes->data;
	const uint32_t first = block->objects->first_ix, count = block->objects->count;

	(void)err;
	memset(block->values, 0, count * sizeof(*block->values));
	for (size_t i = first_in(sizes, first); i < sizes->count && list[i].ix - first < count; i++)
		block->values[list[i].ix - first] = list[i].bytes;
	return HDB_OK;
}

int derive_put_native(struct derive *derive, struct store_writer *writer,
		      const struct derive_native_column *column, struct hdb_error *err)
{
	struct base_vec sizes = *column->sizes;

	return derive_put_column(derive, writer, column->table,
				 &(struct derive_fill){ .stage = column->stage,
							.fill = fill_native,
							.has = has_native,
							.ctx = &sizes },
				 err);
}

static int build_native(struct derive *derive, struct store_writer *writer, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec sizes = { 0 };

	TRY(derive_native_sizes(derive, DERIVE_NATIVE_COUNTED, &sizes, err));
	if (sizes.count)
		TRY(derive_put_native(derive, writer,
				      &(struct derive_native_column){
					      STORE_NATIVE, "writing native sizes", &sizes },
				      err));
	return store_put_table(writer, STORE_NATIVE, sizes.count, err);
}

const struct derive_builder derive_build_native = {
	.tables = { STORE_NATIVE },
	.build = build_native,
};

int derive_has_native(struct derive *derive, bool *has, struct hdb_error *err)
{
	struct store_table_info info = { 0 };

	*has = false;
	TRY(derive_need(derive, STORE_NATIVE, err));
	TRY_FOUND(store_table_info(derive->heap->store, STORE_NATIVE, &info, err));
	*has = info.item_count != 0;
	return HDB_OK;
}

int derive_native_counted(struct derive *derive, struct base_vec *out, struct hdb_error *err)
{
	bool has;

	TRY(derive_has_native(derive, &has, err));
	return has ? derive_native_sizes(derive, DERIVE_NATIVE_COUNTED, out, err) : HDB_OK;
}

int derive_native_of(struct derive *derive, uint32_t ix, uint64_t *bytes, struct hdb_error *err)
{
	bool has;

	*bytes = 0;
	TRY(derive_has_native(derive, &has, err));
	return has ? store_column_get(&derive->native, ix, bytes, err) : HDB_OK;
}

int derive_native_block(struct derive *derive, uint32_t block_no, uint64_t *bytes,
			struct hdb_error *err)
{
	uint32_t count;
	bool has;

	memset(bytes, 0, STORE_BLOCK_OBJECTS * sizeof(*bytes));
	TRY(derive_has_native(derive, &has, err));
	if (!has)
		return HDB_OK;
	return store_column_block(&derive->native, block_no * STORE_BLOCK_OBJECTS, bytes, &count,
				  err);
}
