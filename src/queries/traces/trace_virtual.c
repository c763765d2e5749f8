/*
 * queries/traces/trace_virtual.c - makes known collections refer directly to their elements in leak
 * traces, whatever objects are in between.
 *
 * This applies only to instances of exactly these classes, because subclasses may hold more than
 * elements. A row of data describes each class. Chains are read from the dump, so they may be
 * circular.
 */
#include "queries/traces/trace_graph.h"

#include "heap/known.h"

#include <string.h>

/* Number of array elements to read at a time. */
#define ELEMENTS_CHUNK 512u

/* How to find the elements, from the field `store` on. */
enum trace_shape {
	SHAPE_ARRAY,   /* elements of the array at `store`; only the first `size`, if given */
	SHAPE_LINKED,  /* `value` of each node of the list, linked by `next` */
	SHAPE_NODES,   /* the nodes of the list themselves */
	SHAPE_ENTRIES, /* `key` and `value` of each node of the list */
	/* `key` and `value` of each node in the chains of the hash table at `store` */
	SHAPE_HASHED,
	SHAPE_HASHED_SET, /* `key` of each node in such chains, as an element of a set */
	SHAPE_SET,        /* elements of the array at `store`, without an index */
	SHAPE_REFERENT,   /* the referent of the weak reference at `store` */
	SHAPE_FIRST_NEW,  /* the field with Android's new activities */
	SHAPE_NEW         /* new activities that have been destroyed */
};

/* How to read a class. Of several rules for a class, the first whose own field exists applies. */
struct virtual_rule {
	const char *class_name;
	enum trace_shape shape;
	const char *own;   /* field that this version of the class declares, or NULL for any */
	const char *store; /* paths as in heap/known.h */
	const char *size, *next, *key, *value;
};

static const struct virtual_rule rules[] = {
#define VIRTUAL(class, how, ...) \
	{ \
		.class_name = class, .shape = how, __VA_ARGS__ \
	}
#include <queries/traces/virtual.rows.h>
};

/* Returns whether the class itself declares the field. */
static bool has_own(struct heap *heap, uint32_t class_no, const char *name)
{
	const struct store_class *class = heap_class(heap, class_no);
	char text[128];

	for (uint32_t i = 0; i < class->field_count; i++) {
		struct store_field field;

		if (heap_field(heap, class->first_field + i, &field, NULL) == HDB_OK &&
		    heap_text(heap, field.name_text, text, sizeof(text), NULL) == HDB_OK &&
		    strcmp(text, name) == 0)
			return true;
	}
	return false;
}

uint8_t trace_shape_of(struct heap *heap, uint32_t class_no)
{
	const char *name = heap_class_name(heap, class_no);

	for (size_t i = 0; i < BASE_COUNT(rules); i++)
		if (strcmp(rules[i].class_name, name) == 0 &&
		    (!rules[i].own || has_own(heap, class_no, rules[i].own)))
			return (uint8_t)(i + 1);
	return 0;
}

int trace_find_new_activities(struct heap *heap, uint32_t *out, struct hdb_error *err)
{
	uint32_t thread;
	int r;

	*out = HEAP_NONE;
	TRY_FOUND(heap_static_object(heap, "android.app.ActivityThread.sCurrentActivityThread",
				     &thread, err));
	if ((r = heap_path_object(heap, thread, "mNewActivities", out, err)) != HDB_OK)
		*out = HEAP_NONE;
	return r < 0 ? r : HDB_OK;
}

/* ---- reading ---- */

/* IDs in the fields of a node; 0 for null or a missing field. */
struct node {
	uint64_t key, value, next;
};

/* Positions of these fields in a class. The size is 0 if a field is missing or not a reference. */
struct node_places {
	uint32_t class_no; /* HEAP_NONE means not set yet */
	struct heap_place key, value, next;
};

/* A collection being read. */
struct reading {
	struct trace_graph *graph;
	struct heap *heap;
	const struct virtual_rule *rule;
	const struct trace_taker *taker;
	/* the reference to be passed on; all references share its other members */
	struct trace_reference reference;
	uint64_t no;               /* number of the next element */
	struct node_places places; /* places of the fields for the class of the last node */
};

/* Position in a chain of nodes, with the state of Brent's cycle detection. */
struct chain {
	uint32_t node, mark;
	uint64_t steps, power;
};

/* Passes on a reference to the object with this ID, if it is in the dump. */
static int give_id(struct reading *r, uint64_t id, enum trace_name name, uint64_t value,
		   struct hdb_error *err)
{
	TRY_FOUND(id ? trace_ids_find(&r->graph->ids, id, &r->reference.to, err) : HDB_NOTFOUND);
	r->reference.name = (uint8_t)name;
	r->reference.value = value;
	return r->taker->take(r->taker->ctx, &r->reference, err);
}

/* Reads the ID in a field, or 0 if the field does not exist. */
static int id_at(struct reading *r, uint32_t ix, const char *path, uint64_t *id,
		 struct hdb_error *err)
{
	struct heap_value value;
	int rc = heap_path_value(r->heap, ix, path, &value, err);

