/*
 * heap/values/named_references.c - iterates over the references of an object, with their names.
 *
 * The tables of references do not show the fields: a short list contains each target once, and a
 * long list as often as the array refers to it. Names come from the records in the dump. For each
 * class, a plan lists the positions and names of the references in its instances.
 */
#include "heap/values/named_references.h"
#include "base/sort.h"

#include "base/bytes.h"
#include "base/idmap.h"
#include "base/search.h"
#include "heap/heap_database.h"
#include "heap/threads.h"
#include "heap/values/values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Maximum size of a field name. Longer names are truncated. */
#define NAME_MAX_BYTES 256
/*
 * Maximum number of fields in all plans, at 24 bytes each. Plans repeat inherited fields, so a deep
 * hierarchy would take quadratic memory. Beyond the maximum, all plans are dropped and rebuilt on
 * demand.
 */
#define PLAN_FIELDS_MAX (1u << 20)
/* Number of elements of an array that are read at a time. */
#define ELEMENTS 512

/*
 * An object with more than this many references gets an index by target if references to a single
 * target are requested, because a join requests all targets one after another. The indexes of the
 * last INDEXES such objects are kept.
 */
#define INDEXED_MIN 256
#define INDEXES 8

static const char super_name[] = "<super>";
static const char loader_name[] = "<class loader>";
static const char local_name[] = "<local variable>";
static const char defined_name[] = "<defined class>";

struct field {
	const char *name;
	uint32_t offset; /* offset in the body of an instance */
	uint8_t strength;
};

struct plan {
	uint32_t count;
	struct field fields[];
};

/* A reference that no field contains. */
struct edge {
	uint32_t from, to;
	const char *name;
};

/* The kind of reference that next_of returns next. */
enum stage { DONE, FIELDS, SUPER, LOADER, STATICS, ELEMENTS_OF, EDGES, INDEXED };

/* All references of an object, sorted by target. */
struct index {
	uint32_t from;        /* HEAP_NONE means unused */
	struct base_vec refs; /* struct heap_named_reference */
};

struct heap_named_references {
	struct heap *heap;
	char *only;           /* owned; NULL means any name */
	bool is_element;      /* whether `only` is the name of an element, such as "[3]" */
	uint64_t one_element; /* index of that element */
	struct plan **plans;  /* by class number, owned; NULL if not built yet */
	uint64_t plan_fields;
	struct base_vec edges;        /* struct edge, sorted by `from`, without duplicates */
	struct base_idmap edges_from; /* from the index of an object to its first edge */
	struct base_idmap invented;   /* IDs of class objects that are not in the dump */
	/* whether some references lead to objects that are missing from the dump */
	bool has_dangling;
	/* the current object */
	enum stage stage;
	struct heap_object object;
	uint32_t to;
	uint64_t to_id;
	const struct plan *plan;
	uint32_t at; /* number of the next field of the plan, or of the next edge */
	uint64_t body, body_size;
	struct heap_fields statics;
	uint64_t element, element_end;
	uint64_t bits[ELEMENTS]; /* elements, starting at index `chunk` */
	uint64_t chunk, chunk_count;
	const struct index *index;
	size_t index_at;
	struct index indexes[INDEXES];
	unsigned next_index; /* slot for the next index */
};

/* ---- names ---- */

static bool is_wanted(const struct heap_named_references *n, const char *name)
{
	return !n->only || strcmp(n->only, name) == 0;
}

/* Stores the name of a field in the heap. The name of a static field begins with "static ". */
static int keep_name(const struct heap_named_references *n, const struct store_field *field,
		     const char **out, struct hdb_error *err)
{
	struct heap_value_tables *kept_names = &n->heap->values;
	const uint64_t key = (uint64_t)field->is_static << 32 | field->name_text;
	uint32_t no = base_idmap_get(&kept_names->name_nos, key);
	char name[8 + NAME_MAX_BYTES];
	const size_t prefix = field->is_static ? 7 : 0;
	char *kept;

	if (no == BASE_IDMAP_NONE) {
		memcpy(name, "static ", prefix);
		TRY(heap_text(n->heap, field->name_text, name + prefix, NAME_MAX_BYTES, err));
		TRY(BASE_COPY(kept, name, "names of fields", err));
		no = (uint32_t)kept_names->names.count;
		if (base_vec_push(&kept_names->names, &kept, sizeof(kept), err) < 0) {
			free(kept);
			return HDB_ENOMEM;
		}
		TRY(base_idmap_put(&kept_names->name_nos, key, no, err));
	}
	*out = *base_vec_at(&kept_names->names, const char *, no);
	return HDB_OK;
}

