/*
 * queries/objects/q_class.c - the class query: fields, class loader, superclasses and instances of
 * a class, or a list of classes.
 */
#include "queries/database/size_proof.h"
#include "queries/queries.h"

#define NAME_MAX_BYTES 512
#define LINE_MAX_BYTES 2048

#include <queries/objects/q_class.query.h>

struct class_query {
	struct analysis_class_list classes;
	bool in_statics;
	struct derive_total *instances; /* indexed by class: instances in the population; owned */
	uint64_t *flat;                 /* indexed by class: number of flat values; owned */
	/* only for a single class, not for a list of classes: */
	struct heap_fields fields; /* statics */
	uint32_t no;               /* the class whose instance fields are listed */
	uint32_t field, steps;
	uint64_t offset;
};

static int add_counted(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct class_query *s = ctx;

	(void)err;
	if (count->embedded && count->kind == STORE_INSTANCE)
		s->flat[count->class_no] += count->count;
	return HDB_OK;
}

static int count_all(struct query *q, struct class_query *s, struct hdb_error *err)
{
	const size_t n = (size_t)q->heap->class_count + 1;

	TRY(BASE_ALLOC(s->flat, n, "counts by class", err));
	TRY_ERRORS(analysis_count_classes(&q->session, q->population != ANALYSIS_OF_ALL,
					  &s->instances, err));
	for (uint32_t no = 0; no < q->heap->class_count; no++)
		analysis_choose_counts(&s->instances[no], q->population);
	return heap_count_all(q->heap, NULL, add_counted, s, err);
}

/* Keeps only classes with objects in the heap given by --heap. */
static void drop_empty(const struct query *q, struct class_query *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->classes.count; i++)
		if (!q->is_filtered || s->instances[s->classes.numbers[i]].count)
			s->classes.numbers[kept++] = s->classes.numbers[i];
	s->classes.count = kept;
}

static int add_totals(struct query *q, uint32_t no, struct hdb_error *err)
{
	struct derive_total *totals;
	size_t count;

	if (!derive_has(q->derive, STORE_TOTALS))
		return HDB_OK;
	TRY(derive_totals(q->derive, DERIVE_CLASS, &totals, &count, err));
	for (size_t i = 0; i < count; i++) {
		if (totals[i].no != no)
			continue;
		query_fact(q, "retained", totals[i].retained_bytes);
	}
	free(totals);
	return HDB_OK;
}

static void add_line(struct query *q, const struct store_class *class)
{
	char text[LINE_MAX_BYTES] = "";
	size_t used = 0;
	uint32_t no = class->super_no;

	for (uint32_t steps = 0;
	     no != STORE_NONE && steps <= q->heap->class_count && used < sizeof(text); steps++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
					 heap_class_name(q->heap, no));
		no = heap_class(q->heap, no)->super_no;
	}
	if (used >= sizeof(text))
		memcpy(text + sizeof(text) - 4, "...", 4);
	query_fact_text(q, "superclasses", text);
}

static int add_facts(struct query *q, struct class_query *s, uint32_t no, struct hdb_error *err)
{
	const struct store_class *class = heap_class(q->heap, no);
	uint64_t subclasses = 0;
	char proof[QUERY_PROOF_MAX];

	query_fact(q, "id", class->class_id);
	for (uint32_t c = 0; c < q->heap->class_count; c++)
		subclasses += heap_class(q->heap, c)->super_no == no;
	query_fact_text(q, "class", heap_class_name(q->heap, no));
	query_fact_text(q, "loader", heap_loader_name(q->heap, class));
	query_fact_id(q, "loader_id", class->loader_ix);
	add_line(q, class);
	query_fact(q, "subclasses", subclasses);
	query_fact(q, "instance_bytes", class->instance_bytes);
	query_fact(q, "class_bytes", class->class_bytes);
	query_fact(q, "instances", s->instances[no].count);
	if (q->population != ANALYSIS_OF_ALL)
		query_report_unreachable(q, s->instances[no].unreachable_count,
					 s->instances[no].unreachable_bytes);
	if (s->flat[no])
		query_fact(q, "flat_values", s->flat[no]);
	if (class->flags & STORE_CLASS_UNLOADED)
		query_fact(q, "unloaded", true);
	if (class->flags & STORE_CLASS_FILLER)
		query_fact(q, "filler", true);
	else if (class->element_bytes)
		query_fact(q, "element_bytes", class->element_bytes);
	query_fact(q, "shallow", s->instances[no].shallow_bytes);
	query_size_proof(q, class, proof);
	query_fact_text(q, "proof", proof);
	return add_totals(q, no, err);
}

