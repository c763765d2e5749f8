/*
 * queries/compare/owner_tree.c - builds the tree of paths merged by owner.
 *
 * First, the fields of all objects that can be owners are read in order of index; an object that
 * such a field holds on its path gets the number of that owner. Then the node of each object is
 * derived from its parent's node. Objects are visited in any order, and are pending until their
 * parents have a node.
 */
#include "queries/compare/owner_tree.h"

#include "base/base_text.h"
#include "base/bits.h"
#include "heap/collections/collections.h"
#include "heap/heap_database.h"
#include "heap/platform_classes.h"
#include "heap/threads.h"
#include "heap/values/values.h"
#include "queries/leaks/leak_signature.h"
#include "queries/traces/trace_graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/*
 * Maximum number of steps up the path to the owner of a ThreadLocal. Beyond that, the class of the
 * ThreadLocal is just as informative.
 */
#define KEY_STEPS 64u
/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 65536u
/* Size of the cache of nodes by parent and name. Must be a power of two. */
#define FOUND_SLOTS 4096u

/*
 * Values of place[]. The lower bits of a pending object are 1 + the number of its owner, or 0 if
 * none.
 */
#define PLACE_NONE ANALYSIS_PLACE_NONE
#define PLACE_WAITS ANALYSIS_PLACE_WAITS
/* Flag in classes[]: the object is the class object of this class. */
#define CLASS_OBJECT 0x80000000u

static const char entry_class[] = "java.lang.ThreadLocal$ThreadLocalMap$Entry";

/* Roles that objects of a class can have on a path. */
enum kind { KIND_OWN, KIND_THREAD, KIND_LOCAL_ENTRY, KIND_PLATFORM, KIND_PART, KIND_ARRAY };

/* What a node stands for: an owner, and the class of the objects that it holds. */
struct held {
	uint32_t owner, class_no;
	bool is_entry; /* whether the object is inside a collection of the owner */
};

/* An entry of the cache of nodes. */
struct found {
	uint32_t parent, name, node;
};

/* State of owner_tree_add. Unless stated otherwise, arrays are indexed by object. */
struct adding {
	const struct session *session;
	struct owner_tree *tree;
	struct trace_graph graph;
	uint32_t reading; /* the object whose fields are being read */
	uint32_t *parent; /* links, which are reversed while a path is walked */
	uint32_t *place;  /* node of the object, or PLACE_* */
	uint32_t *classes;
	uint64_t *holds; /* bit set of objects that are parents of other objects */
	uint64_t *parts; /* bit set of objects that are part of another object */
	uint8_t *kind;   /* indexed by class */
	/*
	 * indexed by class: whether the class is never unloaded, so that it does not matter what
	 * holds the class
	 */
	bool *stays;
	struct base_idmap fields;  /* class and field to the name of the owner */
	struct base_idmap held[2]; /* owner and class to the name; [1] is for entries */
	struct base_idmap threads; /* thread to the owner of its local variables */
	struct base_vec entries;   /* uint32_t: entries of thread-local maps */
	struct found found[FOUND_SLOTS];
};

/* ---- names ---- */

void owner_tree_init(struct owner_tree *tree, unsigned dump_count)
{
	*tree = (struct owner_tree){ .parts = { 0 } };
	analysis_merged_init(&tree->merged, DERIVE_CLASS, dump_count);
}

void owner_tree_release(struct owner_tree *tree)
{
	analysis_merged_release(&tree->merged);
	base_vec_release(&tree->parts);
}

static const char *text_of(const struct owner_tree *tree, uint32_t name)
{
	assert(name < tree->merged.names.list.count);
	return base_vec_at(&tree->merged.names.list, struct base_name, name)->text;
}

const char *owner_tree_owner(const struct owner_tree *tree, uint32_t name)
{
	return text_of(tree, owner_tree_name(tree, name)->owner);
}

const char *owner_tree_held(const struct owner_tree *tree, uint32_t name)
{
	const uint32_t from = owner_tree_name(tree, name)->held_from;

	return from ? text_of(tree, name) + from : "";
}

