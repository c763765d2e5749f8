/*
 * queries/objects/q_layout.c - the layout query: the positions of a class's fields in an instance,
 * with gaps and padding.
 */
#include "heap/heap_layout.h"
#include "queries/database/size_proof.h"
#include "queries/queries.h"

#define NAME_MAX_BYTES 512

#include <queries/objects/q_layout.query.h>

struct layout_query {
	struct base_vec parts; /* struct heap_part */
};

static void add_facts(struct query *q, const struct layout_query *s, uint32_t no)
{
	const struct store_class *class = heap_class(q->heap, no);
	uint64_t fields = 0, waste = 0;
	char proof[QUERY_PROOF_MAX];
	query_fact(q, "id", class->class_id);
	for (size_t i = 0; i < s->parts.count; i++) {
		const struct heap_part *part = base_vec_at(&s->parts, struct heap_part, i);

		if (part->kind == HEAP_PART_FIELD || part->kind == HEAP_PART_INJECTED)
			fields += part->bytes;
		else if (part->kind != HEAP_PART_HEADER && part->kind != HEAP_PART_LENGTH)
			waste += part->bytes;
	}
	query_size_proof(q, class, proof);
	query_fact_text(q, "class", heap_class_name(q->heap, no));
	query_fact(q, "instance_bytes", class->instance_bytes);
	query_fact(q, "field_bytes", fields);
	query_fact(q, "waste_bytes", waste);
	query_fact(q, "recorded_bytes", class->declared_size);
	query_fact_text(q, "proof", proof);
}

static int open_layout(struct query *q, struct hdb_error *err)
{
	struct layout_query *s = q->state;
	struct analysis_class_list classes = { 0 };
	BASE_FREED uint32_t *numbers = NULL;

	TRY(analysis_classes(&q->session, q->targets[0], false, &classes, err));
	numbers = classes.numbers;
	if (classes.count != 1)
		return hdb_fail(err, HDB_EUSAGE,
				"expected a single class, but %s matches %zu classes; use the ID "
				"of a class object",
				q->targets[0], classes.count);
	TRY(heap_lay_out(q->heap, numbers[0], &s->parts, err));
	add_facts(q, s, numbers[0]);
	q->total = s->parts.count;
	return HDB_OK;
}

static int part_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct layout_query *s = q->state;
	const struct heap_part *part = base_vec_at(&s->parts, struct heap_part, no);
	const char *type = hprof_type_name(part->type);
	char name[NAME_MAX_BYTES];

	query_set(q, OFFSET, part->offset);
	query_set(q, BYTES, part->bytes);
	query_set_text(q, PART, heap_part_name(part->kind));
	if (part->flat_bytes && part->flat_class < q->heap->class_count)
		query_format(q, TYPE, "flat %s", heap_class_name(q->heap, part->flat_class));
	else if (part->type)
		query_set_text(q, TYPE, type ? type : "?");
	if (part->class_no == HEAP_NONE)
		return HDB_OK;
	query_set_text(q, DECLARED_IN, heap_class_name(q->heap, part->class_no));
	if (part->name) {
		query_set_text(q, FIELD, part->name);
		return HDB_OK;
	}
	TRY(heap_text(q->heap, part->name_text, name, sizeof(name), err));
	query_set_text(q, FIELD, name);
	return HDB_OK;
}

QUERY_DEFINE(layout, QUERY_STATE(struct layout_query, parts), .open = open_layout, .row = part_row);
