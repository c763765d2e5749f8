/*
 * phd/phd_write.c - writes a portable heap dump as HPROF. References have no field names in a PHD,
 * so they become fields named "[ref 1]", "[ref 2]" and so on. An extra string names the original
 * format and holds the data needed to compute sizes.
 */
#include "phd/phd_private.h"

#include "base/try.h"

#include <assert.h>
#include <stdio.h>

/*
 * Maximum size of the output: a multiple of the inflated file plus a number of GiB. In a hostile
 * file, a few bytes may describe an array of many nulls.
 */
#define GROWTH_MAX 64u
#define GROWTH_GIB 1u
/* Compression beyond this ratio does not raise the limit. Real dumps reach about 6. */
#define RATIO_MAX 64u
/* Maximum length of the superclass chain searched for java.lang.ClassLoader. */
#define SUPERS_MAX 1000u

static uint64_t field_text(const struct phd_writer *w, uint32_t no)
{
	return 1 + w->phd->classes.count + no;
}

int phd_write_text(struct phd_writer *w, const char *text, size_t size, uint64_t *id)
{
	*id = w->next_text++;
	return hprof_write_text(&w->out, *id, text, size);
}

static int write_texts(struct phd_writer *w)
{
	const struct phd *phd = w->phd;
	uint32_t fields = phd->most_fields;
	char text[PHD_TEXT_MAX + 200];
	uint64_t id;

	for (uint32_t i = 0; i < phd->classes.count; i++) {
		const struct phd_class *class = phd_class_at(phd, i);

		fields = class->ref_count > fields ? class->ref_count : fields;
		TRY(hprof_write_text(&w->out, 1 + (uint64_t)i, phd_name(phd, class->name_at),
				     class->name_size));
	}
	for (uint32_t i = 0; i < fields; i++)
		TRY(hprof_write_text(
			&w->out, field_text(w, i), text,
			(size_t)snprintf(text, sizeof(text), "[ref %" PRIu32 "]", i + 1)));
	w->next_text = field_text(w, fields);
	(void)snprintf(text, sizeof(text), HPROF_PHD_FORMAT "%s", phd->head.version,
		       phd->layout.object_header, phd->layout.primitive_header,
		       phd->layout.reference, phd->head.text);
	return phd_write_text(w, text, strlen(text), &id);
}

static int write_loads(struct phd_writer *w)
{
	for (uint32_t i = 0; i < w->phd->classes.count; i++) {
		hprof_put_u4(&w->out, i + 1);
		hprof_put_id(&w->out, phd_class_at(w->phd, i)->id);
		hprof_put_u4(&w->out, 0);
		hprof_put_id(&w->out, 1 + (uint64_t)i);
		TRY(hprof_end_record(&w->out, HPROF_LOAD_CLASS));
	}
	return HDB_OK;
}

/* ---- objects ---- */

static uint64_t ref_at(const struct phd_record *record, size_t i)
{
	assert(i < record->refs.count);
	return *base_vec_at(&record->refs, uint64_t, i);
}

static int write_instance(struct phd_writer *w, const struct phd_record *record, uint32_t class_no)
{
	const uint32_t fields = phd_class_at(w->phd, class_no)->fields;

	if (record->refs.count > fields)
		w->phd->problem_count++;
	hprof_put_u1(&w->out, HPROF_INSTANCE_DUMP);
	hprof_put_id(&w->out, record->id);
	hprof_put_u4(&w->out, 0);
	hprof_put_id(&w->out, record->class_id);
	hprof_put_u4(&w->out, fields * w->out.id_size);
	for (uint32_t i = 0; i < fields; i++)
		hprof_put_id(&w->out, i < record->refs.count ? ref_at(record, i) : 0);
	return hprof_end_sub(&w->out);
}

/*
 * Returns whether the array record names the array class. J9 before version 5 stores it as the
 * first reference of the array.
 */
static bool has_own_class(const struct phd_writer *w, const struct phd_record *record, uint32_t *no)
{
	const struct phd *phd = w->phd;
	const bool is_old = phd->head.version == 4 && phd->head.is_j9 && record->refs.count;
	const uint32_t first =
		is_old ? base_idmap_get(&phd->class_map, ref_at(record, 0)) : BASE_IDMAP_NONE;
	const struct phd_class *class = first == BASE_IDMAP_NONE ? NULL : phd_class_at(phd, first);

	if (!class || !class->name_size || *phd_name(phd, class->name_at) != '[')
		return false;
	*no = first;
	return true;
}

/*
 * Writes an object array. The record stores references in reverse order and omits nulls, whose
 * positions are therefore lost; they are written at the end.
 */
