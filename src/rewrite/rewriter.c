/* rewrite/rewriter.c - walks the dump, collects sub-records in segments, and writes the output. */
#include "rewrite/rewriter.h"

#include "base/base_text.h"
#include "base/bytes.h"
#include "base/unpack.h"
#include "hprof/emptied.h"

#include <assert.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

/* Size of a segment. A larger sub-record gets its own segment. */
#define SEGMENT_BYTES (4u << 20)
/* Number of bytes to copy, and of IDs to convert, at a time. */
#define COPY_BYTES (256u << 10)
#define COPY_IDS 512u
/* Number of events between two progress updates and checks of the cancel flag. */
#define STEP_EVENTS 8192u
/* Size of a record header: tag, time, length. */
#define RECORD_HEAD 9u
/* String ID of the marker, which no VM uses. */
#define MARKER_ID 0xfffffffffffffffdull

/* ---- opening ---- */

static int open_source(struct rewriter *w, struct rewrite_paths paths, struct hdb_error *err)
{
	struct base_input *input = paths.input;
	size_t damage;
	int r;

	if (!input)
		TRY(base_input_open(paths.in, w->work->progress.cancel, &input, err));
	r = base_unpack_open(input, w->work, &w->source, err);
	(void)base_input_damage(input, &damage);
	w->result.problem_count += damage;
	if (!paths.input)
		base_input_close(input);
	return r;
}

enum base_packing rewrite_packing(const struct hdb_output_options *options, const char *path)
{
	switch (options->packing) {
	case HDB_PACKING_NONE:
		return BASE_PLAIN;
	case HDB_PACKING_GZIP:
		return BASE_GZIP;
	case HDB_PACKING_ZSTD:
		return BASE_ZSTD;
	case HDB_PACKING_AUTO:
		break;
	}
	if (base_ends_with(path, ".gz"))
		return BASE_GZIP;
	return base_ends_with(path, ".zst") ? BASE_ZSTD : BASE_PLAIN;
}

/* Reads the header. Prefixes error messages with the file name. */
static int open_header(struct rewriter *w, const char *in_path, struct hdb_error *err)
{
	struct hdb_error why;
	const int r = hprof_open(w->source, &w->file, &why);

	w->file.cancel = w->work->progress.cancel;
	return r < 0 ? hdb_fail(err, r, "%s: %s", in_path, why.message) :
		       hprof_find_emptied(&w->file, err);
}

int rewriter_check_output(const char *in, const char *out, struct hdb_error *err)
{
	if (!in || base_names_stdout(out) || !base_is_same_file(in, out))
		return HDB_OK;
	return hdb_fail(err, HDB_EUSAGE,
			"%s: this is the dump to read; write to another file, because this one "
			"would be lost",
			out);
}

int rewriter_open(struct rewriter *w, struct rewrite_paths paths,
		  const struct hdb_output_options *options, struct base_work *work,
		  struct hdb_error *err)
{
	const struct base_outfile_options out = {
		.packing = rewrite_packing(options, paths.out),
		.force = options->force != 0,
	};

	memset(w, 0, sizeof(*w));
	TRY(rewriter_check_output(paths.in, paths.out, err));
	w->work = work;
	w->options = options;
	TRY(BASE_ALLOC(w->segment, SEGMENT_BYTES, "a segment", err));
	TRY_ERRORS(base_outfile_create(paths.out, &out, &w->out, err));
	TRY(open_source(w, paths, err));
	TRY_ERRORS(open_header(w, paths.in, err));
	w->version = w->file.version;
	w->id_size = w->file.id_size;
	w->view.src = w->source;
	w->result.dump_bytes = w->source->size;
	return HDB_OK;
}

void rewriter_close(struct rewriter *w)
{
	base_view_release(&w->view);
	base_source_close(w->source);
	base_outfile_abort(w->out);
	free(w->segment);
	memset(w, 0, sizeof(*w));
}

