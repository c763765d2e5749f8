/*
 * import/scan.c - the first pass: every record of the dump once, in file order.
 *
 * Collects the set of object IDs, the classes, the texts (written at once), roots, threads, traces, frames, heaps
 * and the agent's records; does not look into objects.
 */
#include "import/state.h"

#include "base/bytes.h"
#include "base/pipeline.h"
#include "import/ahead.h"

#include <stdlib.h>

/* Records between two reports of progress. */
#define STEP_RECORDS 65536
/* Remembers the last classes by a hash of their ID: nearly every object is of one of few classes. */
#define CLASS_CACHE 1024u

struct scan {
	struct import *im;
	struct hprof_walk walk;
	struct base_view view;        /* for bodies of top-level records */
	uint64_t cache_id[CLASS_CACHE];
	uint32_t cache_no[CLASS_CACHE];
	uint32_t heap_no;
	uint32_t alloc_records, cpu_records;
	struct ahead *chunks;         /* one a slot of the pipeline */
	uint64_t events;
	bool is_done;                 /* the walk has ended */
};

/* ---- top-level records ---- */

static int scan_utf8(struct scan *s, const struct hprof_utf8 *text, struct hdb_error *err)
{
	struct import *im = s->im;
	struct import_text_place place;
	int r;

	if (text->text_size > STORE_TEXT_MAX) {
		r = import_problem(im, STORE_PROBLEM_LONG_TEXT, text->text_offset,
				   text->text_size - STORE_TEXT_MAX, 0, err,
				   "a text of %" PRIu64 " bytes was cut to %u", text->text_size,
				   STORE_TEXT_MAX);
		if (r < 0)
			return r;
	}
	if (im->texts.count >= UINT32_MAX - 2)
		return hdb_fail(err, HDB_ELIMIT, "more than %" PRIu32 " texts", UINT32_MAX - 2);
	place.offset = text->text_offset;
	place.size = text->text_size > STORE_TEXT_MAX ? STORE_TEXT_MAX : (uint32_t)text->text_size;
	r = base_vec_push(&im->text_places, &place, sizeof(place), err);
	if (r == HDB_OK)
		r = base_idmap_put(&im->text_map, text->string_id, (uint32_t)im->texts.count, err);
	if (r == HDB_OK)
		r = store_texts_put(&im->texts, text->text, (size_t)text->text_size, err);
	return r;
}

static int scan_load_class(struct scan *s, const struct hprof_load_class *load,
			   struct hdb_error *err)
{
	struct import *im = s->im;
	const uint32_t no = (uint32_t)im->loads.count;
	int r = base_vec_push(&im->loads, load, sizeof(*load), err);

	if (r == HDB_OK)
		r = base_idmap_put(&im->serial_map, load->class_serial, no, err);
	if (r == HDB_OK)
		r = base_idmap_put(&im->load_map, load->class_id, no, err);
	return r;
}

static int thread_of(struct import *im, uint32_t serial, struct store_thread **out,
		     struct hdb_error *err)
{
	uint32_t no = base_idmap_get(&im->thread_map, serial);
	int r;

	if (no == BASE_IDMAP_NONE) {
		const struct store_thread fresh = {
			.thread_serial = serial, .ix = STORE_NONE, .name_text = STORE_NONE,
			.group_text = STORE_NONE,
		};

		no = (uint32_t)im->threads.count;
		r = base_vec_push(&im->threads, &fresh, sizeof(fresh), err);
		if (r == HDB_OK)
			r = base_idmap_put(&im->thread_map, serial, no, err);
		if (r < 0)
			return r;
	}
	*out = base_vec_at(&im->threads, struct store_thread, no);
	return HDB_OK;
}

