/*
 * queries/waste/q_arrays.c - the arrays query: arrays that are empty, contain only zeros or one
 * value, or end with many zeros.
 *
 * The query makes one pass over the objects in the order of the heap, on all threads. Its memory
 * depends on the number of groups.
 */
#include "analysis/hash_counter.h"
#include "base/base_text.h"
#include "base/bytes.h"
#include "derive/blocks.h"
#include "queries/queries.h"

/*
 * Kinds of wasteful contents of an array: none, only zeros, a single value, many zeros at the end.
 */

/* The contents of an array, as far as they decide its kind. */
struct array_facts {
	uint64_t value; /* bits of the first element; 0 for an empty array */
	/* number of zero or null elements at the end; all elements if is_zero */
	uint64_t tail_count;
	uint8_t type; /* type of the elements as in HPROF; HPROF_OBJECT for object arrays */
	bool is_zero; /* whether there is at least one element, and all are zero or null */
	/* whether there are at least two elements of a primitive type, and all are equal */
	bool is_constant;
};

/* Number of bytes examined at a time; a multiple of all element sizes. */
#define CHUNK_BYTES (1u << 20)

/*
 * Sets *out to whether all elements are equal, that is, the array equals itself shifted by one
 * element.
 */
static int is_uniform(struct base_view *view, const struct hprof_sub *sub, unsigned width,
		      bool *out, struct hdb_error *err)
{
	assert(width == 1 || width == 2 || width == 4 || width == 8);
	*out = true;
	for (uint64_t at = 0; *out && sub->body_size - at > width; at += CHUNK_BYTES) {
		uint64_t n = sub->body_size - at;
		const uint8_t *p;

		/*
		 * Read one element beyond the chunk, so that the end of a chunk is compared with
		 * the start of the next.
		 */
		if (n > CHUNK_BYTES + width)
			n = CHUNK_BYTES + width;
		p = base_view_at(view, sub->body_offset + at, n, err);
		if (!p)
			return HDB_ETRUNC;
		*out = memcmp(p, p + width, n - width) == 0;
		if (sub->body_size - at <= CHUNK_BYTES)
			break;
	}
	return HDB_OK;
}

/*
 * Examines the array at `offset` of the dump (0 if it is not in the dump). `view` is private to the
 * calling thread, and the dump must be open. Returns HDB_NOTFOUND if the dump lacks the elements of
 * an array that is not empty. Unless all elements are equal, reads only both ends of the array.
 */
static int array_facts(struct heap *heap, struct base_view *view, uint64_t offset,
		       struct array_facts *out, struct hdb_error *err)
{
	uint64_t end = 0;
	struct hprof_sub sub;
	const uint8_t *p;
	bool uniform;
	unsigned width;

	*out = (struct array_facts){ 0 };
	TRY(offset ? hprof_sub_read(&heap->dump.file, view, offset, &sub, err) : HDB_NOTFOUND);
	if (sub.tag == HPROF_OBJECT_ARRAY_DUMP)
		out->type = HPROF_OBJECT;
	else if (sub.tag == HPROF_PRIMITIVE_ARRAY_DUMP || sub.tag == HPROF_PRIMITIVE_ARRAY_NODATA)
		out->type = sub.element_type;
	width = hprof_type_size(out->type, heap->id_size);
	if (!width || (sub.tag == HPROF_PRIMITIVE_ARRAY_NODATA && sub.length))
		return HDB_NOTFOUND;
	if (!sub.length || sub.body_size < width)
		return HDB_OK;
	TRY(is_uniform(view, &sub, width, &uniform, err));
	TRY(hprof_content_end(view, &sub, 0, &end, err));
	p = base_view_at(view, sub.body_offset, width, err);
	if (!p)
		return HDB_ETRUNC;
	out->value = be_bits(p, width);
	out->tail_count = (sub.body_size - end) / width;
	out->is_zero = uniform && out->value == 0;
	out->is_constant = uniform && out->type != HPROF_OBJECT && sub.length >= 2;
	return HDB_OK;
}

#include <queries/waste/q_arrays.query.h>

enum kind { ANY, KIND_EMPTY, KIND_ZERO, KIND_CONSTANT, KIND_TAILS, KINDS };
enum by { BY_CLASS, BY_LENGTH, BY_VALUE };

