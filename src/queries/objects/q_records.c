/*
 * queries/objects/q_records.c - queries about small records of the dump: missing objects, counts of
 * records, allocation sites, CPU samples, heap summaries.
 */
#include "heap/heap_database.h"
#include "heap/threads.h"
#include "hprof/reader.h"
#include "queries/android/object_sites.h"
#include "queries/queries.h"
#include "query/table_rows.h"

#include <math.h>

/* ---- dangling ---- */

/*
 * Maximum distance of a missing object from the objects before and after it, so that all three are
 * likely in the same heap region.
 */
#define LEFT_OUT_NEAR (1u << 20)

/* Columns for the frames of a record's stack trace. */
#define STACK_COLUMNS \
	{ "frames", HDB_TYPE_COUNT, "frames", "Number of frames in the recorded stack, if any" }, \
		{ "site", HDB_TYPE_TEXT, "in", "Innermost frame" }, \
	{ \
		"stack", HDB_TYPE_TEXT, "called from", "Other frames, innermost first, at most 32" \
	}

#include <queries/objects/q_records.query.h>

static int open_dangling(struct query *q, struct hdb_error *err)
{
	const uint64_t all = heap_meta_number(q->heap, "references.dangling", 0);
	struct store_dangling dangling;
	uint64_t listed = 0;

	for (uint64_t i = 0; i < q->total; i++) {
		TRY(heap_record(q->heap, STORE_DANGLING, i, &dangling, err));
		listed += dangling.reference_count;
	}
	query_fact(q, "references", all);
	query_fact(q, "listed", listed);
	if (all > listed)
		query_cut(q, NULL,
			  "%" PRIu64 " references to missing objects (the import recorded only the "
			  "first %" PRIu64 " missing objects)",
			  all - listed, q->total);
	return HDB_OK;
}

/*
 * Sets *out to whether an object may have been at `id`: the previous object ends at or before `id`,
 * and the next object starts after it.
 */
static int is_left_out(struct query *q, uint64_t id, bool *out, struct hdb_error *err)
{
	struct heap_object before;
	uint64_t before_id, next_id = UINT64_MAX;
	uint32_t ix;

	*out = false;
	TRY_FOUND(heap_find_before(q->heap, id, &ix, err));
	TRY_FOUND(heap_object(q->heap, ix, &before, err));
	TRY_FOUND(heap_id(q->heap, ix, &before_id, err));
	if (ix + 1 < q->heap->object_count)
		TRY_FOUND(heap_id(q->heap, ix + 1, &next_id, err));
	*out = id - before_id >= before.shallow_bytes &&
	       id - before_id - before.shallow_bytes < LEFT_OUT_NEAR &&
	       next_id - id < LEFT_OUT_NEAR && id % q->heap->layout.align_bytes == 0;
	return HDB_OK;
}

static int dangling_row(struct query *q, size_t no, struct hdb_error *err)
{
	bool left_out;
	struct store_dangling dangling;

	TRY(query_record(q, no, &dangling, err));
	query_set(q, DANGLING_ID, dangling.object_id);
	query_set(q, DANGLING_REFERENCES, dangling.reference_count);
	if (heap_meta_number(q->heap, "sizes.has_addresses", 0) &&
	    query_is_shown(q, DANGLING_LEFT_OUT)) {
		TRY(is_left_out(q, dangling.object_id, &left_out, err));
		query_set(q, DANGLING_LEFT_OUT, left_out);
	}
	if (dangling.example_ix >= q->heap->object_count)
		return HDB_OK;
	query_set_id(q, DANGLING_EXAMPLE, dangling.example_ix);
	query_set_class_of(q, DANGLING_EXAMPLE_CLASS, dangling.example_ix);
	return HDB_OK;
}

QUERY_DEFINE(dangling, .rows_of = STORE_DANGLING, .open = open_dangling, .row = dangling_row);

/* ---- records ---- */

static int record_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct store_record_count record;
	const char *name;

	TRY(query_record(q, no, &record, err));
	name = record.is_sub ? hprof_sub_name((uint8_t)record.tag) :
			       hprof_tag_name((uint8_t)record.tag);
	query_set(q, RECORD_TAG, record.tag);
	query_lend_text(q, RECORD_LEVEL, record.is_sub ? "heap" : "top");
	query_set(q, RECORD_COUNT, record.count);
	query_set(q, RECORD_BYTES, record.bytes);
	query_set_text(q, RECORD_NAME, name ? name : "unknown record");
	return HDB_OK;
}

QUERY_DEFINE(records, .rows_of = STORE_RECORD_COUNTS, .row = record_row);

/* ---- allocation sites ---- */

