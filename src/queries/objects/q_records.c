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
 * Maximum distance of a missing object from the objects before and after it: they are in the same
 * region.
 */
#define LEFT_OUT_NEAR (1u << 20)

#define DANGLING_COLUMNS(X) \
	X(DANGLING_ID, ID, "id", "missing object", "ID that is missing from the dump") \
	X(DANGLING_REFERENCES, COUNT, "references", "references", \
	  "Number of references to the " \
	  "missing object") \
	X(DANGLING_EXAMPLE, ID, "example", "for example from", \
	  "ID of an object that refers to the missing object") \
	X(DANGLING_EXAMPLE_CLASS, TEXT, "example_class", "of class", \
	  "Class of the referring object") \
	X(DANGLING_LEFT_OUT, BOOL, "left_out", "left out", \
	  "Whether the ID fits between two objects. Empty if IDs are not addresses.")
enum { DANGLING_COLUMNS(QUERY_NUMBER) };
static const struct hdb_column dangling_columns[] = { DANGLING_COLUMNS(QUERY_COLUMN) };

static const struct hdb_column dangling_facts[] = {
	{ "references", HDB_TYPE_COUNT, "references",
	  "Number of references to missing objects. At most 100,000 missing objects are listed." },
	{ "listed", HDB_TYPE_COUNT, "listed", "Number of references to the listed objects" },
	QUERY_CUT_FACTS,
};

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
			  "%" PRIu64 " references to missing objects after the first %" PRIu64
			  ", which the import did not record",
			  all - listed, q->total);
	return HDB_OK;
}

/*
 * Sets *out to whether an object could have been at `id`: the one before ends there or earlier, and
 * the next one starts after it.
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

const struct query_def query_dangling = {
	.spec = {
		.name = "dangling",
		.group = "database", .example = "",
		.targets = "",
		.summary = "Referenced objects that are missing from the dump",
		.options = query_no_options,
		QUERY_COLUMNS(dangling_columns), QUERY_FACTS(dangling_facts), .is_query = 1,
	},
	.no_rows = "every reference leads to an object in the dump",
	.rows_of = STORE_DANGLING, .open = open_dangling, .row = dangling_row,
};

/* ---- records ---- */

#define RECORD_COLUMNS(X) \
	X(RECORD_NAME, TEXT, "name", "record", "Name of the record type") \
	X(RECORD_TAG, ID, "tag", "tag", "Number of the record type in the format") \
	X(RECORD_LEVEL, TEXT, "level", "level", \
	  "Level: \"top\", or \"heap\" for sub-records of heap dumps") \
	X(RECORD_COUNT, COUNT, "records", "records", \
	  "Number of records in the whole file, regardless of the imported snapshot") \
	X(RECORD_BYTES, BYTES, "bytes", "bytes", "Size of the records of this type")
enum { RECORD_COLUMNS(QUERY_NUMBER) };
static const struct hdb_column record_columns[] = { RECORD_COLUMNS(QUERY_COLUMN) };

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

const struct query_def query_records = {
	.spec = {
		.name = "records",
		.group = "database", .example = "",
		.targets = "",
		.never_null = "name|tag|records|bytes",
		.summary = "Record types in the dump, with number and size of records",
		.options = query_no_options,
		QUERY_COLUMNS(record_columns), .is_query = 1,
	},
	.rows_of = STORE_RECORD_COUNTS, .row = record_row,
};

/* ---- allocation sites ---- */

/* Columns about the frames of a record's stack trace. */
#define STACK_COLUMNS \
	{ "frames", HDB_TYPE_COUNT, "frames", "Number of frames in the recorded stack, if any" }, \
		{ "site", HDB_TYPE_TEXT, "in", "Innermost frame" }, \
	{ \
		"stack", HDB_TYPE_TEXT, "called from", "Other frames, innermost first, at most 32" \
	}

/* Sets `frames` and the two columns after it. */
static int set_stack(struct query *q, uint32_t trace_serial, size_t frames, struct hdb_error *err)
{
	struct store_trace trace;

	TRY_FOUND(heap_trace(q->heap, trace_serial, &trace, err));
	query_set(q, frames, trace.frame_count);
	return object_sites_set_stack(q, &trace, frames + 1, frames + 2, err);
}

#define SITE_COLUMNS(X) \
	X(SITE_RECORD, COUNT, "record", "record", \
	  "Number of the ALLOC SITES record, starting " \
	  "at 1") \
	X(SITE_CLASS, TEXT, "class", "class", "Class of the allocated objects") \
	X(SITE_LIVE_OBJECTS, COUNT, "live_objects", "live objects", "Number of live instances") \
	X(SITE_LIVE_BYTES, BYTES, "live_bytes", "live bytes", "Size of the live instances") \
	X(SITE_OBJECTS, COUNT, "allocated_objects", "objects", "Number of allocated instances") \
	X(SITE_BYTES, BYTES, "allocated_bytes", "bytes", "Size of the allocated instances") \
	X(SITE_TRACE, COUNT, "trace", "trace", "Serial number of the stack trace")