/* A thread's result for one array. */
struct found {
	uint64_t length, value, shallow_bytes, tail_bytes;
	uint32_t ix, class_no;
	bool is_kind[KINDS];
	bool has_content;
	bool is_short_tail; /* whether there are zeros at the end, but fewer than --min-tail */
};

struct group {
	struct analysis_counter_head head;
	uint64_t length, value;
	uint64_t count[KINDS]; /* number of arrays by kind; ANY: all arrays */
	uint64_t bytes[KINDS]; /* bytes by kind; KIND_TAILS: size of the zeros at the end */
	uint64_t wasted;
	uint32_t class_no;
};

struct arrays {
	enum kind kind;
	enum by by;
	uint64_t min_tail;
	/*
	 * indexed by class number: whether the class is requested; NULL if all classes are
	 * requested
	 */
	uint8_t *is_class;
	/* whether each object of the current block is reachable */
	uint8_t reachable[STORE_BLOCK_OBJECTS];
	struct query *q;                 /* only while arrays are read */
	struct analysis_counter counter; /* struct group */
	struct base_vec rows;            /* const struct group *, sorted */
	uint64_t looked, looked_bytes, without;
	uint64_t others, other_bytes; /* unreachable arrays */
	struct analysis_cut short_tails;
};

/* ---- reading, on all threads ---- */

/*
 * Determines the kinds to which object `i` belongs. `array` describes its contents, and is NULL if
 * the array is empty or not in the dump.
 */
static void examine(const struct arrays *a, const struct heap_block *objects, uint32_t i,
		    const struct array_facts *array, struct found *out)
{
	const uint64_t length = objects->length[i];

	*out = (struct found){
		.ix = objects->first_ix + i,
		.class_no = objects->class_no[i],
		.length = length,
		.shallow_bytes = objects->shallow[i],
		.is_kind = { [ANY] = true },
		.has_content = array || length == 0,
	};
	out->is_kind[KIND_EMPTY] = length == 0;
	if (!array || !length)
		return;
	out->value = array->value;
	out->is_kind[KIND_ZERO] = array->is_zero;
	out->is_kind[KIND_CONSTANT] = array->is_constant;
	/* Portable heap dumps do not record which elements are null. */
	if (array->is_zero || array->tail_count > length || a->q->heap->is_phd)
		return;
	out->tail_bytes = out->shallow_bytes - heap_shallow(a->q->heap, out->class_no,
							    objects->kind[i] | objects->embedded[i],
							    length - array->tail_count);
	out->is_kind[KIND_TAILS] = array->tail_count && out->tail_bytes >= a->min_tail;
	out->is_short_tail = out->tail_bytes && !out->is_kind[KIND_TAILS];
}

static int make(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct arrays *a = ctx;
	const struct heap_block *objects = block->objects;
	BASE_VIEW(view, a->q->heap->dump.source);
	int r;

	TRY(heap_read_offsets(a->q->heap, block->block_no, block->values, err));
	heap_prefetch_ahead(a->q->heap, block->block_no);
	for (uint32_t i = 0; i < objects->count; i++) {
		struct array_facts array;
		struct found found;

		if ((objects->kind[i] != STORE_OBJECT_ARRAY &&
		     objects->kind[i] != STORE_PRIMITIVE_ARRAY) ||
		    (a->is_class && !a->is_class[objects->class_no[i]]))
			continue;
		TRY_ERRORS(r = array_facts(a->q->heap, &view, block->values[i], &array, err));
		examine(a, objects, i, r == HDB_OK ? &array : NULL, &found);
		TRY(base_vec_push(&block->bytes[0], &found, sizeof(found), err));
	}
	return HDB_OK;
}

/* ---- counting, on the calling thread ---- */

/* Computes the hash of a group. The hash is invertible, so equal hashes mean equal groups. */
static struct heap_text_hash hash_of(uint32_t class_no, uint64_t length, uint64_t value)
{
	const uint64_t seed = base_hash_seed();
	const uint64_t high = base_hash(length << 32 | class_no, seed);

	return (struct heap_text_hash){ .low = base_hash(value ^ high, seed), .high = high };
}

