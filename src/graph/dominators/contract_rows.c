/*
 * graph/dominators/contract_rows.c - the rows of the small graph: edges between kept nodes, and
 * those pushed up to them.
 */
#include "graph/dominators/contract.h"

#include "base/processor.h"

#include <assert.h>

void graph_contract_rows_empty(struct graph_contract_rows *rows)
{
	rows->length.count = rows->bytes.count = rows->longs.count = 0;
}

void graph_contract_rows_release(struct graph_contract_rows *rows)
{
	base_vec_release(&rows->length);
	base_vec_release(&rows->bytes);
	base_vec_release(&rows->longs);
}

static struct graph_source all_edges(uint32_t v)
{
	return (struct graph_source){ v, GRAPH_NONE };
}

/* Writes the places of those targets to which edges matter; there is room. How many they are. */
static uint32_t add_places(const struct graph_contract *c, struct graph_source from,
			   struct graph_targets targets, uint32_t *out)
{
	uint32_t n = 0;

	for (uint64_t i = 0; i < targets.count; i++)
		if (graph_contract_needs(c, from, targets.target[i]))
			out[n++] = graph_contract_place(c, targets.target[i]);
	return n;
}

static inline int pack_row(const struct graph_contract *c, struct graph_contract_rows *out,
			   const struct graph_contract_row *row, size_t *at, struct hdb_error *err)
{
	const uint32_t v = row->from.v, place = graph_contract_place(c, v);
	uint8_t length = GRAPH_ROW_LONG;
	uint32_t *room, n = 0;
	int rc = base_vec_reserve(&out->longs, row->targets.count + 2, sizeof *room, err);

	if (rc < 0)
		return rc;
	if ((rc = base_vec_reserve(&out->bytes, GRAPH_ROW_MAX + GRAPH_TARGET_ROOM, 1, err)) < 0)
		return rc;
	room = base_vec_at(&out->longs, uint32_t, out->longs.count);
	if (row->class != GRAPH_NONE)
		n = add_places(c, all_edges(v), (struct graph_targets){ &row->class, 1 }, room + 1);
	n += add_places(c, row->from, row->targets, room + 1 + n);
	if (!row->is_open) {
		length = (uint8_t)graph_rows_pack(
			c->rows, place, room + 1, n,
			base_vec_at(&out->bytes, uint8_t, out->bytes.count));
	}
	if (length == GRAPH_ROW_LONG) {
		*at = out->longs.count;
		room[0] = n;
		out->longs.count += (size_t)n + 1;
	} else {
		out->bytes.count += length;
	}
	return base_vec_push(&out->length, &length, sizeof length, err);
}

PROCESSOR_BITS static int pack_row_bits(const struct graph_contract *c,
					struct graph_contract_rows *out,
					const struct graph_contract_row *row, size_t *at,
					struct hdb_error *err)
{
	return pack_row(c, out, row, at, err);
}

int graph_contract_pack(const struct graph_contract *c, struct graph_contract_rows *out,
			const struct graph_contract_row *row, size_t *at, struct hdb_error *err)
{
	return processor_has_bits() ? pack_row_bits(c, out, row, at, err) :
				      pack_row(c, out, row, at, err);
}

/* Targets ahead that are asked for. */
#define RUN_AHEAD 32u

/* A row of a run. */
struct run_row {
	const struct graph_contract_run *run;
	uint32_t v, class_no;
	const uint32_t *target, *end;
};

/* The class of the row's node, or GRAPH_NONE where that edge is left out. */
static inline uint32_t class_of(const struct graph_contract *c, const struct run_row *row)
{
	return c->thinning && graph_thinning_drops_class(c->thinning, row->class_no, row->v) ?
		       GRAPH_NONE :
		       row->run->class_node[row->class_no];
}

/*
 * Packs those targets of the row that stay: its length, or GRAPH_ROW_LONG. One loop does it all:
 * where a loop over two or three ends is what the processor foretells badly.
 */
static inline unsigned pack_whole(const struct graph_contract *c, const struct run_row *row,
				  uint8_t *out)
{
	const uint32_t *end = row->run->end;
	const uint32_t v = row->v, class = class_of(c, row);
	unsigned length = graph_rows_pack_one(c->rows, v, class, out);

	length = class != GRAPH_NONE && class != v ? length : 0;
	/* Most are nothing special, and all are written before that is known. */
	for (const uint32_t *target = row->target; target < row->end; target++) {
		const uint32_t t = *target;
		const unsigned size = graph_rows_pack_one(c->rows, v, t, out + length);
		bool stays = t != v;

		if (end - target > RUN_AHEAD)
			prefetch_read(&c->special[target[RUN_AHEAD] / 64]);
		if (graph_contract_is_special(c, t))
			stays = graph_contract_needs(c, (struct graph_source){ v, row->class_no },
						     t);
		length += stays ? size : 0;
		if (length > GRAPH_ROW_MAX)
			return GRAPH_ROW_LONG;
	}
	return length;
}

