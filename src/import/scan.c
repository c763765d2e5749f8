/*
 * import/scan.c - the first pass: reads every record of the dump once, in file order.
 *
 * It collects the set of object IDs, the classes, the positions of strings, the roots, threads,
 * traces, frames and heaps, and the records of profiling agents. It does not read the contents of
 * objects. Worker threads prescan chunks of the file. The calling thread follows with the walk.
 * Only the walk decides which records are in the dump. The walk takes the results of a prescan if
 * they begin exactly at its position, and otherwise reads record by record; see prescan.h.
 */
#include "import/scan.h"

#include "base/pipeline.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Number of records between two progress reports. */
#define STEP_RECORDS 65536

/*
 * Number of chunks read ahead: PRESCAN_SLOTS per thread. If the budget is at least
 * PRESCAN_SLOTS_MEMORY, PRESCAN_SLOTS_MORE are added, because the walk is slow at the strings and
 * classes at the beginning of a dump. The results of one chunk take about half a megabyte.
 */
#define PRESCAN_SLOTS 3u
#define PRESCAN_SLOTS_MORE 16u
#define PRESCAN_SLOTS_MEMORY ((uint64_t)256 << 20)

static int scan_record(struct scan *s, struct hdb_error *err)
{
	const struct hprof_record *rec = &s->walk.record;
	struct store_record_count *count = &s->im->records.counts[0][rec->tag];
	int r;

	count->count++;
	count->bytes += rec->body_size;
	r = import_scan_record(s, rec, err);
	if (r == HDB_EFORMAT || r == HDB_ETRUNC)
		return import_problem(s->im,
				      &(struct import_trouble){ .kind = HPROF_PROBLEM_BAD_RECORD,
								.offset = rec->offset,
								.lost_bytes = rec->body_size },
				      err, "%s", err ? err->message : "cannot parse a record");
	return r;
}

/*
 * Records which data of the imported heap dump is lost because of a problem. Problems of other heap
 * dumps in the file are ignored.
 */
static void note_lost(struct scan *s, const struct hprof_problem *p)
{
	struct import *im = s->im;

	if (s->walk.ended_count + 1 != im->origin.snapshot)
		return;
	switch (p->kind) {
	case HPROF_PROBLEM_TRUNCATED:
		im->damage.incomplete |= STORE_LACKS_END;
		im->damage.missing_bytes = p->missing_bytes;
		(void)snprintf(im->damage.cut, sizeof(im->damage.cut), "%s", p->message);
		break;
	case HPROF_PROBLEM_RECORD_LENGTH:
	case HPROF_PROBLEM_UNKNOWN_SUB_TAG:
	case HPROF_PROBLEM_SUB_OVERRUN:
		if (p->lost_bytes)
			im->damage.incomplete |= STORE_LACKS_BYTES;
		im->damage.skipped_bytes += p->lost_bytes;
		break;
	case HPROF_PROBLEM_UNKNOWN_TAG:
	case HPROF_PROBLEM_SEGMENT_LENGTH:
	case HPROF_PROBLEM_BAD_RECORD:
	case HPROF_PROBLEM_TRAILING_BYTES:
	case HPROF_PROBLEM_COMPRESSION:
	case HPROF_PROBLEM_EMPTIED:
		break; /* damage of these kinds does not lose any objects */
	}
}

static int scan_event(struct scan *s, enum hprof_event event, struct hdb_error *err)
{
	const struct hprof_problem *p = &s->walk.problem;

	switch (event) {
	case HPROF_EVENT_SUB:
		return import_scan_sub(s, err);
	case HPROF_EVENT_RECORD:
		return scan_record(s, err);
	case HPROF_EVENT_HEAP_BEGIN:
		s->im->records.counts[0][s->walk.record.tag].count++;
		s->im->records.counts[0][s->walk.record.tag].bytes += s->walk.record.body_size;
		if (s->walk.snapshot > s->im->origin.snapshot_count)
			s->im->origin.snapshot_count = s->walk.snapshot;
		return HDB_OK;
	case HPROF_EVENT_PROBLEM:
		if (s->im->opt->strict)
			return hdb_fail(err, HDB_EFORMAT, "%s: %s", s->im->source->path,
					p->message);
		note_lost(s, p);
		return import_problem(s->im,
				      &(struct import_trouble){ .kind = p->kind,
								.offset = p->offset,
								.lost_bytes = p->lost_bytes },
				      err, "%s", p->message);
	default:
		return HDB_OK;
	}
}

/* ---- using the results of prescans ---- */

/* Adds the classes of a run in order of first appearance. */
static int take_classes(struct scan *s, const struct import_prescan *a,
			const struct import_prescan_run *run, struct hdb_error *err)
{
	for (size_t i = 0; i < run->class_count; i++) {
		const struct import_prescan_class *seen =
			base_vec_at(&a->classes, struct import_prescan_class, run->first_class + i);
		struct import_class *class;
		uint32_t no;

		TRY(import_scan_class_no(s, seen->class_id, &no, err));
		class = import_class_at(s->im, no);
		if (seen->max_body > class->max_body)
			class->max_body = seen->max_body;
		if (seen->is_array)
			class->out.flags |= STORE_CLASS_ARRAY;
	}
	return HDB_OK;
}

/*
 * Adds MAT's evidence from a run, including the pair of the last array before the run and the first
 * array of the run.
 */
static void take_arrays(struct import *im, const struct import_prescan_run *run)
{
	if (!run->count[1])
		return;
	if (im->file.id_size == 8) {
		im->evidence.array_overlap += run->array_overlap;
		if (run->first_array > im->evidence.previous_array &&
		    run->first_array < im->evidence.previous_array_end)
			im->evidence.array_overlap++;
	}
	im->evidence.previous_array = run->last_array;
	im->evidence.previous_array_end = run->last_array_end;
}

