/* store/records.c - reads and writes tables of fixed-size records, and the table of texts. */
#include "store/records.h"

#include "base/bytes.h"

#include <assert.h>

/* Maximum number of strings and of bytes in a block. */
#define TEXTS_PER_BLOCK 1024u
#define TEXT_BLOCK_BYTES 65536u

/* Minimum size of a record or text in a table. */
#define RECORD_MIN 4

int store_count_classes(struct base_work *work, uint64_t class_count, uint64_t *counted,
			struct hdb_error *err)
{
	const uint64_t bytes = class_count * STORE_CLASS_MEMORY_BYTES;
	const uint64_t budget_mib = base_work_budget_for(bytes) >> 20;
	const bool is_gib = budget_mib >= 1024;

	if (bytes > work->memory_bytes)
		return hdb_fail(err, HDB_ELIMIT,
				"%" PRIu64 " classes need up to %" PRIu64 " MiB of memory, but "
				"the memory budget allows %" PRIu64 " MiB; use --memory %" PRIu64
				"%c",
				class_count, bytes >> 20, work->memory_bytes >> 20,
				is_gib ? budget_mib >> 10 : budget_mib, is_gib ? 'G' : 'M');
	base_work_count(work, counted, bytes);
	return HDB_OK;
}

static int flush_records(struct store_records_writer *w, struct hdb_error *err)
{
	const uint64_t in_buffer = w->buffer.count / store_table_record(w->table);
	int r;

	if (!in_buffer)
		return HDB_OK;
	r = store_put(w->writer, w->table,
		      &(struct store_block){ .key = w->count - in_buffer,
					     .item_count = (uint32_t)in_buffer,
					     .data = w->buffer.data,
					     .size = w->buffer.count },
		      err);
	w->buffer.count = 0;
	return r;
}

int store_records_put(struct store_records_writer *w, const void *record, struct hdb_error *err)
{
	assert(w->writer && store_table_record(w->table) > 0);
	TRY(base_bytes_append(&w->buffer, record, store_table_record(w->table), err));
	w->count++;
	return w->count % STORE_RECORDS == 0 ? flush_records(w, err) : HDB_OK;
}

int store_records_end(struct store_records_writer *w, struct hdb_error *err)
{
	int r;

	assert(w->buffer.count % store_table_record(w->table) == 0);
	r = flush_records(w, err);
	if (r == HDB_OK)
		r = store_put_table(w->writer, w->table, w->count, err);
	store_records_release(w);
	return r;
}

void store_records_release(struct store_records_writer *w)
{
	base_vec_release(&w->buffer);
}

int store_records_put_all(struct store_writer *writer, enum store_table table, const void *records,
			  uint64_t count, struct hdb_error *err)
{
	const uint32_t record_size = store_table_record(table);
	BASE_SCOPED(store_records_release)
	struct store_records_writer w = { .writer = writer, .table = table };

	for (uint64_t i = 0; i < count; i++)
		TRY(store_records_put(&w, (const char *)records + i * record_size, err));
	return store_records_end(&w, err);
}

uint64_t store_record_count(struct store *store, enum store_table table)
{
	struct store_table_info info;

	if (store_table_info(store, table, &info, NULL) != HDB_OK)
		return 0;
	/*
	 * The upper bound limits the memory that callers allocate. If records are missing, reading
	 * them fails later.
	 */
	return info.item_count < info.bytes / RECORD_MIN ? info.item_count :
							   info.bytes / RECORD_MIN;
}

int store_record_room(struct store *store, enum store_table table, uint64_t *count,
		      struct hdb_error *err)
{
	struct store_table_info info = { 0 };
	const int r = store_table_info(store, table, &info, err);

	*count = info.item_count;
	TRY_ERRORS(r);
	return info.item_count <= info.bytes / store_table_record(table) ?
		       HDB_OK :
		       store_damaged(store, table, 0, "impossible number of records", err);
}

