/*
 * import/scan_records.c - the part of the first pass that reads top-level records: strings,
 * classes, threads, traces, and records of profiling agents.
 */
#include "import/scan.h"

#include "base/bytes.h"

/* How many IDs ahead to prefetch map slots. */
#define TEXTS_AHEAD 16u

int import_scan_texts(struct scan *s, struct hdb_error *err)
{
	struct import_texts *texts = &s->im->texts;
	const uint64_t *ids = s->waiting.data;
	const size_t n = s->waiting.count;
	const uint32_t first = (uint32_t)(texts->places.count - n);

	if (!n)
		return HDB_OK;
	TRY(base_idmap_reserve(&texts->places_by_id, texts->places_by_id.count + n, err));
	for (size_t i = 0; i < n; i++) {
		if (n - i > TEXTS_AHEAD)
			base_idmap_prefetch(&texts->places_by_id, ids[i + TEXTS_AHEAD]);
		TRY(base_idmap_put(&texts->places_by_id, ids[i], first + (uint32_t)i, err));
	}
	s->waiting.count = 0;
	return HDB_OK;
}

static int scan_redaction_mark(struct scan *s, const struct hprof_record *rec,
			       struct hdb_error *err)
{
	const size_t size = sizeof(HPROF_REDACTED_BY_ANALYZER) - 1;
	const uint8_t *p;

	if (rec->body_size < size)
		return HDB_OK;
	p = base_view_at(&s->view, rec->body_offset, size, err);
	if (!p)
		return HDB_EIO;
	if (memcmp(p, HPROF_REDACTED_BY_ANALYZER, size) == 0)
		s->im->origin.redaction = HPROF_IS_REDACTED;
	return HDB_OK;
}

static int scan_utf8(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	struct import *im = s->im;
	struct import_text_place place;
	enum hprof_redaction is;
	struct hprof_utf8 text;

	TRY(hprof_read_utf8(&im->file, &s->view, rec, &text, err));
	is = hprof_redaction_of(text.text, text.text_size);
	if (is && (!im->origin.redaction || is < im->origin.redaction))
		im->origin.redaction = is;
	(void)hprof_phd_of(text.text, text.text_size, &im->origin.phd);
	if (im->texts.places.count >= UINT32_MAX - 2)
		return hdb_fail(err, HDB_ELIMIT, "too many strings (limit %" PRIu32 ")",
				UINT32_MAX - 2);
	place = (struct import_text_place){ text.text_offset, (uint32_t)text.text_size,
					    STORE_NONE };
	TRY(base_vec_push(&im->texts.places, &place, sizeof(place), err));
	TRY(base_vec_push(&s->waiting, &text.string_id, sizeof(text.string_id), err));
	return s->waiting.count < TEXTS_WAITING ? HDB_OK : import_scan_texts(s, err);
}

static int scan_load_class(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	struct import *im = s->im;
	const uint32_t no = (uint32_t)im->records.loads.count;
	struct hprof_load_class load;

	TRY(hprof_read_load_class(&im->file, &s->view, rec, &load, err));
	TRY(base_vec_push(&im->records.loads, &load, sizeof(load), err));
	TRY(base_idmap_put(&im->records.serial_map, load.class_serial, no, err));
	return base_idmap_put(&im->records.load_map, load.class_id, no, err);
}

int import_thread_of(struct import *im, uint32_t serial, struct store_thread **out,
		     struct hdb_error *err)
{
	uint32_t no = base_idmap_get(&im->records.thread_map, serial);

	if (no == BASE_IDMAP_NONE) {
		const struct store_thread fresh = {
			.thread_serial = serial,
			.ix = STORE_NONE,
			.name_text = STORE_NONE,
			.group_text = STORE_NONE,
		};

		no = (uint32_t)im->records.threads.count;
		TRY(base_vec_push(&im->records.threads, &fresh, sizeof(fresh), err));
		TRY(base_idmap_put(&im->records.thread_map, serial, no, err));
	}
	*out = base_vec_at(&im->records.threads, struct store_thread, no);
	return HDB_OK;
}

