/*
 * import/import_tables.c - writes the small tables: threads, traces, frames, heaps, records of
 * profiling agents, record counts and missing objects.
 */
#include "import/mapped_names.h"

#include "base/search.h"
#include "base/sort.h"

#include <stdlib.h>

/* Number of frames between two checks of the cancel flag. */
#define STEP_FRAMES 4096u

static void sort(struct base_vec *vec, size_t size, int (*compare)(const void *, const void *))
{
	if (vec->count)
		qsort(vec->data, vec->count, size, compare);
}

/*
 * Replaces the serial number of a class with the number of its name in the `texts` table. Sets
 * *mapping_no to the number of the class in the mapping file.
 */
static int class_text(struct import *im, uint32_t *text, uint32_t *mapping_no,
		      struct hdb_error *err)
{
	const uint32_t load = base_idmap_get(&im->records.serial_map, *text);
	uint32_t no;

	*mapping_no = BASE_IDMAP_NONE;
	*text = STORE_NONE;
	if (load == BASE_IDMAP_NONE)
		return HDB_OK;
	no = base_idmap_get(
		&im->class_map,
		base_vec_at(&im->records.loads, struct hprof_load_class, load)->class_id);
	if (no != BASE_IDMAP_NONE) {
		const struct import_class *class =
			base_vec_at(&im->classes, struct import_class, no);

		*mapping_no = class->mapping_no;
		*text = class->out.name_text;
		return HDB_OK;
	}
	/*
	 * The class was loaded but is not in this dump, so the name in the record is used
	 * unchanged.
	 */
	*text = import_text_place_no(
		im, base_vec_at(&im->records.loads, struct hprof_load_class, load)->name_string_id);
	return import_text_use(im, text, err);
}

static int write_threads(struct import *im, struct hdb_error *err)
{
	for (size_t i = 0; i < im->records.threads.count; i++) {
		struct store_thread *thread =
			base_vec_at(&im->records.threads, struct store_thread, i);

		thread->ix = thread->object_id ? import_idset_find(&im->ids, thread->object_id) :
						 STORE_NONE;
		TRY(import_text_use(im, &thread->name_text, err));
		TRY(import_text_use(im, &thread->group_text, err));
	}
	sort(&im->records.threads, sizeof(struct store_thread), base_compare_u32);
	for (size_t i = 0; i < im->records.thread_starts.count; i++)
		TRY(import_text_use(
			im,
			&base_vec_at(&im->records.thread_starts, struct store_thread_start, i)
				 ->parent_group_text,
			err));
	if (im->records.thread_starts.count) {
		sort(&im->records.thread_starts, sizeof(struct store_thread_start),
		     base_compare_u32);
		TRY(store_records_put_all(im->writer, STORE_THREAD_STARTS,
					  im->records.thread_starts.data,
					  im->records.thread_starts.count, err));
	}
	return store_records_put_all(im->writer, STORE_THREADS, im->records.threads.data,
				     im->records.threads.count, err);
}

/* Returns the number of the frame with this ID. Frames are sorted. */
static uint32_t frame_no(const struct import *im, uint64_t frame_id)
{
	const struct store_frame *frames = im->records.frames.data;
	struct base_search search = base_search_in(im->records.frames.count);

	while (base_search_next(&search))
		base_search_step(&search, frames[search.mid].frame_id < frame_id);
	return search.low < im->records.frames.count && frames[search.low].frame_id == frame_id ?
		       (uint32_t)search.low :
		       STORE_NONE;
}

/* Replaces class serials in frames with class names, and applies the mapping file. */
static int name_frames(struct import *im, struct hdb_error *err)
{
	for (size_t i = 0; i < im->records.frames.count; i++) {
		struct store_frame *frame = base_vec_at(&im->records.frames, struct store_frame, i);
		uint32_t mapping_no;

		TRY(class_text(im, &frame->class_text, &mapping_no, err));
		TRY(import_map_frame(im, frame, mapping_no, err));
		if (i % STEP_FRAMES == 0)
			TRY(base_step(im->work, 0, err));
	}
	sort(&im->records.frames, sizeof(struct store_frame), base_compare_u64);
	return HDB_OK;
}

static int write_traces(struct import *im, struct hdb_error *err)
{
	BASE_SCOPED(store_records_release)
	struct store_records_writer w = { .writer = im->writer, .table = STORE_TRACE_FRAMES };

	TRY(name_frames(im, err));
	for (size_t i = 0; i < im->records.trace_frames.count; i++) {
		const uint32_t no =
			frame_no(im, *base_vec_at(&im->records.trace_frames, uint64_t, i));

		TRY(store_records_put(&w, &no, err));
	}
	TRY(store_records_end(&w, err));
	sort(&im->records.traces, sizeof(struct store_trace), base_compare_u32);
	TRY(store_records_put_all(im->writer, STORE_FRAMES, im->records.frames.data,
				  im->records.frames.count, err));
	return store_records_put_all(im->writer, STORE_TRACES, im->records.traces.data,
				     im->records.traces.count, err);
}

static int write_counts(struct import *im, struct hdb_error *err)
{
	BASE_SCOPED(store_records_release)
	struct store_records_writer w = { .writer = im->writer, .table = STORE_RECORD_COUNTS };

	for (unsigned i = 0; i < 512; i++) {
		struct store_record_count *count = &im->records.counts[i / 256][i % 256];

		count->is_sub = i / 256;
		count->tag = i % 256;
		if (count->count)
			TRY(store_records_put(&w, count, err));
	}
	return store_records_end(&w, err);
}

int import_write_tables(struct import *im, struct hdb_error *err)
{
	const struct {
		enum store_table table;
		uint32_t size;
		const struct base_vec *vec;
	} plain[] = {
		{ STORE_HEAPS, sizeof(struct store_heap), &im->records.heaps },
		{ STORE_ALLOC_SITES, sizeof(struct store_alloc_site), &im->records.alloc_sites },
		{ STORE_CPU_SAMPLES, sizeof(struct store_cpu_sample), &im->records.cpu_samples },
		{ STORE_HEAP_SUMMARIES, sizeof(struct store_heap_summary), &im->records.summaries },
		{ STORE_ID_DIRECTORY, sizeof(uint64_t), &im->links.id_directory },
		{ STORE_DANGLING, sizeof(struct store_dangling), &im->damage.dangling },
	};

	TRY(write_threads(im, err));
	TRY(write_traces(im, err));
	for (size_t i = 0; i < im->records.alloc_sites.count; i++) {
		struct store_alloc_site *site =
			base_vec_at(&im->records.alloc_sites, struct store_alloc_site, i);
		uint32_t mapping_no;

		TRY(class_text(im, &site->class_text, &mapping_no, err));
	}
	for (size_t i = 0; i < im->records.heaps.count; i++) {
		struct store_heap *heap = base_vec_at(&im->records.heaps, struct store_heap, i);

		heap->name_text = import_text_place_no(
			im, *base_vec_at(&im->records.heap_names, uint64_t, i));
		TRY(import_text_use(im, &heap->name_text, err));
	}
	sort(&im->damage.dangling, sizeof(struct store_dangling), base_compare_u64);
	for (size_t i = 0; i < BASE_COUNT(plain); i++) {
		TRY(store_records_put_all(im->writer, plain[i].table, plain[i].vec->data,
					  plain[i].vec->count, err));
	}
	return write_counts(im, err);
}