static int scan_trace(struct scan *s, const struct hprof_trace *trace, struct hdb_error *err)
{
	struct import *im = s->im;
	const struct store_trace out = {
		.trace_serial = trace->trace_serial, .thread_serial = trace->thread_serial,
		.first_frame = im->trace_frames.count, .frame_count = trace->frame_count,
	};
	int r = base_vec_push(&im->traces, &out, sizeof(out), err);

	for (uint32_t i = 0; i < trace->frame_count && r == HDB_OK; i++) {
		const unsigned size = im->file.id_size;
		const uint8_t *p = base_view_at(&s->view, trace->frames_offset + (uint64_t)i * size,
						size, err);
		uint64_t id;

		if (!p)
			return HDB_ETRUNC;
		id = be_id(p, size);
		r = base_vec_push(&im->trace_frames, &id, sizeof(id), err);
	}
	return r;
}

static int scan_frame(struct scan *s, const struct hprof_frame *frame, struct hdb_error *err)
{
	struct import *im = s->im;
	const struct store_frame out = {
		.frame_id = frame->frame_id,
		.method_text = base_idmap_get(&im->text_map, frame->method_string_id),
		.signature_text = base_idmap_get(&im->text_map, frame->signature_string_id),
		.source_text = base_idmap_get(&im->text_map, frame->source_string_id),
		.class_text = frame->class_serial,
		.line = frame->line,
	};

	return base_vec_push(&im->frames, &out, sizeof(out), err);
}

static int scan_alloc_sites(struct scan *s, const struct hprof_alloc_sites *sites,
			    struct hdb_error *err)
{
	int r = HDB_OK;

	for (uint32_t i = 0; i < sites->site_count && r == HDB_OK; i++) {
		struct hprof_alloc_site site;
		struct store_alloc_site out;

		r = hprof_read_alloc_site(&s->view, sites->sites_offset +
					  (uint64_t)i * HPROF_ALLOC_SITE_SIZE, &site, err);
		if (r < 0)
			return r;
		out = (struct store_alloc_site){
			.record_no = s->alloc_records, .class_text = site.class_serial,
			.trace_serial = site.trace_serial, .live_bytes = site.live_bytes,
			.live_instances = site.live_instances,
			.allocated_bytes = site.allocated_bytes,
			.allocated_instances = site.allocated_instances, .flags = sites->flags,
			.array_type = site.array_type,
		};
		r = base_vec_push(&s->im->alloc_sites, &out, sizeof(out), err);
	}
	s->alloc_records++;
	return r;
}

static int scan_cpu_samples(struct scan *s, const struct hprof_cpu_samples *samples,
			    struct hdb_error *err)
{
	int r = HDB_OK;

	for (uint32_t i = 0; i < samples->trace_count && r == HDB_OK; i++) {
		const uint8_t *p = base_view_at(&s->view, samples->traces_offset + (uint64_t)i * 8,
						8, err);
		struct store_cpu_sample out;

		if (!p)
			return HDB_ETRUNC;
		out = (struct store_cpu_sample){
			.record_no = s->cpu_records, .sample_count = be32(p),
			.trace_serial = be32(p + 4), .total_count = samples->sample_count,
		};
		r = base_vec_push(&s->im->cpu_samples, &out, sizeof(out), err);
	}
	s->cpu_records++;
	return r;
}

static int scan_start_thread(struct scan *s, const struct hprof_start_thread *start,
			     struct hdb_error *err)
{
	struct import *im = s->im;
	struct store_thread *thread;
	int r = thread_of(im, start->thread_serial, &thread, err);

	if (r < 0)
		return r;
	thread->object_id = start->thread_id;
	thread->trace_serial = start->trace_serial;
	thread->name_text = base_idmap_get(&im->text_map, start->name_string_id);
	thread->group_text = base_idmap_get(&im->text_map, start->group_name_string_id);
	return HDB_OK;
}

static int scan_summary(struct scan *s, const struct hprof_record *rec,
			const struct hprof_heap_summary *sum, struct hdb_error *err)
{
	const struct store_heap_summary out = {
		.file_offset = rec->offset, .allocated_bytes = sum->allocated_bytes,
		.allocated_instances = sum->allocated_instances, .live_bytes = sum->live_bytes,
		.live_instances = sum->live_instances,
	};

	return base_vec_push(&s->im->summaries, &out, sizeof(out), err);
}