static int add(struct arrays *a, const struct found *f, struct hdb_error *err)
{
	const uint64_t length = a->by >= BY_LENGTH ? f->length : 0;
	const uint64_t value = a->by == BY_VALUE ? f->value : 0;
	struct group *g;
	void *entry;

	TRY(analysis_counter_add(&a->counter, hash_of(f->class_no, length, value), f->ix, &entry,
				 err));
	g = entry;
	g->class_no = f->class_no;
	g->length = length;
	g->value = value;
	for (unsigned k = 0; k < KINDS; k++) {
		g->count[k] += f->is_kind[k];
		if (f->is_kind[k])
			g->bytes[k] += k == KIND_TAILS ? f->tail_bytes : f->shallow_bytes;
	}
	g->wasted += a->kind == KIND_TAILS ? f->tail_bytes : f->shallow_bytes;
	return HDB_OK;
}

static int take(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct arrays *a = ctx;
	const struct found *found = block->bytes[0].data;

	TRY(derive_reachable_block(a->q->derive, block->block_no, a->reachable, err));
	for (size_t i = 0; i < block->bytes[0].count; i++) {
		const bool reachable = a->reachable[found[i].ix - block->objects->first_ix];

		a->others += !reachable;
		a->other_bytes += reachable ? 0 : found[i].shallow_bytes;
		if (!query_counts(a->q, reachable))
			continue;
		a->short_tails.objects += found[i].is_short_tail;
		a->short_tails.bytes += found[i].is_short_tail ? found[i].tail_bytes : 0;
		a->looked++;
		a->looked_bytes += found[i].shallow_bytes;
		a->without += !found[i].has_content;
		if (found[i].is_kind[a->kind])
			TRY(add(a, &found[i], err));
	}
	return HDB_OK;
}

/*
 * Sorts by waste, largest first, then by class, length and value, so that the order does not depend
 * on the hash.
 */
static int compare(const void *left, const void *right)
{
	const struct group *x = *(const struct group *const *)left;
	const struct group *y = *(const struct group *const *)right;

	BASE_DESCENDING(x->wasted, y->wasted);
	BASE_ASCENDING(x->class_no, y->class_no);
	BASE_ASCENDING(x->length, y->length);
	return x->value < y->value ? -1 : x->value > y->value;
}

static int read_arrays(struct query *q, struct arrays *a, struct hdb_error *err)
{
	uint64_t count;

	TRY(heap_open_dump(q->heap, err));
	if (q->heap->object_count)
		TRY(derive_need_reachable(q->derive, err));
	a->q = q;
	a->rows.work = q->work;
	a->counter = (struct analysis_counter){
		.session = &q->session,
		.entry_bytes = sizeof(struct group),
		.what = "groups of arrays",
	};
	TRY(derive_each_block(q->derive,
			      &(struct derive_pass){ .stage = "reading arrays",
						     .reads_objects = true,
						     .make = make,
						     .take = take,
						     .ctx = a },
			      err));
	TRY(analysis_counter_order(&a->counter, 1, &count, err));
	for (uint64_t i = 0; i < count; i++) {
		const void *group = analysis_counter_at(&a->counter, i);

		TRY(base_vec_push(&a->rows, &group, sizeof(group), err));
	}
	base_vec_sort(&a->rows, sizeof(struct group *), compare);
	q->total = count;
	return HDB_OK;
}

/* ---- the query ---- */

static int read_kind(struct query *q, struct arrays *a, struct hdb_error *err)
{
	static const struct {
		const char *name;
		enum by by;
	} kinds[KINDS] = {
		{ "", BY_CLASS },         { "empty", BY_CLASS },          { "zero", BY_LENGTH },
		{ "constant", BY_VALUE }, { "trailing-zeros", BY_CLASS },
	};
	unsigned n = 0, by;

	for (unsigned k = 1; k < KINDS; k++) {
		if (!query_option(q, kinds[k].name))
			continue;
		a->kind = (enum kind)k;
		n++;
	}
	if (n > 1)
		return hdb_fail(err, HDB_EUSAGE,
				"only one of --empty, --zero, --constant and --trailing-zeros is "
				"allowed");
	a->by = kinds[a->kind].by;
	by = query_choice(q, "by");
	if (by == BY_VALUE && a->kind != KIND_CONSTANT)
		return hdb_fail(err, HDB_EUSAGE, "--by value requires --constant");
	if (by != QUERY_NO_CHOICE)
		a->by = (enum by)by;
	return HDB_OK;
}