	*id = rc == HDB_OK && value.type == HPROF_OBJECT ? value.bits : 0;
	return rc < 0 ? rc : HDB_OK;
}

static int find_node_place(struct reading *r, const char *path, struct heap_place *out,
			   struct hdb_error *err)
{
	*out = (struct heap_place){ 0 };
	if (path)
		TRY_ERRORS(heap_path_place(r->heap, r->places.class_no, path, out, err));
	if (out->type != HPROF_OBJECT)
		*out = (struct heap_place){ 0 };
	return HDB_OK;
}

static int find_node_places(struct reading *r, uint32_t class_no, struct hdb_error *err)
{
	r->places.class_no = class_no;
	TRY(find_node_place(r, r->rule->key, &r->places.key, err));
	TRY(find_node_place(r, r->rule->value, &r->places.value, err));
	return find_node_place(r, r->rule->next, &r->places.next, err);
}

static int node_field(struct reading *r, const struct heap_instance *instance,
		      struct heap_place place, uint64_t *id, struct hdb_error *err)
{
	struct heap_value value = { 0 };
	const int rc = heap_place_value(&r->heap->dump.view, instance, place, &value, err);

	*id = value.bits;
	return rc;
}

/* Reads all fields of a node at once; maps have millions of nodes. */
static int read_node(struct reading *r, uint32_t ix, struct node *out, struct hdb_error *err)
{
	struct heap_instance instance;

	*out = (struct node){ 0 };
	TRY_FOUND(heap_instance_open(r->heap, ix, &instance, err));
	if (r->places.class_no != instance.class_no)
		TRY(find_node_places(r, instance.class_no, err));
	TRY(node_field(r, &instance, r->places.key, &out->key, err));
	TRY(node_field(r, &instance, r->places.value, &out->value, err));
	return node_field(r, &instance, r->places.next, &out->next, err);
}

/* Moves to the next node. HEAP_NONE means the end, a cycle, or no steps left. */
static int next_node(struct reading *r, struct chain *chain, uint64_t id, struct hdb_error *err)
{
	int rc = HDB_NOTFOUND;

	if (r->graph->steps_left) {
		r->graph->steps_left--;
		rc = id ? trace_ids_find(&r->graph->ids, id, &chain->node, err) : HDB_NOTFOUND;
	}
	if (rc != HDB_OK || chain->node == chain->mark) {
		chain->node = HEAP_NONE;
		return rc < 0 ? rc : HDB_OK;
	}
	if (++chain->steps >= chain->power) {
		chain->mark = chain->node;
		chain->power = chain->steps * 2;
	}
	return HDB_OK;
}

static int give_entry(struct reading *r, const struct node *node, struct hdb_error *err)
{
	TRY(give_id(r, node->key, r->rule->value ? TRACE_NAME_KEY : TRACE_NAME_ELEMENT, 0, err));
	return give_id(r, node->value, TRACE_NAME_OF_KEY, node->key, err);
}

/*
 * Passes on only activities that have been destroyed, because there are better paths to other
 * activities.
 */
static int give_destroyed(struct reading *r, uint32_t node, uint64_t no, struct hdb_error *err)
{
	struct heap_value value = { 0 };
	uint32_t activity;
	uint64_t id;

	TRY_FOUND(heap_path_object(r->heap, node, r->rule->value, &activity, err));
	TRY_FOUND(heap_path_value(r->heap, activity, "mDestroyed", &value, err));
	if (!(value.bits & 0xff))
		return HDB_OK;
	TRY(heap_id(r->heap, activity, &id, err));
	return give_id(r, id, TRACE_NAME_INDEX, no, err);
}

static int give_node(struct reading *r, uint32_t ix, const struct node *node, struct hdb_error *err)
{
	const uint64_t no = r->no++;
	uint64_t id;

	switch (r->rule->shape) {
	case SHAPE_NODES:
		TRY(heap_id(r->heap, ix, &id, err));
		return give_id(r, id, TRACE_NAME_INDEX, no, err);
	case SHAPE_LINKED:
		return give_id(r, node->value, TRACE_NAME_INDEX, no, err);
	case SHAPE_NEW:
		return give_destroyed(r, ix, no, err);
	default:
		return give_entry(r, node, err);
	}
}

/* Passes on all nodes of a chain. */
static int read_chain(struct reading *r, uint32_t first, struct hdb_error *err)
{
	struct chain chain = { .node = first, .mark = first, .power = 2 };
	struct node node;

	while (chain.node != HEAP_NONE) {
		TRY(read_node(r, chain.node, &node, err));
		TRY(give_node(r, chain.node, &node, err));
		TRY(next_node(r, &chain, node.next, err));
	}
	return HDB_OK;
}

/* Passes on an element of the array at `store`, or the chain that starts there. */
static int give_element(struct reading *r, uint64_t bits, uint64_t at, struct hdb_error *err)
{
	uint32_t node;

	if (r->rule->shape == SHAPE_ARRAY)
		return give_id(r, bits, TRACE_NAME_INDEX, at, err);
	if (r->rule->shape == SHAPE_SET)
		return give_id(r, bits, TRACE_NAME_ELEMENT, 0, err);
	TRY_FOUND(bits ? trace_ids_find(&r->graph->ids, bits, &node, err) : HDB_NOTFOUND);
	return read_chain(r, node, err);
}