/* Sets `frames` and the two columns after it. */
static int set_stack(struct query *q, uint32_t trace_serial, size_t frames, struct hdb_error *err)
{
	struct store_trace trace;

	TRY_FOUND(heap_trace(q->heap, trace_serial, &trace, err));
	query_set(q, frames, trace.frame_count);
	return object_sites_set_stack(q, &trace, frames + 1, frames + 2, err);
}

/*
 * Sets *out to whether HPROF's agent wrote the dump, judging by the settings that only the agent
 * records. HotSpot's own dumps have no stack traces of objects.
 */
static int is_of_agent(struct query *q, bool *out, struct hdb_error *err)
{
	const uint64_t count = heap_record_count(q->heap, STORE_RECORD_COUNTS);
	struct store_record_count record;
	int r;

	*out = false;
	for (uint64_t i = 0; i < count && !*out; i++) {
		TRY_ERRORS(r = heap_record(q->heap, STORE_RECORD_COUNTS, i, &record, err));
		*out = r == HDB_OK && !record.is_sub && record.tag == HPROF_CONTROL_SETTINGS;
	}
	return HDB_OK;
}

/*
 * Opens the sites. Dumps of Android and of HPROF's agent may lack the records of sites but have a
 * trace for each object.
 */
static int open_sites(struct query *q, struct hdb_error *err)
{
	bool has_traces = q->heap->is_android;

	if (!has_traces)
		TRY(is_of_agent(q, &has_traces, err));
	if (has_traces && !q->total)
		return query_become(q, &query_object_sites, err);
	return HDB_OK;
}

static int site_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct store_alloc_site site;

	TRY(query_record(q, no, &site, err));
	query_set(q, SITE_RECORD, (uint64_t)site.record_no + 1);
	query_set(q, SITE_LIVE_OBJECTS, site.live_instances);
	query_set(q, SITE_LIVE_BYTES, site.live_bytes);
	query_set(q, SITE_OBJECTS, site.allocated_instances);
	query_set(q, SITE_BYTES, site.allocated_bytes);
	query_set(q, SITE_TRACE, site.trace_serial);
	query_set_dump_text(q, SITE_CLASS, site.class_text);
	return set_stack(q, site.trace_serial, SITE_FRAMES, err);
}

QUERY_DEFINE(alloc_sites, .rows_of = STORE_ALLOC_SITES, .open = open_sites, .row = site_row);

/* ---- CPU samples ---- */

static int sample_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct store_cpu_sample sample;

	TRY(query_record(q, no, &sample, err));
	query_set(q, SAMPLE_RECORD, (uint64_t)sample.record_no + 1);
	query_set(q, SAMPLE_COUNT, sample.sample_count);
	if (sample.total_count)
		query_set_double(q, SAMPLE_PERCENT,
				 100.0 * sample.sample_count / sample.total_count);
	query_set(q, SAMPLE_TRACE, sample.trace_serial);
	return set_stack(q, sample.trace_serial, SAMPLE_FRAMES, err);
}

QUERY_DEFINE(cpu_samples, .rows_of = STORE_CPU_SAMPLES, .row = sample_row);

/* ---- heap summaries ---- */

static int summary_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct store_heap_summary summary;
	float cutoff;

	TRY(query_record(q, no, &summary, err));
	query_set_text(q, SUMMARY_RECORD, summary.is_alloc_sites ? "ALLOC SITES" : "HEAP SUMMARY");
	query_set_double(q, SUMMARY_TIME, (double)summary.time_us / 1e6);
	query_set(q, SUMMARY_OFFSET, summary.file_offset);
	query_set(q, SUMMARY_LIVE_OBJECTS, summary.live_instances);
	query_set(q, SUMMARY_LIVE_BYTES, summary.live_bytes);
	query_set(q, SUMMARY_OBJECTS, summary.allocated_instances);
	query_set(q, SUMMARY_BYTES, summary.allocated_bytes);
	if (!summary.is_alloc_sites)
		return HDB_OK;
	memcpy(&cutoff, &summary.cutoff_ratio_bits, sizeof(cutoff));
	query_set(q, SUMMARY_INCREMENTAL, (summary.flags & HPROF_SITES_INCREMENTAL) != 0);
	query_set_text(q, SUMMARY_SORTED_BY,
		       summary.flags & HPROF_SITES_BY_ALLOCATION ? "allocated" : "live");
	query_set(q, SUMMARY_COLLECTED, (summary.flags & HPROF_SITES_COLLECTED) != 0);
	if (isfinite(cutoff))
		query_set_double(q, SUMMARY_CUTOFF, 100.0 * (double)cutoff);
	return HDB_OK;
}

QUERY_DEFINE(heap_summaries, .rows_of = STORE_HEAP_SUMMARIES, .row = summary_row);
