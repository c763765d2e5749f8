/*
 * queries/objects/q_object.c - the object query: one object with its sizes, its fields and their
 * values, its elements, and its static fields.
 */
#include "heap/heap_database.h"
#include "heap/threads.h"
#include "queries/queries.h"

#define TEXT_MAX 4096
#define NAME_MAX_BYTES 512
/*
 * Maximum number of unfolded levels below the object, and maximum number of rows for each unfolded
 * object.
 */
#define DEPTH_MAX 8
#define ROWS_BELOW 25

#include <queries/objects/q_object.query.h>

/* An object whose fields or elements are listed. */
struct part {
	struct heap_object object;
	struct heap_fields fields;
	struct heap_walk walk; /* walk over an array */
	uint32_t rows;         /* number of rows so far */
};

struct object {
	struct part parts[DEPTH_MAX + 1]; /* the object, and the objects unfolded below it */
	uint32_t level, depth;            /* the part being listed, and the deepest part allowed */
	uint32_t below;                   /* object to unfold next, or HEAP_NONE */
	bool has_no_contents;             /* whether the dump lacks the contents of the array */
};

static int add_roots(struct query *q, uint32_t ix, struct hdb_error *err)
{
	const struct store_root *roots;
	char text[512] = "";
	size_t count, used = 0;

	TRY(heap_load_roots(q->heap, err));
	roots = heap_roots_of(q->heap, ix, &count);
	for (size_t i = 0; i < count && used < sizeof(text); i++) {
		if (i && roots[i].kind == roots[i - 1].kind &&
		    roots[i].is_local == roots[i - 1].is_local)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s",
					 used ? ", " : "", heap_root_name(roots[i].kind),
					 roots[i].is_local ? " of a thread" : "");
	}
	if (heap_is_orphan(q->heap, ix))
		(void)snprintf(text + used, used < sizeof(text) ? sizeof(text) - used : 0, "%s%s",
			       used ? ", " : "", HEAP_ORPHAN_NAME);
	if (text[0])
		query_fact_text(q, "roots", text);
	return HDB_OK;
}

static int add_value(struct query *q, const struct heap_object *o, struct hdb_error *err)
{
	char text[TEXT_MAX];
	uint64_t bits[256];
	struct heap_slice slice = { .bits = bits, .room = 256 };
	size_t n = 0;

	text[0] = '\0';
	if (heap_is_string(q->heap, o->ix)) {
		TRY_FOUND(query_fact_string(q, "value", o->ix, err));
		return HDB_OK;
	}
	if (o->kind == STORE_PRIMITIVE_ARRAY) {
		TRY(heap_elements(q->heap, o->ix, 0, &slice, err));
		if (!slice.done && o->length) {
			((struct object *)q->state)->has_no_contents = true;
			query_cut(q, NULL,
				  "%" PRIu64 " elements; the dump has no contents for this array",
				  o->length);
			return HDB_OK;
		}
		/* Bytes and characters are also shown as text if they are printable. */
		if (slice.type != HPROF_BYTE && slice.type != HPROF_CHAR)
			return HDB_OK;
		for (; n < slice.done && bits[n] >= 0x20 && bits[n] < 0x7f; n++)
			text[n] = (char)bits[n];
		text[n] = '\0';
		if (n == slice.done && o->length > n)
			query_cut(q, NULL,
				  "elements after the first %zu in the value; the rows list all "
				  "elements",
				  n);
	} else {
		analysis_describe(&q->session, o->ix, text, sizeof(text));
	}
	if (text[0])
		query_fact_text(q, "value", text);
	return HDB_OK;
}

static int add_allocation(struct query *q, uint64_t offset, struct hdb_error *err)
{
	struct store_trace trace;
	struct store_frame frame;
	struct hprof_sub sub = { 0 };
	char text[TEXT_MAX];
	int r;

	TRY(heap_open_dump(q->heap, err));
	r = hprof_sub_read(&q->heap->dump.file, &q->heap->dump.view, offset, &sub, err);
	if (r < 0 || !sub.trace_serial)
		return r;
	TRY_FOUND(heap_trace(q->heap, sub.trace_serial, &trace, err));
	TRY_FOUND(heap_trace_frame(q->heap, &trace, 0, &frame, err));
	TRY_FOUND(heap_frame_text(q->heap, &frame, text, sizeof(text), err));
	query_fact_text(q, "allocated_at", text);
	return HDB_OK;
}

/*
 * Adds the object that contains a flat value, which is the first object that refers to the value.
 */
static int add_flat(struct query *q, const struct heap_object *o, struct hdb_error *err)
{
	struct store_lists referrers;
	const uint32_t *holders;
	size_t count = 0;
	int r;

	query_fact(q, "flat", true);
	TRY(derive_referrers(q->derive, &referrers, err));
	TRY(store_lists_begin(&referrers, o->ix, NULL, err));
	r = store_lists_next(&referrers, &holders, &count, err);
	if (r < 0 || !count)
		return r;
	query_fact_id(q, "flat_in", holders[0]);
	return HDB_OK;
}

