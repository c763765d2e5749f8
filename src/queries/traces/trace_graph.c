/*
 * queries/traces/trace_graph.c - decides which references leak traces follow; see trace_graph.h for
 * the rules.
 */
#include "queries/traces/trace_graph.h"

#include "base/bytes.h"
#include "base/search.h"
#include "base/sort.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "heap/values/strings.h"
#include "queries/inspect/inspect.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/* Maximum size of a key's text in a name. */
#define KEY_MAX_BYTES 256

/* ---- objects by ID ---- */

/*
 * Maximum number of pages: a multiple of the number of objects, plus a constant. With more pages,
 * objects are too scattered for the table to pay off.
 */
#define PAGES_PER_OBJECT 4u
#define PAGES_MORE 65536u

static int fill_ids(struct trace_ids *ids, uint32_t first_ix, uint64_t *block,
		    struct hdb_error *err)
{
	const uint32_t n = ids->heap->object_count;
	uint64_t page = 0;
	uint32_t ix = 0;

	for (uint32_t b = 0; b < heap_block_count(ids->heap); b++) {
		uint32_t count;

		TRY(heap_read_ids(ids->heap, b, block, &count, err));
		for (uint32_t i = 0; i < count; i++, ix++) {
			ids->low[ix] = (uint8_t)block[i];
			if (ix < first_ix)
				continue;
			for (; page <= (block[i] - ids->first) >> 8; page++)
				ids->pages[page] = ix;
		}
	}
	for (; page <= ids->page_count; page++)
		ids->pages[page] = n;
	return HDB_OK;
}

/* Builds the table of IDs. The caller must release *ids, even after a failure. */
static int trace_ids_init(struct trace_ids *ids, const struct session *session,
			  struct hdb_error *err)
{
	const uint32_t n = session->heap->object_count;
	/* The placeholder for the boot loader has no ID. */
	const uint32_t first_ix = HEAP_BOOT_LOADER + 1;
	uint64_t *block, last, pages;
	int r;

	*ids = (struct trace_ids){ .heap = session->heap, .work = session->work };
	if (n <= first_ix)
		return HDB_OK;
	TRY(heap_id(ids->heap, first_ix, &ids->first, err));
	TRY(heap_id(ids->heap, n - 1, &last, err));
	ids->first &= ~(uint64_t)0xff;
	pages = ((last - ids->first) >> 8) + 1;
	if (pages > (uint64_t)PAGES_PER_OBJECT * n + PAGES_MORE)
		return HDB_OK;
	TRY(base_big_alloc_raw(ids->work, &ids->pages_big, (pages + 1) * sizeof(uint32_t),
			       "identifiers", err));
	TRY(base_big_alloc_raw(ids->work, &ids->low_big, n, "identifiers", err));
	TRY(BASE_ALLOC(block, STORE_BLOCK_OBJECTS, "identifiers", err));
	ids->pages = ids->pages_big.data;
	ids->low = ids->low_big.data;
	ids->page_count = pages;
	r = fill_ids(ids, first_ix, block, err);
	free(block);
	return r;
}

static void trace_ids_release(struct trace_ids *ids)
{
	if (!ids->work)
		return;
	base_big_free(&ids->pages_big);
	base_big_free(&ids->low_big);
	*ids = (struct trace_ids){ .heap = NULL };
}

/* ---- locals of threads ---- */

BASE_ORDER(compare_local, struct store_root, BASE_UP(thread_serial), BASE_UP(frame_number),
	   BASE_UP(ix))

/* Loads the local variables of threads with an object, whose index replaces thread_serial. */
static int load_locals(struct trace_graph *graph, struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	int r;

	for (uint64_t i = 0; i < heap->roots.count; i++) {
		struct store_root root = heap->roots.records[i];
		struct store_thread thread;

		if (root.kind != HPROF_ROOT_JAVA_FRAME || !root.is_local)
			continue;
		TRY_ERRORS(r = heap_thread_by_serial(heap, root.thread_serial, &thread, err));
		if (r == HDB_NOTFOUND)
			continue;
		root.thread_serial = thread.ix;
		TRY(base_vec_push(&graph->locals, &root, sizeof(root), err));
	}
	base_vec_sort(&graph->locals, sizeof(struct store_root), compare_local);
	return HDB_OK;
}