/* ---- plans of classes ---- */

static void forget_plans(struct heap_named_references *n)
{
	for (uint32_t no = 0; n->plans && no < n->heap->class_count; no++) {
		free(n->plans[no]);
		n->plans[no] = NULL;
	}
	n->plan_fields = 0;
}

/* References collected so far from a class and its superclasses. */
struct collected {
	struct base_vec fields; /* struct field */
	uint32_t of;            /* the class */
	uint64_t offset;        /* offset of the first field of the next superclass */
};

/* Adds the references that a class declares. */
static int plan_class(struct heap_named_references *n, uint32_t declaring, struct collected *c,
		      struct hdb_error *err)
{
	const struct store_class *class = heap_class(n->heap, declaring);
	const uint8_t strength = heap_class(n->heap, c->of)->strength;
	const bool has_referent = strength && strcmp(heap_class_name(n->heap, declaring),
						     "java.lang.ref.Reference") == 0;

	for (uint32_t i = 0; i < class->field_count; i++) {
		struct store_field stored;
		struct field field = { .offset = (uint32_t)c->offset };

		TRY(heap_field(n->heap, class->first_field + i, &stored, err));
		c->offset += hprof_type_size(stored.type, n->heap->id_size);
		if (stored.type != HPROF_OBJECT || c->offset > UINT32_MAX)
			continue;
		TRY(keep_name(n, &stored, &field.name, err));
		assert(field.name);
		if (!is_wanted(n, field.name))
			continue;
		if (has_referent && strcmp(field.name, "referent") == 0)
			field.strength = strength;
		TRY(base_vec_push(&c->fields, &field, sizeof(field), err));
	}
	return HDB_OK;
}

static void collected_release(struct collected *c)
{
	base_vec_release(&c->fields);
}

static int make_plan(struct heap_named_references *n, uint32_t of, struct hdb_error *err)
{
	BASE_SCOPED(collected_release) struct collected c = { .of = of };
	struct plan *plan;
	uint32_t steps = 0;

	for (uint32_t no = of; no != STORE_NONE && steps++ <= n->heap->class_count;
	     no = heap_class(n->heap, no)->super_no)
		TRY(plan_class(n, no, &c, err));
	if (n->plan_fields + c.fields.count > PLAN_FIELDS_MAX)
		forget_plans(n);
	plan = malloc(sizeof(*plan) + c.fields.count * sizeof(struct field));
	if (!plan)
		return hdb_fail_memory(err, "fields of a class",
				       c.fields.count * sizeof(struct field));
	plan->count = (uint32_t)c.fields.count;
	if (c.fields.count)
		memcpy(plan->fields, c.fields.data, c.fields.count * sizeof(struct field));
	n->plan_fields += c.fields.count;
	n->plans[of] = plan;
	return HDB_OK;
}

/* Finds or makes the plan of a class. Valid until another plan is requested. */
static int plan_of(struct heap_named_references *n, uint32_t class_no, const struct plan **out,
		   struct hdb_error *err)
{
	assert(class_no < n->heap->class_count);
	if (!n->plans[class_no])
		TRY(make_plan(n, class_no, err));
	*out = n->plans[class_no];
	return HDB_OK;
}

/* ---- references that are not in a field ---- */

BASE_ORDER(compare_edges, struct edge, BASE_UP(from), BASE_UP(to))

/* Lists local variables: roots with a known thread count as references from that thread. */
static int list_locals(struct heap_named_references *n, struct hdb_error *err)
{
	struct heap *heap = n->heap;

	TRY(heap_load_roots(heap, err));
	for (uint64_t i = 0; i < heap->roots.count; i++) {
		const struct store_root *root = &heap->roots.records[i];
		struct store_thread thread;
		struct edge edge = { .to = root->ix, .name = local_name };
		int r;

		if (!root->is_local)
			continue;
		TRY_ERRORS(r = heap_thread_by_serial(heap, root->thread_serial, &thread, err));
		if (r != HDB_OK || thread.ix == STORE_NONE)
			continue;
		edge.from = thread.ix;
		TRY(base_vec_push(&n->edges, &edge, sizeof(edge), err));
	}
	return HDB_OK;
}

