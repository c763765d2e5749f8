/*
 * query/kept_answers.c - records answers while they are computed, stores them in the database, and
 * reads them back.
 *
 * The answer to a query without arguments has key 0 in the query's own table; other answers are in
 * STORE_ANSWER_OPTIONS, keyed by a hash of the arguments. A block has one item per row. Its
 * contents, little-endian: u32, 1 if all rows are present, otherwise 0; u32 number of columns; u64
 * number of rows without a limit; u32 size of the arguments, and the arguments; for each column,
 * u32 index in the spec; u32 number of facts; for each fact, u32 index in the spec and a value;
 * then the rows, one value per column. A value is one byte (enum hdb_type) followed by u64 with the
 * bits of a number, or by u32 size and the bytes of a string, or by nothing for HDB_TYPE_NULL.
 */
#include "query/kept_answers.h"

#include "base/bytes.h"
#include "base/scope.h"
#include "base/work.h"
#include "heap/heap_database.h"
#include "heap/values/text.h"
#include "query/rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define HEAD_SIZE 20 /* bytes before the arguments */

struct query_kept {
	enum store_table table;
	struct base_vec arguments; /* bytes; see put_arguments */
	uint64_t key;              /* hash of the arguments, or 0 if there are none */
	uint64_t began_ms;
	/* when reading back: */
	bool is_replayed;
	/* copy of the block, because refreshing the store invalidates borrowed ones; owned */
	uint8_t *block;
	size_t size, at;
	uint64_t left; /* number of rows left */
	/* when recording: */
	struct base_vec rows; /* bytes */
	uint64_t row_count;
	bool is_full, is_whole;
};

void query_kept_free(struct query_kept *kept)
{
	if (!kept)
		return;
	free(kept->block);
	base_vec_release(&kept->arguments);
	base_vec_release(&kept->rows);
	free(kept);
}

bool query_is_replayed(const struct query *q)
{
	return q->kept && q->kept->is_replayed;
}

static int put_string(struct base_vec *out, const char *text, struct hdb_error *err)
{
	return base_bytes_append(out, text, strlen(text) + 1, err);
}

/*
 * Appends the arguments: options that differ from their defaults, targets, the name of the query,
 * and whether retained sizes are known, since some answers show them only then. Appends nothing if
 * there are no arguments. Sort order and filter do not count.
 */
static int put_arguments(const struct query *q, struct base_vec *out, struct hdb_error *err)
{
	const struct hdb_query_args *args = &q->args;

	for (size_t i = 0; i < args->option_count; i++) {
		const struct hdb_option *option = &args->options[i];
		const char *usual = query_default(q, option->name);

		if (usual && option->value && strcmp(usual, option->value) == 0)
			continue;
		TRY(put_string(out, option->name, err));
		TRY(put_string(out, option->value ? option->value : "", err));
	}
	for (size_t i = 0; i < q->target_count; i++) {
		TRY(put_string(out, "", err)); /* ends the options */
		TRY(put_string(out, q->targets[i], err));
	}
	if (!out->count)
		return HDB_OK;
	TRY(put_string(out, q->def->spec.name, err));
	return put_string(out, derive_has(q->derive, STORE_RETAINED) ? "retained" : "", err);
}

/* ---- reading ---- */

static int damaged(const struct query *q, const char *what, struct hdb_error *err)
{
	return heap_damaged(q->heap, q->kept->table, q->kept->key, what, err);
}

static uint8_t *take(struct query_kept *k, size_t size)
{
	uint8_t *p = k->block + k->at;

	assert(k->at <= k->size);
	if (size > k->size - k->at)
		return NULL;
	k->at += size;
	return p;
}

static bool take_u32(struct query_kept *k, uint32_t *out)
{
	const uint8_t *p = take(k, 4);

	*out = p ? load32(p) : 0;
	return p != NULL;
}

/*
 * Reads a value of a column of `type`. A string points into the block. Returns false if the value
 * is damaged.
 */
static bool take_value(struct query_kept *k, enum hdb_type type, struct hdb_value *out)
{
	uint8_t *p = take(k, 1);
	uint32_t size = 0;

	*out = (struct hdb_value){ .type = HDB_TYPE_NULL };
	if (!p || (*p != (uint8_t)type && *p != HDB_TYPE_NULL))
		return false;
	if (*p == HDB_TYPE_NULL)
		return true;
	out->type = type;
	if (type == HDB_TYPE_TEXT) {
		if (!take_u32(k, &size) || (p = take(k, size)) == NULL)
			return false;
		out->text = (const char *)p;
		out->text_size = heap_drop_broken((char *)p, size);
		return true;
	}
	p = take(k, 8);
	if (!p)
		return false;
	out->u = load64(p);
	memcpy(&out->i, p, 8);
	if (type == HDB_TYPE_DOUBLE || type == HDB_TYPE_PERCENT)
		memcpy(&out->d, p, 8);
	return type != HDB_TYPE_BOOL || out->u <= 1;
}