/*
 * Finds or adds a name, and stores its parts. If part.owner is HEAP_NONE, the name is itself an
 * owner.
 */
static int add_name(struct adding *a, const char *text, struct owner_name part, uint32_t *out,
		    struct hdb_error *err)
{
	struct owner_tree *tree = a->tree;
	const int r = analysis_merged_text(&tree->merged, text, out, err);

	if (r < 0 || tree->parts.count > *out)
		return r;
	assert(tree->parts.count == *out); /* a part for each name */
	if (part.owner == HEAP_NONE)
		part.owner = *out;
	return base_vec_push(&tree->parts, &part, sizeof(part), err);
}

static int owner_number(struct adding *a, const char *text, uint32_t *out, struct hdb_error *err)
{
	return add_name(a, text, (struct owner_name){ .owner = HEAP_NONE }, out, err);
}

static const char *class_name(const struct adding *a, uint32_t class_no, char out[NAME_MAX_BYTES])
{
	leak_stable_name(heap_class_name(a->session->heap, class_no & ~CLASS_OBJECT), out,
			 NAME_MAX_BYTES);
	return out;
}

/*
 * Writes "OWNER -> CLASS" or "OWNER[] -> CLASS". Returns the number of bytes before the class name.
 */
static uint32_t write_name(const struct adding *a, const struct held *held, struct base_text to)
{
	char name[NAME_MAX_BYTES];
	const int n = snprintf(to.buf, to.size, "%.*s%s -> ", 2 * NAME_MAX_BYTES - 8,
			       text_of(a->tree, held->owner), held->is_entry ? "[]" : "");

	assert(n > 0 && (size_t)n < to.size);
	(void)snprintf(to.buf + n, to.size - (size_t)n, "%s%s",
		       held->class_no & CLASS_OBJECT ? "class " : "",
		       class_name(a, held->class_no, name));
	return (uint32_t)n;
}

/* Finds or adds the name of a node. */
static int name_of(struct adding *a, const struct held *held, uint32_t *out, struct hdb_error *err)
{
	const uint64_t key = (uint64_t)held->owner << 32 | held->class_no;
	struct base_idmap *names = &a->held[held->is_entry];
	struct owner_name part = { .owner = held->owner };
	char text[3 * NAME_MAX_BYTES];

	*out = base_idmap_get(names, key);
	if (*out != BASE_IDMAP_NONE)
		return HDB_OK;
	part.held_from = write_name(a, held, BASE_TEXT(text));
	TRY(add_name(a, text, part, out, err));
	return base_idmap_put(names, key, *out, err);
}

/* ---- fields as owners ---- */

/*
 * Finds the owner name for a field of the object being read: "com.acme.Cache.entries",
 * "com.acme.App.CACHE (static)".
 */
static int field_owner(struct adding *a, const struct trace_reference *reference, uint32_t *out,
		       struct hdb_error *err)
{
	const uint32_t class_no = a->classes[a->reading] & ~CLASS_OBJECT;
	const uint64_t key = (uint64_t)class_no << 32 | reference->name_text;
	char class[NAME_MAX_BYTES], field[NAME_MAX_BYTES], text[2 * NAME_MAX_BYTES + 16];

	*out = base_idmap_get(&a->fields, key);
	if (*out != BASE_IDMAP_NONE)
		return HDB_OK;
	TRY(heap_text(a->session->heap, reference->name_text, field, sizeof(field), err));
	(void)snprintf(text, sizeof(text), "%s.%s%s", class_name(a, class_no, class), field,
		       reference->kind == TRACE_STATIC ? " (static)" : "");
	TRY(owner_number(a, text, out, err));
	return base_idmap_put(&a->fields, key, *out, err);
}

/*
 * Stores the owner of an object that its parent holds by this field. Of several such fields, the
 * first by name is used.
 */