/* Adds native memory, including retained native memory if it only has to be looked up. */
static int add_native(struct query *q, uint32_t ix, struct hdb_error *err)
{
	uint64_t bytes;
	bool has;
	int r = derive_has_native(q->derive, &has, err);

	if (r < 0 || !has)
		return r;
	TRY(derive_native_of(q->derive, ix, &bytes, err));
	query_fact(q, "native", bytes);
	if (!derive_has(q->derive, STORE_DOMINATORS))
		return HDB_OK;
	TRY(derive_retained_native(q->derive, ix, &bytes, err));
	query_fact(q, "retained_native", bytes);
	return HDB_OK;
}

/* Adds the depth by following one path in the reach tree, if that table has been built. */
static int add_depth(struct query *q, uint32_t ix, struct hdb_error *err)
{
	uint64_t depth = 0;
	uint32_t parent;
	int r;

	if (!derive_has(q->derive, STORE_REACH))
		return HDB_OK;
	for (; (r = derive_reach(q->derive, false, ix, &parent, err)) == HDB_OK; ix = parent) {
		if (parent == ix || parent == HEAP_NONE || depth > q->heap->object_count)
			break;
		depth++;
	}
	TRY(r);
	query_fact(q, "depth", depth);
	return HDB_OK;
}

static int add_sizes(struct query *q, uint32_t ix, struct hdb_error *err)
{
	struct analysis_retained retained;
	bool reachable;

	TRY(analysis_cheap_retained(&q->session, ix, &retained, err));
	if (retained.found)
		query_fact(q, "retained", retained.bytes);
	query_fact_text(q, "retained_from", retained.from);
	TRY(add_native(q, ix, err));
	TRY(derive_is_reachable(q->derive, ix, &reachable, err));
	query_fact(q, "reachable", reachable);
	return reachable ? add_depth(q, ix, err) : HDB_OK;
}

static int add_heap(struct query *q, uint32_t no, struct hdb_error *err)
{
	struct store_heap heap;
	char name[NAME_MAX_BYTES];

	TRY(heap_record(q->heap, STORE_HEAPS, no - 1, &heap, err));
	TRY(heap_text(q->heap, heap.name_text, name, sizeof(name), err));
	query_fact_text(q, "heap", name);
	return HDB_OK;
}

static int add_facts(struct query *q, const struct heap_object *o, struct hdb_error *err)
{
	static const char *const kinds[] = { "instance", "object array", "primitive array",
					     "class" };
	const struct store_class *class = heap_class(q->heap, o->class_no);
	uint64_t offset = 0;

	query_fact_object(q, o->ix);
	query_fact(q, "class_id", class->class_id);
	query_fact_text(q, "loader",
			heap_loader_name(q->heap, o->kind == STORE_CLASS ?
							  heap_class(q->heap, (uint32_t)o->length) :
							  class));
	query_fact_text(q, "kind", kinds[o->kind & 3]);
	if (o->embedded && o->kind == STORE_INSTANCE)
		TRY(add_flat(q, o, err));
	if (class->flags & STORE_CLASS_FILLER && o->kind != STORE_CLASS)
		query_fact(q, "filler", true);
	query_fact(q, "shallow", o->shallow_bytes);
	if ((o->kind == STORE_OBJECT_ARRAY || o->kind == STORE_PRIMITIVE_ARRAY))
		query_fact(q, "length", o->length);
	TRY(add_sizes(q, o->ix, err));
	TRY(add_roots(q, o->ix, err));
	if (o->heap_no)
		TRY_ERRORS(add_heap(q, o->heap_no, err));
	TRY(heap_offset(q->heap, o->ix, &offset, err));
	if (!offset)
		return HDB_OK;
	query_fact(q, "file_offset", offset);
	TRY(add_value(q, o, err));
	return add_allocation(q, offset, err);
}

static int begin_part(struct query *q, struct part *part, uint32_t ix, struct hdb_error *err)
{
	part->rows = 0;
	heap_walk_begin(&part->walk, ix, 0, UINT64_MAX);
	TRY(heap_object(q->heap, ix, &part->object, err));
	if (part->object.kind == STORE_INSTANCE)
		return heap_fields_begin(q->heap, ix, &part->fields, err);
	if (part->object.kind == STORE_CLASS)
		heap_statics_begin(q->heap, (uint32_t)part->object.length, &part->fields);
	return HDB_OK;
}