/* Reads one record's body and keeps it. A body that does not parse is a problem, not a failure. */
static int read_record(struct scan *s, const struct hprof_record *rec, struct hdb_error *err)
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
			r = thread_of(s->im, b.serial, &thread, err);
		if (r == HDB_OK)
			thread->has_ended = 1;
		return r;
	case HPROF_UNLOAD_CLASS:
		r = hprof_read_serial(file, &s->view, rec, &b.serial, err);
		return r == HDB_OK ? base_vec_push(&s->im->unloaded, &b.serial, sizeof(b.serial),
						   err) : r;
	case HPROF_CONTROL_SETTINGS:
		r = hprof_read_control_settings(file, &s->view, rec, &s->im->control, err);
		s->im->has_control |= r == HDB_OK;
		return r;
	case HPROF_HEAP_SUMMARY:
		r = hprof_read_heap_summary(file, &s->view, rec, &b.summary, err);
		return r == HDB_OK ? scan_summary(s, rec, &b.summary, err) : r;
	default:
		return HDB_OK;
	}
}

static int scan_record(struct scan *s, struct hdb_error *err)
{
	const struct hprof_record *rec = &s->walk.record;
	struct store_record_count *count = &s->im->counts[0][rec->tag];
	int r;

	count->count++;
	count->bytes += rec->body_size;
	r = read_record(s, rec, err);
	if (r == HDB_EFORMAT || r == HDB_ETRUNC)
		return import_problem(s->im, HPROF_PROBLEM_BAD_RECORD, rec->offset, rec->body_size,
				      0, err, "%s", err ? err->message : "a record does not parse");
	return r;
}

/* ---- heap sub-records ---- */

static int class_no(struct scan *s, uint64_t class_id, uint32_t *no, struct hdb_error *err)
{
	const uint32_t slot = (uint32_t)((class_id * 0x9e3779b97f4a7c15ull) >> 32) &
			      (CLASS_CACHE - 1);
	int r;

	if (s->cache_id[slot] == class_id && s->cache_no[slot] != STORE_NONE) {
		*no = s->cache_no[slot];
		return HDB_OK;
	}
	r = import_class_of(s->im, class_id, no, err);
	if (r < 0)
		return r;
	s->cache_id[slot] = class_id;
	s->cache_no[slot] = *no;
	return HDB_OK;
}

static int scan_class(struct scan *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct import_class *class;
	struct hprof_class dump;
	uint32_t no;
	int r = hprof_class_read(&s->im->file, &s->walk.view, sub, &dump, err);

	if (r == HDB_OK)
		r = class_no(s, sub->id, &no, err);
	if (r < 0)
		return r;
	class = import_class_at(s->im, no);
	class->has_dump = 1;
	class->super_id = dump.super_id;
	class->statics_offset = dump.statics_offset;
	class->fields_offset = dump.fields_offset;
	class->out.loader_id = dump.loader_id;
	class->out.signers_id = dump.signers_id;
	class->out.protection_domain_id = dump.protection_domain_id;
	class->out.declared_size = dump.instance_size;
	class->out.field_count = dump.field_count;
	class->out.static_count = dump.static_count;
	class->out.trace_serial = dump.trace_serial;
	class->out.file_offset = sub->offset;
	return HDB_OK;
}

/* Eclipse MAT's evidence for compressed references: see sizes.c. */
static void watch_overlap(struct import *im, const struct hprof_sub *sub)
{
	if (im->file.id_size == 8 && sub->id > im->previous_array && sub->id < im->previous_array_end)
		im->array_overlap++;
	im->previous_array = sub->id;
	im->previous_array_end = ahead_array_end(sub->id, sub->length);
}