static void choose_columns(struct query *q, const struct arrays *a)
{
	if (a->kind == ANY) {
		query_choose(q, a->by == BY_CLASS ?
					"class,objects,shallow,empty,empty_shallow,"
					"zero,zero_shallow,constant,constant_shallow,"
					"trailing_zeros,trailing_wasted" :
					"class,length,objects,shallow,empty,"
					"empty_shallow,zero,zero_shallow,constant,"
					"constant_shallow,trailing_zeros,trailing_wasted");
		return;
	}
	query_choose(q, a->by == BY_CLASS  ? "class,objects,shallow,wasted,id" :
			a->by == BY_LENGTH ? "class,length,objects,shallow,wasted,id" :
					     "class,length,value,objects,shallow,wasted,id");
}

static void set_facts(struct query *q, const struct arrays *a)
{
	uint64_t count = 0, bytes = 0, wasted = 0;
	query_zeroed(q);
	query_fact(q, "objects", a->looked);

	for (uint64_t i = 0; i < q->total; i++) {
		const struct group *group = *base_vec_at(&a->rows, const struct group *, i);

		count += group->count[ANY];
		bytes += group->bytes[ANY];
		wasted += group->wasted;
	}
	query_fact(q, "shallow", a->looked_bytes);
	query_fact(q, "found", count);
	query_fact(q, "found_shallow", bytes);
	if (a->kind != ANY)
		query_fact(q, "wasted", wasted);
	query_report_unreachable(q, a->others, a->other_bytes);
	/*
	 * Without a kind, these arrays are included in the rows but not in the columns about zeros
	 * at the end.
	 */
	if (a->kind == ANY && a->short_tails.objects) {
		query_cut(q, NULL,
			  "runs of trailing zeros shorter than %" PRIu64
			  " bytes (--min-tail) in %s arrays",
			  a->min_tail, base_number(a->short_tails.objects).text);
	}
	if (a->kind == KIND_TAILS) {
		query_cut(q, &a->short_tails,
			  "runs of trailing zeros shorter than %" PRIu64 " bytes (--min-tail)",
			  a->min_tail);
	}
	query_fact(q, "without_content", a->without);
}

static int open_arrays(struct query *q, struct hdb_error *err)
{
	struct arrays *a = q->state;

	TRY(read_kind(q, a, err));
	a->short_tails.rows = ANALYSIS_NOT_COUNTED;
	a->min_tail = query_number(q, "min-tail", 0);
	choose_columns(q, a);
	if (q->target_count)
		TRY(analysis_class_marks(&q->session, q->targets[0], false, &a->is_class, err));
	TRY(read_arrays(q, a, err));
	set_facts(q, a);
	return HDB_OK;
}

static void set_value(struct query *q, const struct group *g)
{
	const struct heap_value value = {
		.type = heap_class(q->heap, g->class_no)->element_type,
		.bits = g->value,
	};
	char text[64];

	analysis_value_text(&value, text, sizeof(text));
	query_set_text(q, VALUE, text);
}

static int group_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct arrays *a = q->state;
	const struct group *g = *base_vec_at(&a->rows, const struct group *, no);

	(void)err;
	assert(no < a->rows.count && g->count[ANY] > 0);
	query_lend_text(q, CLASS, heap_class_name(q->heap, g->class_no));
	query_set(q, LENGTH, g->length);
	query_set(q, COUNT, g->count[ANY]);
	query_set(q, SHALLOW, g->bytes[ANY]);
	query_set(q, WASTED, g->wasted);
	for (unsigned k = KIND_EMPTY; k < (q->heap->is_phd ? KIND_TAILS : KINDS); k++) {
		query_set(q, EMPTY + 2 * (k - KIND_EMPTY), g->count[k]);
		query_set(q, EMPTY_BYTES + 2 * (k - KIND_EMPTY), g->bytes[k]);
	}
	query_set_id(q, ID, g->head.first_ix);
	set_value(q, g);
	return HDB_OK;
}

QUERY_DEFINE(arrays, QUERY_STATE(struct arrays, counter, rows, is_class), .open = open_arrays,
	     .row = group_row);
