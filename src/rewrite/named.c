/* rewrite/named.c - collects the IDs of strings that records and classes use as names. */
#include "rewrite/named.h"

#include "base/bytes.h"

static int add(struct rewrite_named *n, uint64_t string_id, struct hdb_error *err)
{
	return base_idmap_put(&n->ids, string_id, 0, err);
}

static int add_record(struct rewrite_named *n, const struct hprof_record *rec,
		      struct hdb_error *err)
{
	const struct hprof_file *file = &n->w->file;
	struct base_view *view = &n->w->view;
	struct hprof_load_class load;
	struct hprof_frame frame;
	struct hprof_start_thread start;

	switch (rec->tag) {
	case HPROF_LOAD_CLASS:
		TRY(hprof_read_load_class(file, view, rec, &load, err));
		return add(n, load.name_string_id, err);
	case HPROF_FRAME:
		TRY(hprof_read_frame(file, view, rec, &frame, err));
		TRY(add(n, frame.method_string_id, err));
		TRY(add(n, frame.signature_string_id, err));
		return add(n, frame.source_string_id, err);
	case HPROF_START_THREAD:
		TRY(hprof_read_start_thread(file, view, rec, &start, err));
		TRY(add(n, start.name_string_id, err));
		TRY(add(n, start.group_name_string_id, err));
		return add(n, start.parent_group_name_string_id, err);
	default:
		return HDB_OK;
	}
}

static int add_class(struct rewrite_named *n, const struct hprof_sub *sub, struct hdb_error *err)
{
	const struct hprof_file *file = &n->w->file;
	struct base_view *view = &n->w->view;
	struct hprof_class class;

	TRY_ERRORS(hprof_class_read(file, view, sub, &class, err));
	for (uint32_t i = 0; i < class.static_count; i++) {
		struct hprof_static one;

		TRY(hprof_static_next(file, view, &class.statics_offset, &one, err));
		TRY(add(n, one.name_string_id, err));
	}
	for (uint32_t i = 0; i < class.field_count; i++) {
		struct hprof_field one;

		TRY(hprof_field_next(file, view, &class.fields_offset, &one, err));
		TRY(add(n, one.name_string_id, err));
	}
	return HDB_OK;
}

int rewrite_named_take(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
		       struct hdb_error *err)
{
	struct rewrite_named *n = ctx;

	n->ids.work = n->w->work;
	if (event == HPROF_EVENT_RECORD)
		return add_record(n, &walk->record, err);
	if (event != HPROF_EVENT_SUB)
		return HDB_OK;
	if (walk->sub.tag == HPROF_CLASS_DUMP)
		return add_class(n, &walk->sub, err);
	return walk->sub.tag == HPROF_HEAP_DUMP_INFO ? add(n, walk->sub.class_id, err) : HDB_OK;
}

void rewrite_named_release(struct rewrite_named *n)
{
	base_idmap_release(&n->ids);
}

/*
 * Sizes of bodies: a fixed part, IDs, and entries, whose number is the last field of the fixed part
 * of most records.
 */
static const struct {
	uint8_t tag, fixed, ids, entry;
} bodies[] = {
	{ HPROF_LOAD_CLASS, 8, 2, 0 },    { HPROF_UNLOAD_CLASS, 4, 0, 0 },
	{ HPROF_FRAME, 8, 4, 0 },         { HPROF_TRACE, 12, 0, 8 },
	{ HPROF_ALLOC_SITES, 34, 0, 25 }, { HPROF_HEAP_SUMMARY, 24, 0, 0 },
	{ HPROF_START_THREAD, 8, 4, 0 },  { HPROF_END_THREAD, 4, 0, 0 },
	{ HPROF_CPU_SAMPLES, 8, 0, 8 },   { HPROF_CONTROL_SETTINGS, 6, 0, 0 },
	{ HPROF_HEAP_DUMP_END, 0, 0, 0 },
};

/* Removes the bytes at the end of a record that are not part of the fields that its tag defines. */
static int cut_tail(const struct rewrite_named *n, struct hprof_record *rec, struct hdb_error *err)
{
	for (size_t i = 0; i < BASE_COUNT(bodies); i++) {
		uint64_t size = bodies[i].fixed + (uint64_t)bodies[i].ids * n->w->file.id_size;

		if (bodies[i].tag != rec->tag || size >= rec->body_size)
			continue;
		if (bodies[i].entry) {
			const uint8_t *count =
				base_view_at(&n->w->view, rec->body_offset + size - 4, 4, err);

			if (!count)
				return HDB_EIO;
			size += be32(count) * (uint64_t)(rec->tag == HPROF_TRACE ?
								 n->w->file.id_size :
								 bodies[i].entry);
		}
		rec->body_size = size < rec->body_size ? size : rec->body_size;
	}
	return HDB_OK;
}

int rewrite_named_stays(const struct rewrite_named *n, struct hprof_record *rec, bool *out,
			struct hdb_error *err)
{
	struct hprof_utf8 utf8;
	struct hprof_phd phd;

	*out = hprof_tag_name(rec->tag) != NULL;
	if (rec->tag != HPROF_UTF8)
		return cut_tail(n, rec, err);
	TRY(hprof_read_utf8(&n->w->file, &n->w->view, rec, &utf8, err));
	*out = base_idmap_get(&n->ids, utf8.string_id) != BASE_IDMAP_NONE ||
	       hprof_redaction_of(utf8.text, utf8.text_size) ||
	       hprof_phd_of(utf8.text, utf8.text_size, &phd);
	return HDB_OK;
}
