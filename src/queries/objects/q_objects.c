/*
 * queries/objects/q_objects.c - all objects in order of ID, as many columns as are asked for: for
 * exports.
 *
 * Block by block: memory does not grow with the heap, and only those derived tables are built that
 * a chosen column, or telling reachable objects apart, needs.
 */
#include "heap/heap_database.h"
#include "queries/queries.h"
#include "query/coverage.h"
#include "query/object_columns.h"

#include <stdlib.h>
#include <string.h>

enum {
	ID,
	CLASS,
	KIND,
	SHALLOW,
	RETAINED,
	DOMINATOR,
	LENGTH,
	OFFSET,
	REACHABLE,
	HEAP,
	NATIVE,
	OWN_COLUMNS
};

static const struct hdb_option_spec options[] = {
	{ "columns", HDB_OPTION_TEXT, "NAME,NAME...", "the columns, in that order",
	  .example = "id,class,shallow" },
	QUERY_POPULATION_OPTIONS("objects"),
	{ "invented", HDB_OPTION_FLAG,
	  .help = "objects that the dump lacks too: the boot loader's stand-in (0x0), "
		  "classes without a record" },
	{ .name = NULL },
};

static const struct hdb_column columns[] = {
	{ "id", HDB_TYPE_ID, "id", "HPROF identifier" },
	{ "class", HDB_TYPE_TEXT, "class", "name of its class" },
	{ "kind", HDB_TYPE_TEXT, "kind", "instance, object array, primitive array or class" },
	{ "shallow", HDB_TYPE_BYTES, "shallow", "bytes of the object itself" },
	{ "retained", HDB_TYPE_BYTES, "retained",
	  "retained size: what would be freed without this "
	  "object; 0 if unreachable" },
	{ "dominator", HDB_TYPE_ID, "dominator",
	  "immediate dominator; 0x0 for the top level, none if "
	  "unreachable" },
	{ "length", HDB_TYPE_COUNT, "length", "elements of an array; none for others" },
	{ "offset", HDB_TYPE_COUNT, "offset",
	  "of its record in the dump, bytes; none if the dump "
	  "lacks it" },
	{ "reachable", HDB_TYPE_BOOL, "reachable", "whether a root reaches it" },
	{ "heap", HDB_TYPE_TEXT, "heap", "Android heap; none for others" },
	{ "native", HDB_TYPE_BYTES, "native",
	  "native memory that it owns, not in the other sizes; shown by default of Android's dumps "
	  "only" },
	QUERY_OTHER_OBJECT_COLUMNS,
};

static const struct hdb_column facts[] = {
	{ "objects", HDB_TYPE_COUNT, "objects",
	  "in the database, invented and unreachable ones "
	  "included" },
	QUERY_COVERAGE_FACTS,
};

struct class_text {
	const char *name;
	size_t size;
};

struct objects {
	struct heap_block *block;
	uint64_t *offsets;
	uint64_t *ids;
	uint64_t *retained;
	uint64_t *native;
	uint32_t *dominator;
	uint8_t *reachable;
	struct class_text *classes; /* by class number */
	char **heap_names;          /* by heap number - 1 */
	uint64_t heap_count;
	bool shows[OWN_COLUMNS];
	bool with_invented, tells_reachable;
	uint32_t block_no, at, count; /* the open block is block_no - 1 */
};

/* ---- opening ---- */

static int read_heaps(struct query *q, struct objects *o, struct hdb_error *err)
{
	const uint64_t n = heap_record_count(q->heap, STORE_HEAPS);
	int r = HDB_OK;

	o->heap_names = calloc(n + 1, sizeof(*o->heap_names));
	if (!o->heap_names)
		return hdb_fail_memory(err, "heap names", n * sizeof(*o->heap_names));
	for (uint64_t i = 0; i < n && r == HDB_OK; i++) {
		struct store_heap heap;
		char name[256];

		r = heap_record(q->heap, STORE_HEAPS, sizeof(heap), i, &heap, err);
		if (r == HDB_OK)
			r = heap_text(q->heap, heap.name_text, name, sizeof(name), err);
		if (r != HDB_OK)
			break;
		o->heap_names[i] = strdup(name);
		if (!o->heap_names[i])
			return hdb_fail_memory(err, "heap names", sizeof(name));
		o->heap_count++;
	}
	return r;
}