/*
 * Lists the classes defined by each class loader as references of the loader if no class belongs to
 * the boot loader, as the import does.
 */
static int list_defined(struct heap_named_references *n, struct hdb_error *err)
{
	const struct heap *heap = n->heap;

	for (uint32_t no = 0; no < heap->class_count; no++)
		if (heap_class(heap, no)->loader_ix == HEAP_BOOT_LOADER &&
		    !(heap_class(heap, no)->flags & STORE_CLASS_INVENTED))
			return HDB_OK;
	for (uint32_t no = 0; no < heap->class_count; no++) {
		const struct store_class *class = heap_class(heap, no);
		const struct edge edge = { class->loader_ix, class->ix, defined_name };

		if (class->loader_ix != HEAP_BOOT_LOADER)
			TRY(base_vec_push(&n->edges, &edge, sizeof(edge), err));
	}
	return HDB_OK;
}

static int list_edges(struct heap_named_references *n, struct hdb_error *err)
{
	struct edge *edges;
	size_t kept = 0;

	if (is_wanted(n, local_name))
		TRY(list_locals(n, err));
	if (is_wanted(n, defined_name))
		TRY(list_defined(n, err));
	base_vec_sort(&n->edges, sizeof(struct edge), compare_edges);
	edges = n->edges.data;
	for (size_t i = 0; i < n->edges.count; i++) {
		if (kept && compare_edges(&edges[kept - 1], &edges[i]) == 0)
			continue;
		edges[kept] = edges[i];
		if (!kept || edges[kept].from != edges[kept - 1].from)
			TRY(base_idmap_put(&n->edges_from, edges[kept].from, (uint32_t)kept, err));
		kept++;
	}
	n->edges.count = kept;
	return HDB_OK;
}

/* ---- opening ---- */

/* Parses the name of an element, such as "[3]". */
static void parse_element(struct heap_named_references *n)
{
	char *end;

	if (!n->only || n->only[0] != '[' || n->only[1] < '0' || n->only[1] > '9')
		return;
	n->one_element = strtoull(n->only + 1, &end, 10);
	/* names of elements have no leading zeros */
	n->is_element = strcmp(end, "]") == 0 && (n->only[1] != '0' || end == n->only + 2);
}

static int open_parts(struct heap_named_references *n, struct hdb_error *err)
{
	struct heap *heap = n->heap;

	TRY(heap_load_classes(heap, err));
	TRY(heap_open_dump(heap, err));
	TRY(BASE_ALLOC(n->plans, (size_t)heap->class_count + 1, "fields of classes", err));
	for (uint32_t no = 0; no < heap->class_count; no++)
		if (heap_class(heap, no)->flags & STORE_CLASS_INVENTED)
			TRY(base_idmap_put(&n->invented, heap_class(heap, no)->class_id, 1, err));
	n->has_dangling = heap_meta_number(heap, "references.dangling", 0) != 0;
	parse_element(n);
	return list_edges(n, err);
}

int heap_named_open(struct heap *heap, const char *only, struct heap_named_references **out,
		    struct hdb_error *err)
{
	struct heap_named_references *n;
	int r = HDB_OK;

	TRY(BASE_ALLOC(n, 1, "a reader of references", err));
	n->heap = heap;
	for (unsigned i = 0; i < INDEXES; i++) {
		n->indexes[i].from = HEAP_NONE;
		n->indexes[i].refs.work = heap->work;
	}
	if (only && !(n->only = strdup(only)))
		r = hdb_fail_memory(err, "a name", strlen(only) + 1);
	if (r == HDB_OK)
		r = open_parts(n, err);
	if (r != HDB_OK) {
		heap_named_close(n);
		return r;
	}
	*out = n;
	return HDB_OK;
}

void heap_named_close(struct heap_named_references *n)
{
	if (!n)
		return;
	forget_plans(n);
	free(n->plans);
	for (unsigned i = 0; i < INDEXES; i++)
		base_vec_release(&n->indexes[i].refs);
	base_vec_release(&n->edges);
	base_idmap_release(&n->edges_from);
	base_idmap_release(&n->invented);
	free(n->only);
	free(n);
}