static int take_reference(void *ctx, const struct trace_reference *reference, struct hdb_error *err)
{
	struct adding *a = ctx;
	const uint32_t to = reference->to;
	uint32_t owner;

	if ((reference->kind != TRACE_FIELD && reference->kind != TRACE_STATIC) ||
	    a->parent[to] != a->reading || a->place[to] != PLACE_WAITS)
		return HDB_OK;
	TRY(field_owner(a, reference, &owner, err));
	a->place[to] = PLACE_WAITS | (owner + 1);
	return HDB_OK;
}

/*
 * Writes the owner of a ThreadLocal: the owner on its path, or else the class of the ThreadLocal.
 */
static void key_owner(const struct adding *a, uint32_t key, char *buf, size_t size)
{
	char name[NAME_MAX_BYTES];
	uint32_t at = key;

	for (unsigned i = 0; i < KEY_STEPS && at != HEAP_NONE && a->place[at] == PLACE_WAITS; i++)
		at = a->parent[at];
	if (at != HEAP_NONE && a->place[at] != PLACE_NONE && a->place[at] > PLACE_WAITS)
		(void)snprintf(buf, size, "thread-local %s",
			       text_of(a->tree, (a->place[at] & ~PLACE_WAITS) - 1));
	else
		(void)snprintf(buf, size, "a thread-local %s",
			       class_name(a, a->classes[key], name));
}

/* Reads an entry of a thread-local map, whose value belongs to the owner of the ThreadLocal. */
static int read_entry(struct adding *a, uint32_t ix, struct hdb_error *err)
{
	struct heap *heap = a->session->heap;
	char text[2 * NAME_MAX_BYTES] = "a removed thread-local";
	uint32_t key, value, owner;
	int r;

	r = heap_field_object(heap, ix, (struct heap_field_name){ .name = "referent" }, &key, err);
	if (r == HDB_OK)
		key_owner(a, key, text, sizeof(text));
	if (r >= 0)
		r = heap_field_object(heap, ix, (struct heap_field_name){ .name = "value" }, &value,
				      err);
	if (r != HDB_OK || a->parent[value] != ix || a->place[value] != PLACE_WAITS)
		return r < 0 ? r : HDB_OK;
	TRY(owner_number(a, text, &owner, err));
	a->place[value] = PLACE_WAITS | (owner + 1);
	return HDB_OK;
}

static int find_owners(struct adding *a, struct hdb_error *err)
{
	const uint32_t n = a->session->heap->object_count;

	base_stage(a->session->work, "finding owners", n, "objects");
	for (uint32_t ix = 0; ix < n; ix++) {
		const bool is_class = a->classes[ix] & CLASS_OBJECT;
		const uint8_t kind = a->kind[a->classes[ix] & ~CLASS_OBJECT];

		if (ix % STEP_OBJECTS == 0)
			TRY(base_step(a->session->work, ix, err));
		if (!base_bit_has(a->holds, ix))
			continue;
		a->reading = ix;
		if (is_class || kind == KIND_OWN || kind == KIND_THREAD)
			TRY_ERRORS(trace_graph_read(&a->graph, ix, take_reference, a, err));
		else if (kind == KIND_LOCAL_ENTRY)
			TRY(base_vec_push(&a->entries, &ix, sizeof(ix), err));
	}
	for (size_t i = 0; i < a->entries.count; i++)
		TRY(read_entry(a, *base_vec_at(&a->entries, uint32_t, i), err));
	return HDB_OK;
}

/* ---- nodes ---- */

/*
 * Finds or adds the node with a name below `parent`, or returns the node on the path that already
 * has it.
 */
static int child_of(struct adding *a, uint32_t parent, uint32_t name, uint32_t *out,
		    struct hdb_error *err)
{
	struct analysis_merged *m = &a->tree->merged;
	struct found *f = &a->found[(parent * 31 + name) % FOUND_SLOTS];
	uint32_t up = parent;