/* Distinguishes the end of a table from a missing block. */
static int past_end(struct store *store, enum store_table table, uint64_t no, struct hdb_error *err)
{
	return no >= store_record_count(store, table) ?
		       HDB_NOTFOUND :
		       store_damaged(store, table, no, "block missing", err);
}

int store_record(struct store *store, enum store_table table, uint64_t no, void *out,
		 struct hdb_error *err)
{
	const uint32_t record_size = store_table_record(table);
	const uint64_t i = no % STORE_RECORDS;
	struct store_block block;
	int r = store_block(store, table, no - i, &block, err);

	assert(record_size > 0);
	TRY_ERRORS(r);
	if (r == HDB_NOTFOUND || i >= block.item_count)
		return past_end(store, table, no, err);
	if (block.size != (uint64_t)block.item_count * record_size)
		return store_damaged(store, table, block.key, "impossible size", err);
	memcpy(out, block.data + i * record_size, record_size);
	return HDB_OK;
}

static int flush_texts(struct store_texts_writer *w, struct hdb_error *err)
{
	assert(w->first + w->ends.count == w->count);
	if (!w->ends.count)
		return HDB_OK;
	w->block.count = 0;
	TRY(base_bytes_append(&w->block, w->ends.data, w->ends.count * 4, err));
	TRY(base_bytes_append(&w->block, w->bytes.data, w->bytes.count, err));
	TRY(store_put(w->writer, STORE_TEXTS,
		      &(struct store_block){ .key = w->first,
					     .item_count = (uint32_t)w->ends.count,
					     .data = w->block.data,
					     .size = w->block.count },
		      err));
	w->first = w->count;
	w->ends.count = 0;
	w->bytes.count = 0;
	return HDB_OK;
}

int store_texts_put(struct store_texts_writer *w, const void *text, size_t size,
		    struct hdb_error *err)
{
	uint32_t end;

	assert(w->writer);
	assert(text || !size);
	if (size > STORE_TEXT_MAX)
		size = STORE_TEXT_MAX;
	TRY(base_bytes_append(&w->bytes, text, size, err));
	end = (uint32_t)w->bytes.count;
	TRY(base_vec_push(&w->ends, &end, sizeof(end), err));
	w->count++;
	if (w->ends.count < TEXTS_PER_BLOCK && w->bytes.count < TEXT_BLOCK_BYTES)
		return HDB_OK;
	return flush_texts(w, err);
}

int store_texts_end(struct store_texts_writer *w, struct hdb_error *err)
{
	int r = flush_texts(w, err);

	if (r == HDB_OK)
		r = store_put_table(w->writer, STORE_TEXTS, w->count, err);
	store_texts_release(w);
	return r;
}

void store_texts_release(struct store_texts_writer *w)
{
	base_vec_release(&w->ends);
	base_vec_release(&w->bytes);
	base_vec_release(&w->block);
}

int store_text(struct store *store, uint64_t no, const char **text, size_t *size,
	       struct hdb_error *err)
{
	struct store_block block;
	const int r = store_block_before(store, STORE_TEXTS, no, &block, err);
	uint64_t ends, from, i;

	*text = NULL;
	*size = 0;
	if (r != HDB_OK || no - block.key >= block.item_count)
		return r < 0 ? r : past_end(store, STORE_TEXTS, no, err);
	ends = (uint64_t)block.item_count * 4;
	i = no - block.key;
	if (ends > block.size)
		return store_damaged(store, STORE_TEXTS, block.key, "impossible size", err);
	from = i ? load32(block.data + (i - 1) * 4) : 0;
	if (from > load32(block.data + i * 4) || load32(block.data + i * 4) > block.size - ends)
		return store_damaged(store, STORE_TEXTS, block.key, "string out of bounds", err);
	*text = (const char *)block.data + ends + from;
	*size = load32(block.data + i * 4) - from;
	return HDB_OK;
}