static int make_buffers(struct query *q, struct objects *o, struct hdb_error *err)
{
	const size_t n = STORE_BLOCK_OBJECTS;

	o->block = malloc(sizeof(*o->block));
	o->ids = malloc(n * sizeof(*o->ids));
	o->offsets = malloc(n * sizeof(*o->offsets));
	o->retained = malloc(n * sizeof(*o->retained));
	o->native = malloc(n * sizeof(*o->native));
	o->dominator = malloc(n * sizeof(*o->dominator));
	o->reachable = malloc(n);
	o->classes = calloc((size_t)q->heap->class_count + 1, sizeof(*o->classes));
	if (!o->block || !o->ids || !o->offsets || !o->retained || !o->native || !o->dominator ||
	    !o->reachable || !o->classes)
		return hdb_fail_memory(err, "a block of objects", sizeof(*o->block));
	return HDB_OK;
}

/* All rows can be counted before they are read if nothing depends on who is reachable. */
static uint64_t known_total(const struct query *q, const struct objects *o)
{
	uint64_t total = q->heap->object_count;

	if (q->population != ANALYSIS_OF_ALL)
		return QUERY_TOTAL_UNKNOWN;
	if (o->with_invented || !total)
		return total;
	total--;
	for (uint32_t no = 0; no < q->heap->class_count; no++)
		total -= (heap_class(q->heap, no)->flags & STORE_CLASS_INVENTED) != 0;
	return total;
}

static int open_objects(struct query *q, struct hdb_error *err)
{
	struct objects *o = calloc(1, sizeof(*o));
	int r;

	q->state = o;
	if (!o)
		return hdb_fail_memory(err, "a list of objects", sizeof(*o));
	if (!query_option(q, "columns")) {
		r = query_choose(q,
				 q->heap->is_android ?
					 "id,class,kind,shallow,retained,dominator,length,offset,"
					 "reachable,heap,native" :
					 "id,class,kind,shallow,retained,dominator,length,offset,"
					 "reachable,heap",
				 err);
		if (r != HDB_OK)
			return r;
	}
	/* A row that is sorted by a column needs it, shown or not. */
	for (size_t c = 0; c < OWN_COLUMNS; c++)
		o->shows[c] = query_is_shown(q, c) ||
			      (q->args.sort &&
			       strcmp(q->args.sort + (*q->args.sort == '-'), columns[c].name) == 0);
	/* By its ID the columns of all queries find the object. */
	o->shows[ID] = true;
	o->with_invented = query_option(q, "invented") != NULL;
	r = query_read_population(q, err);
	o->tells_reachable =
		q->population != ANALYSIS_OF_ALL || o->shows[REACHABLE] || o->shows[DOMINATOR];
	if (r == HDB_OK)
		r = heap_load_classes(q->heap, err);
	if (r == HDB_OK)
		r = make_buffers(q, o, err);
	if (r == HDB_OK && o->shows[HEAP])
		r = read_heaps(q, o, err);
	if (r == HDB_OK && (o->shows[DOMINATOR] || o->shows[RETAINED]))
		r = derive_need(q->derive, STORE_RETAINED, err);
	if (r == HDB_OK)
		r = query_fact(q, "objects", q->heap->object_count, err);
	/* With all of them nothing else asks who is reachable, and no table is built for that. */
	if (r == HDB_OK && o->tells_reachable)
		r = query_tell_unreached(q, err);
	q->total = r == HDB_OK ? known_total(q, o) : 0;
	base_stage(q->work, "reading objects", q->heap->object_count, "objects");
	return r;
}

/* ---- rows ---- */

static int read_block(struct query *q, struct objects *o, struct hdb_error *err)
{
	const uint32_t no = o->block_no;
	int r = heap_read_block(q->heap, no, o->block, err);

	if (r == HDB_OK && (o->shows[ID] || o->with_invented))
		r = heap_read_ids(q->heap, no, o->ids, &o->count, err);
	if (r == HDB_OK && o->shows[OFFSET])
		r = heap_read_offsets(q->heap, no, o->offsets, err);
	if (r == HDB_OK && o->tells_reachable && !o->shows[DOMINATOR])
		r = derive_reachable_block(q->derive, no, o->reachable, err);
	if (r == HDB_OK && o->shows[DOMINATOR])
		r = derive_dominator_block(q->derive, no, o->dominator, err);
	if (r == HDB_OK && o->shows[NATIVE])
		r = derive_native_block(q->derive, no, o->native, err);
	if (r == HDB_OK && o->shows[RETAINED])
		r = derive_retained_block(q->derive, o->block, o->retained, err);
	if (r == HDB_OK)
		r = base_step(q->work, o->block->first_ix, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; o->shows[DOMINATOR] && i < o->block->count; i++)
		o->reachable[i] = o->dominator[i] != o->block->first_ix + i;
	o->count = o->block->count;
	o->at = 0;
	o->block_no++;
	return HDB_OK;
}