	if (f->node && f->parent == parent && f->name == name) {
		*out = f->node - 1;
		return HDB_OK;
	}
	while (up != ANALYSIS_MERGED_TOP && analysis_merged_node(m, up)->name != name)
		up = analysis_merged_node(m, up)->parent;
	*out = up;
	if (up == ANALYSIS_MERGED_TOP)
		TRY(analysis_merged_child(m, parent, name, out, err));
	/* At a limit, do not cache the node, so that every object counts as folded. */
	if (*out != ANALYSIS_MERGED_TOP && analysis_merged_node(m, *out)->name == name)
		*f = (struct found){ parent, name, *out + 1 };
	return HDB_OK;
}

/* Returns a lasting root kind of the object, if any. Stack frames differ between dumps. */
static uint8_t lasting_kind(const struct store_root *roots, size_t count)
{
	static const uint8_t kinds[] = { HPROF_ROOT_THREAD_OBJECT, HPROF_ROOT_STICKY_CLASS,
					 HPROF_ROOT_JNI_GLOBAL };

	for (size_t k = 0; k < sizeof(kinds); k++)
		for (size_t i = 0; i < count; i++)
			if (roots[i].kind == kinds[k])
				return kinds[k];
	return roots[0].kind;
}

static int root_owner(struct adding *a, uint32_t ix, uint32_t *out, struct hdb_error *err)
{
	size_t count;
	const struct store_root *roots = heap_roots_of(a->session->heap, ix, &count);
	const bool is_class = a->classes[ix] & CLASS_OBJECT;
	char text[96];

	if (is_class && a->stays[a->classes[ix] & ~CLASS_OBJECT])
		return owner_number(a, "the VM", out, err);
	(void)snprintf(text, sizeof(text), "a GC root (%s)",
		       count ? heap_root_name(lasting_kind(roots, count)) : "without a holder");
	return owner_number(a, text, out, err);
}

/*
 * Finds the owner name for local variables of a thread. All threads of a pool are one owner: "a
 * local variable of thread "pool-1-thread-*"".
 */
static int local_owner(struct adding *a, uint32_t thread, uint32_t *out, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES] = "", text[NAME_MAX_BYTES + 40];

	*out = base_idmap_get(&a->threads, thread);
	if (*out != BASE_IDMAP_NONE)
		return HDB_OK;
	TRY(heap_thread_name(a->session->heap, thread, name, sizeof(name), err));
	heap_name_pattern(name);
	(void)snprintf(text, sizeof(text), "a local variable of thread \"%s\"", name);
	TRY(owner_number(a, text, out, err));
	return base_idmap_put(&a->threads, thread, *out, err);
}

/*
 * Returns whether an object is part of the object above it: an entry, a table, or the characters of
 * a string.
 */
static bool is_part(const struct adding *a, uint32_t above, uint32_t ix)
{
	const uint8_t kind = a->kind[a->classes[ix] & ~CLASS_OBJECT];
	uint8_t from;

	if (a->classes[ix] & CLASS_OBJECT || a->classes[above] & CLASS_OBJECT)
		return false;
	from = a->kind[a->classes[above]];
	if (kind == KIND_ARRAY)
		return from == KIND_PLATFORM;
	return kind == KIND_PART &&
	       (from == KIND_PLATFORM || from == KIND_PART || from == KIND_ARRAY);
}

/*
 * Finds the node of an object. Initially *node is the node of its parent `above`, if there is one.
 */
static int settle(void *ctx, uint32_t above, uint32_t ix, uint32_t *node, struct hdb_error *err)
{
	struct adding *a = ctx;
	struct held held = { .class_no = a->classes[ix] };
	const bool is_owned = a->place[ix] != PLACE_WAITS;
	uint32_t name;

	if (is_owned) {
		held.owner = (a->place[ix] & ~PLACE_WAITS) - 1;
	} else if (above == HEAP_NONE) {
		TRY(root_owner(a, ix, &held.owner, err));
	} else if (!((held.class_no | a->classes[above]) & CLASS_OBJECT) &&
		   a->kind[a->classes[above]] == KIND_THREAD) {
		TRY(local_owner(a, above, &held.owner, err));
	} else if (is_part(a, above, ix)) {
		a->parts[ix >> 6] |= (uint64_t)1 << (ix & 63);
		return HDB_OK;
	} else {
		name = analysis_merged_node(&a->tree->merged, *node)->name;
		held.owner = owner_tree_name(a->tree, name)->owner;
		held.is_entry = true;
	}
	assert(held.owner < a->tree->parts.count);
	TRY(name_of(a, &held, &name, err));
	return child_of(a, *node, name, node, err);
}