static int open_class(struct query *q, struct hdb_error *err)
{
	struct class_query *s = q->state;
	int r;

	if (query_option(q, "layout") && q->is_filtered)
		return hdb_fail(err, HDB_EUSAGE, "--layout cannot be combined with --heap");
	if (query_option(q, "layout"))
		return query_become(q, &query_layout, err);
	TRY(analysis_classes(&q->session, q->targets[0], query_option(q, "subclasses") != NULL,
			     &s->classes, err));
	TRY(count_all(q, s, err));
	if (s->classes.count != 1 || query_option(q, "list")) {
		drop_empty(q, s);
		q->total = s->classes.count;
		query_fact(q, "classes", s->classes.count);
		query_choose(q, "id,class,loader,superclass,instance_bytes,class_bytes,instances");
		return HDB_OK;
	}
	s->no = s->classes.numbers[0];
	s->in_statics = true;
	heap_statics_begin(q->heap, s->no, &s->fields);
	r = add_facts(q, s, s->no, err);
	if (r == HDB_OK)
		query_choose(q, "declared_in,field,type,static,offset,value,ref");
	return r;
}

static int class_row(struct query *q, size_t no, struct hdb_error *err)
{
	const struct class_query *s = q->state;
	const uint32_t class_no = s->classes.numbers[no];
	const struct store_class *class = heap_class(q->heap, class_no);

	(void)err;
	query_set(q, ID, class->class_id);
	query_set(q, INSTANCE_BYTES, class->instance_bytes);
	query_set(q, CLASS_BYTES, class->class_bytes);
	query_set(q, INSTANCES, s->instances[class_no].count);
	query_set_text(q, CLASS, heap_class_name(q->heap, class_no));
	query_set_text(q, LOADER, heap_loader_name(q->heap, class));
	if (class->super_no != STORE_NONE)
		query_set_text(q, SUPER, heap_class_name(q->heap, class->super_no));
	return HDB_OK;
}

static int set_field(struct query *q, uint32_t declared_in, const struct store_field *field,
		     struct hdb_error *err)
{
	const char *type = hprof_type_name(field->type);
	char name[NAME_MAX_BYTES];

	TRY(heap_text(q->heap, field->name_text, name, sizeof(name), err));
	query_set_text(q, DECLARED_IN, heap_class_name(q->heap, declared_in));
	query_set_text(q, FIELD, name);
	query_set_text(q, TYPE, type ? type : "?");
	query_set(q, STATIC, field->is_static);
	return HDB_OK;
}

static int next_static(struct query *q, struct class_query *s, struct hdb_error *err)
{
	char text[64];
	uint32_t ix;

	TRY(heap_fields_next(&s->fields, err));
	TRY(set_field(q, s->no, &s->fields.field, err));
	analysis_value_text(&s->fields.value, text, sizeof(text));
	query_set_text(q, VALUE, text);
	if (s->fields.value.type == HPROF_OBJECT && s->fields.value.bits &&
	    heap_find(q->heap, s->fields.value.bits, &ix, err) == HDB_OK)
		query_set(q, REF, s->fields.value.bits);
	return HDB_OK;
}

/* Returns the next instance field. Fields that the class itself declares come first. */
static int next_field(struct query *q, struct class_query *s, struct hdb_error *err)
{
	struct store_field field;

	while (s->no != STORE_NONE && s->field >= heap_class(q->heap, s->no)->field_count) {
		s->no = heap_class(q->heap, s->no)->super_no;
		s->field = 0;
		if (s->steps++ > q->heap->class_count)
			return HDB_END;
	}
	if (s->no == STORE_NONE)
		return HDB_END;
	TRY(heap_field(q->heap, heap_class(q->heap, s->no)->first_field + s->field++, &field, err));
	TRY(set_field(q, s->no, &field, err));
	query_set(q, OFFSET, s->offset);
	s->offset += hprof_type_size(field.type, q->heap->id_size);
	return HDB_OK;
}

static int next_field_row(struct query *q, struct hdb_error *err)
{
	struct class_query *s = q->state;

	if (s->in_statics) {
		const int r = next_static(q, s, err);

		if (r != HDB_END)
			return r;
		s->in_statics = false;
	}
	return next_field(q, s, err);
}

QUERY_DEFINE(class, QUERY_STATE(struct class_query, classes.numbers, instances, flat),
	     .open = open_class, .next = next_field_row, .row = class_row);