int heap_named_marks(struct heap_named_references *n, uint8_t *marks, struct hdb_error *err)
{
	const struct heap *heap = n->heap;
	const bool has_classes = !n->only || strncmp(n->only, "static ", 7) == 0 ||
				 is_wanted(n, super_name) || is_wanted(n, loader_name);
	const struct plan *plan;

	for (uint32_t no = 0; no < heap->class_count; no++) {
		TRY(plan_of(n, no, &plan, err));
		marks[no] = plan->count || (has_classes && no == heap->class_class_no) ||
			    ((!n->only || n->is_element) &&
			     heap_class(heap, no)->flags & STORE_CLASS_ARRAY &&
			     heap_class(heap, no)->element_type == HPROF_OBJECT);
		if (no % 4096 == 0)
			TRY(base_check_cancelled(heap->work, err));
	}
	for (size_t i = 0; i < n->edges.count; i++) {
		struct heap_object object;

		TRY(heap_object(n->heap, base_vec_at(&n->edges, struct edge, i)->from, &object,
				err));
		marks[object.class_no] = 1;
	}
	return HDB_OK;
}

/* ---- the references of an object ---- */

/* Finds the record of the object. An object without a record has neither fields nor elements. */
static int begin_body(struct heap_named_references *n, struct hdb_error *err)
{
	struct heap *heap = n->heap;
	struct hprof_sub sub;
	uint64_t offset;

	TRY(plan_of(n, n->object.class_no, &n->plan, err));
	if (!n->plan->count)
		return HDB_OK;
	TRY(heap_offset(heap, n->object.ix, &offset, err));
	if (!offset)
		return HDB_OK;
	TRY(hprof_sub_read(&heap->dump.file, &heap->dump.view, offset, &sub, err));
	n->body = sub.body_offset;
	n->body_size = sub.body_size;
	return HDB_OK;
}

/* Starts the iteration over all references of n->object. */
static int begin_all(struct heap_named_references *n, struct hdb_error *err)
{
	n->to = HEAP_NONE;
	n->at = 0;
	n->body_size = 0;
	switch (n->object.kind) {
	case STORE_INSTANCE:
		TRY(begin_body(n, err));
		n->stage = FIELDS;
		break;
	case STORE_CLASS:
		n->stage = SUPER;
		break;
	case STORE_OBJECT_ARRAY:
		n->chunk_count = 0;
		n->element = n->is_element ? n->one_element : 0;
		n->element_end = n->object.length;
		if (n->is_element && n->one_element < n->element_end)
			n->element_end = n->one_element + 1;
		n->stage = n->only && !n->is_element ? EDGES : ELEMENTS_OF;
		break;
	default:
		n->stage = EDGES;
	}
	return HDB_OK;
}

/*
 * Sets the target of a reference. Returns HDB_END if the target is not in the dump or not
 * requested.
 */
static int set_target(struct heap_named_references *n, uint64_t id,
		      struct heap_named_reference *out, struct hdb_error *err)
{
	uint32_t ix;

	if (!id || (n->to != HEAP_NONE && id != n->to_id) ||
	    (n->invented.count && base_idmap_get(&n->invented, id) != BASE_IDMAP_NONE))
		return HDB_END;
	out->to_id = id;
	out->strength = STORE_STRONG;
	if (n->has_dangling) {
		const int r = heap_find(n->heap, id, &ix, err);

		return r == HDB_NOTFOUND ? HDB_END : r;
	}
	return HDB_OK;
}

static int set_object(struct heap_named_references *n, uint32_t ix, const char *name,
		      struct heap_named_reference *out, struct hdb_error *err)
{
	uint64_t id;

	/* The boot loader's placeholder is not an object of the dump. */
	if (ix == HEAP_BOOT_LOADER || !is_wanted(n, name))
		return HDB_END;
	TRY(heap_id(n->heap, ix, &id, err));
	out->name = name;
	return set_target(n, id, out, err);
}

/*
 * Reads the next field. Returns HDB_NOTFOUND after the last one, and HDB_END for a null or an
 * unwanted target.
 */
static int next_field(struct heap_named_references *n, struct heap_named_reference *out,
		      struct hdb_error *err)
{
	const unsigned size = n->heap->id_size;
	const struct field *field;
	const uint8_t *p;