static int damaged(void *ctx, uint32_t ix, const char *what, struct hdb_error *err)
{
	const struct adding *a = ctx;

	return heap_damaged(a->session->heap, STORE_REACH_STRONG, ix, what, err);
}

static int find_nodes(struct adding *a, struct hdb_error *err)
{
	const struct analysis_places places = { a->parent, a->place, settle, damaged, a };
	const uint32_t n = a->session->heap->object_count;

	base_stage(a->session->work, "merging paths by owner", n, "objects");
	for (uint32_t ix = 0; ix < n; ix++) {
		if (ix % STEP_OBJECTS == 0)
			TRY(base_step(a->session->work, ix, err));
		if (a->place[ix] != PLACE_NONE && a->place[ix] & PLACE_WAITS)
			TRY_ERRORS(analysis_merged_place(&places, ix, err));
	}
	return HDB_OK;
}

/* ---- preparing ---- */

static enum kind kind_of(struct heap *heap, uint32_t no, uint32_t thread_no)
{
	const char *name = heap_class_name(heap, no);

	if (base_ends_with(name, "[]"))
		return KIND_ARRAY;
	if (thread_no != HEAP_NONE && heap_is_subclass(heap, no, thread_no))
		return KIND_THREAD;
	if (strcmp(name, entry_class) == 0)
		return KIND_LOCAL_ENTRY;
	if (!heap_is_platform_class(name))
		return heap_is_anonymous_class(name) && heap_collection_rule(heap, no) ?
			       KIND_PLATFORM :
			       KIND_OWN;
	/*
	 * for example java.util.HashMap$Node, TreeMap$Entry, ConcurrentHashMap$TreeNode,
	 * Hashtable$Entry
	 */
	return strncmp(name, "java.util.", 10) == 0 && strchr(name, '$') &&
			       (base_ends_with(name, "Node") || base_ends_with(name, "Entry")) ?
		       KIND_PART :
		       KIND_PLATFORM;
}

static int load(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct adding *a = ctx;
	const struct heap *heap = a->session->heap;
	uint32_t *parent = a->parent + block->first_ix;

	TRY(derive_reach_block(a->session->derive, true, heap_block_no(block), parent, err));
	for (uint32_t i = 0; i < block->count; i++) {
		const uint32_t ix = block->first_ix + i;
		const bool is_class = block->kind[i] == STORE_CLASS;

		a->classes[ix] =
			is_class ? CLASS_OBJECT | (uint32_t)block->length[i] : block->class_no[i];
		a->place[ix] = parent[i] == ix ? PLACE_NONE : PLACE_WAITS;
		if (is_class && a->place[ix] == PLACE_WAITS && a->stays[block->length[i]])
			parent[i] = HEAP_NONE;
		if ((a->classes[ix] & ~CLASS_OBJECT) >= heap->class_count)
			return hdb_fail(err, HDB_ECORRUPT,
					"%s: damaged: an object without a class; import the dump "
					"again",
					heap_path(heap));
		if (parent[i] != HEAP_NONE && parent[i] >= heap->object_count)
			return damaged(a, ix, "a parent that is no object", err);
	}
	return HDB_OK;
}

/* Marks objects that hold others. References to an object's class do not count. */
static void find_holders(struct adding *a)
{
	for (uint32_t ix = 0; ix < a->session->heap->object_count; ix++) {
		const uint32_t above = a->parent[ix];

		if (above != HEAP_NONE && a->place[ix] != PLACE_NONE &&
		    a->classes[ix] != (a->classes[above] | CLASS_OBJECT))
			a->holds[above >> 6] |= (uint64_t)1 << (above & 63);
	}
}