int rewriter_survey(struct rewriter *w, const char *stage,
		    int (*take)(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
				struct hdb_error *err),
		    void *ctx, struct hdb_error *err)
{
	struct hprof_walk walk;
	enum hprof_event event;
	uint64_t events = 0;
	int r;

	base_stage(w->work, stage, w->source->size, "bytes");
	hprof_walk_init(&walk, &w->file);
	while ((r = hprof_walk_next(&walk, &event, err)) == HDB_OK) {
		if ((r = take(ctx, &walk, event, err)) < 0)
			break;
		if (++events % STEP_EVENTS == 0 && (r = base_step(w->work, walk.position, err)) < 0)
			break;
	}
	hprof_walk_release(&walk);
	return r < 0 ? r : HDB_OK;
}

int rewriter_finish(struct rewriter *w, struct hdb_output_result *out, struct hdb_error *err)
{
	struct base_outfile *file = w->out;

	TRY(w->source->check(w->source, err));
	w->out = NULL; /* freed below, even on failure */
	TRY(base_outfile_finish(file, &w->result.file_bytes, err));
	if (out)
		*out = w->result;
	return HDB_OK;
}

/* ---- writing ---- */

static int put_head(struct rewriter *w, uint8_t tag, uint32_t time_us, uint64_t size,
		    struct hdb_error *err)
{
	uint8_t head[RECORD_HEAD] = { tag };

	assert(w->out);
	put_be32(head + 1, time_us);
	/*
	 * A length of 4 GiB or more wraps around. VMs write such lengths, too, and readers expect
	 * them.
	 */
	put_be32(head + 5, (uint32_t)size);
	return base_outfile_write(w->out, head, sizeof(head), err);
}

/* Writes the collected sub-records as a segment. */
static int flush(struct rewriter *w, struct hdb_error *err)
{
	const size_t used = w->used;

	assert(w->used <= SEGMENT_BYTES);
	if (w->left)
		return hdb_fail(err, HDB_EBUG, "%" PRIu64 " bytes of a record were not written",
				w->left);
	w->used = 0;
	if (!used)
		return HDB_OK;
	TRY(put_head(w, HPROF_HEAP_DUMP_SEGMENT, 0, used, err));
	return base_outfile_write(w->out, w->segment, used, err);
}

int rewriter_begin(struct rewriter *w, uint64_t size, struct hdb_error *err)
{
	assert(w->used <= SEGMENT_BYTES);
	assert(w->segment);
	if (w->left || size > SEGMENT_BYTES - w->used)
		TRY(flush(w, err));
	w->left = size;
	w->is_direct = size > SEGMENT_BYTES;
	return w->is_direct ? put_head(w, HPROF_HEAP_DUMP_SEGMENT, 0, size, err) : HDB_OK;
}

int rewriter_record(struct rewriter *w, const struct hprof_record *rec, uint64_t size,
		    struct hdb_error *err)
{
	TRY(flush(w, err));
	w->left = size;
	w->is_direct = true;
	return put_head(w, rec->tag, rec->time_us, size, err);
}

int rewriter_put(struct rewriter *w, const void *data, uint64_t size, struct hdb_error *err)
{
	assert(data || !size);
	assert(w->is_direct || w->left <= SEGMENT_BYTES - w->used);
	if (size > w->left)
		return hdb_fail(err, HDB_EBUG, "a record grew while being written");
	w->left -= size;
	if (w->is_direct)
		return base_outfile_write(w->out, data, size, err);
	memcpy(w->segment + w->used, data, size);
	w->used += size;
	return HDB_OK;
}

int rewriter_zeros(struct rewriter *w, uint64_t size, struct hdb_error *err)
{
	static const uint8_t zeros[4096];

	while (size) {
		const uint64_t n = size < sizeof(zeros) ? size : sizeof(zeros);

		TRY(rewriter_put(w, zeros, n, err));
		size -= n;
	}
	return HDB_OK;
}

