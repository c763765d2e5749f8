/*
 * analysis/native_sizes.c - native memory of Java objects; see native_sizes.h.
 */
#include "analysis/native_sizes.h"

#include "heap/known.h"

#include <stdlib.h>
#include <string.h>

/* Blocks between two looks at the cancel flag. */
#define STEP_BLOCKS 16u

/* A class whose instances say that native memory belongs to an object. */
struct native_rule {
	const char *class_name; /* subclasses too */
	bool is_registered;
	const char *owner; /* path to the owner; NULL: the object itself */
	const char *via;   /* path to what must be an instance of via_class; NULL: none */
	const char *via_class;
	const char *bytes;       /* path of the size */
	const char *unless_null; /* a reference that must not be null; NULL: none */
	const char *if_null;     /* one that must be null; NULL: none */
};

static const struct native_rule rules[] = {
	/* The size's lowest bit says who allocates it (Android 10 on). */
	{ "sun.misc.Cleaner", true, "referent", "thunk",
	  "libcore.util.NativeAllocationRegistry$CleanerThunk", "thunk.this$0.size", "thunk.this$0",
	  NULL },
	{ "jdk.internal.ref.Cleaner", true, "referent", "thunk",
	  "libcore.util.NativeAllocationRegistry$CleanerThunk", "thunk.this$0.size", "thunk.this$0",
	  NULL },
	/* A buffer that is no part of another one. */
	{ "java.nio.DirectByteBuffer", false, NULL, NULL, NULL, "capacity", "cleaner", "att" },
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

struct finder {
	struct heap *heap;
	enum analysis_native_kind kind;
	uint8_t *rule_of; /* by class: rule + 1; owned */
	struct base_vec *out;
};

/* Whether a reference on a path is as it should be: there, or null. */
static int check_null(struct heap *heap, uint32_t ix, const char *path, bool is_null, bool *out,
		      struct hdb_error *err)
{
	uint32_t target;
	int r = heap_path_object(heap, ix, HEAP_NONE, path, &target, err);

	*out = (r == HDB_NOTFOUND) == is_null;
	return r < 0 ? r : HDB_OK;
}

static int check_via(struct heap *heap, uint32_t ix, const struct native_rule *rule, bool *out,
		     struct hdb_error *err)
{
	struct heap_object object;
	uint32_t via;
	int r = heap_path_object(heap, ix, HEAP_NONE, rule->via, &via, err);

	*out = false;
	if (r == HDB_OK)
		r = heap_object(heap, via, &object, err);
	if (r == HDB_OK)
		*out = object.kind == STORE_INSTANCE &&
		       heap_has_superclass(heap, object.class_no, rule->via_class);
	return r < 0 ? r : HDB_OK;
}

static int look(struct finder *f, uint32_t ix, const struct native_rule *rule,
		struct hdb_error *err)
{
	struct analysis_native native = { .ix = ix };
	bool is_so = true;
	int64_t bytes = 0;
	int r = HDB_OK;

	if (rule->via)
		r = check_via(f->heap, ix, rule, &is_so, err);
	if (r == HDB_OK && is_so && rule->unless_null)
		r = check_null(f->heap, ix, rule->unless_null, false, &is_so, err);
	if (r == HDB_OK && is_so && rule->if_null)
		r = check_null(f->heap, ix, rule->if_null, true, &is_so, err);
	if (r != HDB_OK || !is_so)
		return r;
	if (rule->owner)
		r = heap_path_object(f->heap, ix, HEAP_NONE, rule->owner, &native.ix, err);
	if (r == HDB_OK)
		r = heap_path_number(f->heap, ix, HEAP_NONE, rule->bytes, &bytes, err);
	if (r != HDB_OK || bytes <= 0)
		return r < 0 ? r : HDB_OK;
	native.bytes = (uint64_t)bytes;
	return base_vec_push(f->out, &native, sizeof(native), err);
}

static int compare(const void *a, const void *b)
{
	const struct analysis_native *x = a, *y = b;

	return x->ix < y->ix ? -1 : x->ix > y->ix;
}

/* Sorts, and adds up what one object owns. */
static void join(struct base_vec *out)
{
	struct analysis_native *list = out->data;
	size_t n = 0;

	if (out->count)
		qsort(list, out->count, sizeof(*list), compare);
	for (size_t i = 0; i < out->count; i++) {
		if (n && list[n - 1].ix == list[i].ix)
			list[n - 1].bytes = list[n - 1].bytes > UINT64_MAX / 2 - list[i].bytes ?
						    UINT64_MAX / 2 :
						    list[n - 1].bytes + list[i].bytes;
		else
			list[n++] = list[i];
	}
	out->count = n;
}

/* Which classes are asked; *any: whether there are any. */
static int choose_classes(struct finder *f, bool *any, struct hdb_error *err)
{
	f->rule_of = calloc((size_t)f->heap->class_count + 1, 1);
	if (!f->rule_of)
		return hdb_fail_memory(err, "classes", f->heap->class_count);
	for (uint32_t i = 0; i < RULES; i++) {
		uint32_t no = heap_class_by_name(f->heap, rules[i].class_name, 0);

		if (f->kind == ANALYSIS_NATIVE_REGISTERED && !rules[i].is_registered)
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

int analysis_native_sizes(const struct session *session, enum analysis_native_kind kind,
			  struct base_vec *out, struct hdb_error *err)
{
	struct finder f = { .heap = session->heap, .kind = kind, .out = out };
	struct heap_block *block = NULL;
	bool any = false;
	int r = heap_load_classes(session->heap, err);

	if (r == HDB_OK)
		r = choose_classes(&f, &any, err);
	if (r == HDB_OK && any) {
		block = malloc(sizeof(*block));
		r = block ? HDB_OK : hdb_fail_memory(err, "a block of objects", sizeof(*block));
	}
	for (uint32_t b = 0; r == HDB_OK && any && b < heap_block_count(f.heap); b++) {
		r = heap_read_block(f.heap, b, block, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count; i++)
			if (block->kind[i] == STORE_INSTANCE && f.rule_of[block->class_no[i]])
				r = look(&f, block->first_ix + i,
					 &rules[f.rule_of[block->class_no[i]] - 1], err);
		if (r == HDB_OK && b % STEP_BLOCKS == 0)
			r = base_step(session->work, block->first_ix, err);
	}
	if (r == HDB_OK)
		join(out);
	free(block);
	free(f.rule_of);
	return r;
}

uint64_t analysis_native_of(const struct base_vec *sizes, uint32_t ix)
{
	const struct analysis_native wanted = { .ix = ix };
	const struct analysis_native *found =
		sizes->count ?
			bsearch(&wanted, sizes->data, sizes->count, sizeof(wanted), compare) :
			NULL;

	return found ? found->bytes : 0;
}