/* Arrays that exist only while a heap is being added. */
struct arrays {
	struct base_big parent, place, classes, bits;
};

static int prepare(struct adding *a, struct arrays *arrays, struct hdb_error *err)
{
	struct heap *heap = a->session->heap;
	struct base_work *work = a->session->work;
	/* Whole blocks are read, so the arrays must have room for whole blocks. */
	const uint64_t n = (uint64_t)heap_block_count(heap) * STORE_BLOCK_OBJECTS;
	const uint64_t words = n / 64 + 1;
	uint32_t thread_no;

	/* Build the table before allocating the arrays, because both need memory. */
	TRY(derive_need(a->session->derive, STORE_REACH_STRONG, err));
	TRY(trace_graph_init(&a->graph, a->session, LIBRARY_FOR_NOTHING, err));
	analysis_merged_limit(&a->tree->merged, a->session);
	thread_no = heap_class_by_name(heap, "java.lang.Thread", 0);
	TRY(BASE_ALLOC(a->kind, (size_t)heap->class_count + 1, "kinds of classes", err));
	TRY(BASE_ALLOC(a->stays, (size_t)heap->class_count + 1, "kinds of classes", err));
	for (uint32_t no = 0; no < heap->class_count; no++) {
		a->kind[no] = (uint8_t)kind_of(heap, no, thread_no);
		a->stays[no] = heap_class_is_permanent(heap, no);
	}
	TRY(base_big_alloc_raw(work, &arrays->parent, n * 4 + 4, "owners", err));
	TRY(base_big_alloc_raw(work, &arrays->place, n * 4 + 4, "owners", err));
	TRY(base_big_alloc_raw(work, &arrays->classes, n * 4 + 4, "owners", err));
	TRY(base_big_alloc(work, &arrays->bits, words * 16, "owners", err));
	a->parent = arrays->parent.data;
	a->place = arrays->place.data;
	a->classes = arrays->classes.data;
	a->holds = arrays->bits.data;
	a->parts = a->holds + words;
	a->entries.work = work;
	TRY(heap_each_block(heap, work, load, a, err));
	find_holders(a);
	return HDB_OK;
}

static void release_adding(struct adding **at)
{
	struct adding *a = *at;

	if (!a)
		return;
	trace_graph_release(&a->graph);
	free(a->kind);
	free(a->stays);
	base_idmap_release(&a->fields);
	base_idmap_release(&a->held[0]);
	base_idmap_release(&a->held[1]);
	base_idmap_release(&a->threads);
	base_vec_release(&a->entries);
	free(a);
}

static void release_arrays(struct arrays *arrays)
{
	base_big_free(&arrays->parent);
	base_big_free(&arrays->classes);
	base_big_free(&arrays->bits);
	base_big_free(&arrays->place);
}

int owner_tree_add(const struct session *session, struct owner_tree *tree, unsigned dump,
		   struct base_big *place, struct hdb_error *err)
{
	struct analysis_merged_places places = { 0 };
	BASE_SCOPED(release_arrays) struct arrays arrays = { 0 };
	BASE_SCOPED(release_adding) struct adding *a = NULL;
	const bool is_filtered = session->heap->filter.is_on;
	/* Paths lead through all objects, but only objects that match the filter are counted. */
	HEAP_FILTER_SCOPE(heap_show_all, session->heap);

	TRY(BASE_ALLOC(a, 1, "owners", err));
	a->session = session;
	a->tree = tree;
	TRY(prepare(a, &arrays, err));
	TRY(find_owners(a, err));
	TRY(find_nodes(a, err));
	places.node = a->place;
	places.added = a->parts;
	session->heap->filter.is_on = is_filtered;
	TRY(analysis_merged_count(session, &tree->merged, dump, &places, err));
	if (!place)
		return HDB_OK;
	for (uint32_t ix = 0; ix < session->heap->object_count; ix++)
		if (base_bit_has(a->parts, ix))
			a->place[ix] = ANALYSIS_MERGED_TOP;
	*place = arrays.place;
	arrays.place = (struct base_big){ 0 };
	return HDB_OK;
}
