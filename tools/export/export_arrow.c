/*
 * export/export_arrow.c - Arrow IPC files and streams: batches in order, with dictionaries once
 * before the first batch. See https://arrow.apache.org/docs/format/Columnar.html
 *
 * The types are the same as in hdb_rows_arrow: identifiers and sizes are unsigned. Each buffer is
 * compressed with zstd. With is_plain, buffers are not compressed, so that readers can map the
 * file.
 */
#include "base/base_text.h"
#include "base/vec.h"
#include "export/export_private.h"

#include <assert.h>
#include <stdlib.h>

/*
 * A FlatBuffers builder with the features that Arrow messages need. It writes from the end of the
 * buffer, because an object must be complete before other objects refer to it.
 */

/* Maximum number of fields in a table. Arrow's tables have fewer. */
#define FLAT_FIELDS 8

struct flat {
	uint8_t *data; /* owned; the result is in its last `size` bytes */
	size_t size, room;
	bool has_failed;
	/* offsets of the fields of the current table, counted from its end; 0 means absent */
	uint32_t fields[FLAT_FIELDS];
	uint32_t table_from;
};

/* Position of a finished object, counted from the end. */
typedef uint32_t flat_ref;

static void flat_release(struct flat *f)
{
	free(f->data);
	*f = (struct flat){ 0 };
}

/* Resets the builder. Keeps its memory. */
static void flat_begin(struct flat *f)
{
	f->size = 0;
	f->has_failed = false;
}

static bool make_room(struct flat *f, size_t more)
{
	const size_t room = 2 * f->room > f->size + more ? 2 * f->room : f->size + more + 512;
	uint8_t *grown;

	if (f->has_failed || more <= f->room - f->size)
		return !f->has_failed;
	grown = room < (1u << 31) ? malloc(room) : NULL;
	if (!grown) {
		f->has_failed = true;
		return false;
	}
	if (f->size)
		memcpy(grown + room - f->size, f->data + f->room - f->size, f->size);
	free(f->data);
	f->data = grown;
	f->room = room;
	return true;
}

static void put(struct flat *f, const void *data, size_t size)
{
	if (!make_room(f, size))
		return;
	f->size += size;
	if (size)
		memcpy(f->data + f->room - f->size, data, size);
}

static void put_number(struct flat *f, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	put(f, bytes, size);
}

/* Pads so that, after `more` further bytes, the position is a multiple of `alignment`. */
static void align(struct flat *f, size_t alignment, size_t more)
{
	while ((f->size + more) % alignment && !f->has_failed)
		put_number(f, 0, 1);
}

/* Writes an offset. The offset is relative to its own position. */
static void put_ref(struct flat *f, flat_ref ref)
{
	align(f, 4, 0);
	put_number(f, (uint32_t)f->size + 4 - ref, 4);
}

static flat_ref flat_text(struct flat *f, const char *text)
{
	const size_t size = strlen(text);

	align(f, 4, size + 1);
	put_number(f, 0, 1);
	put(f, text, size);
	put_number(f, size, 4);
	return (flat_ref)f->size;
}

/* Writes a vector of offsets. */
static flat_ref flat_refs(struct flat *f, const flat_ref *refs, size_t count)
{
	align(f, 4, 0);
	for (size_t i = count; i > 0; i--)
		put_ref(f, refs[i - 1]);
	put_number(f, count, 4);
	return (flat_ref)f->size;
}

/* Writes a vector of structures made of 8-byte words. */
static flat_ref flat_words(struct flat *f, const uint64_t *words, size_t count, size_t words_each)
{
	align(f, 8, 0);
	for (size_t i = count * words_each; i > 0; i--)
		put_number(f, words[i - 1], 8);
	put_number(f, count, 4);
	return (flat_ref)f->size;
}

static void flat_table(struct flat *f)
{
	memset(f->fields, 0, sizeof(f->fields));
	f->table_from = (uint32_t)f->size;
}

/* Adds a number of `size` bytes. Fields may come in any order. */
static void flat_number(struct flat *f, int field, uint64_t value, size_t size)
{
	assert(field < FLAT_FIELDS);
	align(f, size, 0);
	put_number(f, value, size);
	f->fields[field] = (uint32_t)f->size;
}

static void flat_field(struct flat *f, int field, flat_ref ref)
{
	assert(field < FLAT_FIELDS);
	put_ref(f, ref);
	f->fields[field] = (uint32_t)f->size;
}