static int scan_object(struct scan *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct import *im = s->im;
	struct import_class *class;
	uint32_t no;
	int r;

	if (sub->id == 0)
		return import_problem(im, STORE_PROBLEM_NULL_ID, sub->offset,
				      sub->end - sub->offset, 0, err,
				      "an object with ID 0 was dropped");
	r = idset_add(&im->ids, sub->id, err);
	if (r == HDB_END)
		return import_problem(im, STORE_PROBLEM_DUPLICATE_ID, sub->offset,
				      sub->end - sub->offset, sub->id, err,
				      "a second object with ID 0x%" PRIx64 "; the first is kept",
				      sub->id);
	if (r < 0)
		return r;
	switch (sub->tag) {
	case HPROF_CLASS_DUMP:
		return scan_class(s, sub, err);
	case HPROF_INSTANCE_DUMP:
		r = class_no(s, sub->class_id, &no, err);
		if (r < 0)
			return r;
		class = import_class_at(im, no);
		if (sub->length > class->max_body)
			class->max_body = sub->length;
		break;
	case HPROF_OBJECT_ARRAY_DUMP:
		watch_overlap(im, sub);
		r = class_no(s, sub->class_id, &no, err);
		if (r < 0)
			return r;
		class = import_class_at(im, no);
		class->out.flags |= STORE_CLASS_ARRAY;
		break;
	default:
		im->primitive_used[sub->element_type & 15] = 1;
		break;
	}
	return places_add(&im->places, sub, err);
}

static int scan_root(struct scan *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct import *im = s->im;
	struct import_root root = {
		.id = sub->id, .kind = sub->tag, .thread_serial = sub->thread_serial,
		.frame_number = STORE_NONE,
	};
	struct store_thread *thread;
	uint32_t no;
	int r;

	switch (sub->tag) {
	case HPROF_ROOT_THREAD_OBJECT:
		r = thread_of(im, sub->thread_serial, &thread, err);
		if (r < 0)
			return r;
		thread->object_id = sub->id;
		no = (uint32_t)(thread - base_vec_at(&im->threads, struct store_thread, 0));
		r = base_idmap_put(&im->thread_roots, sub->thread_serial, no, err);
		if (r < 0)
			return r;
		if (sub->trace_serial)
			thread->trace_serial = sub->trace_serial;
		break;
	case HPROF_ROOT_STICKY_CLASS:
		im->has_sticky = true;
		break;
	case HPROF_ROOT_JNI_LOCAL:
	case HPROF_ROOT_JAVA_FRAME:
		root.frame_number = sub->frame_number;
		/* fall through */
	case HPROF_ROOT_NATIVE_STACK:
	case HPROF_ROOT_THREAD_BLOCK:
		/* Held by the thread if its object is known by now (MAT: "came before in the file"). */
		no = base_idmap_get(&im->thread_roots, sub->thread_serial);
		if (no != BASE_IDMAP_NONE)
			root.thread_id = base_vec_at(&im->threads, struct store_thread,
						     no)->object_id;
		break;
	default:
		break;
	}
	return base_vec_push(&im->roots, &root, sizeof(root), err);
}

static int scan_heap_info(struct scan *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct import *im = s->im;
	const struct store_heap heap = {
		.heap_id = (uint32_t)sub->id,
		.name_text = base_idmap_get(&im->text_map, sub->class_id),
	};
	struct import_heap_switch change = { .offset = sub->offset };
	size_t i;
	int r = HDB_OK;

	im->is_android = true;
	for (i = 0; i < im->heaps.count; i++)
		if (base_vec_at(&im->heaps, struct store_heap, i)->heap_id == heap.heap_id)
			break;
	/* ART has four heaps; a file with very many is not worth a search structure. */
	if (i == im->heaps.count && i < 1024)
		r = base_vec_push(&im->heaps, &heap, sizeof(heap), err);
	change.heap_no = (uint32_t)i + 1;
	if (r == HDB_OK && change.heap_no != s->heap_no) {
		s->heap_no = change.heap_no;
		r = base_vec_push(&im->heap_switches, &change, sizeof(change), err);
	}
	return r;
}

