/*
 * rewrite/rewriter.c - the walk, the segments, the output.
 */
#include "rewrite/rewriter.h"

#include "base/bytes.h"
#include "base/unpack.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a segment that is written; a longer sub-record has one of its own. */
#define SEGMENT_BYTES (4u << 20)
/* Bytes that are copied at a time. */
#define COPY_BYTES (256u << 10)
/* Between two looks at progress and the cancel flag. */
#define STEP_EVENTS 8192u
/* zstd's level in the scratch file. */
#define SCRATCH_LEVEL 1
/* Head of a top-level record. */
#define RECORD_HEAD 9u
/* ID of the marker's text; no VM gives it to one. */
#define MARKER_ID 0xfffffffffffffffdull

/* ---- opening ---- */

/* A plain file is mapped, anything else goes into a scratch file first. */
static int open_source(struct rewriter *w, const char *in_path, struct hdb_error *err)
{
	struct base_input *input;
	int r = base_input_open(in_path, &input, err);

	if (r < 0)
		return r;
	if (base_input_is_file(input) && base_input_packing(input) == BASE_PLAIN) {
		r = base_map_open(in_path, BASE_SEQUENTIAL, &w->source, err);
	} else {
		const struct base_unpack unpack = {
			.input = input,
			.work = w->work,
			.level = SCRATCH_LEVEL,
		};
		size_t damage;

		r = base_unpack_to_scratch(&unpack, &w->source, err);
		(void)base_input_damage(input, &damage);
		w->result.problem_count += damage;
	}
	base_input_close(input);
	return r;
}

static enum base_packing packing_of(const struct hdb_output_options *options, const char *path)
{
	const size_t n = strlen(path);

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
	if (n > 3 && strcmp(path + n - 3, ".gz") == 0)
		return BASE_GZIP;
	return n > 4 && strcmp(path + n - 4, ".zst") == 0 ? BASE_ZSTD : BASE_PLAIN;
}

/* The header's message does not know the file's name. */
static int open_header(struct rewriter *w, const char *in_path, struct hdb_error *err)
{
	struct hdb_error why;
	const int r = hprof_open(w->source, &w->file, &why);

	return r < 0 ? hdb_fail(err, r, "%s: %s", in_path, why.message) : r;
}

int rewriter_open(struct rewriter *w, const char *in_path, const char *out_path,
		  const struct hdb_output_options *options, struct base_work *work,
		  struct hdb_error *err)
{
	const struct base_outfile_options out = {
		.packing = packing_of(options, out_path),
		.force = options->force != 0,
	};
	int r;