/*
 * Adds the objects of a run. If the set already contains one of the IDs, changes nothing and
 * returns HDB_END, so that the walk reports the duplicate.
 */
static int take_objects(struct scan *s, const struct import_prescan *a,
			const struct import_prescan_run *run, struct hdb_error *err)
{
	struct import *im = s->im;
	const uint64_t *ids = base_vec_at(&a->ids, uint64_t, run->first_id);
	size_t added;
	int r = import_idset_add_many(&im->ids, ids, run->id_count, &added, err);

	assert(added <= run->id_count);
	assert(r != HDB_OK || added == run->id_count);
	if (r == HDB_END)
		import_idset_remove(&im->ids, ids, added);
	TRY(r);
	TRY(take_classes(s, a, run, err));
	take_arrays(im, run);
	for (unsigned t = 0; t < 16; t++)
		im->records.primitive_used[t] |= run->primitive_used >> t & 1;
	return import_locator_add_run(
		&im->locator, (struct import_extent){ run->start, run->last.end },
		base_vec_at(&a->pieces, struct import_piece, run->first_piece), run->piece_count,
		err);
}

/*
 * Uses a run if it begins at the position of the walk. Returns HDB_END if the walk must read record
 * by record.
 */
static int take_run(struct scan *s, const struct import_prescan *a,
		    const struct import_prescan_run *run, struct hdb_error *err)
{
	if (!hprof_walk_would_meet(&s->walk, run->start, &run->last))
		return HDB_END;
	if (s->walk.snapshot == s->im->origin.snapshot)
		TRY(take_objects(s, a, run, err));
	for (unsigned k = 0; k < 3; k++) {
		s->im->records.counts[1][HPROF_INSTANCE_DUMP + k].count += run->count[k];
		s->im->records.counts[1][HPROF_INSTANCE_DUMP + k].bytes += run->bytes[k];
	}
	hprof_walk_skip(&s->walk, &run->last);
	assert(s->walk.position == run->last.end);
	return HDB_OK;
}

/* Performs one step of the walk. */
static int step(struct scan *s, struct hdb_error *err)
{
	enum hprof_event event;
	int r = hprof_walk_next(&s->walk, &event, err);

	if (r == HDB_END) {
		s->is_done = true;
		return HDB_OK;
	}
	TRY_ERRORS(r);
	TRY_ERRORS(scan_event(s, event, err));
	if (++s->events % STEP_RECORDS)
		return HDB_OK;
	return base_step(s->im->work, s->walk.position, err);
}

/* Moves the walk to the end of a chunk, using the runs of its prescan where possible. */
static int walk_chunk(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct scan *s = ctx;
	const struct import_prescan *a = &s->chunks[slot];
	const uint64_t end = (item + 1) * PRESCAN_CHUNK_BYTES;
	size_t next = 0;
	int r;

	TRY(base_step(s->im->work, s->walk.position, err));
	while (!s->is_done && s->walk.position < end) {
		while (next < a->runs.count &&
		       base_vec_at(&a->runs, struct import_prescan_run, next)->start <
			       s->walk.position)
			next++;
		r = HDB_END;
		if (next < a->runs.count)
			r = take_run(s, a, base_vec_at(&a->runs, struct import_prescan_run, next),
				     err);
		if (r == HDB_END)
			r = step(s, err);
		TRY(r);
	}
	return HDB_OK;
}

static int read_chunk(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct scan *s = ctx;
	const uint64_t from = item * PRESCAN_CHUNK_BYTES;
	const uint64_t left = s->im->source->size - from;

	return import_prescan_read(&s->chunks[slot], &s->im->file, from,
				   from + (left < PRESCAN_CHUNK_BYTES ? left : PRESCAN_CHUNK_BYTES),
				   err);
}

static int scan_chunks(struct scan *s, struct hdb_error *err)
{
	struct import *im = s->im;
	const struct base_pipeline pipeline = {
		.item_count = (im->source->size + PRESCAN_CHUNK_BYTES - 1) / PRESCAN_CHUNK_BYTES,
		.threads = im->work->threads,
		.slot_count =
			PRESCAN_SLOTS * im->work->threads +
			(im->work->memory_bytes < PRESCAN_SLOTS_MEMORY ? 0 : PRESCAN_SLOTS_MORE),
		.ctx = s,
		.produce = read_chunk,
		.consume = walk_chunk,
	};
	int r;

	TRY(BASE_ALLOC(s->chunks, pipeline.slot_count, "reading ahead", err));
	r = base_pipeline_run(&pipeline, err);
	/* Reads the rest of the file after the last chunk. */
	while (!s->is_done && r == HDB_OK)
		r = step(s, err);
	for (unsigned i = 0; i < pipeline.slot_count; i++)
		import_prescan_release(&s->chunks[i]);
	free(s->chunks);
	return r;
}

int import_scan(struct import *im, struct hdb_error *err)
{
	struct scan s = { .im = im, .view = { .src = im->source } };
	int r;

	for (unsigned i = 0; i < CLASS_CACHE; i++)
		s.cache_no[i] = STORE_NONE;
	base_stage(im->work, "scanning", im->source->size, "bytes");
	hprof_walk_init(&s.walk, &im->file);
	r = scan_chunks(&s, err);
	if (r == HDB_OK)
		r = import_scan_texts(&s, err);
	hprof_walk_release(&s.walk);
	base_view_release(&s.view);
	base_vec_release(&s.waiting);
	TRY(r);
	return im->source->check(im->source, err);
}