static int scan_sub(struct scan *s, struct hdb_error *err)
{
	const struct hprof_sub *sub = &s->walk.sub;
	struct store_record_count *count = &s->im->counts[1][sub->tag];

	count->count++;
	count->bytes += sub->end - sub->offset;
	if (s->walk.snapshot != s->im->snapshot)
		return HDB_OK;
	switch (sub->tag) {
	case HPROF_CLASS_DUMP:
	case HPROF_INSTANCE_DUMP:
	case HPROF_OBJECT_ARRAY_DUMP:
	case HPROF_PRIMITIVE_ARRAY_DUMP:
	case HPROF_PRIMITIVE_ARRAY_NODATA:
		return scan_object(s, sub, err);
	case HPROF_HEAP_DUMP_INFO:
		return scan_heap_info(s, sub, err);
	default:
		if (sub->tag >= HPROF_ROOT_INTERNED_STRING && sub->tag <= HPROF_ROOT_UNREACHABLE)
			s->im->is_android = true;
		return scan_root(s, sub, err);
	}
}

static int scan_event(struct scan *s, enum hprof_event event, struct hdb_error *err)
{
	const struct hprof_problem *p = &s->walk.problem;

	switch (event) {
	case HPROF_EVENT_SUB:
		return scan_sub(s, err);
	case HPROF_EVENT_RECORD:
		return scan_record(s, err);
	case HPROF_EVENT_HEAP_BEGIN:
		s->im->counts[0][s->walk.record.tag].count++;
		s->im->counts[0][s->walk.record.tag].bytes += s->walk.record.body_size;
		if (s->walk.snapshot > s->im->snapshot_count)
			s->im->snapshot_count = s->walk.snapshot;
		return HDB_OK;
	case HPROF_EVENT_PROBLEM:
		if (s->im->opt->strict)
			return hdb_fail(err, HDB_EFORMAT, "%s: %s", s->im->source->path,
					p->message);
		return import_problem(s->im, p->kind, p->offset, p->lost_bytes, 0, err, "%s",
				      p->message);
	default:
		return HDB_OK;
	}
}

/* ---- what was read ahead ---- */

/* The classes of a run, in order of first appearance. */
static int take_classes(struct scan *s, const struct ahead *a, const struct ahead_run *run,
			struct hdb_error *err)
{
	for (size_t i = 0; i < run->class_count; i++) {
		const struct ahead_class *seen =
			base_vec_at(&a->classes, struct ahead_class, run->first_class + i);
		struct import_class *class;
		uint32_t no;
		const int r = class_no(s, seen->class_id, &no, err);

		if (r < 0)
			return r;
		class = import_class_at(s->im, no);
		if (seen->max_body > class->max_body)
			class->max_body = seen->max_body;
		if (seen->is_array)
			class->out.flags |= STORE_CLASS_ARRAY;
	}
	return HDB_OK;
}

static void take_arrays(struct import *im, const struct ahead_run *run)
{
	if (!run->count[1])
		return;
	if (im->file.id_size == 8) {
		im->array_overlap += run->array_overlap;
		if (run->first_array > im->previous_array &&
		    run->first_array < im->previous_array_end)
			im->array_overlap++;
	}
	im->previous_array = run->last_array;
	im->previous_array_end = run->last_array_end;
}

/* Takes the objects of a run: HDB_END, and nothing has changed, if one of them was there before. */
static int take_objects(struct scan *s, const struct ahead *a, const struct ahead_run *run,
			struct hdb_error *err)
{
	struct import *im = s->im;
	const uint64_t *ids = base_vec_at(&a->ids, uint64_t, run->first_id);
	size_t added;
	int r = idset_add_many(&im->ids, ids, run->id_count, &added, err);

