/*
 * import/scan_heap.c - the part of the first pass that reads heap sub-records: classes, objects,
 * roots and heaps.
 */
#include "import/scan.h"

int import_scan_class_no(struct scan *s, uint64_t class_id, uint32_t *no, struct hdb_error *err)
{
	const uint32_t slot = import_id_hash(class_id) % CLASS_CACHE;

	if (s->cache_id[slot] == class_id && s->cache_no[slot] != STORE_NONE) {
		*no = s->cache_no[slot];
		return HDB_OK;
	}
	TRY(import_class_of(s->im, class_id, no, err));
	s->cache_id[slot] = class_id;
	s->cache_no[slot] = *no;
	return HDB_OK;
}

static int scan_class(struct scan *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct import_class *class;
	struct hprof_class dump;
	uint32_t no;

	TRY(hprof_class_read(&s->im->file, &s->walk.view, sub, &dump, err));
	TRY(import_scan_class_no(s, sub->id, &no, err));
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

/* Collects Eclipse MAT's evidence of compressed references. See sizes.c. */
static void watch_overlap(struct import *im, const struct hprof_sub *sub)
{
	if (im->file.id_size == 8 && sub->id > im->evidence.previous_array &&
	    sub->id < im->evidence.previous_array_end)
		im->evidence.array_overlap++;
	im->evidence.previous_array = sub->id;
	im->evidence.previous_array_end = import_wide_array_end(sub->id, sub->length);
}

/*
 * Adds an object to the ID set and to the locator. If two objects have the same ID, the first one
 * is used.
 */
static int scan_object(struct scan *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct import *im = s->im;
	struct import_class *class;
	uint32_t no;
	int r;

	if (sub->id == 0)
		return import_problem(
			im,
			&(struct import_trouble){ .kind = STORE_PROBLEM_NULL_ID,
						  .offset = sub->offset,
						  .lost_bytes = sub->end - sub->offset },
			err, "skipped an object with ID 0");
	r = import_idset_add(&im->ids, sub->id, err);
	if (r == HDB_END)
		return import_problem(
			im,
			&(struct import_trouble){ .kind = STORE_PROBLEM_DUPLICATE_ID,
						  .offset = sub->offset,
						  .lost_bytes = sub->end - sub->offset,
						  .object_id = sub->id },
			err, "duplicate object ID 0x%" PRIx64 "; only the first object is kept",
			sub->id);
	TRY_ERRORS(r);
	switch (sub->tag) {
	case HPROF_CLASS_DUMP:
		return scan_class(s, sub, err);
	case HPROF_INSTANCE_DUMP:
		TRY(import_scan_class_no(s, sub->class_id, &no, err));
		class = import_class_at(im, no);
		if (sub->length > class->max_body)
			class->max_body = sub->length;
		break;
	case HPROF_OBJECT_ARRAY_DUMP:
		watch_overlap(im, sub);
		TRY(import_scan_class_no(s, sub->class_id, &no, err));
		class = import_class_at(im, no);
		class->out.flags |= STORE_CLASS_ARRAY;
		break;
	default:
		im->records.primitive_used[sub->element_type & 15] = 1;
		break;
	}
	return import_locator_add(&im->locator, sub, err);
}

static int scan_root(struct scan *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct import *im = s->im;
	struct import_root root = {
		.id = sub->id,
		.kind = sub->tag,
		.thread_serial = sub->thread_serial,
		.frame_number = STORE_NONE,
	};
	struct store_thread *thread;
	uint32_t no;

	switch (sub->tag) {
	case HPROF_ROOT_THREAD_OBJECT:
		TRY(import_thread_of(im, sub->thread_serial, &thread, err));
		thread->object_id = sub->id;
		no = (uint32_t)(thread - base_vec_at(&im->records.threads, struct store_thread, 0));
		TRY(base_idmap_put(&im->records.thread_roots, sub->thread_serial, no, err));
		if (sub->trace_serial)
			thread->trace_serial = sub->trace_serial;
		break;
	case HPROF_ROOT_STICKY_CLASS:
		im->records.has_sticky = true;
		break;
	case HPROF_ROOT_JNI_LOCAL:
	case HPROF_ROOT_JAVA_FRAME:
		root.frame_number = sub->frame_number;
		/* fall through */
	case HPROF_ROOT_NATIVE_STACK:
	case HPROF_ROOT_THREAD_BLOCK:
		/*
		 * If the thread object is already known, the thread holds the object. Like MAT,
		 * this requires that the thread comes first in the file.
		 */
		no = base_idmap_get(&im->records.thread_roots, sub->thread_serial);
		if (no != BASE_IDMAP_NONE)
			root.thread_id = base_vec_at(&im->records.threads, struct store_thread, no)
						 ->object_id;
		break;
	default:
		break;
	}
	return base_vec_push(&im->records.roots, &root, sizeof(root), err);
}

static int scan_heap_info(struct scan *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct import *im = s->im;
	const struct store_heap heap = { .heap_id = (uint32_t)sub->id };
	const uint64_t name_id = sub->class_id;
	struct import_heap_switch change = { .offset = sub->offset };
	size_t i;

	im->origin.is_android = true;
	for (i = 0; i < im->records.heaps.count; i++)
		if (base_vec_at(&im->records.heaps, struct store_heap, i)->heap_id == heap.heap_id)
			break;
	/*
	 * ART has four heaps, so a linear search suffices. The limit keeps the search fast for a
	 * hostile file.
	 */
	if (i == im->records.heaps.count && i < 1024) {
		TRY(base_vec_push(&im->records.heaps, &heap, sizeof(heap), err));
		TRY(base_vec_push(&im->records.heap_names, &name_id, sizeof(name_id), err));
	}
	change.heap_no = (uint32_t)i + 1;
	if (change.heap_no == s->heap_no)
		return HDB_OK;
	s->heap_no = change.heap_no;
	return base_vec_push(&im->records.heap_switches, &change, sizeof(change), err);
}

int import_scan_sub(struct scan *s, struct hdb_error *err)
{
	const struct hprof_sub *sub = &s->walk.sub;
	struct store_record_count *count = &s->im->records.counts[1][sub->tag];

	count->count++;
	count->bytes += sub->end - sub->offset;
	if (s->walk.snapshot != s->im->origin.snapshot)
		return HDB_OK;
	if (sub->tag == HPROF_CLASS_DUMP || sub->tag == HPROF_HEAP_DUMP_INFO ||
	    hprof_sub_is_root(sub->tag))
		import_locator_pass(&s->im->locator, sub);
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
			s->im->origin.is_android = true;
		/*
		 * Despite its name, ROOT UNREACHABLE does not describe a root: it states that
		 * nothing refers to the object.
		 */
		return sub->tag == HPROF_ROOT_UNREACHABLE ? HDB_OK : scan_root(s, sub, err);
	}
}