	if (!n->body_size || n->at >= n->plan->count)
		return HDB_NOTFOUND;
	field = &n->plan->fields[n->at++];
	/* the instance is truncated, as the import reported */
	if (size > n->body_size || field->offset > n->body_size - size)
		return HDB_NOTFOUND;
	if (!(p = base_view_at(&n->heap->dump.view, n->body + field->offset, size, err)))
		return HDB_ETRUNC;
	out->name = field->name;
	TRY(set_target(n, be_id(p, size), out, err));
	out->strength = field->strength;
	return HDB_OK;
}

static int next_static(struct heap_named_references *n, struct heap_named_reference *out,
		       struct hdb_error *err)
{
	const int r = heap_fields_next(&n->statics, err);

	if (r != HDB_OK)
		return r < 0 ? r : HDB_NOTFOUND;
	if (n->statics.value.type != HPROF_OBJECT)
		return HDB_END;
	TRY(keep_name(n, &n->statics.field, &out->name, err));
	return is_wanted(n, out->name) ? set_target(n, n->statics.value.bits, out, err) : HDB_END;
}

static int read_chunk(struct heap_named_references *n, struct hdb_error *err)
{
	const uint64_t left = n->element_end - n->element;
	struct heap_slice slice = { .bits = n->bits, .room = left < ELEMENTS ? left : ELEMENTS };

	TRY(base_check_cancelled(n->heap->work, err));
	TRY(heap_elements(n->heap, n->object.ix, n->element, &slice, err));
	n->chunk = n->element;
	n->chunk_count = slice.type == HPROF_OBJECT ? slice.done : 0;
	return n->chunk_count ? HDB_OK : HDB_NOTFOUND;
}

/*
 * Reads the next element. Compares raw IDs before looking them up: if references to one object are
 * requested, nearly all elements are skipped.
 */
static int next_element(struct heap_named_references *n, struct heap_named_reference *out,
			struct hdb_error *err)
{
	for (; n->element < n->element_end; n->element++) {
		uint64_t id;
		int r;

		if (n->element - n->chunk >= n->chunk_count && (r = read_chunk(n, err)) != HDB_OK)
			return r;
		id = n->bits[n->element - n->chunk];
		if (!id || (n->to != HEAP_NONE && id != n->to_id))
			continue;
		out->name = NULL;
		out->element = n->element++;
		return set_target(n, id, out, err);
	}
	return HDB_NOTFOUND;
}

/* Reads edge number n->at. */
static int next_edge(struct heap_named_references *n, struct heap_named_reference *out,
		     struct hdb_error *err)
{
	const struct edge *edge;

	if (n->at >= n->edges.count)
		return HDB_NOTFOUND;
	edge = base_vec_at(&n->edges, struct edge, n->at++);
	return edge->from == n->object.ix ? set_object(n, edge->to, edge->name, out, err) :
					    HDB_NOTFOUND;
}

/* Returns the reference of a class object to its superclass or loader: HDB_OK or HDB_END. */
static int class_edge(struct heap_named_references *n, struct heap_named_reference *out,
		      struct hdb_error *err)
{
	const struct store_class *class = heap_class(n->heap, (uint32_t)n->object.length);

	if (n->stage == LOADER)
		return set_object(n, class->loader_ix, loader_name, out, err);
	return class->super_no == STORE_NONE ?
		       HDB_END :
		       set_object(n, heap_class(n->heap, class->super_no)->ix, super_name, out,
				  err);
}

/* Moves to the next stage. */
static void next_stage(struct heap_named_references *n)
{
	switch (n->stage) {
	case SUPER:
		n->stage = LOADER;
		break;
	case LOADER:
		heap_statics_begin(n->heap, (uint32_t)n->object.length, &n->statics);
		n->stage = n->only && strncmp(n->only, "static ", 7) != 0 ? EDGES : STATICS;
		break;
	case EDGES:
	case INDEXED:
	case DONE:
		n->stage = DONE;
		return;
	default:
		n->stage = EDGES;
	}
	if (n->stage == EDGES)
		n->at = n->edges.count ? base_idmap_get(&n->edges_from, n->object.ix) : STORE_NONE;
}

/*
 * Reads the next reference of the current stage. Returns HDB_OK with a reference, HDB_END to be
 * called again, or HDB_NOTFOUND at the end of the stage.
 */
static int next_of(struct heap_named_references *n, struct heap_named_reference *out,
		   struct hdb_error *err)
{
	int r;