size_t trace_graph_locals(const struct trace_graph *graph, uint32_t ix)
{
	struct base_search s = base_search_in(graph->locals.count);

	while (base_search_next(&s))
		base_search_step(
			&s,
			base_vec_at(&graph->locals, struct store_root, s.mid)->thread_serial < ix);
	assert(s.low <= graph->locals.count);
	return s.low;
}

static int read_locals(struct trace_graph *graph, uint32_t ix, uint32_t class_no,
		       const struct trace_taker *taker, struct hdb_error *err)
{
	const struct library_rule *rule = NULL;
	char name[NAME_MAX_BYTES];
	size_t i = trace_graph_locals(graph, ix);

	if (i == graph->locals.count ||
	    base_vec_at(&graph->locals, struct store_root, i)->thread_serial != ix)
		return HDB_OK;
	TRY(heap_thread_name(graph->session->heap, ix, name, sizeof(name), err));
	if (name[0])
		rule = library_leaks_rule(&graph->library, LIBRARY_LOCAL, name, NULL);
	if (rule && rule->is_ignored)
		return HDB_OK;
	for (; i < graph->locals.count; i++) {
		const struct store_root *root = base_vec_at(&graph->locals, struct store_root, i);
		const struct trace_reference reference = {
			.to = root->ix,
			.kind = TRACE_LOCAL,
			.name = TRACE_NAME_NONE,
			.owner_no = class_no,
			.rule = rule,
			.is_late = true,
		};

		if (root->thread_serial != ix)
			break;
		TRY(taker->take(taker->ctx, &reference, err));
	}
	return HDB_OK;
}

/* ---- plans ---- */

/*
 * If two fields have the same name, the field of the class itself comes first, because it has the
 * lower offset.
 */
BASE_ORDER(compare_planned, struct trace_field, BASE_BY_TEXT(name), BASE_UP(at))

/*
 * Returns the rule for a field of a class's instances, from the nearest superclass with a rule for
 * it.
 */
static const struct library_rule *field_rule(const struct trace_graph *graph, uint32_t class_no,
					     const char *field)
{
	struct heap *heap = graph->session->heap;
	uint32_t no = class_no;

	for (uint32_t steps = 0; no != STORE_NONE && steps <= heap->class_count; steps++) {
		const struct library_rule *rule = library_leaks_rule(
			&graph->library, LIBRARY_FIELD, heap_class_name(heap, no), field);

		if (rule)
			return rule;
		no = heap_class(heap, no)->super_no;
	}
	return NULL;
}

/*
 * Returns whether the referents of a class are ignored. Final references are followed if rules are
 * used, as in LeakCanary.
 */
static bool is_weak(const struct trace_graph *graph, const struct store_class *class)
{
	return class->strength == STORE_SOFT || class->strength == STORE_WEAK ||
	       class->strength == STORE_PHANTOM ||
	       (class->strength == STORE_FINALIZER && graph->use == LIBRARY_FOR_NOTHING);
}

/* A plan being built, from the class up to its topmost superclass. */
struct planning {
	uint32_t class_no;
	uint64_t at;            /* offset of the next field */
	struct base_vec fields; /* struct trace_field */
};

/*
 * Adds the reference fields that class `no` declares, and advances the offset past all of its
 * fields.
 */
static int plan_class(struct trace_graph *graph, struct planning *p, uint32_t no,
		      struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	const struct store_class *class = heap_class(heap, no);
	char name[NAME_MAX_BYTES];
	int r;

	for (uint32_t i = 0; i < class->field_count; i++) {
		struct trace_field planned = { .declaring_no = no };
		struct store_field field;

		TRY(heap_field(heap, class->first_field + i, &field, err));
		planned.at = (uint32_t)p->at;
		planned.name_text = field.name_text;
		p->at += hprof_type_size(field.type, heap->id_size);
		if (field.type != HPROF_OBJECT || p->at > UINT32_MAX)
			continue;
		TRY(heap_text(heap, field.name_text, name, sizeof(name), err));
		planned.rule = field_rule(graph, p->class_no, name);
		planned.is_ignored = (planned.rule && planned.rule->is_ignored) ||
				     (is_weak(graph, heap_class(heap, p->class_no)) &&
				      strcmp(name, "referent") == 0);
		TRY(BASE_COPY(planned.name, name, "fields", err));
		if ((r = base_vec_push(&p->fields, &planned, sizeof(planned), err)) != HDB_OK) {
			free(planned.name);
			return r;
		}
	}
	return HDB_OK;
}