	if (r == HDB_END)
		idset_remove(&im->ids, ids, added);
	if (r != HDB_OK)
		return r;
	r = take_classes(s, a, run, err);
	if (r < 0)
		return r;
	take_arrays(im, run);
	for (unsigned t = 0; t < 16; t++)
		im->primitive_used[t] |= run->primitive_used >> t & 1;
	return places_add_run(&im->places, run->start, run->last.end,
			      base_vec_at(&a->pieces, struct places_piece, run->first_piece),
			      run->piece_count, err);
}

/* Takes a run if the walk would now meet it: HDB_OK, or HDB_END if the walk must go itself. */
static int take_run(struct scan *s, const struct ahead *a, const struct ahead_run *run,
		    struct hdb_error *err)
{
	int r = HDB_OK;

	if (!hprof_walk_would_meet(&s->walk, run->start, &run->last))
		return HDB_END;
	if (s->walk.snapshot == s->im->snapshot)
		r = take_objects(s, a, run, err);
	if (r != HDB_OK)
		return r;
	for (unsigned k = 0; k < 3; k++) {
		s->im->counts[1][HPROF_INSTANCE_DUMP + k].count += run->count[k];
		s->im->counts[1][HPROF_INSTANCE_DUMP + k].bytes += run->bytes[k];
	}
	hprof_walk_skip(&s->walk, &run->last);
	return HDB_OK;
}

/* One step of the walk. */
static int step(struct scan *s, struct hdb_error *err)
{
	enum hprof_event event;
	int r = hprof_walk_next(&s->walk, &event, err);

	if (r == HDB_END)
		s->is_done = true;
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	r = scan_event(s, event, err);
	if (r >= 0 && ++s->events % STEP_RECORDS == 0)
		r = base_step(s->im->work, s->walk.position, err);
	return r < 0 ? r : HDB_OK;
}

/* Brings the walk to the end of a chunk, with what was read ahead or without. */
static int walk_chunk(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct scan *s = ctx;
	const struct ahead *a = &s->chunks[slot];
	const uint64_t end = (item + 1) * AHEAD_CHUNK_BYTES;
	size_t next = 0;
	int r = base_step(s->im->work, s->walk.position, err);

	while (r == HDB_OK && !s->is_done && s->walk.position < end) {
		while (next < a->runs.count && base_vec_at(&a->runs, struct ahead_run,
							   next)->start < s->walk.position)
			next++;
		r = HDB_END;
		if (next < a->runs.count)
			r = take_run(s, a, base_vec_at(&a->runs, struct ahead_run, next), err);
		if (r == HDB_END)
			r = step(s, err);
	}
	return r;
}

static int read_chunk(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct scan *s = ctx;
	const uint64_t from = item * AHEAD_CHUNK_BYTES;
	const uint64_t left = s->im->source->size - from;

	return ahead_read(&s->chunks[slot], &s->im->file, from,
			  from + (left < AHEAD_CHUNK_BYTES ? left : AHEAD_CHUNK_BYTES), err);
}

static int scan_chunks(struct scan *s, struct hdb_error *err)
{
	struct import *im = s->im;
	const struct base_pipeline pipeline = {
		.item_count = (im->source->size + AHEAD_CHUNK_BYTES - 1) / AHEAD_CHUNK_BYTES,
		.threads = im->work->threads, .slot_count = 3 * im->work->threads, .ctx = s,
		.produce = read_chunk, .consume = walk_chunk,
	};
	int r;

	s->chunks = calloc(pipeline.slot_count, sizeof(*s->chunks));
	if (!s->chunks)
		return hdb_fail_memory(err, "reading ahead",
				       pipeline.slot_count * sizeof(*s->chunks));
	r = base_pipeline_run(&pipeline, err);
	/* What comes at the very end of the file. */
	while (r == HDB_OK && !s->is_done)
		r = step(s, err);
	for (unsigned i = 0; i < pipeline.slot_count; i++)
		ahead_release(&s->chunks[i]);
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
	hprof_walk_release(&s.walk);
	return r < 0 ? r : im->source->check(im->source, err);
}
