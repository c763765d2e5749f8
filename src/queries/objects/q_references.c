/* queries/objects/q_references.c - query references: what an object refers to, and how. */

#include "queries/queries.h"

#define NAME_MAX_BYTES 512

static const struct hdb_option_spec options[] = { { .name = NULL } };

#define COLUMNS(X) \
	X(NAME, TEXT, "name", "name", \
	  "Reference by field name, static NAME, [index], <class>, <super>, <class loader> or " \
	  "<local variable>") \
	X(ID, ID, "id", "id", QUERY_HELP_ID) \
	X(CLASS, TEXT, "class", "class", QUERY_HELP_CLASS) \
	X(LABEL, TEXT, "label", "object", QUERY_HELP_LABEL) \
	X(SHALLOW, BYTES, "shallow", "shallow", QUERY_HELP_SHALLOW) \
	X(RETAINED, BYTES, "retained", "retained", QUERY_HELP_RETAINED_KNOWN) \
	X(STRENGTH, TEXT, "strength", "strength", QUERY_HELP_STRENGTH)
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) QUERY_LABEL_COLUMNS,
					     QUERY_OBJECT_COLUMNS };

static const struct hdb_column facts[] = {
	{ "id", HDB_TYPE_ID, "object", "ID of the referring object" },
	{ "class", HDB_TYPE_TEXT, "class", QUERY_HELP_CLASS },
	{ "references", HDB_TYPE_COUNT, "references",
	  "Number of distinct referenced objects in all heaps, including the class. Approximate "
	  "for long arrays." },
};

struct references {
	uint32_t ix;
	uint32_t class_ix;    /* not yet listed, or HEAP_NONE */
	struct base_vec list; /* uint32_t, ascending and unique; not for arrays */
	size_t at;
	struct heap_object object;
	/* the list contains it too, because a field refers to it: ART's shadow$_klass_ */
	bool has_class;
	struct heap_walk walk; /* of object arrays */
};

/* Reads the list. A long one may contain an object twice. */
static int read_list(struct references *s, struct store_lists *lists, struct hdb_error *err)
{
	const uint32_t *batch;
	uint32_t *list;
	size_t count, kept = 0;

	do {
		TRY(store_lists_next(lists, &batch, &count, err));
		TRY(base_vec_reserve(&s->list, count, sizeof(*batch), err));
		memcpy((uint32_t *)s->list.data + s->list.count, batch, count * sizeof(*batch));
		s->list.count += count;
	} while (count);
	base_vec_sort(&s->list, sizeof(*batch), base_compare_u32);
	list = s->list.data;
	for (size_t i = 0; i < s->list.count; i++) {
		list[kept] = list[i];
		kept += !kept || list[kept - 1] != list[i];
		s->has_class |= list[i] == s->class_ix;
	}
	s->list.count = kept;
	return HDB_OK;
}

static int open_references(struct query *q, struct hdb_error *err)
{
	struct references *s = q->state;
	struct store_lists lists;
	uint64_t length = 0;

	TRY(analysis_object(&q->session, q->targets[0], &s->ix, err));
	TRY(heap_object(q->heap, s->ix, &s->object, err));
	heap_references(q->heap, &lists);
	s->class_ix = heap_class(q->heap, s->object.class_no)->ix;
	TRY(store_lists_begin(&lists, s->ix, &length, err));
	if (s->object.kind != STORE_OBJECT_ARRAY) {
		TRY(read_list(s, &lists, err));
		length = s->list.count;
	}
	heap_walk_begin(&s->walk, s->ix, 0, UINT64_MAX);
	query_fact_object(q, s->ix);
	query_fact(q, "references", length + !s->has_class);
	return HDB_OK;
}

static int set_row(struct query *q, const struct references *s, uint32_t ix, const char *name,
		   struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SHALLOW, RETAINED };
	uint8_t strength;

	query_set_text(q, NAME, name);
	query_set_object(q, &cells, ix);
	TRY(heap_strength(q->heap, s->ix, ix, &strength, err));
	query_set_text(q, STRENGTH, analysis_strength_name(strength));
	return HDB_OK;
}

/* Returns one row per element of an array, except nulls and objects not in the dump. */
static int next_element(struct query *q, struct references *s, struct hdb_error *err)
{
	char name[32];
	uint32_t ix;

	TRY(heap_walk_target_next(q->heap, &s->walk, &ix, err));
	(void)snprintf(name, sizeof(name), "[%" PRIu64 "]", s->walk.at - 1);
	return set_row(q, s, ix, name, err);
}

static int next_references(struct query *q, struct hdb_error *err)
{
	struct references *s = q->state;
	char name[NAME_MAX_BYTES];
	uint32_t ix = s->class_ix;

	if (ix != HEAP_NONE) {
		s->class_ix = HEAP_NONE;
		/* It gets a single row, with its fields, when its turn comes. */
		if (!s->has_class)
			return set_row(q, s, ix, "<class>", err);
	}
	if (s->object.kind == STORE_OBJECT_ARRAY)
		return next_element(q, s, err);
	if (s->at == s->list.count)
		return HDB_END;
	ix = *base_vec_at(&s->list, uint32_t, s->at++);
	TRY(analysis_holder(&q->session, s->ix, ix, BASE_TEXT(name), err));
	return set_row(q, s, ix, name, err);
}

static void close_references(struct query *q)
{
	base_vec_release(&((struct references *)q->state)->list);
}

const struct query_def query_references = {
	.spec = {
		.name = "references", .aliases = "outgoing|outbound",
		.group = "objects", .example = "0xfeb10838",
		.targets = "OBJECT",
		.target_types = HDB_TARGET_OBJECT, .target_min = 1, .target_max = 1,
		.summary = "Outgoing references of an object, with field names",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
	},
	.uses = QUERY_USES_ALL | QUERY_IF_KNOWN,
	.state_size = sizeof(struct references),
	.open = open_references, .next = next_references, .close = close_references,
};
