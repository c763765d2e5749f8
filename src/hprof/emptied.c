/*
 * hprof/emptied.c - measures heap dump records whose primitive arrays have no elements.
 *
 * KOOM (koom-java-leak, hprof_strip.cpp, HookWriteInternal) filters the dump while ART writes it.
 * It omits the objects of the zygote and image heaps and reduces the record's length accordingly.
 * It also omits the elements of all other primitive arrays, but without reducing the length.
 */
#include "hprof/emptied.h"

#include "base/bytes.h"
#include "hprof/parse.h"

/*
 * Number of records and sub-records to examine. If none of them is conclusive, the dump is read
 * normally.
 */
#define RECORDS_MAX (1u << 22)
#define SUBS_MAX (1u << 20)

/*
 * Sets *out to the size of an array's elements according to its header, or to 0 for other
 * sub-records.
 */
static int missing_of(struct base_view *view, const struct hprof_sub *sub, unsigned id_size,
		      uint64_t *out, struct hdb_error *err)
{
	const uint8_t *p = base_view_at(view, sub->offset, 1, err);

	*out = 0;
	if (!p)
		return hprof_view_failed(err);
	if (p[0] == HPROF_PRIMITIVE_ARRAY_DUMP)
		*out = (uint64_t)sub->length * hprof_type_size(sub->element_type, id_size);
	return HDB_OK;
}

/* Returns 1 if a record may begin at `offset` or if the file ends there. */
static int is_record_end(const struct hprof_file *file, struct base_view *view, uint64_t offset,
			 struct hdb_error *err)
{
	const uint8_t *p;

	if (offset == file->source->size)
		return 1;
	p = base_view_at(view, offset, 1, err);
	return p ? hprof_tag_known(p[0]) : hprof_view_failed(err);
}

int hprof_emptied_measure(struct hprof_salvage *s, const struct hprof_record *rec,
			  struct hprof_emptied *out, struct hdb_error *err)
{
	struct hprof_file emptied = *s->file;
	uint64_t counted = 0;

	emptied.is_emptied = true;
	*out = (struct hprof_emptied){ .end = rec->body_offset };
	while (counted < rec->body_size) {
		struct hprof_sub sub;
		uint64_t missing;
		int r;

		if (!s->budget)
			return 0;
		s->budget--;
		r = hprof_sub_parse(&emptied, s->view,
				    (struct hprof_range){ out->end, emptied.source->size }, &sub,
				    err);
		if (r != HDB_OK)
			return r < 0 ? r : 0;
		if (sub.tag == HPROF_PRIMITIVE_ARRAY_NODATA) {
			TRY(missing_of(s->view, &sub, emptied.id_size, &missing, err));
			counted += missing;
			out->missing += missing;
		}
		counted += sub.end - sub.offset;
		out->end = sub.end;
	}
	return counted == rec->body_size ? is_record_end(s->file, s->view, out->end, err) : 0;
}

int hprof_find_emptied(struct hprof_file *file, struct hdb_error *err)
{
	uint64_t at = file->first_record;
	const uint64_t size = file->source->size;
	BASE_VIEW(view, file->source);
	struct hprof_salvage s = { .file = file, .view = &view, .budget = SUBS_MAX };

	file->is_emptied = false;
	if (file->version != HPROF_1_0_3 || file->id_size != 4)
		return HDB_OK;
	for (unsigned i = 0; i < RECORDS_MAX && at < size && size - at >= 9; i++) {
		const uint8_t *p = base_view_at(&view, at, 9, err);
		struct hprof_record rec = { .offset = at, .body_offset = at + 9 };
		struct hprof_emptied measured;
		int r;

		if (!p)
			return hprof_view_failed(err);
		rec.tag = p[0];
		rec.body_size = be32(p + 5);
		if (!hprof_tag_known(rec.tag))
			return HDB_OK;
		at = rec.body_offset + rec.body_size;
		if (!hprof_tag_is_heap(rec.tag))
			continue;
		r = hprof_emptied_measure(&s, &rec, &measured, err);
		if (r <= 0)
			return r;
		at = measured.end;
		if (measured.missing) {
			file->is_emptied = true;
			return HDB_OK;
		}
	}
	return HDB_OK;
}