static int read_fact(struct query *q, struct hdb_error *err)
{
	const struct hdb_query_spec *spec = &q->def->spec;
	const struct hdb_column *fact;
	struct hdb_value value;
	uint32_t no;

	assert(q->kept);
	if (!take_u32(q->kept, &no) || no >= spec->fact_count)
		return damaged(q, "impossible fact", err);
	fact = &spec->facts[no];
	if (!take_value(q->kept, fact->type, &value) || value.type == HDB_TYPE_NULL)
		return damaged(q, "impossible fact", err);
	if (fact->type == HDB_TYPE_INT) {
		query_fact_int(q, fact->name, value.i);
		return HDB_OK;
	}
	if (fact->type != HDB_TYPE_TEXT) {
		query_fact(q, fact->name, value.u);
		return HDB_OK;
	}
	query_fact_text_n(q, fact->name, value.text, value.text_size);
	return HDB_OK;
}

/* Reads the start of the block: columns and facts. */
static int read_head(struct query *q, struct hdb_error *err)
{
	struct query_kept *k = q->kept;
	const uint8_t *head = take(k, HEAD_SIZE + k->arguments.count);
	uint32_t facts, no;

	if (!head || !load32(head + 4) || load32(head + 4) > q->def->spec.column_count)
		return damaged(q, "impossible head", err);
	q->column_count = load32(head + 4);
	q->total = load64(head + 8);
	for (size_t i = 0; i < q->column_count; i++) {
		if (!take_u32(k, &no) || no >= q->def->spec.column_count)
			return damaged(q, "impossible column", err);
		q->columns[i] = no;
	}
	if (!take_u32(k, &facts))
		return damaged(q, "impossible head", err);
	while (facts-- > 0)
		TRY(read_fact(q, err));
	return HDB_OK;
}

int query_kept_next(struct query *q, struct hdb_error *err)
{
	struct query_kept *k = q->kept;

	assert(query_is_replayed(q));
	if (!k->left)
		return k->at == k->size ? HDB_END : damaged(q, "too many bytes", err);
	k->left--;
	for (size_t i = 0; i < q->column_count; i++) {
		const size_t no = q->columns[i];

		if (!take_value(k, query_spec_column(q, no)->type, &q->cells[no]))
			return damaged(q, "impossible value", err);
	}
	return HDB_OK;
}

/* Returns whether the block has the same arguments, not just the same hash. */
static bool is_same(const struct query_kept *k, const struct store_block *block)
{
	const size_t size = k->arguments.count;

	return block->size >= HEAD_SIZE + size && load32(block->data + 16) == size &&
	       (!size || memcmp(block->data + HEAD_SIZE, k->arguments.data, size) == 0);
}

/* Returns whether the block contains all rows that the caller needs. */
static bool suffices(const struct query *q, const struct store_block *block)
{
	const bool needs_all = q->args.filter || (q->args.sort && *q->args.sort);

	return load32(block->data) ||
	       (!needs_all && q->args.limit && q->args.limit <= block->item_count);
}

static int replay(struct query *q, const struct store_block *block, struct hdb_error *err)
{
	struct query_kept *k = q->kept;

	k->block = malloc(block->size + 1);
	if (!k->block)
		return hdb_fail_memory(err, "an answer", block->size);
	memcpy(k->block, block->data, block->size);
	k->size = block->size;
	k->left = block->item_count;
	k->is_replayed = true;
	q->extra.is_used = false;
	return read_head(q, err);
}

/* Allocates q->kept, and chooses the table and the key. */
static int choose_block(struct query *q, struct hdb_error *err)
{
	struct query_kept *k;

	TRY(BASE_ALLOC(k, 1, "an answer", err));
	q->kept = k;
	TRY(put_arguments(q, &k->arguments, err));
	k->table = q->def->keeps;
	if (k->arguments.count) {
		k->table = STORE_ANSWER_OPTIONS;
		k->key = XXH3_64bits(k->arguments.data, k->arguments.count);
	}
	k->began_ms = base_now_ms();
	/* a filter omits rows */
	k->is_full = q->args.filter || k->arguments.count > QUERY_KEPT_BYTES;
	return HDB_OK;
}

static int find_block(const struct query *q, struct store_block *out, struct hdb_error *err)
{
	const struct query_kept *k = q->kept;
	struct store_table_info info;
	int r = heap_table_info(q->heap, k->table, &info, err);

	if (r != HDB_OK)
		return r;
	r = store_block(q->heap->store, k->table, k->key, out, err);
	return r == HDB_NOTFOUND && !k->key ? damaged(q, "missing", err) : r;
}