static void release_planning(struct planning *p)
{
	for (size_t i = 0; i < p->fields.count; i++)
		free(base_vec_at(&p->fields, struct trace_field, i)->name);
	base_vec_release(&p->fields);
}

int trace_graph_plan(struct trace_graph *graph, uint32_t class_no, struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	BASE_SCOPED(release_planning) struct planning p = { .class_no = class_no };
	struct trace_plan *plan;
	uint32_t no = class_no;

	assert(class_no < heap->class_count);
	if (graph->plans[class_no])
		return HDB_OK;
	for (uint32_t steps = 0; no != STORE_NONE && steps <= heap->class_count; steps++) {
		/* Skip the topmost class: in ART, java.lang.Object has a reference to its class. */
		if (heap_class(heap, no)->super_no != STORE_NONE)
			TRY(plan_class(graph, &p, no, err));
		no = heap_class(heap, no)->super_no;
	}
	base_vec_sort(&p.fields, sizeof(struct trace_field), compare_planned);
	plan = malloc(sizeof(*plan) + p.fields.count * sizeof(struct trace_field));
	if (!plan)
		return hdb_fail_memory(err, "fields", p.fields.count * sizeof(struct trace_field));
	plan->count = p.fields.count;
	if (p.fields.count)
		memcpy(plan->fields, p.fields.data, p.fields.count * sizeof(struct trace_field));
	graph->plans[class_no] = plan;
	return HDB_OK;
}

/* ---- reading ---- */

void trace_graph_rewind(struct trace_graph *graph)
{
	/* several times the number of objects, which no normal heap exceeds */
	graph->steps_left = 8 * (uint64_t)graph->session->heap->object_count + 1000000;
}

int trace_graph_init(struct trace_graph *graph, const struct session *session, enum library_use use,
		     struct hdb_error *err)
{
	struct heap *heap = session->heap;

	*graph = (struct trace_graph){
		.session = session,
		.use = use,
		.new_activities_ix = HEAP_NONE,
	};
	TRY(heap_load_classes(heap, err));
	TRY(heap_load_roots(heap, err));
	TRY(heap_load_strings(heap, err));
	TRY(heap_open_dump(heap, err));
	TRY(library_leaks_init(&graph->library, session, use, err));
	TRY(trace_ids_init(&graph->ids, session, err));
	TRY(BASE_ALLOC(graph->plans, (size_t)heap->class_count + 1, "classes", err));
	TRY(BASE_ALLOC(graph->shapes, (size_t)heap->class_count + 1, "classes", err));
	for (uint32_t no = 0; no < heap->class_count; no++)
		graph->shapes[no] = trace_shape_of(heap, no);
	trace_graph_rewind(graph);
	TRY(trace_find_new_activities(heap, &graph->new_activities_ix, err));
	return load_locals(graph, err);
}

void trace_graph_release(struct trace_graph *graph)
{
	if (!graph->session)
		return;
	for (uint32_t no = 0; graph->plans && no < graph->session->heap->class_count; no++)
		free(graph->plans[no]);
	free(graph->plans);
	free(graph->shapes);
	base_vec_release(&graph->locals);
	library_leaks_release(&graph->library);
	trace_ids_release(&graph->ids);
	*graph = (struct trace_graph){ .session = NULL };
}