static int write_array(struct phd_writer *w, const struct phd_record *record, uint32_t class_no)
{
	uint32_t array_no = phd_class_at(w->phd, class_no)->array_no;
	const size_t skip = has_own_class(w, record, &array_no) ? 1 : 0;
	const size_t refs = record->refs.count - skip;
	uint64_t length = record->length >= skip ? record->length - skip : 0;

	if (record->bytes && length > record->bytes / w->phd->layout.reference) {
		w->phd->problem_count++;
		length = refs;
	}
	assert(skip <= record->refs.count);
	length = length < refs ? refs : length;
	if (length > INT32_MAX)
		return hprof_too_large(w->out.err);
	hprof_put_u1(&w->out, HPROF_OBJECT_ARRAY_DUMP);
	hprof_put_id(&w->out, record->id);
	hprof_put_u4(&w->out, 0);
	hprof_put_u4(&w->out, (uint32_t)length);
	hprof_put_id(&w->out, phd_class_at(w->phd, array_no)->id);
	for (size_t i = 0; i < refs; i++)
		hprof_put_id(&w->out, ref_at(record, record->refs.count - 1 - i));
	return hprof_end_sub_nulls(&w->out, length - refs);
}

static int write_record(struct phd_writer *w, const struct phd_record *record)
{
	uint32_t no = base_idmap_get(&w->phd->class_map, record->id);

	if (record->kind == PHD_CLASS)
		return HDB_OK;
	/*
	 * If the dump has both a class record and an object record for a class, the class record is
	 * used.
	 */
	if (!record->id || (no != BASE_IDMAP_NONE && phd_class_at(w->phd, no)->is_read))
		return HDB_OK;
	w->object_count++;
	if (record->kind == PHD_PRIMITIVE_ARRAY) {
		hprof_put_bare_array(&w->out, record->id, record->length, record->element);
		return hprof_end_sub(&w->out);
	}
	no = base_idmap_get(&w->phd->class_map, record->class_id);
	if (no == BASE_IDMAP_NONE)
		return hdb_fail(w->out.err, HDB_EIO, "%s changed while it was being read",
				w->phd->files.dump);
	if (record->kind == PHD_OBJECT_ARRAY)
		return write_array(w, record, no);
	if (base_idmap_get(&w->loaders, record->id) != BASE_IDMAP_NONE)
		TRY(base_idmap_put(&w->loaders, record->id, no, w->out.err));
	return write_instance(w, record, no);
}

static int write_objects(struct phd_writer *w)
{
	BASE_SCOPED(phd_reader_release) struct phd_reader reader = { .work = w->phd->work };
	struct phd_record record = { .refs.work = w->phd->work };
	int r = phd_reader_open(&reader, w->phd->source, w->out.err);

	base_stage(w->phd->work, "writing the dump", w->phd->object_count, "objects");
	for (uint64_t i = 0; r == HDB_OK; i++) {
		if (i % PHD_STEP_RECORDS == 0)
			r = base_step(w->phd->work, i, w->out.err);
		if (r == HDB_OK)
			r = phd_reader_next(&reader, &record);
		if (r == HDB_OK)
			r = write_record(w, &record);
	}
	base_vec_release(&record.refs);
	base_vec_release(&record.name);
	return r == HDB_END ? base_source_failed(reader.view.src, w->out.err) : r;
}

/* ---- classes ---- */

static int find_loaders(struct phd_writer *w)
{
	const struct phd *phd = w->phd;

	for (uint32_t i = 0; i < phd->classes.count; i++) {
		const uint64_t id = phd_first_ref(phd, phd_class_at(phd, i));

		if (id)
			TRY(base_idmap_put(&w->loaders, id, PHD_NONE - 1, w->out.err));
	}
	return HDB_OK;
}

/* Returns the first reference of a class if it is a class loader, or 0. */
static uint64_t loader_of(const struct phd_writer *w, const struct phd_class *class)
{
	static const char name[] = "java/lang/ClassLoader";
	const struct phd *phd = w->phd;
	const uint32_t loader_no = phd_class_named(phd, name, sizeof(name) - 1);
	const uint64_t id = phd_first_ref(phd, class);
	uint32_t no = base_idmap_get(&w->loaders, id);

	if (loader_no == BASE_IDMAP_NONE)
		return 0;
	for (unsigned i = 0; i < SUPERS_MAX && no < phd->classes.count; i++) {
		if (no == loader_no)
			return id;
		no = phd_class_at(phd, no)->super_no;
	}
	return 0;
}

/* Returns whether this is the boot loader, which has an object that classes need not refer to. */
static bool is_boot(const struct phd_writer *w, uint64_t loader_id)
{
	static const char name[] = "com/ibm/oti/vm/BootstrapClassLoader";
	const uint32_t no = base_idmap_get(&w->loaders, loader_id);
	const struct phd_class *class =
		no < w->phd->classes.count ? phd_class_at(w->phd, no) : NULL;

	return !loader_id || loader_id == w->boot_id ||
	       (class && class->name_size == sizeof(name) - 1 &&
		memcmp(phd_name(w->phd, class->name_at), name, sizeof(name) - 1) == 0);
}