int rewriter_put_id(struct rewriter *w, uint64_t id, struct hdb_error *err)
{
	uint8_t bytes[8];

	put_be64(bytes, id);
	return rewriter_put(w, bytes + 8 - w->id_size, w->id_size, err);
}

int rewriter_copy(struct rewriter *w, uint64_t offset, uint64_t size, struct hdb_error *err)
{
	while (size) {
		const uint64_t n = size < COPY_BYTES ? size : COPY_BYTES;
		const uint8_t *p = base_view_at(&w->view, offset, n, err);

		if (!p)
			return HDB_EIO;
		TRY(rewriter_put(w, p, n, err));
		/*
		 * Only long copies report progress here. run() reports the progress of everything
		 * else.
		 */
		if (size > COPY_BYTES)
			TRY(base_step(w->work, offset, err));
		offset += n;
		size -= n;
	}
	return HDB_OK;
}

static int narrow(const struct rewriter *w, uint64_t id, uint64_t offset, struct hdb_error *err)
{
	if (w->id_size == 8 || id <= UINT32_MAX || id == MARKER_ID)
		return HDB_OK;
	return hdb_fail(err, HDB_ELIMIT,
			"ID 0x%" PRIx64 " at offset %" PRIu64 " does not fit in 4 bytes: this "
			"dump requires 8-byte IDs",
			id, offset);
}

/* Reads `count` IDs at `offset`, and writes them to `out` in the other size. */
static int turn_ids(struct rewriter *w, uint64_t offset, uint64_t count, uint8_t *out,
		    struct hdb_error *err)
{
	const unsigned from = w->file.id_size;
	const uint8_t *p = base_view_at(&w->view, offset, count * from, err);

	assert(w->id_size == 4 || w->id_size == 8);
	if (!p)
		return HDB_EIO;
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t id = be_id(p + i * from, from);

		TRY(narrow(w, id, offset + i * from, err));
		if (w->id_size == 8)
			put_be64(out + i * 8, id);
		else
			put_be32(out + i * 4, (uint32_t)id);
	}
	return HDB_OK;
}

int rewriter_copy_ids(struct rewriter *w, uint64_t offset, uint64_t count, struct hdb_error *err)
{
	const unsigned from = w->file.id_size, to = w->id_size;
	uint8_t out[COPY_IDS * 8];

	if (from == to)
		return rewriter_copy(w, offset, count * from, err);
	while (count) {
		const uint64_t n = count < COPY_IDS ? count : COPY_IDS;

		TRY(turn_ids(w, offset, n, out, err));
		TRY(rewriter_put(w, out, n * to, err));
		offset += n * from;
		count -= n;
	}
	return HDB_OK;
}

int rewriter_keep(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err)
{
	const uint64_t size = sub->end - sub->offset;

	TRY(rewriter_begin(w, size, err));
	/*
	 * The reader reports this tag for any array without contents, even if the dump has another
	 * tag.
	 */
	if (sub->tag != HPROF_PRIMITIVE_ARRAY_NODATA)
		return rewriter_copy(w, sub->offset, size, err);
	TRY(rewriter_put(w, &sub->tag, 1, err));
	return rewriter_copy(w, sub->offset + 1, size - 1, err);
}

int rewriter_keep_record(struct rewriter *w, const struct hprof_record *rec, struct hdb_error *err)
{
	TRY(rewriter_record(w, rec, rec->body_size, err));
	return rewriter_copy(w, rec->body_offset, rec->body_size, err);
}

/* ---- the whole dump ---- */

int rewriter_copy_all(struct rewriter *w, struct hdb_error *err)
{
	base_stage(w->work, "writing", w->source->size, "bytes");
	w->left = w->source->size;
	w->is_direct = true;
	return rewriter_copy(w, 0, w->source->size, err);
}