enum { SITE_COLUMNS(QUERY_NUMBER) SITE_FRAMES, SITE_SITE, SITE_STACK };
static const struct hdb_column site_columns[] = { SITE_COLUMNS(QUERY_COLUMN) STACK_COLUMNS };

/*
 * Whether HPROF's agent wrote the dump: it records its settings. HotSpot's own dumps have no stack
 * traces of objects.
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

/* Dumps of Android and of HPROF's agent may lack such records but have a trace for each object. */
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

const struct query_def query_alloc_sites = {
	.spec = {
		.name = "alloc-sites",
		.group = "database", .example = "",
		.targets = "",
		.summary = "Allocation sites from the dump's records. Without records, the "
                           "result of object-sites.",
		.options = query_no_options,
		QUERY_COLUMNS(site_columns), .is_query = 1,
	},
	.no_rows = QUERY_NO_STACKS,
	.rows_of = STORE_ALLOC_SITES, .open = open_sites, .row = site_row,
};

/* ---- CPU samples ---- */

#define SAMPLE_COLUMNS(X) \
	X(SAMPLE_RECORD, COUNT, "record", "record", \
	  "Number of the CPU SAMPLES record, starting " \
	  "at 1") \
	X(SAMPLE_COUNT, COUNT, "samples", "samples", "Number of samples with this stack trace") \
	X(SAMPLE_PERCENT, PERCENT, "percent", "%", "Share of the record's samples") \
	X(SAMPLE_TRACE, COUNT, "trace", "trace", "Serial number of the stack trace")
enum { SAMPLE_COLUMNS(QUERY_NUMBER) SAMPLE_FRAMES, SAMPLE_SITE, SAMPLE_STACK };
static const struct hdb_column sample_columns[] = { SAMPLE_COLUMNS(QUERY_COLUMN) STACK_COLUMNS };

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

const struct query_def query_cpu_samples = {
	.spec = {
		.name = "cpu-samples",
		.group = "database", .example = "",
		.targets = "",
		.summary = "CPU samples, if the dump has them", .options = query_no_options,
		QUERY_COLUMNS(sample_columns), .is_query = 1,
	},
	.no_rows = "the dump has no CPU samples: JDK 8 and older write them with "
		   "-agentlib:hprof=cpu=samples,format=b",
	.rows_of = STORE_CPU_SAMPLES, .row = sample_row,
};

/* ---- heap summaries ---- */

#define SUMMARY_COLUMNS(X) \
	X(SUMMARY_RECORD, TEXT, "record", "record", \
	  "Record that contains the totals: HEAP SUMMARY or ALLOC SITES") \
	X(SUMMARY_TIME, DOUBLE, "seconds", "seconds", \
	  "Time from the start of the dump to the record, in seconds. Wraps around after 71 " \
	  "minutes.") \
	X(SUMMARY_LIVE_OBJECTS, COUNT, "live_objects", "live objects", "Number of live instances") \
	X(SUMMARY_LIVE_BYTES, BYTES, "live_bytes", "live bytes", "Size of the live instances") \
	X(SUMMARY_OBJECTS, COUNT, "allocated_objects", "objects", "Number of allocated instances") \
	X(SUMMARY_BYTES, BYTES, "allocated_bytes", "bytes", "Size of the allocated instances") \
	X(SUMMARY_INCREMENTAL, BOOL, "incremental", "incremental", \
	  "Whether ALLOC SITES lists only sites that changed") \
	X(SUMMARY_SORTED_BY, TEXT, "sorted_by", "sorted by", \
	  "Sort order of ALLOC SITES: live or allocated bytes") \
	X(SUMMARY_COLLECTED, BOOL, "collected", "collected", \
	  "Whether a garbage collection preceded ALLOC SITES") \
	X(SUMMARY_CUTOFF, PERCENT, "cutoff_percent", "cutoff", \
	  "Minimum share for a site to be listed in ALLOC SITES") \
	X(SUMMARY_OFFSET, COUNT, "offset", "offset", "Offset of the record in the dump, in bytes")
enum { SUMMARY_COLUMNS(QUERY_NUMBER) };
static const struct hdb_column summary_columns[] = { SUMMARY_COLUMNS(QUERY_COLUMN) };

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

const struct query_def query_heap_summaries = {
	.spec = {
		.name = "heap-summaries",
		.group = "database", .example = "",
		.targets = "",
		.summary = "Heap summaries of HPROF agents, and totals of their allocation sites",
		.options = query_no_options,
		QUERY_COLUMNS(summary_columns),
		.is_query = 1,
	},
	.no_rows = "the dump has no such records: only HPROF agents of JDK 8 and older write them, "
		   "with -agentlib:hprof=heap=all,format=b",
	.rows_of = STORE_HEAP_SUMMARIES, .row = summary_row,
};