/* Passes on a field, unless it is null or its object is not in the dump. */
static int take_field(struct trace_graph *graph, const struct heap_instance *instance,
		      const struct trace_field *field, const struct trace_taker *taker,
		      struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	struct trace_reference reference = {
		.kind = TRACE_FIELD,
		.name = TRACE_NAME_FIELD,
		.name_text = field->name_text,
		.owner_no = field->declaring_no,
		.rule = field->rule,
		.is_late = field->rule != NULL,
	};
	const uint8_t *p;
	uint64_t id;
	int r;

	if ((uint64_t)field->at + heap->id_size > instance->body_size)
		return HDB_OK;
	p = base_view_at(&heap->dump.view, instance->body_offset + field->at, heap->id_size, err);
	if (!p)
		return HDB_ETRUNC;
	id = be_id(p, heap->id_size);
	if (!id)
		return HDB_OK;
	r = trace_ids_find(&graph->ids, id, &reference.to, err);
	return r == HDB_OK ? taker->take(taker->ctx, &reference, err) : r < 0 ? r : HDB_OK;
}

static int read_instance(struct trace_graph *graph, uint32_t ix, uint32_t class_no,
			 const struct trace_taker *taker, struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	struct heap_instance instance;
	const struct trace_plan *plan;

	if (graph->locals.count)
		TRY(read_locals(graph, ix, class_no, taker, err));
	if (graph->shapes[class_no])
		TRY(trace_virtual_read(graph, ix, class_no, taker, err));
	TRY(trace_graph_plan(graph, class_no, err));
	plan = graph->plans[class_no];
	assert(plan);
	/* Strings include their characters. */
	if (!plan->count || heap_string_layout(heap, class_no))
		return HDB_OK;
	TRY_FOUND(heap_instance_open(heap, ix, &instance, err));
	for (size_t i = 0; i < plan->count; i++)
		if (!plan->fields[i].is_ignored)
			TRY_FOUND(take_field(graph, &instance, &plan->fields[i], taker, err));
	return HDB_OK;
}

static int read_class(struct trace_graph *graph, uint32_t class_no, const struct trace_taker *taker,
		      struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	const char *class_name = heap_class_name(heap, class_no);
	const bool has_rules = library_leaks_has(&graph->library, LIBRARY_STATIC, class_name);
	struct heap_fields fields;
	int r;

	heap_statics_begin(heap, class_no, &fields);
	while ((r = heap_fields_next(&fields, err)) == HDB_OK) {
		struct trace_reference reference = {
			.kind = TRACE_STATIC,
			.name = TRACE_NAME_FIELD,
			.owner_no = class_no,
			.name_text = fields.field.name_text,
		};
		char name[NAME_MAX_BYTES];

		if (fields.value.type != HPROF_OBJECT || !fields.value.bits)
			continue;
		TRY(heap_text(heap, fields.field.name_text, name, sizeof(name), err));
		/* ART's own data about the class */
		if (strcmp(name, "$staticOverhead") == 0 || strcmp(name, "$classOverhead") == 0)
			continue;
		if (has_rules)
			reference.rule = library_leaks_rule(&graph->library, LIBRARY_STATIC,
							    class_name, name);
		if (reference.rule && reference.rule->is_ignored)
			continue;
		reference.is_late = reference.rule != NULL;
		TRY_ERRORS(r = trace_ids_find(&graph->ids, fields.value.bits, &reference.to, err));
		if (r == HDB_OK && (r = taker->take(taker->ctx, &reference, err)) < 0)
			return r;
	}
	return r == HDB_END ? HDB_OK : r;
}

/* Returns whether an array contains boxed numbers, which leak traces count as part of the array. */
bool trace_is_boxes(struct heap *heap, uint32_t class_no)
{
	static const char package[] = "java.lang.";
	static const char *const boxes[] = { "Boolean[]", "Character[]", "Float[]",   "Double[]",
					     "Byte[]",    "Short[]",     "Integer[]", "Long[]" };
	const char *name = heap_class_name(heap, class_no);

	if (strncmp(name, package, sizeof(package) - 1) != 0)
		return false;
	return BASE_HAS(boxes, name + sizeof(package) - 1);
}