/* A row that may not fit. */
static int pack_long(const struct graph_contract *c, struct graph_contract_rows *out,
		     const struct run_row *row, struct hdb_error *err)
{
	const struct graph_contract_row plain = {
		.from = { row->v, row->class_no },
		.class = class_of(c, row),
		.targets = { row->target, (uint64_t)(row->end - row->target) },
	};
	size_t at;

	return graph_contract_pack(c, out, &plain, &at, err);
}

static inline int pack_run(const struct graph_contract *c, struct graph_contract_rows *out,
			   const struct graph_contract_run *run, struct hdb_error *err)
{
	struct run_row row = { .run = run, .end = run->target };
	int rc = base_vec_reserve(&out->length, run->count, 1, err);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < run->count; i++) {
		unsigned length = GRAPH_ROW_LONG;

		row.v = run->first + i;
		row.class_no = run->class_no[i];
		row.target = row.end;
		row.end += run->lengths[i];
		if ((rc = base_vec_reserve(&out->bytes, GRAPH_ROW_MAX + GRAPH_TARGET_ROOM, 1,
					   err)) < 0)
			return rc;
		if (run->lengths[i] < GRAPH_ROW_MAX)
			length = pack_whole(c, &row,
					    base_vec_at(&out->bytes, uint8_t, out->bytes.count));
		if (length == GRAPH_ROW_LONG) {
			if ((rc = pack_long(c, out, &row, err)) < 0)
				return rc;
			continue;
		}
		*base_vec_at(&out->length, uint8_t, out->length.count++) = (uint8_t)length;
		out->bytes.count += length;
	}
	return HDB_OK;
}

PROCESSOR_BITS static int pack_run_bits(const struct graph_contract *c,
					struct graph_contract_rows *out,
					const struct graph_contract_run *run, struct hdb_error *err)
{
	return pack_run(c, out, run, err);
}

int graph_contract_pack_run(const struct graph_contract *c, struct graph_contract_rows *out,
			    const struct graph_contract_run *run, struct hdb_error *err)
{
	assert(c->is_whole);
	return processor_has_bits() ? pack_run_bits(c, out, run, err) : pack_run(c, out, run, err);
}

int graph_contract_widen(const struct graph_contract *c, struct graph_contract_rows *rows,
			 size_t at, struct graph_targets more, struct hdb_error *err)
{
	const uint64_t count = more.count;
	const int rc = base_vec_reserve(&rows->longs, count, sizeof(uint32_t), err);
	uint32_t *row = base_vec_at(&rows->longs, uint32_t, at), *end;
	size_t after;

	if (rc < 0)
		return rc;
	end = row + 1 + row[0];
	after = rows->longs.count - (at + 1 + row[0]);
	memmove(end + count, end, after * sizeof *end);
	{
		/* The row's own node is among the targets at most as a loop, which does no harm. */
		const uint32_t n = add_places(c, all_edges(GRAPH_NONE), more, end);

		memmove(end + n, end + count, after * sizeof *end);
		row[0] += n;
		rows->longs.count += n;
	}
	return HDB_OK;
}

int graph_contract_start_rows(struct graph_contract *c, struct graph_rows *rows,
			      struct hdb_error *err)
{
	c->rows = rows;
	c->row_count = 0;
	c->group_bytes.count = 0;
	memset(c->group_length, 0, sizeof c->group_length);
	return graph_rows_init(rows, graph_contract_count(c), c->work, err);
}

static int put_group(struct graph_contract *c, uint32_t group, struct hdb_error *err)
{
	const int rc = graph_rows_put(c->rows, group, c->group_length, c->group_bytes.data, err);

	c->group_bytes.count = 0;
	memset(c->group_length, 0, sizeof c->group_length);
	return rc;
}

static int add_bytes(struct graph_contract *c, const uint8_t *bytes, unsigned length, uint8_t code,
		     struct hdb_error *err)
{
	const int rc = base_vec_reserve(&c->group_bytes, length, 1, err);

	if (rc < 0)
		return rc;
	if (length)
		memcpy(base_vec_at(&c->group_bytes, uint8_t, c->group_bytes.count), bytes, length);
	c->group_bytes.count += length;
	c->group_length[c->row_count % GRAPH_GROUP] = code;
	if (++c->row_count % GRAPH_GROUP == 0)
		return put_group(c, c->row_count / GRAPH_GROUP - 1, err);
	return HDB_OK;
}