static int write_class(struct phd_writer *w, uint32_t no)
{
	const struct phd *phd = w->phd;
	const struct phd_class *class = phd_class_at(phd, no);
	const struct phd_class *super =
		class->super_no == PHD_NONE ? NULL : phd_class_at(phd, class->super_no);
	const uint64_t loader_id = loader_of(w, class);
	const uint32_t inherited = super ? super->fields : 0;

	assert(inherited <= class->fields);
	hprof_put_u1(&w->out, HPROF_CLASS_DUMP);
	hprof_put_id(&w->out, class->id);
	hprof_put_u4(&w->out, 0);
	hprof_put_id(&w->out, super ? super->id : 0);
	hprof_put_id(&w->out, is_boot(w, loader_id) ? 0 : loader_id);
	for (unsigned i = 0; i < 4; i++)
		hprof_put_id(&w->out, 0);
	hprof_put_u4(&w->out, class->instance_bytes);
	hprof_put_u2(&w->out, 0);
	hprof_put_u2(&w->out, class->ref_count);
	for (uint32_t i = 0; i < class->ref_count; i++) {
		hprof_put_id(&w->out, field_text(w, i));
		hprof_put_u1(&w->out, HPROF_OBJECT);
		hprof_put_id(&w->out,
			     *base_vec_at(&phd->class_refs, uint64_t, class->first_ref + i));
	}
	hprof_put_u2(&w->out, class->fields - inherited);
	for (uint32_t i = inherited; i < class->fields; i++) {
		hprof_put_id(&w->out, field_text(w, i));
		hprof_put_u1(&w->out, HPROF_OBJECT);
	}
	return hprof_end_sub(&w->out);
}

/*
 * Writes the classes after the objects, because class loaders are recognised by the class of their
 * object.
 */
static int write_classes(struct phd_writer *w)
{
	static const char object[] = "java/lang/Object";
	const struct phd *phd = w->phd;
	const uint32_t object_no = phd_class_named(phd, object, sizeof(object) - 1);

	if (object_no != BASE_IDMAP_NONE)
		w->boot_id = loader_of(w, phd_class_at(phd, object_no));
	for (uint32_t i = 0; i < phd->classes.count; i++)
		TRY(write_class(w, i));
	return HDB_OK;
}

/* Writes the roots: the classes of the boot loader, and the threads. */
static int write_roots(struct phd_writer *w)
{
	const struct phd *phd = w->phd;
	bool found = false, has_ids = false;

	for (uint32_t i = 0; i < phd->classes.count; i++) {
		const struct phd_class *class = phd_class_at(phd, i);

		if (!is_boot(w, loader_of(w, class)))
			continue;
		hprof_put_u1(&w->out, HPROF_ROOT_STICKY_CLASS);
		hprof_put_id(&w->out, class->id);
		TRY(hprof_end_sub(&w->out));
	}
	for (uint32_t i = 0; i < w->thread_ids.count; i++) {
		const uint64_t id = *base_vec_at(&w->thread_ids, uint64_t, i);

		/*
		 * The javacore may be from another time and list threads that the dump does not
		 * contain.
		 */
		has_ids |= id != 0;
		if (base_idmap_get(&w->loaders, id) >= phd->classes.count)
			continue;
		found = true;
		hprof_put_u1(&w->out, HPROF_ROOT_THREAD_OBJECT);
		hprof_put_id(&w->out, id);
		hprof_put_u4(&w->out, i + 1);
		hprof_put_u4(&w->out, i + 1);
		TRY(hprof_end_sub(&w->out));
	}
	if (found || !has_ids || !phd->files.javacore)
		return HDB_OK;
	return hdb_fail(w->out.err, HDB_EFORMAT,
			"%s: none of the threads in this javacore are in the dump; the "
			"javacore belongs to another dump",
			phd->files.javacore);
}

static int write_all(struct phd_writer *w)
{
	TRY(hprof_write_head(&w->out, "JAVA PROFILE 1.0.2", phd_time_of(w->phd->files.dump)));
	TRY(write_texts(w));
	TRY(write_loads(w));
	TRY(phd_write_threads(w));
	TRY(find_loaders(w));
	TRY(write_objects(w));
	TRY(write_classes(w));
	TRY(write_roots(w));
	TRY(hprof_end_record(&w->out, HPROF_HEAP_DUMP_SEGMENT));
	/* Without an end record, readers know that the dump is incomplete. */
	return w->phd->head.is_whole ? hprof_end_record(&w->out, HPROF_HEAP_DUMP_END) : HDB_OK;
}

static void release(struct phd_writer *w)
{
	base_idmap_release(&w->loaders);
	base_vec_release(&w->thread_ids);
	hprof_writer_release(&w->out);
}

int phd_write(struct phd *phd, const struct hprof_sink *sink, struct hprof_written *result,
	      struct hdb_error *err)
{
	BASE_SCOPED(release)
	struct phd_writer w = {
		.phd = phd,
		.loaders.work = phd->work,
		.thread_ids.work = phd->work,
		.out = { .sink = sink,
			 .err = err,
			 .id_size = phd->head.word_bytes,
			 .segment.work = phd->work,
			 .most = ((uint64_t)GROWTH_GIB << 30) +
				 (phd->source->size / RATIO_MAX < phd->file_bytes ?
					  phd->source->size :
					  phd->file_bytes * RATIO_MAX) *
					 GROWTH_MAX },
	};

	TRY(write_all(&w));
	*result =
		(struct hprof_written){ w.object_count, phd->problem_count + !phd->head.is_whole };
	return HDB_OK;
}
