/* queries/waste/holders.c - counts through which fields objects are held. */
#include "queries/waste/holders.h"

#include "heap/values/values.h"

#include <assert.h>
#include <stdio.h>

/* Special field numbers: elements of an array, a reference that no field holds, a root. */
#define ELEMENTS 0xfffffffeu
#define LOCAL 0xfffffffdu
#define ROOT 0xfffffffcu

#define FIELD_NAME_BYTES 512
/* References between two checks of the cancel flag. */
#define STEP_REFERENCES 4096

static int count(struct analysis_holders *h, uint32_t class_no, uint32_t field_no,
		 struct hdb_error *err)
{
	const struct analysis_holder_count fresh = { .key = (uint64_t)class_no << 32 | field_no };
	uint32_t no = base_idmap_get(&h->numbers, fresh.key);

	if (no == BASE_IDMAP_NONE) {
		no = (uint32_t)h->counts.count;
		TRY(base_vec_push(&h->counts, &fresh, sizeof(fresh), err));
		TRY(base_idmap_put(&h->numbers, fresh.key, no, err));
	}
	base_vec_at(&h->counts, struct analysis_holder_count, no)->count++;
	h->references++;
	return HDB_OK;
}

int analysis_holders_begin(const struct session *session, struct analysis_holders *h,
			   bool with_unreachable, struct hdb_error *err)
{
	*h = (struct analysis_holders){ .with_unreachable = with_unreachable };
	TRY(heap_load_roots(session->heap, err));
	return derive_referrers(session->derive, &h->referrers, err);
}

void analysis_holders_release(struct analysis_holders *h)
{
	base_vec_release(&h->counts);
	base_idmap_release(&h->numbers);
}

void analysis_holders_clear(struct analysis_holders *h)
{
	h->counts.count = 0;
	base_idmap_release(&h->numbers);
	h->references = 0;
}

/* Counts the fields of an instance, or the static fields of a class, that contain to_id. */
static int count_fields(struct analysis_holders *h, struct heap_fields *fields, uint64_t to_id,
			bool *found, struct hdb_error *err)
{
	int r;

	while ((r = heap_fields_next(fields, err)) == HDB_OK) {
		if (fields->value.type != HPROF_OBJECT || fields->value.bits != to_id)
			continue;
		*found = true;
		r = count(h, fields->declaring_no, fields->at - 1, err);
		TRY_ERRORS(r);
	}
	return r == HDB_END ? HDB_OK : r;
}

static int count_holder(const struct session *session, struct analysis_holders *h, uint32_t from,
			uint64_t to_id, struct hdb_error *err)
{
	struct heap_fields fields;
	struct heap_object object;
	bool found = false;
	int r = heap_object(session->heap, from, &object, err);

	TRY(r);
	switch (object.kind) {
	case STORE_OBJECT_ARRAY:
		return count(h, object.class_no, ELEMENTS, err);
	case STORE_CLASS:
		heap_statics_begin(session->heap, (uint32_t)object.length, &fields);
		break;
	default:
		r = heap_fields_begin(session->heap, from, &fields, err);
		break;
	}
	TRY(r);
	TRY(count_fields(h, &fields, to_id, &found, err));
	return !found ? count(h, object.class_no, LOCAL, err) : HDB_OK;
}

int analysis_holders_add(const struct session *session, struct analysis_holders *h, uint32_t ix,
			 struct hdb_error *err)
{
	const uint32_t *batch;
	size_t n = 0;
	uint64_t to_id, before = h->references;

	TRY(heap_id(session->heap, ix, &to_id, err));
	TRY(store_lists_begin(&h->referrers, ix, NULL, err));
	do {
		TRY(store_lists_next(&h->referrers, &batch, &n, err));
		for (size_t i = 0; i < n; i++) {
			bool reachable = true;

			if (!h->with_unreachable)
				TRY(derive_is_reachable(session->derive, batch[i], &reachable,
							err));
			if (reachable)
				TRY(count_holder(session, h, batch[i], to_id, err));
			if (h->references % STEP_REFERENCES == 0)
				TRY(base_step(session->work, h->references, err));
		}
	} while (n);
	if (h->references == before && heap_is_root(session->heap, ix))
		return count(h, 0, ROOT, err);
	return HDB_OK;
}

static int name_of(const struct session *session, uint64_t key, char *buf, size_t size,
		   struct hdb_error *err)
{
	const uint32_t class_no = (uint32_t)(key >> 32), field_no = (uint32_t)key;
	const char *class = heap_class_name(session->heap, class_no);
	char name[FIELD_NAME_BYTES];
	struct store_field field;

	switch (field_no) {
	case ELEMENTS:
		(void)snprintf(buf, size, "%s", class);
		return HDB_OK;
	case LOCAL:
		(void)snprintf(buf, size, "<local variable>");
		return HDB_OK;
	case ROOT:
		(void)snprintf(buf, size, "<root>");
		return HDB_OK;
	default:
		break;
	}
	TRY(heap_field(session->heap, field_no, &field, err));
	TRY(heap_text(session->heap, field.name_text, name, sizeof(name), err));
	(void)snprintf(buf, size, "%s%s.%s", field.is_static ? "static " : "", class, name);
	return HDB_OK;
}

int analysis_holders_top(const struct session *session, const struct analysis_holders *h,
			 struct base_text text, uint64_t *references, struct hdb_error *err)
{
	const struct analysis_holder_count *counts = h->counts.data, *best = NULL;

	assert(text.size > 0);
	text.buf[0] = '\0';
	*references = 0;
	for (size_t i = 0; i < h->counts.count; i++)
		if (!best || counts[i].count > best->count ||
		    (counts[i].count == best->count && counts[i].key < best->key))
			best = &counts[i];
	if (!best)
		return HDB_OK;
	*references = best->count;
	return name_of(session, best->key, text.buf, text.size, err);
}