/* Stores the IDs of the frames, because the FRAME records may follow later in the file. */
static int scan_trace(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	struct import *im = s->im;
	struct hprof_trace trace;
	struct store_trace out;

	TRY(hprof_read_trace(&im->file, &s->view, rec, &trace, err));
	out = (struct store_trace){
		.trace_serial = trace.trace_serial,
		.thread_serial = trace.thread_serial,
		.first_frame = im->records.trace_frames.count,
		.frame_count = trace.frame_count,
	};
	TRY(base_vec_push(&im->records.traces, &out, sizeof(out), err));
	for (uint32_t i = 0; i < trace.frame_count; i++) {
		const unsigned size = im->file.id_size;
		const uint8_t *p =
			base_view_at(&s->view, trace.frames_offset + (uint64_t)i * size, size, err);
		uint64_t id;

		if (!p)
			return HDB_ETRUNC;
		id = be_id(p, size);
		TRY(base_vec_push(&im->records.trace_frames, &id, sizeof(id), err));
	}
	return HDB_OK;
}

static int scan_frame(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	struct import *im = s->im;
	struct hprof_frame frame;
	struct store_frame out;

	TRY(hprof_read_frame(&im->file, &s->view, rec, &frame, err));
	out = (struct store_frame){
		.frame_id = frame.frame_id,
		.method_text = import_text_place_no(im, frame.method_string_id),
		.signature_text = import_text_place_no(im, frame.signature_string_id),
		.source_text = import_text_place_no(im, frame.source_string_id),
		.class_text = frame.class_serial,
		.line = frame.line,
	};
	return base_vec_push(&im->records.frames, &out, sizeof(out), err);
}

static int scan_alloc_sites(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	struct hprof_alloc_sites sites;
	struct store_heap_summary total;

	TRY(hprof_read_alloc_sites(&s->im->file, &s->view, rec, &sites, err));
	for (uint32_t i = 0; i < sites.site_count; i++) {
		struct hprof_alloc_site site;
		struct store_alloc_site out;

		TRY(hprof_read_alloc_site(&s->view,
					  sites.sites_offset + (uint64_t)i * HPROF_ALLOC_SITE_SIZE,
					  &site, err));
		out = (struct store_alloc_site){
			.record_no = s->alloc_records,
			.class_text = site.class_serial,
			.trace_serial = site.trace_serial,
			.live_bytes = site.live_bytes,
			.live_instances = site.live_instances,
			.allocated_bytes = site.allocated_bytes,
			.allocated_instances = site.allocated_instances,
			.flags = sites.flags,
			.array_type = site.array_type,
		};
		TRY(base_vec_push(&s->im->records.alloc_sites, &out, sizeof(out), err));
	}
	s->alloc_records++;
	total = (struct store_heap_summary){
		.file_offset = rec->offset,
		.time_us = rec->time_us,
		.allocated_bytes = sites.allocated_bytes,
		.allocated_instances = sites.allocated_instances,
		.live_bytes = sites.live_bytes,
		.live_instances = sites.live_instances,
		.cutoff_ratio_bits = sites.cutoff_ratio_bits,
		.flags = sites.flags,
		.is_alloc_sites = 1,
	};
	return base_vec_push(&s->im->records.summaries, &total, sizeof(total), err);
}

static int scan_cpu_samples(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	struct hprof_cpu_samples samples;

	TRY(hprof_read_cpu_samples(&s->im->file, &s->view, rec, &samples, err));
	for (uint32_t i = 0; i < samples.trace_count; i++) {
		const uint8_t *p =
			base_view_at(&s->view, samples.traces_offset + (uint64_t)i * 8, 8, err);
		struct store_cpu_sample out;

		if (!p)
			return HDB_ETRUNC;
		out = (struct store_cpu_sample){
			.record_no = s->cpu_records,
			.sample_count = be32(p),
			.trace_serial = be32(p + 4),
			.total_count = samples.sample_count,
		};
		TRY(base_vec_push(&s->im->records.cpu_samples, &out, sizeof(out), err));
	}
	s->cpu_records++;
	return HDB_OK;
}