static flat_ref flat_table_end(struct flat *f)
{
	int count = FLAT_FIELDS;
	uint32_t table;

	while (count > 0 && !f->fields[count - 1])
		count--;
	/* a table begins with the distance to its vtable, which precedes it */
	align(f, 4, 0);
	put_number(f, 4 + 2 * (uint64_t)count, 4);
	table = (uint32_t)f->size;
	for (int i = count; i > 0; i--)
		put_number(f, f->fields[i - 1] ? table - f->fields[i - 1] : 0, 2);
	put_number(f, table - f->table_from, 2);
	put_number(f, 4 + 2 * (uint64_t)count, 2);
	return table;
}

/*
 * Finishes the buffer with its root table. The result is f->size bytes, a multiple of 8, at f->data
 * + f->room
 * - f->size.
 */
static void flat_finish(struct flat *f, flat_ref root)
{
	align(f, 8, 4);
	put_ref(f, root);
}

#define MAGIC "ARROW1"
/* Alignment of buffers in bytes. */
#define ALIGNMENT 64
#define BUFFERS_MAX 3

enum { VERSION_5 = 4 };
enum { HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_TEXT = 5, TYPE_BOOL = 6 };
enum { PRECISION_DOUBLE = 2, CODEC_ZSTD = 1 };

/* Location of a message in the file: offset, metadata size, body size. */
struct block {
	uint64_t offset, metadata_size, body_size;
};

struct arrow {
	struct flat flat;
	ZSTD_CCtx *zstd;
	struct bytes body;
	uint64_t *nodes, *buffers; /* owned: pairs of numbers for the current batch */
	size_t node_count, buffer_count;
	struct base_vec batches, dictionaries; /* struct block */
	bool has_dictionaries;                 /* whether the dictionaries were written */
};

/* ---- the schema ---- */

static flat_ref type_table(struct flat *f, const struct export_column *c, uint8_t *type)
{
	flat_table(f);
	switch (c->kind) {
	case EXPORT_I64:
		*type = TYPE_INT;
		flat_number(f, 0, 64, 4);
		flat_number(f, 1, !c->is_unsigned, 1);
		break;
	case EXPORT_F64:
		*type = TYPE_FLOAT;
		flat_number(f, 0, PRECISION_DOUBLE, 2);
		break;
	case EXPORT_BOOL:
		*type = TYPE_BOOL;
		break;
	case EXPORT_TEXT:
		*type = TYPE_TEXT;
		break;
	}
	return flat_table_end(f);
}

/* Describes the dictionary encoding of a column. The dictionary's ID is the column number. */
static flat_ref encoding_table(struct flat *f, size_t no)
{
	flat_ref index;

	flat_table(f);
	flat_number(f, 0, 32, 4);
	flat_number(f, 1, 1, 1);
	index = flat_table_end(f);
	flat_table(f);
	flat_number(f, 0, no, 8);
	flat_field(f, 1, index);
	return flat_table_end(f);
}

static flat_ref field_table(struct flat *f, const struct export_column *c, size_t no)
{
	const flat_ref name = flat_text(f, c->name), children = flat_refs(f, NULL, 0);
	uint8_t type = 0;
	const flat_ref type_ref = type_table(f, c, &type);
	const flat_ref encoding = c->has_dictionary ? encoding_table(f, no) : 0;

	flat_table(f);
	flat_field(f, 0, name);
	flat_field(f, 3, type_ref);
	if (encoding)
		flat_field(f, 4, encoding);
	flat_field(f, 5, children);
	flat_number(f, 1, 1, 1);
	flat_number(f, 2, type, 1);
	return flat_table_end(f);
}

static flat_ref notes_vector(struct flat *f, const char *const *notes)
{
	flat_ref refs[16];
	size_t count = 0;

	for (; notes && notes[2 * count] && count < BASE_COUNT(refs); count++) {
		const flat_ref key = flat_text(f, notes[2 * count]);
		const flat_ref value = flat_text(f, notes[2 * count + 1]);

		flat_table(f);
		flat_field(f, 0, key);
		flat_field(f, 1, value);
		refs[count] = flat_table_end(f);
	}
	return flat_refs(f, refs, count);
}

/* Returns 0 if memory is exhausted. */
static flat_ref schema_table(struct export_writer *w)
{
	struct arrow *a = w->state;
	struct flat *f = &a->flat;
	flat_ref *refs = calloc(w->column_count, sizeof(*refs)), fields, notes;

	if (!refs) {
		f->has_failed = true;
		return 0;
	}
	for (size_t i = 0; i < w->column_count; i++)
		refs[i] = field_table(f, &w->columns[i], i);
	fields = flat_refs(f, refs, w->column_count);
	free(refs);
	notes = notes_vector(f, w->options->notes);
	flat_table(f);
	flat_field(f, 1, fields);
	flat_field(f, 2, notes);
	return flat_table_end(f);
}