static int read_array(struct trace_graph *graph, const struct heap_object *array,
		      const struct trace_taker *taker, struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	uint64_t id, index = 0;
	struct heap_walk walk;
	struct trace_reference reference = {
		.kind = TRACE_ENTRY,
		.name = TRACE_NAME_INDEX,
		.owner_no = array->class_no,
	};
	int r;

	if (heap_class(heap, array->class_no)->element_bytes ||
	    trace_is_boxes(heap, array->class_no))
		return HDB_OK;
	heap_walk_begin(&walk, array->ix, 0, array->length);
	while ((r = heap_walk_next(heap, &walk, &id, err)) == HDB_OK) {
		if (!id)
			continue;
		TRY_ERRORS(r = trace_ids_find(&graph->ids, id, &reference.to, err));
		if (r == HDB_NOTFOUND)
			continue;
		/* Indexes do not count null elements, as in LeakCanary. */
		reference.value = index++;
		TRY(taker->take(taker->ctx, &reference, err));
	}
	return r < 0 ? r : HDB_OK;
}

int trace_graph_read(struct trace_graph *graph, uint32_t ix, trace_take take, void *ctx,
		     struct hdb_error *err)
{
	const struct trace_taker taker = { take, ctx };
	struct heap_object object;

	TRY(heap_object(graph->session->heap, ix, &object, err));
	if (object.kind == STORE_INSTANCE)
		return read_instance(graph, ix, object.class_no, &taker, err);
	if (object.kind == STORE_CLASS)
		return object.length < graph->session->heap->class_count ?
			       read_class(graph, (uint32_t)object.length, &taker, err) :
			       HDB_OK;
	return object.kind == STORE_OBJECT_ARRAY ? read_array(graph, &object, &taker, err) : HDB_OK;
}

/* ---- names ---- */

static int key_name(struct heap *heap, uint64_t id, char *buf, size_t size, struct hdb_error *err)
{
	char text[KEY_MAX_BYTES];
	uint32_t ix;
	int r = id ? heap_find(heap, id, &ix, err) : HDB_NOTFOUND;

	(void)snprintf(buf, size, "null");
	TRY_FOUND(r);
	r = heap_string(heap, ix, text, sizeof(text), err);
	if (r == HDB_NOTFOUND)
		return inspect_describe(heap, ix, buf, size, err);
	TRY(r);
	(void)snprintf(buf, size, "\"%s\"", text);
	return r;
}

int trace_reference_name(struct trace_graph *graph, const struct trace_reference *reference,
			 char *buf, size_t size, struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;

	switch (reference->name) {
	case TRACE_NAME_FIELD:
		return heap_text(heap, reference->name_text, buf, size, err);
	case TRACE_NAME_INDEX:
		(void)snprintf(buf, size, "%" PRIu64, reference->value);
		return HDB_OK;
	case TRACE_NAME_OF_KEY:
		return key_name(heap, reference->value, buf, size, err);
	default:
		(void)snprintf(buf, size, "%s",
			       reference->name == TRACE_NAME_KEY     ? "key()" :
			       reference->name == TRACE_NAME_ELEMENT ? "element()" :
								       "<Java Local>");
		return HDB_OK;
	}
}

int trace_reference_generic(struct trace_graph *graph, const struct trace_reference *reference,
			    char *buf, size_t size, struct hdb_error *err)
{
	if (reference->kind != TRACE_ENTRY)
		return trace_reference_name(graph, reference, buf, size, err);
	(void)snprintf(buf, size, "[x]");
	return HDB_OK;
}

int trace_root_rule(struct trace_graph *graph, uint32_t ix, const struct library_rule **out,
		    struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	struct heap_object object;
	size_t count;
	const struct store_root *roots = heap_roots_of(heap, ix, &count);

	*out = NULL;
	for (size_t i = 0; i < count; i++)
		if (!roots[i].is_local && roots[i].kind != HPROF_ROOT_JNI_GLOBAL)
			return HDB_OK;
	if (count)
		TRY(heap_object(heap, ix, &object, err));
	if (count)
		*out = library_leaks_rule(&graph->library, LIBRARY_NATIVE,
					  heap_class_name(heap, heap_known_class(&object)), NULL);
	return HDB_OK;
}