	memset(w, 0, sizeof(*w));
	w->work = work;
	w->options = options;
	w->segment = malloc(SEGMENT_BYTES);
	if (!w->segment)
		return hdb_fail_memory(err, "a segment", SEGMENT_BYTES);
	r = base_outfile_create(out_path, &out, &w->out, err);
	if (r == HDB_OK)
		r = open_source(w, in_path, err);
	if (r == HDB_OK)
		r = open_header(w, in_path, err);
	if (r < 0)
		return r;
	w->version = w->file.version;
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

int rewriter_finish(struct rewriter *w, struct hdb_error *err)
{
	struct base_outfile *out = w->out;
	int r = w->source->check(w->source, err);

	if (r < 0)
		return r;
	w->out = NULL; /* freed, whatever comes of it */
	return base_outfile_finish(out, &w->result.file_bytes, err);
}

/* ---- writing ---- */

static int put_head(struct rewriter *w, uint8_t tag, uint64_t size, struct hdb_error *err)
{
	uint8_t head[RECORD_HEAD] = { tag };

	/* What is longer than a length can say wraps, as VMs write it. */
	put_be32(head + 5, (uint32_t)size);
	return base_outfile_write(w->out, head, sizeof(head), err);
}

/* Writes the sub-records that wait as a segment. */
static int flush(struct rewriter *w, struct hdb_error *err)
{
	int r;

	if (!w->used)
		return HDB_OK;
	r = put_head(w, HPROF_HEAP_DUMP_SEGMENT, w->used, err);
	if (r == HDB_OK)
		r = base_outfile_write(w->out, w->segment, w->used, err);
	w->used = 0;
	return r;
}

int rewriter_begin(struct rewriter *w, uint64_t size, struct hdb_error *err)
{
	int r = HDB_OK;

	if (size > SEGMENT_BYTES - w->used)
		r = flush(w, err);
	if (size <= SEGMENT_BYTES || r < 0)
		return r;
	w->direct_left = size;
	return put_head(w, HPROF_HEAP_DUMP_SEGMENT, size, err);
}

int rewriter_put(struct rewriter *w, const void *data, uint64_t size, struct hdb_error *err)
{
	if (w->direct_left) {
		if (size > w->direct_left)
			return hdb_fail(err, HDB_EBUG, "a sub-record grew while it was written");
		w->direct_left -= size;
		return base_outfile_write(w->out, data, size, err);
	}
	if (size > SEGMENT_BYTES - w->used)
		return hdb_fail(err, HDB_EBUG, "a sub-record grew while it was written");
	memcpy(w->segment + w->used, data, size);
	w->used += size;
	return HDB_OK;
}

int rewriter_zeros(struct rewriter *w, uint64_t size, struct hdb_error *err)
{
	static const uint8_t zeros[4096];
	int r = HDB_OK;

	while (size && r == HDB_OK) {
		const uint64_t n = size < sizeof(zeros) ? size : sizeof(zeros);

		r = rewriter_put(w, zeros, n, err);
		size -= n;
	}
	return r;
}

int rewriter_copy(struct rewriter *w, uint64_t offset, uint64_t size, struct hdb_error *err)
{
	int r = HDB_OK;

	while (size && r == HDB_OK) {
		const uint64_t n = size < COPY_BYTES ? size : COPY_BYTES;
		const uint8_t *p = base_view_at(&w->view, offset, n, err);

		if (!p)
			return HDB_EIO;
		r = rewriter_put(w, p, n, err);
		offset += n;
		size -= n;
	}
	return r;
}

int rewriter_keep(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err)
{
	const int r = rewriter_begin(w, sub->end - sub->offset, err);

	return r == HDB_OK ? rewriter_copy(w, sub->offset, sub->end - sub->offset, err) : r;
}

/* ---- all of it ---- */

/* Bytes of the dump to the output, outside heap dumps. */
static int copy_out(struct rewriter *w, uint64_t offset, uint64_t size, struct hdb_error *err)
{
	int r = HDB_OK;

	while (size && r == HDB_OK) {
		const uint64_t n = size < COPY_BYTES ? size : COPY_BYTES;
		const uint8_t *p = base_view_at(&w->view, offset, n, err);

		if (!p)
			return HDB_EIO;
		r = base_outfile_write(w->out, p, n, err);
		if (r == HDB_OK && ++w->events % 64 == 0)
			r = base_step(w->work, offset, err);
		offset += n;
		size -= n;
	}
	return r;
}

int rewriter_copy_all(struct rewriter *w, struct hdb_error *err)
{
	base_stage(w->work, "writing", w->source->size, "bytes");
	return copy_out(w, 0, w->source->size, err);
}

/* The header, with the version of the output, and the marker. */
static int put_header(struct rewriter *w, struct hdb_error *err)
{
	const unsigned id_size = w->file.id_size;
	const uint8_t *p = base_view_at(&w->view, 0, w->file.first_record, err);
	uint8_t head[64], id[8];
	int r;

	if (!p || w->file.first_record > sizeof(head))
		return HDB_EIO;
	memcpy(head, p, w->file.first_record);
	head[17] = (uint8_t)('0' + w->version);
	r = base_outfile_write(w->out, head, w->file.first_record, err);
	if (r < 0 || !w->policy->marker)
		return r;
	put_be64(id, MARKER_ID);
	r = put_head(w, HPROF_UTF8, id_size + strlen(w->policy->marker), err);
	if (r == HDB_OK)
		r = base_outfile_write(w->out, id + 8 - id_size, id_size, err);
	return r == HDB_OK ? base_outfile_write(w->out, w->policy->marker,
						strlen(w->policy->marker), err) :
			     r;
}

static int take_record(struct rewriter *w, struct hdb_error *err)
{
	const struct hprof_record *rec = &w->walk.record;
	const int r = flush(w, err);

	return r == HDB_OK ? copy_out(w, rec->offset, RECORD_HEAD + rec->body_size, err) : r;
}

static bool is_object(uint8_t tag)
{
	return (tag >= HPROF_INSTANCE_DUMP && tag <= HPROF_PRIMITIVE_ARRAY_DUMP) ||
	       tag == HPROF_PRIMITIVE_ARRAY_NODATA;
}

static int take_event(struct rewriter *w, enum hprof_event event, struct hdb_error *err)
{
	int r = HDB_OK;

	switch (event) {
	case HPROF_EVENT_RECORD:
		return take_record(w, err);
	case HPROF_EVENT_HEAP_BEGIN:
		if (w->policy->heap)
			w->policy->heap(w->policy->ctx);
		return HDB_OK;
	case HPROF_EVENT_SUB:
		w->result.object_count += is_object(w->walk.sub.tag);
		return w->policy->sub(w->policy->ctx, w, &w->walk.sub, err);
	case HPROF_EVENT_HEAP_END:
		/* One that is no segment is a dump by itself: its segments need an end. */
		if (w->walk.record.tag != HPROF_HEAP_DUMP)
			return HDB_OK;
		r = flush(w, err);
		return r == HDB_OK ? put_head(w, HPROF_HEAP_DUMP_END, 0, err) : r;
	case HPROF_EVENT_PROBLEM:
		w->result.problem_count++;
		return HDB_OK;
	}
	return HDB_OK;
}

int rewriter_run(struct rewriter *w, const struct rewrite_policy *policy, struct hdb_error *err)
{
	enum hprof_event event;
	int r;

	w->policy = policy;
	if (w->version == HPROF_1_0_1)
		w->version = HPROF_1_0_2; /* which has segments */
	base_stage(w->work, "writing", w->source->size, "bytes");
	r = put_header(w, err);
	hprof_walk_init(&w->walk, &w->file);
	while (r == HDB_OK) {
		r = hprof_walk_next(&w->walk, &event, err);
		if (r != HDB_OK)
			break;
		r = take_event(w, event, err);
		if (r == HDB_OK && ++w->events % STEP_EVENTS == 0)
			r = base_step(w->work, w->walk.position, err);
	}
	if (r == HDB_END)
		r = flush(w, err);
	hprof_walk_release(&w->walk);
	return r;
}