	switch (n->stage) {
	case FIELDS:
		return next_field(n, out, err);
	case STATICS:
		return next_static(n, out, err);
	case ELEMENTS_OF:
		return next_element(n, out, err);
	case EDGES:
		return next_edge(n, out, err);
	case SUPER:
	case LOADER:
		r = class_edge(n, out, err);
		next_stage(n);
		return r;
	default:
		return HDB_NOTFOUND;
	}
}

/* ---- references to one object ---- */

BASE_ORDER(by_target, struct heap_named_reference, BASE_UP(to_id), BASE_UP(element))

/* Returns whether the object has more than INDEXED_MIN references. */
static bool is_large(const struct heap_named_references *n, const struct heap_object *object)
{
	const uint32_t edge =
		n->edges.count ? base_idmap_get(&n->edges_from, object->ix) : BASE_IDMAP_NONE;

	return (object->kind == STORE_OBJECT_ARRAY && object->length > INDEXED_MIN) ||
	       (object->kind == STORE_CLASS &&
		heap_class(n->heap, (uint32_t)object->length)->static_count > INDEXED_MIN) ||
	       (object->kind == STORE_INSTANCE && n->plan->count > INDEXED_MIN) ||
	       (edge != BASE_IDMAP_NONE && n->edges.count - edge > INDEXED_MIN &&
		base_vec_at(&n->edges, struct edge, edge + INDEXED_MIN)->from == object->ix);
}

/* Adds the references of the current object to an index. */
static int fill_index(struct heap_named_references *n, struct index *index, struct hdb_error *err)
{
	struct heap_named_reference ref = { 0 };
	int r;

	index->from = HEAP_NONE;
	index->refs.count = 0;
	while ((r = heap_named_next(n, &ref, err)) == HDB_OK)
		TRY(base_vec_push(&index->refs, &ref, sizeof(ref), err));
	TRY_ERRORS(r);
	base_vec_sort(&index->refs, sizeof(ref), by_target);
	index->from = n->object.ix;
	return HDB_OK;
}

/*
 * Uses or builds the index of this object. Replaces the oldest index if all INDEXES slots are in
 * use, because a join alternates between a few objects.
 */
static int begin_index(struct heap_named_references *n, struct hdb_error *err)
{
	struct base_search search;
	struct index *index = NULL;

	for (unsigned i = 0; i < INDEXES; i++)
		if (n->indexes[i].from == n->object.ix)
			index = &n->indexes[i];
	if (!index) {
		index = &n->indexes[n->next_index++ % INDEXES];
		TRY(fill_index(n, index, err));
	}
	search = base_search_in(index->refs.count);
	while (base_search_next(&search))
		base_search_step(
			&search,
			base_vec_at(&index->refs, struct heap_named_reference, search.mid)->to_id <
				n->to_id);
	n->index = index;
	n->index_at = search.low;
	n->stage = INDEXED;
	return HDB_OK;
}

/*
 * Starts an iteration. A large object gets an index only if one target is requested; iterating over
 * all references does not need it.
 */
int heap_named_begin(struct heap_named_references *n, uint32_t from, uint32_t to,
		     struct hdb_error *err)
{
	n->stage = DONE;
	TRY(heap_object(n->heap, from, &n->object, err));
	if (to != HEAP_NONE)
		TRY(heap_id(n->heap, to, &n->to_id, err));
	TRY(begin_all(n, err));
	if (to != HEAP_NONE && is_large(n, &n->object))
		return begin_index(n, err);
	n->to = to;
	return HDB_OK;
}

/* Returns the next reference from the index: HDB_OK or HDB_NOTFOUND. */
static int next_indexed(struct heap_named_references *n, struct heap_named_reference *out)
{
	if (n->index_at == n->index->refs.count)
		return HDB_NOTFOUND;
	*out = *base_vec_at(&n->index->refs, struct heap_named_reference, n->index_at++);
	return out->to_id == n->to_id ? HDB_OK : HDB_NOTFOUND;
}

int heap_named_next(struct heap_named_references *n, struct heap_named_reference *out,
		    struct hdb_error *err)
{
	while (n->stage != DONE) {
		const int r = n->stage == INDEXED ? next_indexed(n, out) : next_of(n, out, err);

		if (r == HDB_OK || r < 0)
			return r;
		if (r == HDB_NOTFOUND)
			next_stage(n);
	}
	return HDB_END;
}