/* A row whose targets are in c->targets. */
static int put_targets(struct graph_contract *c, struct hdb_error *err)
{
	uint8_t bytes[GRAPH_ROW_MAX + GRAPH_TARGET_ROOM];
	struct graph_long_row row = { 0, 0 };
	const uint32_t *targets = c->targets.data;
	const unsigned length =
		graph_rows_pack(c->rows, c->row_count, targets, c->targets.count, bytes);
	int rc;

	if (length != GRAPH_ROW_LONG)
		return add_bytes(c, bytes, length, (uint8_t)length, err);
	rc = graph_rows_add_long(c->rows, &row, targets, c->targets.count, err);
	if (rc != HDB_OK)
		return rc;
	return add_bytes(c, (const uint8_t *)&row, sizeof row, GRAPH_ROW_LONG | sizeof row, err);
}

static int gather(struct graph_contract *c, const uint32_t *targets, uint64_t count,
		  struct hdb_error *err)
{
	const int rc = base_vec_reserve(&c->targets, count, sizeof *targets, err);

	if (rc < 0)
		return rc;
	if (count) {
		memcpy(base_vec_at(&c->targets, uint32_t, c->targets.count), targets,
		       count * sizeof *targets);
		c->targets.count += count;
	}
	return HDB_OK;
}

/* The edges pushed to the next row. */
static int pushes_of_row(struct graph_contract *c, const uint32_t **targets, uint64_t *count,
			 struct hdb_error *err)
{
	const uint32_t k = c->row_count % GRAPH_BUCKET_SIZE;

	*targets = NULL;
	*count = 0;
	if (c->is_whole)
		return HDB_OK;
	if (k == 0) {
		const int rc = graph_buckets_sort(&c->pushes, c->row_count / GRAPH_BUCKET_SIZE,
						  &c->push_first, &c->push_target, err);
		if (rc < 0)
			return rc;
	}
	*targets = c->push_target + c->push_first[k];
	*count = c->push_first[k + 1] - c->push_first[k];
	return HDB_OK;
}

/* The bytes of a group's rows, unless one of them is long. */
static bool is_plain_group(const uint8_t *length, uint32_t *size)
{
	bool is_plain = true;

	*size = 0;
	for (unsigned i = 0; i < GRAPH_GROUP; i++) {
		is_plain = is_plain && !(length[i] & GRAPH_ROW_LONG);
		*size += length[i];
	}
	return is_plain;
}

int graph_contract_put(struct graph_contract *c, const struct graph_contract_rows *rows,
		       struct hdb_error *err)
{
	const uint8_t *length = rows->length.data, *bytes = rows->bytes.data;
	const uint32_t *next_long = rows->longs.data;
	uint32_t size;
	int rc;

	for (size_t i = 0; i < rows->length.count; i++) {
		/* Where nothing is pushed most groups are put as they are. */
		while (c->is_whole && c->row_count % GRAPH_GROUP == 0 &&
		       rows->length.count - i >= GRAPH_GROUP && is_plain_group(&length[i], &size)) {
			rc = graph_rows_put(c->rows, c->row_count / GRAPH_GROUP, &length[i], bytes,
					    err);
			if (rc != HDB_OK)
				return rc;
			bytes += size;
			c->row_count += GRAPH_GROUP;
			i += GRAPH_GROUP;
		}
		if (i == rows->length.count)
			break;
		const uint32_t *pushed, *own = NULL;
		uint32_t targets[GRAPH_ROW_MAX], own_count = 0;
		uint64_t push_count;

		if ((rc = pushes_of_row(c, &pushed, &push_count, err)) != HDB_OK)
			return rc;
		if (length[i] == GRAPH_ROW_LONG) {
			own = next_long + 1;
			own_count = *next_long;
			next_long += own_count + 1;
		} else if (push_count == 0) {
			if ((rc = add_bytes(c, bytes, length[i], length[i], err)) != HDB_OK)
				return rc;
			bytes += length[i];
			continue;
		} else {
			own = targets;
			own_count =
				graph_rows_unpack(c->rows, c->row_count, bytes, length[i], targets);
			bytes += length[i];
		}
		c->targets.count = 0;
		if ((rc = gather(c, own, own_count, err)) != HDB_OK)
			return rc;
		if ((rc = gather(c, pushed, push_count, err)) != HDB_OK)
			return rc;
		if ((rc = put_targets(c, err)) != HDB_OK)
			return rc;
	}
	return HDB_OK;
}

int graph_contract_end_rows(struct graph_contract *c, struct hdb_error *err)
{
	const int rc =
		c->row_count % GRAPH_GROUP ? put_group(c, c->row_count / GRAPH_GROUP, err) : HDB_OK;

	graph_buckets_release(&c->pushes);
	return rc;
}
