/*
 * import/scan_records.c - the first pass over top-level records: texts, classes, threads, traces,
 * the agent's records.
 */
#include "import/scan.h"

#include "base/bytes.h"

static int scan_utf8(struct scan *s, const struct hprof_utf8 *text, struct hdb_error *err)
{
	struct import *im = s->im;
	const enum hprof_redaction is = hprof_redaction_of(text->text, text->text_size);
	struct import_text_place place;
	int r;

	if (is && (!im->origin.redaction || is < im->origin.redaction))
		im->origin.redaction = is;
	if (text->text_size > STORE_TEXT_MAX) {
		r = import_problem(
			im,
			&(struct import_trouble){ .kind = STORE_PROBLEM_LONG_TEXT,
						  .offset = text->text_offset,
						  .lost_bytes = text->text_size - STORE_TEXT_MAX },
			err, "a text of %" PRIu64 " bytes was cut to %u", text->text_size,
			STORE_TEXT_MAX);
		if (r < 0)
			return r;
	}
	if (im->texts.writer.count >= UINT32_MAX - 2)
		return hdb_fail(err, HDB_ELIMIT, "more than %" PRIu32 " texts", UINT32_MAX - 2);
	place.offset = text->text_offset;
	place.size = text->text_size > STORE_TEXT_MAX ? STORE_TEXT_MAX : (uint32_t)text->text_size;
	if ((r = base_vec_push(&im->texts.places, &place, sizeof(place), err)) != HDB_OK)
		return r;
	r = base_idmap_put(&im->texts.numbers, text->string_id, (uint32_t)im->texts.writer.count,
			   err);
	if (r != HDB_OK)
		return r;
	return store_texts_put(&im->texts.writer, text->text, (size_t)text->text_size, err);
}

static int scan_load_class(struct scan *s, const struct hprof_load_class *load,
			   struct hdb_error *err)
{
	struct import *im = s->im;
	const uint32_t no = (uint32_t)im->records.loads.count;
	int r = base_vec_push(&im->records.loads, load, sizeof(*load), err);

	if (r != HDB_OK)
		return r;
	if ((r = base_idmap_put(&im->records.serial_map, load->class_serial, no, err)) != HDB_OK)
		return r;
	return base_idmap_put(&im->records.load_map, load->class_id, no, err);
}

int import_thread_of(struct import *im, uint32_t serial, struct store_thread **out,
		     struct hdb_error *err)
{
	uint32_t no = base_idmap_get(&im->records.thread_map, serial);
	int r;

	if (no == BASE_IDMAP_NONE) {
		const struct store_thread fresh = {
			.thread_serial = serial,
			.ix = STORE_NONE,
			.name_text = STORE_NONE,
			.group_text = STORE_NONE,
		};

		no = (uint32_t)im->records.threads.count;
		r = base_vec_push(&im->records.threads, &fresh, sizeof(fresh), err);
		if (r == HDB_OK)
			r = base_idmap_put(&im->records.thread_map, serial, no, err);
		if (r < 0)
			return r;
	}
	*out = base_vec_at(&im->records.threads, struct store_thread, no);
	return HDB_OK;
}

static int scan_trace(struct scan *s, const struct hprof_trace *trace, struct hdb_error *err)
{
	struct import *im = s->im;
	const struct store_trace out = {
		.trace_serial = trace->trace_serial,
		.thread_serial = trace->thread_serial,
		.first_frame = im->records.trace_frames.count,
		.frame_count = trace->frame_count,
	};
	int r = base_vec_push(&im->records.traces, &out, sizeof(out), err);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < trace->frame_count; i++) {
		const unsigned size = im->file.id_size;
		const uint8_t *p = base_view_at(&s->view, trace->frames_offset + (uint64_t)i * size,
						size, err);
		uint64_t id;

		if (!p)
			return HDB_ETRUNC;
		id = be_id(p, size);
		if ((r = base_vec_push(&im->records.trace_frames, &id, sizeof(id), err)) < 0)
			return r;
	}
	return r;
}

static int scan_frame(struct scan *s, const struct hprof_frame *frame, struct hdb_error *err)
{
	struct import *im = s->im;
	const struct store_frame out = {
		.frame_id = frame->frame_id,
		.method_text = base_idmap_get(&im->texts.numbers, frame->method_string_id),
		.signature_text = base_idmap_get(&im->texts.numbers, frame->signature_string_id),
		.source_text = base_idmap_get(&im->texts.numbers, frame->source_string_id),
		.class_text = frame->class_serial,
		.line = frame->line,
	};

	return base_vec_push(&im->records.frames, &out, sizeof(out), err);
}

static int scan_alloc_sites(struct scan *s, const struct hprof_alloc_sites *sites,
			    struct hdb_error *err)
{
	int r = HDB_OK;

	for (uint32_t i = 0; i < sites->site_count && r == HDB_OK; i++) {
		struct hprof_alloc_site site;
		struct store_alloc_site out;

		r = hprof_read_alloc_site(&s->view,
					  sites->sites_offset + (uint64_t)i * HPROF_ALLOC_SITE_SIZE,
					  &site, err);
		if (r < 0)
			return r;
		out = (struct store_alloc_site){
			.record_no = s->alloc_records,
			.class_text = site.class_serial,
			.trace_serial = site.trace_serial,
			.live_bytes = site.live_bytes,
			.live_instances = site.live_instances,
			.allocated_bytes = site.allocated_bytes,
			.allocated_instances = site.allocated_instances,
			.flags = sites->flags,
			.array_type = site.array_type,
		};
		r = base_vec_push(&s->im->records.alloc_sites, &out, sizeof(out), err);
	}
	s->alloc_records++;
	return r;
}