static int read_array(struct reading *r, uint32_t ix, uint32_t array, struct hdb_error *err)
{
	uint64_t bits[ELEMENTS_CHUNK];
	struct heap_slice slice = { .bits = bits, .done = 1 };
	struct heap_object object;
	int64_t size;
	int rc = heap_object(r->heap, array, &object, err);

	if (rc != HDB_OK || object.kind != STORE_OBJECT_ARRAY ||
	    heap_class(r->heap, object.class_no)->element_bytes)
		return rc;
	if (r->rule->size) {
		rc = heap_path_number(r->heap, ix, r->rule->size, &size, err);
		if (rc == HDB_OK && size >= 0 && (uint64_t)size < object.length)
			object.length = (uint64_t)size;
	}
	for (uint64_t from = 0; rc >= 0 && from < object.length && slice.done; from += slice.done) {
		const uint64_t left = object.length - from;

		slice.room = left < ELEMENTS_CHUNK ? left : ELEMENTS_CHUNK;
		if (r->graph->steps_left < slice.room)
			return HDB_OK;
		r->graph->steps_left -= slice.room;
		rc = heap_elements(r->heap, array, from, &slice, err);
		for (uint64_t i = 0; rc == HDB_OK && i < slice.done; i++)
			rc = give_element(r, bits[i], from + i, err);
	}
	return rc < 0 ? rc : HDB_OK;
}

/*
 * Passes on the target of an animator, because its weak reference would hide what keeps the target
 * alive.
 */
static int read_referent(struct reading *r, uint32_t ix, struct hdb_error *err)
{
	struct heap_object object = { 0 };
	uint32_t reference;
	uint64_t id;

	TRY_FOUND(heap_path_object(r->heap, ix, r->rule->store, &reference, err));
	TRY_FOUND(heap_object(r->heap, reference, &object, err));
	if (object.kind != STORE_INSTANCE ||
	    strcmp(heap_class_name(r->heap, object.class_no), "java.lang.ref.WeakReference") != 0)
		return HDB_OK;
	TRY(id_at(r, reference, r->rule->value, &id, err));
	r->reference.kind = TRACE_FIELD;
	r->reference.is_late = true;
	/* The caller names the reference after the animator's field. */
	return give_id(r, id, TRACE_NAME_FIELD, 0, err);
}

/* Finds the string number of a field name that a class declares. */
static int name_of_field(struct heap *heap, uint32_t class_no, const char *name, uint32_t *out,
			 struct hdb_error *err)
{
	const struct store_class *class = heap_class(heap, class_no);
	char text[128];

	*out = STORE_NONE;
	for (uint32_t i = 0; i < class->field_count; i++) {
		struct store_field field;

		TRY(heap_field(heap, class->first_field + i, &field, err));
		TRY(heap_text(heap, field.name_text, text, sizeof(text), err));
		if (strcmp(text, name) == 0)
			*out = field.name_text;
	}
	return HDB_OK;
}

int trace_virtual_read(struct trace_graph *graph, uint32_t ix, uint32_t class_no,
		       const struct trace_taker *taker, struct hdb_error *err)
{
	const struct virtual_rule *rule = &rules[graph->shapes[class_no] - 1];
	struct reading r = {
		.graph = graph,
		.heap = graph->session->heap,
		.rule = rule,
		.taker = taker,
		.reference = { .kind = TRACE_ENTRY, .owner_no = class_no, .name_text = STORE_NONE },
		.places = { .class_no = HEAP_NONE },
	};
	uint32_t start = ix;
	uint64_t id;

	if (rule->shape == SHAPE_REFERENT || rule->shape == SHAPE_FIRST_NEW)
		TRY_FOUND(
			name_of_field(r.heap, class_no, rule->store, &r.reference.name_text, err));
	if (rule->shape == SHAPE_REFERENT)
		return read_referent(&r, ix, err);
	if (rule->shape == SHAPE_FIRST_NEW) {
		r.reference.kind = TRACE_FIELD;
		r.reference.rule = library_leaks_rule(&graph->library, LIBRARY_FIELD,
						      rule->class_name, rule->store);
		TRY(id_at(&r, ix, rule->store, &id, err));
		return give_id(&r, id, TRACE_NAME_FIELD, 0, err);
	}
	if (rule->shape == SHAPE_NEW && ix != graph->new_activities_ix)
		return HDB_OK;
	if (rule->store[0])
		TRY_FOUND(heap_path_object(r.heap, ix, rule->store, &start, err));
	if (rule->shape == SHAPE_ARRAY || rule->shape == SHAPE_SET || rule->shape == SHAPE_HASHED ||
	    rule->shape == SHAPE_HASHED_SET)
		return read_array(&r, ix, start, err);
	return read_chain(&r, start, err);
}