static int open_object(struct query *q, struct hdb_error *err)
{
	struct object *s = q->state;
	struct part *part = &s->parts[0];
	uint64_t from;
	uint32_t ix;

	from = query_number(q, "from", 0);
	s->depth = (uint32_t)query_number(q, "depth", 0);
	s->below = HEAP_NONE;
	if (s->depth && q->args.sort)
		return hdb_fail(err, HDB_EUSAGE, "--sort cannot be combined with --depth");
	query_choose(q, s->depth ? "level,class,name,type,value,ref,label,retained" :
				   "class,name,type,value,ref,label,retained");
	TRY(analysis_object(&q->session, q->targets[0], &ix, err));
	TRY(begin_part(q, part, ix, err));
	TRY(add_facts(q, &part->object, err));
	heap_walk_begin(&part->walk, ix, from, UINT64_MAX);
	if (part->object.kind != STORE_INSTANCE && part->object.kind != STORE_CLASS && !s->depth)
		q->total = q->is_filtered ? QUERY_TOTAL_UNKNOWN :
			   part->object.length > from && !s->has_no_contents ?
					    part->object.length - from :
					    0;
	return HDB_OK;
}

static int set_value(struct query *q, const struct heap_value *value, struct hdb_error *err)
{
	const char *type = hprof_type_name(value->type);
	char text[64];
	uint32_t ix;
	int r;

	query_set_text(q, TYPE, type ? type : "?");
	analysis_value_text(value, text, sizeof(text));
	query_set_text(q, VALUE, text);
	if (value->type != HPROF_OBJECT || !value->bits)
		return HDB_OK;
	r = heap_find(q->heap, value->bits, &ix, err);
	if (r == HDB_NOTFOUND) {
		query_set_text(q, LABEL, "not in the dump");
		return HDB_OK;
	}
	TRY(r);
	query_set(q, REF, value->bits);
	query_set_label(q, LABEL, ix);
	if (derive_has(q->derive, STORE_RETAINED))
		query_set_retained(q, RETAINED, ix);
	return HDB_OK;
}

static int next_field(struct query *q, struct part *s, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES];

	TRY(heap_fields_next(&s->fields, err));
	TRY(heap_text(q->heap, s->fields.field.name_text, name, sizeof(name), err));
	query_set_text(q, DECLARED_IN, heap_class_name(q->heap, s->fields.declaring_no));
	query_format(q, NAME, "%s%s", s->fields.is_static ? "static " : "", name);
	return set_value(q, &s->fields.value, err);
}

static int next_element(struct query *q, struct part *s, struct hdb_error *err)
{
	struct heap_value value;

	TRY(heap_walk_next(q->heap, &s->walk, &value.bits, err));
	value.type = s->walk.type;
	query_format(q, NAME, "[%" PRIu64 "]", s->walk.at - 1);
	return set_value(q, &value, err);
}

/*
 * Sets *out to whether a row is shown. With --heap, only references to objects in that heap are
 * shown.
 */
static int is_shown(struct query *q, bool *out, struct hdb_error *err)
{
	uint32_t ix;
	int r;

	*out = !q->is_filtered;
	if (*out || q->cells[REF].type == HDB_TYPE_NULL)
		return HDB_OK;
	TRY(heap_find(q->heap, q->cells[REF].u, &ix, err));
	r = heap_passes_over(q->heap, ix, out, err);
	*out = !*out;
	return r;
}

/*
 * Determines whether the object to which the row refers is unfolded. Strings, boxed numbers and
 * objects that are already unfolded are not unfolded.
 */
static int find_below(struct query *q, struct object *s, struct hdb_error *err)
{
	uint32_t ix;

	if (s->level == s->depth || q->cells[REF].type == HDB_TYPE_NULL ||
	    q->cells[q->label_value].type != HDB_TYPE_NULL)
		return HDB_OK;
	TRY(heap_find(q->heap, q->cells[REF].u, &ix, err));
	for (uint32_t i = 0; i <= s->level; i++)
		if (s->parts[i].object.ix == ix)
			return HDB_OK;
	s->below = ix;
	return HDB_OK;
}

/* Sets the next row of an unfolded object. The number of rows below the top object is limited. */
static int next_of_part(struct query *q, struct object *s, struct hdb_error *err)
{
	struct part *part = &s->parts[s->level];
	const uint8_t kind = part->object.kind;

	assert(s->level <= s->depth && s->depth <= DEPTH_MAX);
	if (s->level && part->rows == ROWS_BELOW) {
		part->rows++;
		query_set_text(q, NAME, "...");
		return HDB_OK;
	}
	if (s->level && part->rows > ROWS_BELOW)
		return HDB_END;
	part->rows++;
	TRY(kind == STORE_INSTANCE || kind == STORE_CLASS ? next_field(q, part, err) :
							    next_element(q, part, err));
	return find_below(q, s, err);
}

static int next_object(struct query *q, struct hdb_error *err)
{
	struct object *s = q->state;
	bool shown = false;

	while (!shown) {
		int r;

		query_reset(q);
		if (s->below != HEAP_NONE) {
			TRY(begin_part(q, &s->parts[++s->level], s->below, err));
			s->below = HEAP_NONE;
		}
		r = next_of_part(q, s, err);
		if (r == HDB_END && s->level) {
			s->level--;
			continue;
		}
		TRY(r);
		query_set(q, LEVEL, s->level);
		TRY(is_shown(q, &shown, err));
	}
	return HDB_OK;
}

QUERY_DEFINE(object, .state_size = sizeof(struct object), .open = open_object, .next = next_object);