static int scan_cpu_samples(struct scan *s, const struct hprof_cpu_samples *samples,
			    struct hdb_error *err)
{
	int r = HDB_OK;

	for (uint32_t i = 0; i < samples->trace_count && r == HDB_OK; i++) {
		const uint8_t *p =
			base_view_at(&s->view, samples->traces_offset + (uint64_t)i * 8, 8, err);
		struct store_cpu_sample out;

		if (!p)
			return HDB_ETRUNC;
		out = (struct store_cpu_sample){
			.record_no = s->cpu_records,
			.sample_count = be32(p),
			.trace_serial = be32(p + 4),
			.total_count = samples->sample_count,
		};
		r = base_vec_push(&s->im->records.cpu_samples, &out, sizeof(out), err);
	}
	s->cpu_records++;
	return r;
}

static int scan_start_thread(struct scan *s, const struct hprof_start_thread *start,
			     struct hdb_error *err)
{
	struct import *im = s->im;
	struct store_thread *thread;
	int r = import_thread_of(im, start->thread_serial, &thread, err);

	if (r < 0)
		return r;
	/* What the heap dump says of the thread is newer, wherever it stands in the file. */
	if (base_idmap_get(&im->records.thread_roots, start->thread_serial) == BASE_IDMAP_NONE) {
		thread->object_id = start->thread_id;
		thread->trace_serial = start->trace_serial;
	} else if (!thread->trace_serial) {
		thread->trace_serial = start->trace_serial;
	}
	thread->name_text = base_idmap_get(&im->texts.numbers, start->name_string_id);
	thread->group_text = base_idmap_get(&im->texts.numbers, start->group_name_string_id);
	return HDB_OK;
}

static int scan_summary(struct scan *s, const struct hprof_record *rec,
			const struct hprof_heap_summary *sum, struct hdb_error *err)
{
	const struct store_heap_summary out = {
		.file_offset = rec->offset,
		.allocated_bytes = sum->allocated_bytes,
		.allocated_instances = sum->allocated_instances,
		.live_bytes = sum->live_bytes,
		.live_instances = sum->live_instances,
	};

	return base_vec_push(&s->im->records.summaries, &out, sizeof(out), err);
}

int import_scan_record(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
{
	const struct hprof_file *file = &s->im->file;
	struct store_thread *thread;
	union {
		struct hprof_utf8 utf8;
		struct hprof_load_class load;
		struct hprof_frame frame;
		struct hprof_trace trace;
		struct hprof_start_thread start;
		struct hprof_heap_summary summary;
		struct hprof_alloc_sites sites;
		struct hprof_cpu_samples samples;
		uint32_t serial;
	} b;
	int r;

	switch (rec->tag) {
	case HPROF_UTF8:
		r = hprof_read_utf8(file, &s->view, rec, &b.utf8, err);
		return r == HDB_OK ? scan_utf8(s, &b.utf8, err) : r;
	case HPROF_LOAD_CLASS:
		r = hprof_read_load_class(file, &s->view, rec, &b.load, err);
		return r == HDB_OK ? scan_load_class(s, &b.load, err) : r;
	case HPROF_FRAME:
		r = hprof_read_frame(file, &s->view, rec, &b.frame, err);
		return r == HDB_OK ? scan_frame(s, &b.frame, err) : r;
	case HPROF_TRACE:
		r = hprof_read_trace(file, &s->view, rec, &b.trace, err);
		return r == HDB_OK ? scan_trace(s, &b.trace, err) : r;
	case HPROF_ALLOC_SITES:
		r = hprof_read_alloc_sites(file, &s->view, rec, &b.sites, err);
		return r == HDB_OK ? scan_alloc_sites(s, &b.sites, err) : r;
	case HPROF_CPU_SAMPLES:
		r = hprof_read_cpu_samples(file, &s->view, rec, &b.samples, err);
		return r == HDB_OK ? scan_cpu_samples(s, &b.samples, err) : r;
	case HPROF_START_THREAD:
		r = hprof_read_start_thread(file, &s->view, rec, &b.start, err);
		return r == HDB_OK ? scan_start_thread(s, &b.start, err) : r;
	case HPROF_END_THREAD:
		r = hprof_read_serial(file, &s->view, rec, &b.serial, err);
		if (r == HDB_OK)
			r = import_thread_of(s->im, b.serial, &thread, err);
		if (r == HDB_OK)
			thread->has_ended = 1;
		return r;
	case HPROF_UNLOAD_CLASS:
		r = hprof_read_serial(file, &s->view, rec, &b.serial, err);
		return r == HDB_OK ? base_vec_push(&s->im->records.unloaded, &b.serial,
						   sizeof(b.serial), err) :
				     r;
	case HPROF_CONTROL_SETTINGS:
		r = hprof_read_control_settings(file, &s->view, rec, &s->im->records.control, err);
		s->im->records.has_control |= r == HDB_OK;
		return r;
	case HPROF_HEAP_SUMMARY:
		r = hprof_read_heap_summary(file, &s->view, rec, &b.summary, err);
		return r == HDB_OK ? scan_summary(s, rec, &b.summary, err) : r;
	default:
		return HDB_OK;
	}
}