static int put_marker(struct rewriter *w, struct hdb_error *err)
{
	const size_t size = strlen(w->policy->marker);
	const struct hprof_record rec = { .tag = HPROF_UTF8 };

	TRY(rewriter_record(w, &rec, w->id_size + size, err));
	TRY(rewriter_put_id(w, MARKER_ID, err));
	return rewriter_put(w, w->policy->marker, size, err);
}

/* Writes the header with the output's version and ID size, then the marker. */
static int put_header(struct rewriter *w, struct hdb_error *err)
{
	const uint64_t size = w->file.first_record;
	uint8_t head[64];
	const uint8_t *p = base_view_at(&w->view, 0, size, err);

	if (!p || size > sizeof(head))
		return HDB_EIO;
	memcpy(head, p, size);
	head[17] = (uint8_t)('0' + w->version);
	put_be32(head + size - 12, w->id_size);
	TRY(base_outfile_write(w->out, head, size, err));
	return w->policy->marker ? put_marker(w, err) : HDB_OK;
}

static bool is_object(uint8_t tag)
{
	return (tag >= HPROF_INSTANCE_DUMP && tag <= HPROF_PRIMITIVE_ARRAY_DUMP) ||
	       tag == HPROF_PRIMITIVE_ARRAY_NODATA;
}

static int take_sub(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err)
{
	w->result.object_count += is_object(sub->tag);
	if (sub->tag == HPROF_HEAP_DUMP_INFO)
		w->heap = sub->id;
	if (w->policy->app_only && (w->heap == 'Z' || w->heap == 'I') && is_object(sub->tag)) {
		w->result.dropped_count++;
		return HDB_OK;
	}
	return w->policy->sub(w->policy->ctx, w, sub, err);
}

/* Ends a HEAP DUMP record. Its contents were written as segments, which require an end record. */
static int end_heap(struct rewriter *w, struct hdb_error *err)
{
	if (w->walk.record.tag != HPROF_HEAP_DUMP)
		return HDB_OK;
	TRY(flush(w, err));
	return put_head(w, HPROF_HEAP_DUMP_END, 0, 0, err);
}

static int take_event(struct rewriter *w, enum hprof_event event, struct hdb_error *err)
{
	const struct rewrite_policy *policy = w->policy;

	switch (event) {
	case HPROF_EVENT_RECORD:
		return policy->record ? policy->record(policy->ctx, w, &w->walk.record, err) :
					rewriter_keep_record(w, &w->walk.record, err);
	case HPROF_EVENT_HEAP_BEGIN:
		w->heap = 0;
		return HDB_OK;
	case HPROF_EVENT_SUB:
		return take_sub(w, &w->walk.sub, err);
	case HPROF_EVENT_HEAP_END:
		return end_heap(w, err);
	case HPROF_EVENT_PROBLEM:
		w->result.problem_count++;
		return HDB_OK;
	}
	return HDB_OK;
}

static int run(struct rewriter *w, struct hdb_error *err)
{
	enum hprof_event event;
	int r;

	TRY(put_header(w, err));
	while ((r = hprof_walk_next(&w->walk, &event, err)) == HDB_OK) {
		TRY(take_event(w, event, err));
		if (++w->events % STEP_EVENTS == 0)
			TRY(base_step(w->work, w->walk.position, err));
	}
	return r == HDB_END ? flush(w, err) : r;
}

int rewriter_run(struct rewriter *w, const struct rewrite_policy *policy, struct hdb_error *err)
{
	int r;

	assert(policy->sub);
	w->policy = policy;
	if (w->version == HPROF_1_0_1)
		w->version = HPROF_1_0_2; /* 1.0.1 has no segments */
	base_stage(w->work, "writing", w->source->size, "bytes");
	hprof_walk_init(&w->walk, &w->file);
	r = run(w, err);
	hprof_walk_release(&w->walk);
	return r;
}
