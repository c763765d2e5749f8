/*
 * analysis/describe.c - describes objects and references as strings.
 */
#include "analysis/describe.h"

#include "heap/collections/collections.h"
#include "heap/values/value_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Maximum number of array elements searched for a reference. */
#define SEARCH_MAX (1u << 20)
#define NAME_MAX_BYTES 256
/* Prefix of the names of static fields. */
#define STATIC_MARK "static "

void analysis_value_text(const struct heap_value *value, char *buf, size_t size)
{
	assert(size > 0);
	heap_basic_text(value, buf, size);
}

/* Writes the number of elements in a collection if it is known. */
static void describe_size(const struct session *session, uint32_t ix, char *buf, size_t size)
{
	struct heap_collection c;

	if (heap_collection_open(session->heap, ix, &c, NULL) == HDB_OK && c.has_size)
		(void)snprintf(buf, size, "size=%" PRIu64, c.size);
}

void analysis_describe(const struct session *session, uint32_t ix, char *buf, size_t size)
{
	assert(size > 0);
	heap_value_text(session->heap, ix, buf, size);
	if (!buf[0])
		describe_size(session, ix, buf, size);
}

const char *analysis_strength_name(uint8_t strength)
{
	static const char *const names[] = { "strong", "soft", "weak", "phantom", "finalizer" };

	return strength < BASE_COUNT(names) ? names[strength] : "strong";
}

/* References to be named. */
struct reference {
	const struct session *session;
	uint32_t from, to;
	uint64_t to_id;
	struct base_text text; /* the names found so far */
	enum analysis_link_kind kind;
	unsigned count;
};

/* Appends a name to the comma-separated list. */
static void add_name(struct reference *ref, enum analysis_link_kind kind, const char *name)
{
	const size_t used = strlen(ref->text.buf);

	(void)snprintf(ref->text.buf + used, ref->text.size - used, "%s%s%s", used ? ", " : "",
		       kind == ANALYSIS_LINK_STATIC ? STATIC_MARK : "", name);
	if (!ref->count++)
		ref->kind = kind;
}

/* Appends the names of all fields that contain the reference. */
static int add_fields(struct reference *ref, struct heap_fields *fields,
		      enum analysis_link_kind kind, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES];
	int r;

	while ((r = heap_fields_next(fields, err)) == HDB_OK) {
		if (fields->value.type != HPROF_OBJECT || fields->value.bits != ref->to_id)
			continue;
		TRY(heap_text(ref->session->heap, fields->field.name_text, name, sizeof(name),
			      err));
		add_name(ref, kind, name);
	}
	return r == HDB_END ? HDB_OK : r;
}

/*
 * Appends the index of the first element that contains the reference, or "[?]" if the element is
 * not among the first SEARCH_MAX.
 */
static int find_element(struct reference *ref, struct hdb_error *err)
{
	struct heap_walk walk;
	char name[32] = "[?]";
	int r;

	heap_walk_begin(&walk, ref->from, 0, SEARCH_MAX);
	TRY_ERRORS(r = heap_walk_to_next(ref->session->heap, &walk, ref->to_id, err));
	if (r == HDB_OK)
		(void)snprintf(name, sizeof(name), "[%" PRIu64 "]", walk.at - 1);
	add_name(ref, ANALYSIS_LINK_ELEMENT, name);
	return HDB_OK;
}

static int class_holder(struct reference *ref, uint32_t class_no, struct hdb_error *err)
{
	struct heap *heap = ref->session->heap;
	const struct store_class *class = heap_class(heap, class_no);
	struct heap_fields fields;

	if (class->loader_ix == ref->to)
		add_name(ref, ANALYSIS_LINK_LOADER, "<class loader>");
	if (class->super_no != STORE_NONE && heap_class(heap, class->super_no)->ix == ref->to)
		add_name(ref, ANALYSIS_LINK_SUPER, "<super>");
	heap_statics_begin(heap, class_no, &fields);
	return add_fields(ref, &fields, ANALYSIS_LINK_STATIC, err);
}

static int name_reference(struct reference *ref, struct hdb_error *err)
{
	struct heap *heap = ref->session->heap;
	struct heap_object object;
	struct heap_fields fields;

	assert(ref->text.size > 0);
	ref->text.buf[0] = '\0';
	TRY(heap_object(heap, ref->from, &object, err));
	TRY(heap_id(heap, ref->to, &ref->to_id, err));
	if (object.kind == STORE_CLASS)
		TRY(class_holder(ref, (uint32_t)object.length, err));
	if (heap_class(heap, object.class_no)->ix == ref->to)
		add_name(ref, ANALYSIS_LINK_CLASS, "<class>");
	if (object.kind == STORE_INSTANCE) {
		TRY(heap_fields_begin(heap, ref->from, &fields, err));
		TRY(add_fields(ref, &fields, ANALYSIS_LINK_FIELD, err));
	}
	if (object.kind == STORE_OBJECT_ARRAY && !ref->count)
		TRY(find_element(ref, err));
	/*
	 * If no field contains the reference, `to` is a local variable of a thread (or a class of a
	 * class loader, which MAT counts as a reference).
	 */
	if (!ref->count && object.kind == STORE_INSTANCE)
		add_name(ref, ANALYSIS_LINK_LOCAL, "<local variable>");
	else if (!ref->count)
		add_name(ref, ANALYSIS_LINK_OTHER, "?");
	return HDB_OK;
}

int analysis_holder(const struct session *session, uint32_t from, uint32_t to,
		    struct base_text text, struct hdb_error *err)
{
	struct reference ref = { .session = session, .from = from, .to = to, .text = text };

	return name_reference(&ref, err);
}

int analysis_link_find(const struct session *session, uint32_t from, uint32_t to,
		       struct analysis_link *out, struct hdb_error *err)
{
	struct reference ref = {
		.session = session, .from = from, .to = to, .text = BASE_TEXT(out->text)
	};
	const int r = name_reference(&ref, err);

	out->kind = ref.kind;
	out->count = ref.count;
	return r;
}

const char *analysis_link_name(const struct analysis_link *link)
{
	return link->text + (link->kind == ANALYSIS_LINK_STATIC ? strlen(STATIC_MARK) : 0);
}

int analysis_cheap_retained(const struct session *session, uint32_t ix,
			    struct analysis_retained *out, struct hdb_error *err)
{
	struct derive_retained_result result;
	int r;

	*out = (struct analysis_retained){ .found = true, .from = "table" };
	if (session->derive->view != DERIVE_PHANTOM || derive_has(session->derive, STORE_RETAINED))
		return derive_retained(session->derive, ix, &out->bytes, err);
	r = derive_retained_local(session->derive, (struct graph_members){ &ix, 1 }, NULL, &result,
				  err);
	out->bytes = result.retained_bytes;
	out->found = r == HDB_OK;
	out->from = r == GRAPH_BUDGET ? "not computed: the object retains too many objects for "
					"a local search; `query retained` builds the dominator "
					"tree" :
					"local";
	return r < 0 ? r : HDB_OK;
}