int query_kept_begin(struct query *q, struct hdb_error *err)
{
	struct store_block block;
	int r;

	/* Answers that may use the user's rules depend on a file outside the database. */
	if (!q->def->keeps || q->heap->object_count < QUERY_KEPT_OBJECTS ||
	    !store_table_revision(q->def->keeps) || q->args.before_count || q->heap->rules_path)
		return HDB_NOTFOUND;
	/*
	 * If the dump is missing, a new answer lacks values that a stored answer may have. For
	 * consistency, do not use stored answers then.
	 */
	if (heap_open_dump(q->heap, NULL) != HDB_OK)
		return HDB_NOTFOUND;
	TRY(choose_block(q, err));
	r = find_block(q, &block, err);
	/* The answer may be newer than the snapshot, because store_keep uses its own handle. */
	if (r == HDB_NOTFOUND) {
		TRY(store_refresh(q->heap->store, err));
		r = find_block(q, &block, err);
	}
	if (r != HDB_OK)
		return r;
	if (is_same(q->kept, &block) && suffices(q, &block))
		return replay(q, &block, err);
	q->kept->is_full = true; /* do not record this answer again */
	return HDB_NOTFOUND;
}

/* ---- recording ---- */

static int put_u32(struct base_vec *out, uint32_t number, struct hdb_error *err)
{
	uint8_t bytes[4];

	store32(bytes, number);
	return base_bytes_append(out, bytes, sizeof(bytes), err);
}

static int put_value(struct base_vec *out, const struct hdb_value *value, struct hdb_error *err)
{
	const uint8_t type = (uint8_t)value->type;
	uint8_t bytes[8];
	int r = base_bytes_append(out, &type, 1, err);

	if (r < 0 || value->type == HDB_TYPE_NULL)
		return r;
	if (value->type == HDB_TYPE_TEXT) {
		TRY(put_u32(out, (uint32_t)value->text_size, err));
		return base_bytes_append(out, value->text, value->text_size, err);
	}
	store64(bytes, value->u);
	if (value->type == HDB_TYPE_INT)
		memcpy(bytes, &value->i, 8);
	else if (value->type == HDB_TYPE_DOUBLE || value->type == HDB_TYPE_PERCENT)
		memcpy(bytes, &value->d, 8);
	return base_bytes_append(out, bytes, sizeof(bytes), err);
}

void query_kept_add(struct query *q)
{
	struct query_kept *k = q->kept;
	const size_t before = k ? k->rows.count : 0;
	struct hdb_error err;

	if (!k || k->is_replayed || k->is_full)
		return;
	/* If rows are only counted, there are no cells to record. */
	k->is_full = q->is_counting || q->renamed;
	for (size_t i = 0; i < q->column_count && !k->is_full; i++) {
		const struct hdb_value *value = &q->cells[q->columns[i]];

		k->is_full =
			(value->type == HDB_TYPE_TEXT && value->text_size > QUERY_KEPT_BYTES) ||
			put_value(&k->rows, value, &err) < 0;
	}
	if (k->is_full || k->rows.count > QUERY_KEPT_BYTES) {
		k->rows.count = before;
		k->is_full = true;
		return;
	}
	k->row_count++;
}

void query_kept_drop(struct query *q)
{
	if (q->kept)
		q->kept->is_full = true;
}

void query_kept_end(struct query *q)
{
	struct query_kept *k = q->kept;

	if (k && !k->is_replayed)
		k->is_whole = !k->is_full;
}

static int put_head(const struct query *q, struct base_vec *out, struct hdb_error *err)
{
	const struct query_kept *k = q->kept;
	uint8_t head[HEAD_SIZE];
	int r;

	assert(!k->is_replayed);
	store32(head, k->is_whole);
	store32(head + 4, (uint32_t)q->column_count);
	store64(head + 8, k->is_whole ? k->row_count : q->total);
	store32(head + 16, (uint32_t)k->arguments.count);
	r = base_bytes_append(out, head, sizeof(head), err);
	if (r >= 0)
		r = base_bytes_append(out, k->arguments.data, k->arguments.count, err);
	for (size_t i = 0; i < q->column_count && r >= 0; i++)
		r = put_u32(out, (uint32_t)q->columns[i], err);
	if (r >= 0)
		r = put_u32(out, (uint32_t)q->fact_count, err);
	for (size_t i = 0; i < q->fact_count && r >= 0; i++) {
		r = put_u32(out, (uint32_t)(q->facts[i].column - q->def->spec.facts), err);
		if (r >= 0)
			r = put_value(out, &q->facts[i].value, err);
	}
	return r;
}

void query_kept_write(struct query *q)
{
	struct query_kept *k = q->kept;
	BASE_SCOPED(base_vec_release) struct base_vec bytes = { 0 };
	struct store_block block = { 0 };
	struct hdb_error err;

	if (!k || k->is_replayed || !k->rows.data ||
	    (k->key && base_now_ms() - k->began_ms < QUERY_KEPT_MS))
		return;
	if (!k->is_whole && (k->row_count < QUERY_KEPT_ROWS || q->total == QUERY_TOTAL_UNKNOWN))
		return;
	if (put_head(q, &bytes, &err) < 0 ||
	    base_bytes_append(&bytes, k->rows.data, k->rows.count, &err) < 0)
		return;
	block.key = k->key;
	block.data = bytes.data;
	block.size = bytes.count;
	block.item_count = (uint32_t)k->row_count;
	/* If storing the answer fails, the next run of the query tries again. */
	(void)store_keep(q->heap->store, k->table, &block, &err);
}