/* ---- messages ---- */

/* Finishes a message with this header, and writes the message and its body. */
static int put_message(struct export_writer *w, int type, flat_ref header, struct base_vec *blocks,
		       struct hdb_error *err)
{
	struct arrow *a = w->state;
	struct flat *f = &a->flat;
	BASE_SCOPED(bytes_release) struct bytes start = { 0 };
	flat_ref root;

	flat_table(f);
	flat_number(f, 3, a->body.size, 8);
	flat_field(f, 2, header);
	flat_number(f, 0, VERSION_5, 2);
	flat_number(f, 1, (uint64_t)type, 1);
	root = flat_table_end(f);
	flat_finish(f, root);
	export_bytes_u32(&start, UINT32_MAX);
	export_bytes_u32(&start, (uint32_t)f->size);
	if (f->has_failed || start.failed)
		return export_no_memory(err);
	if (blocks)
		TRY(base_vec_push(blocks,
				  &(struct block){ w->offset, start.size + f->size, a->body.size },
				  sizeof(struct block), err));
	TRY_ERRORS(export_write(w, start.data, start.size, err));
	TRY_ERRORS(export_write(w, f->data + f->room - f->size, f->size, err));
	return export_write(w, a->body.data, a->body.size, err);
}

static int begin(struct export_writer *w, struct hdb_error *err)
{
	const bool is_file = w->options->format == EXPORT_ARROW;
	struct arrow *a = calloc(1, sizeof(*a));
	flat_ref schema;
	int r = HDB_OK;

	w->state = a;
	if (!a)
		return export_no_memory(err);
	a->nodes = calloc(w->column_count, 2 * sizeof(*a->nodes));
	a->buffers = calloc(w->column_count, 2 * BUFFERS_MAX * sizeof(*a->buffers));
	if (!a->nodes || !a->buffers)
		return export_no_memory(err);
	if (!w->options->is_plain)
		TRY(export_zstd_new(w->options, &a->zstd, err));
	if (is_file)
		r = export_write(w, MAGIC "\0\0", 8, err);
	TRY_ERRORS(r);
	flat_begin(&a->flat);
	schema = schema_table(w);
	return put_message(w, HEADER_SCHEMA, schema, NULL, err);
}

/* ---- bodies ---- */

static int put_buffer(struct arrow *a, const void *data, size_t size, struct hdb_error *err)
{
	const size_t at = a->body.size;
	int r = HDB_OK;

	if (size && a->zstd) {
		export_bytes_u64(&a->body, size);
		r = export_zstd_put(a->zstd, data, size, &a->body, err);
	} else {
		bytes_add(&a->body, data, size);
	}
	a->buffers[2 * a->buffer_count] = at;
	a->buffers[2 * a->buffer_count + 1] = a->body.size - at;
	a->buffer_count++;
	export_bytes_align(&a->body, ALIGNMENT);
	return r < 0 ? r : a->body.failed ? export_no_memory(err) : HDB_OK;
}

/* Writes the buffers of a column. If `has_codes` is set, writes the column's dictionary indexes. */
static int put_column(struct arrow *a, const struct ArrowArray *column, enum export_kind kind,
		      bool has_codes, struct hdb_error *err)
{
	const size_t rows = (size_t)column->length;
	const int32_t *offsets = column->buffers[1];
	const bool is_text = kind == EXPORT_TEXT && !has_codes;
	size_t size = 8 * rows;

	if (is_text)
		size = 4 * (rows + 1);
	else if (has_codes)
		size = 4 * rows;
	else if (kind == EXPORT_BOOL)
		size = (rows + 7) / 8;
	a->nodes[2 * a->node_count] = rows;
	a->nodes[2 * a->node_count + 1] = (uint64_t)column->null_count;
	a->node_count++;
	TRY(put_buffer(a, column->buffers[0], column->null_count ? (rows + 7) / 8 : 0, err));
	TRY(put_buffer(a, column->buffers[1], size, err));
	return is_text ? put_buffer(a, column->buffers[2], (size_t)offsets[rows], err) : HDB_OK;
}

static void begin_body(struct arrow *a)
{
	a->body.size = 0;
	a->node_count = a->buffer_count = 0;
	flat_begin(&a->flat);
}