static bool is_left_out(const struct query *q, const struct objects *o, uint32_t i)
{
	const struct heap_block *block = o->block;

	if (block->kind[i] == HEAP_LEFT_OUT)
		return true;
	if (o->tells_reachable && !query_counts(q, o->reachable[i]))
		return true;
	if (o->with_invented)
		return false;
	return block->first_ix + i == HEAP_BOOT_LOADER ||
	       (block->kind[i] == STORE_CLASS &&
		heap_class(q->heap, (uint32_t)block->length[i])->flags & STORE_CLASS_INVENTED);
}

static void set_class(struct query *q, struct objects *o, uint32_t no)
{
	struct class_text *text = &o->classes[no];

	if (!text->name) {
		text->name = heap_class_name(q->heap, no);
		text->size = strlen(text->name);
	}
	query_lend_text(q, CLASS, text->name, text->size);
}

static void set_kind(struct query *q, uint8_t kind)
{
	static const char *const names[] = { "instance", "object array", "primitive array",
					     "class" };

	query_lend_text(q, KIND, names[kind], strlen(names[kind]));
}

static int set_dominator(struct query *q, const struct objects *o, uint32_t i,
			 struct hdb_error *err)
{
	const uint32_t dominator = o->dominator[i], at = dominator - o->block->first_ix;
	uint64_t id = 0;
	int r = HDB_OK;

	if (!o->reachable[i])
		return HDB_OK;
	if (dominator != HEAP_NONE && o->shows[ID] && at < o->block->count)
		id = o->ids[at];
	else if (dominator != HEAP_NONE)
		r = heap_id(q->heap, dominator, &id, err);
	query_set(q, DOMINATOR, id);
	return r;
}

static void set_offset(struct query *q, const struct objects *o, uint32_t i)
{
	const struct heap_block *block = o->block;
	const uint64_t offset =
		block->kind[i] != STORE_CLASS ?
			o->offsets[i] :
			heap_class(q->heap, (uint32_t)block->length[i])->file_offset;

	if (offset)
		query_set(q, OFFSET, offset);
}

/* Few ask for it: it is looked up for each object on its own. */
static int set_heap(struct query *q, const struct objects *o, uint32_t ix, struct hdb_error *err)
{
	struct heap_object object;
	const int r = heap_object(q->heap, ix, &object, err);

	if (r == HDB_OK && object.heap_no && object.heap_no <= o->heap_count)
		query_lend_text(q, HEAP, o->heap_names[object.heap_no - 1],
				strlen(o->heap_names[object.heap_no - 1]));
	return r;
}

static int next_objects(struct query *q, struct hdb_error *err)
{
	struct objects *o = q->state;
	const struct heap_block *block = o->block;
	uint32_t i;
	int r = HDB_OK;

	do {
		while (o->at == o->count) {
			if (o->block_no == heap_block_count(q->heap))
				return HDB_END;
			r = read_block(q, o, err);
			if (r < 0)
				return r;
		}
		i = o->at++;
	} while (is_left_out(q, o, i));
	if (o->shows[ID])
		query_set(q, ID, o->ids[i]);
	if (o->shows[CLASS])
		set_class(q, o, block->class_no[i]);
	if (o->shows[KIND])
		set_kind(q, block->kind[i]);
	query_set(q, SHALLOW, block->shallow[i]);
	if (o->shows[RETAINED])
		query_set(q, RETAINED, o->retained[i]);
	if (o->shows[DOMINATOR])
		r = set_dominator(q, o, i, err);
	if (block->kind[i] == STORE_OBJECT_ARRAY || block->kind[i] == STORE_PRIMITIVE_ARRAY)
		query_set(q, LENGTH, block->length[i]);
	if (o->tells_reachable)
		query_set(q, REACHABLE, o->reachable[i]);
	if (o->shows[OFFSET])
		set_offset(q, o, i);
	if (o->shows[NATIVE])
		query_set(q, NATIVE, o->native[i]);
	if (r == HDB_OK && o->shows[HEAP])
		r = set_heap(q, o, block->first_ix + i, err);
	return r;
}

static void close_objects(struct query *q)
{
	struct objects *o = q->state;

	if (!o)
		return;
	for (uint64_t i = 0; i < o->heap_count; i++)
		free(o->heap_names[i]);
	free(o->heap_names);
	free(o->block);
	free(o->ids);
	free(o->offsets);
	free(o->retained);
	free(o->dominator);
	free(o->reachable);
	free(o->classes);
	free(o->native);
	free(o);
}

const struct query_def query_objects = {
	.spec = {
		.name = "objects",
		.group = "database", .example = "--columns id,class,shallow",
		.targets = "",
		.summary = "all reachable objects in order of ID, for export",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 0,
	},
	.population = ANALYSIS_OF_REACHABLE,
	.uses = QUERY_USES_ALL | QUERY_CHOOSES_COLUMNS,
	.open = open_objects, .next = next_objects, .close = close_objects,
};