static int scan_start_thread(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	struct import *im = s->im;
	struct hprof_start_thread start;
	struct store_thread_start parent = { .parent_group_text = STORE_NONE };
	struct store_thread *thread;

	TRY(hprof_read_start_thread(&im->file, &s->view, rec, &start, err));
	TRY(import_thread_of(im, start.thread_serial, &thread, err));
	/*
	 * The THREAD_OBJECT root in the heap dump is more recent than this record, regardless of
	 * its position in the file.
	 */
	if (base_idmap_get(&im->records.thread_roots, start.thread_serial) == BASE_IDMAP_NONE) {
		thread->object_id = start.thread_id;
		thread->trace_serial = start.trace_serial;
	} else if (!thread->trace_serial) {
		thread->trace_serial = start.trace_serial;
	}
	thread->name_text = import_text_place_no(im, start.name_string_id);
	thread->group_text = import_text_place_no(im, start.group_name_string_id);
	parent.thread_serial = start.thread_serial;
	parent.parent_group_text = import_text_place_no(im, start.parent_group_name_string_id);
	return base_vec_push(&im->records.thread_starts, &parent, sizeof(parent), err);
}

static int scan_summary(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	struct hprof_heap_summary sum;
	struct store_heap_summary out;

	TRY(hprof_read_heap_summary(&s->im->file, &s->view, rec, &sum, err));
	out = (struct store_heap_summary){
		.file_offset = rec->offset,
		.time_us = rec->time_us,
		.allocated_bytes = sum.allocated_bytes,
		.allocated_instances = sum.allocated_instances,
		.live_bytes = sum.live_bytes,
		.live_instances = sum.live_instances,
	};
	return base_vec_push(&s->im->records.summaries, &out, sizeof(out), err);
}

static int scan_end_thread(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	struct store_thread *thread;
	uint32_t serial;

	TRY(hprof_read_serial(&s->im->file, &s->view, rec, &serial, err));
	TRY(import_thread_of(s->im, serial, &thread, err));
	thread->has_ended = 1;
	return HDB_OK;
}

static int scan_unload_class(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	uint32_t serial;

	TRY(hprof_read_serial(&s->im->file, &s->view, rec, &serial, err));
	return base_vec_push(&s->im->records.unloaded, &serial, sizeof(serial), err);
}

static int scan_control_settings(struct scan *s, const struct hprof_record *rec,
				 struct hdb_error *err)
{
	struct import_records *records = &s->im->records;

	TRY(hprof_read_control_settings(&s->im->file, &s->view, rec, &records->control, err));
	records->has_control = true;
	return HDB_OK;
}

int import_scan_record(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	if (rec->tag == HPROF_UTF8)
		return scan_utf8(s, rec, err);
	/*
	 * Any record other than a string may refer to the strings before it, so add these strings
	 * to the map first.
	 */
	TRY(import_scan_texts(s, err));
	switch (rec->tag) {
	case HPROF_LOAD_CLASS:
		return scan_load_class(s, rec, err);
	case HPROF_FRAME:
		return scan_frame(s, rec, err);
	case HPROF_TRACE:
		return scan_trace(s, rec, err);
	case HPROF_ALLOC_SITES:
		return scan_alloc_sites(s, rec, err);
	case HPROF_CPU_SAMPLES:
		return scan_cpu_samples(s, rec, err);
	case HPROF_START_THREAD:
		return scan_start_thread(s, rec, err);
	case HPROF_END_THREAD:
		return scan_end_thread(s, rec, err);
	case HPROF_UNLOAD_CLASS:
		return scan_unload_class(s, rec, err);
	case HPROF_CONTROL_SETTINGS:
		return scan_control_settings(s, rec, err);
	case HPROF_HEAP_SUMMARY:
		return scan_summary(s, rec, err);
	case HPROF_REDACTION_MARK:
		return scan_redaction_mark(s, rec, err);
	default:
		return HDB_OK;
	}
}