static flat_ref batch_table(struct arrow *a, uint64_t rows)
{
	struct flat *f = &a->flat;
	const flat_ref nodes = flat_words(f, a->nodes, a->node_count, 2);
	const flat_ref buffers = flat_words(f, a->buffers, a->buffer_count, 2);
	flat_ref compression = 0;

	if (a->zstd) {
		flat_table(f);
		flat_number(f, 0, CODEC_ZSTD, 1);
		compression = flat_table_end(f);
	}
	flat_table(f);
	flat_number(f, 0, rows, 8);
	flat_field(f, 1, nodes);
	flat_field(f, 2, buffers);
	if (compression)
		flat_field(f, 3, compression);
	return flat_table_end(f);
}

static int put_dictionaries(struct export_writer *w, const struct ArrowArray *batch,
			    struct hdb_error *err)
{
	struct arrow *a = w->state;
	struct flat *f = &a->flat;

	for (size_t i = 0; i < w->column_count; i++) {
		const struct ArrowArray *names = batch->children[i]->dictionary;
		flat_ref data;

		if (!w->columns[i].has_dictionary)
			continue;
		begin_body(a);
		TRY(put_column(a, names, EXPORT_TEXT, false, err));
		data = batch_table(a, (uint64_t)names->length);
		flat_table(f);
		flat_number(f, 0, i, 8);
		flat_field(f, 1, data);
		TRY_ERRORS(put_message(w, HEADER_DICTIONARY, flat_table_end(f), &a->dictionaries,
				       err));
	}
	return HDB_OK;
}

static int put_batch(struct export_writer *w, const struct ArrowArray *batch, struct hdb_error *err)
{
	struct arrow *a = w->state;

	if (!a->has_dictionaries)
		TRY(put_dictionaries(w, batch, err));
	a->has_dictionaries = true;
	begin_body(a);
	for (size_t i = 0; i < w->column_count; i++)
		TRY(put_column(a, batch->children[i], w->columns[i].kind,
			       w->columns[i].has_dictionary, err));
	return put_message(w, HEADER_BATCH, batch_table(a, (uint64_t)batch->length), &a->batches,
			   err);
}

/* ---- the footer ---- */

static flat_ref blocks_vector(struct flat *f, const struct base_vec *blocks)
{
	uint64_t *words = calloc(blocks->count + 1, 3 * sizeof(*words));
	flat_ref ref = 0;

	if (!words) {
		f->has_failed = true;
		return 0;
	}
	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = base_vec_at(blocks, struct block, i);

		words[3 * i] = block->offset;
		words[3 * i + 1] = block->metadata_size; /* an int32 and four bytes of padding */
		words[3 * i + 2] = block->body_size;
	}
	ref = flat_words(f, words, blocks->count, 3);
	free(words);
	return ref;
}

static int end(struct export_writer *w, struct hdb_error *err)
{
	static const uint8_t over[8] = { 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0 };
	struct arrow *a = w->state;
	struct flat *f = &a->flat;
	BASE_SCOPED(bytes_release) struct bytes last = { 0 };
	flat_ref schema, dictionaries, batches;
	int r = export_write(w, over, sizeof(over), err);

	if (r < 0 || w->options->format != EXPORT_ARROW)
		return r;
	flat_begin(f);
	schema = schema_table(w);
	dictionaries = blocks_vector(f, &a->dictionaries);
	batches = blocks_vector(f, &a->batches);
	flat_table(f);
	flat_field(f, 1, schema);
	flat_field(f, 2, dictionaries);
	flat_field(f, 3, batches);
	flat_number(f, 0, VERSION_5, 2);
	flat_finish(f, flat_table_end(f));
	export_bytes_u32(&last, (uint32_t)f->size);
	bytes_add(&last, MAGIC, 6);
	if (f->has_failed || last.failed)
		return export_no_memory(err);
	TRY(r);
	TRY(export_write(w, f->data + f->room - f->size, f->size, err));
	return export_write(w, last.data, last.size, err);
}

static void release(struct export_writer *w)
{
	struct arrow *a = w->state;

	if (!a)
		return;
	flat_release(&a->flat);
	ZSTD_freeCCtx(a->zstd);
	bytes_release(&a->body);
	free(a->nodes);
	free(a->buffers);
	base_vec_release(&a->batches);
	base_vec_release(&a->dictionaries);
	free(a);
}

const struct export_writing export_arrow = { begin, put_batch, end, release };
