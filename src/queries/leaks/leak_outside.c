/*
 * queries/leaks/leak_outside.c - finds the objects that own most of the memory outside the heap, by
 * finding the owner of each buffer of the direct-buffers query.
 */
#include "queries/leaks/leak_outside.h"

#include "analysis/members.h"
#include "base/base_text.h"
#include "base/glob.h"
#include "heap/known.h"
#include "queries/leaks/leak_prose.h"
#include "queries/queries.h"

#include <assert.h>
#include <string.h>

/* Maximum number of buffers to search paths for, and of owners to keep. */
#define BUFFERS_MAX 2000u
#define OWNERS_MAX 64u
/* Maximum number of Deflaters, and of Inflaters, to search paths for. */
#define ZLIB_MAX 10000u

/*
 * Minimum sizes of a finding. The JDK alone maps more than 100 MiB of its modules. Direct memory
 * below DIRECT_LARGE counts only if it exceeds the heap.
 */
#define DIRECT_LEAST (8ull << 20)
#define DIRECT_LARGE (64ull << 20)
#define MAPPED_LEAST (1ull << 30)

struct owners {
	struct leak_outside list[OWNERS_MAX];
	enum leak_outside_kind kinds[OWNERS_MAX];
	size_t count;
	/* whether there are more than BUFFERS_MAX buffers, or more than ZLIB_MAX live Deflaters */
	bool is_cut[LEAK_OUTSIDE_KINDS];
	/* counted elements: number in `list` times 2^32, plus the index of the element */
	struct base_idmap counted;
};

/*
 * Names the owner of a buffer: a field or, if the field belongs to an element of a collection, the
 * owner of the collection. That owner may in turn be an element of another collection, and so on.
 */
static int name_owner(struct query *q, struct query_leak_path *path, struct leak_outside *out,
		      uint32_t *element_ix, struct hdb_error *err)
{
	struct query_leak_owner owner = { .named = 0 };
	struct query_leak_path up = *path;
	uint32_t ix = HEAP_NONE;

	path->is_end_kept = up.is_end_kept = true;
	*element_ix = HEAP_NONE;
	if (path->count < 2)
		return HDB_OK;
	do {
		struct query_leak_owner outer = { .named = 0 };

		TRY(leak_collection_owner(q, &up, &outer, &ix, err));
		if (*element_ix == HEAP_NONE || ix != HEAP_NONE)
			owner = outer;
		if (ix == HEAP_NONE)
			break;
		*element_ix = ix;
		while (up.count > 1 && up.nodes[up.count - 1] != ix)
			up.count--;
		up.gap = up.gap_at < up.count ? up.gap : 0;
	} while (up.count > 1);
	leak_owner_text(&owner, BASE_TEXT(out->owner));
	out->is_several = leak_owner_is_several(&owner);
	if (owner.top.kind && strlen(out->owner) + 1 < sizeof(out->owner))
		strcat(out->owner, ",");
	return *element_ix == HEAP_NONE ?
		       HDB_OK :
		       query_leak_culprit(q, path, HEAP_NONE, BASE_TEXT(out->field), err);
}

/* An object with memory outside the heap. */
struct outside_object {
	enum leak_outside_kind kind;
	uint32_t ix;
	uint64_t bytes;
};

/* Adds an object with memory outside the heap to its owner. */
static int add_object(struct query *q, struct owners *owners, const struct outside_object *object,
		      struct hdb_error *err)
{
	struct leak_outside new = { .flag = EXPLAIN_FLAG_NONE, .ix = object->ix };
	struct query_leak_path path;
	struct leak_outside *owner;
	uint32_t element_ix;
	uint64_t key;
	size_t i = 0;

	TRY(query_leak_path_find(q, new.ix, &path, err));
	TRY(name_owner(q, &path, &new, &element_ix, err));
	if (!new.owner[0])
		return HDB_OK;
	while (i < owners->count &&
	       (owners->kinds[i] != object->kind || strcmp(owners->list[i].owner, new.owner) != 0))
		i++;
	assert(owners->count <= OWNERS_MAX);
	if (i == OWNERS_MAX)
		return HDB_OK;
	if (i == owners->count) {
		owners->kinds[i] = object->kind;
		owners->list[owners->count++] = new;
	}
	owner = &owners->list[i];
	owner->count++;
	owner->bytes += object->bytes;
	/* Different elements hold their buffers in different fields. */
	if (strcmp(owner->field, new.field) != 0)
		owner->field[0] = '\0';
	key = (uint64_t)i << 32 | element_ix;
	if (element_ix == HEAP_NONE || base_idmap_get(&owners->counted, key) != BASE_IDMAP_NONE)
		return HDB_OK;
	TRY(base_idmap_put(&owners->counted, key, 0, err));
	return explain_flag_add(q->heap, element_ix, &owner->flag, err);
}

static int add_buffer(struct query *q, const struct query *rows, struct owners *owners,
		      struct hdb_error *err)
{
	const struct hdb_value *capacity = query_cell(rows, "capacity");
	const bool is_mapped = query_cell_is(rows, "kind", "mapped");
	struct outside_object object = { .kind = is_mapped ? LEAK_OUTSIDE_MAPPED :
							     LEAK_OUTSIDE_DIRECT };

	if (capacity->type == HDB_TYPE_NULL ||
	    (!is_mapped && !query_cell_is(rows, "kind", "direct") &&
	     !query_cell_is(rows, "kind", "segment")))
		return HDB_OK;
	TRY_FOUND(heap_find(q->heap, query_cell(rows, "id")->u, &object.ix, err));
	object.bytes = capacity->u;
	return add_object(q, owners, &object, err);
}

/*
 * Classes that keep state outside the heap until end() is called, and the usual size of this state.
 */
static const struct {
	const char *class_name;
	uint64_t bytes;
} zlib[] = { { "java.util.zip.Deflater", 256u << 10 }, { "java.util.zip.Inflater", 40u << 10 } };

/* Adds the reachable Deflaters and Inflaters that have not been ended. */
static int add_zlib(struct query *q, struct owners *owners, size_t no, struct hdb_error *err)
{
	BASE_SCOPED(analysis_members_release) struct analysis_members members = { 0 };
	unsigned live = 0;

	TRY_FOUND(analysis_members_find(&q->session, zlib[no].class_name, true, &members, err));
	for (uint64_t i = 0; i < members.count && !owners->is_cut[LEAK_OUTSIDE_ZLIB]; i++) {
		const struct outside_object object = { LEAK_OUTSIDE_ZLIB,
						       ((const uint32_t *)members.ixs.data)[i],
						       zlib[no].bytes };
		struct heap_value address = { 0 };
		bool is_reachable;
		int r;

		TRY(base_step(q->work, i, err));
		TRY(derive_is_reachable(q->derive, object.ix, &is_reachable, err));
		TRY_ERRORS(r = heap_path_value(q->heap, object.ix, "zsRef.address", &address, err));
		if (!is_reachable || r != HDB_OK || !address.bits)
			continue;
		owners->is_cut[LEAK_OUTSIDE_ZLIB] = live++ == ZLIB_MAX;
		if (!owners->is_cut[LEAK_OUTSIDE_ZLIB])
			TRY(add_object(q, owners, &object, err));
	}
	return HDB_OK;
}

/* Computes an upper bound of the memory of Deflaters and Inflaters. */
static int bound_zlib(struct query *q, uint64_t *bytes, struct hdb_error *err)
{
	*bytes = 0;
	for (size_t i = 0; i < BASE_COUNT(zlib); i++) {
		BASE_SCOPED(analysis_members_release) struct analysis_members members = { 0 };

		TRY_ERRORS(analysis_members_count(&q->session, zlib[i].class_name, true, &members,
						  err));
		*bytes += members.count * zlib[i].bytes;
	}
	return HDB_OK;
}

static void find_none(struct leak_outside out[LEAK_OUTSIDE_KINDS])
{
	for (size_t kind = 0; kind < LEAK_OUTSIDE_KINDS; kind++)
		out[kind] = (struct leak_outside){ .ix = HEAP_NONE };
}

/* Finds the owners. If with_zlib is not set, leaves out Deflaters and Inflaters. */
static int find(struct query *q, bool with_zlib, struct leak_outside out[LEAK_OUTSIDE_KINDS],
		struct hdb_error *err)
{
	const struct query_sides sides = { .session = &q->session };
	const struct hdb_query_args args = { .struct_size = sizeof(args) };
	BASE_FREED struct owners *owners = NULL;
	struct query *rows = NULL;
	unsigned looked = 0;
	bool is_cut = false;
	int r;

	find_none(out);
	TRY(BASE_ALLOC(owners, 1, "owners of buffers", err));
	r = query_open(query_find("direct-buffers"), &sides, &args, &rows, err);
	if (r == HDB_OK)
		query_choose(rows, "id,kind,capacity");
	while (r == HDB_OK && !is_cut && (r = query_next(rows, err)) == HDB_OK) {
		is_cut = looked++ == BUFFERS_MAX;
		if (!is_cut)
			r = add_buffer(q, rows, owners, err);
	}
	query_close(rows);
	owners->is_cut[LEAK_OUTSIDE_DIRECT] = owners->is_cut[LEAK_OUTSIDE_MAPPED] = is_cut;
	for (size_t i = 0; r >= 0 && i < BASE_COUNT(zlib) && with_zlib; i++)
		r = add_zlib(q, owners, i, err);
	base_idmap_release(&owners->counted);
	TRY_ERRORS(r);
	for (size_t i = 0; i < owners->count; i++) {
		const enum leak_outside_kind kind = owners->kinds[i];

		owners->list[i].at_least = owners->is_cut[kind] ? "at least " : "";
		owners->list[i].about = kind == LEAK_OUTSIDE_ZLIB ? "about " : "";
		if (owners->list[i].bytes > out[kind].bytes)
			out[kind] = owners->list[i];
	}
	return HDB_OK;
}

int leak_outside_find(struct query *q, struct leak_outside out[LEAK_OUTSIDE_KINDS],
		      struct hdb_error *err)
{
	return find(q, false, out, err);
}

/* Adds the value of a static counter of the JDK, which is a long or an AtomicLong. */
static int add_counter(struct heap *heap, const char *field, uint64_t *bytes, struct hdb_error *err)
{
	struct heap_value value;
	int64_t n = 0;
	uint32_t ix;
	int r;

	TRY_FOUND(heap_static_value(heap, field, &value, err));
	if (!heap_value_number(&value, &n)) {
		TRY_ERRORS(r = heap_static_object(heap, field, &ix, err));
		if (r == HDB_OK)
			TRY_ERRORS(heap_path_number(heap, ix, "value", &n, err));
	}
	*bytes += n > 0 ? (uint64_t)n : 0;
	return HDB_OK;
}

uint64_t leak_outside_least(enum leak_outside_kind kind, uint64_t heap_bytes)
{
	if (kind == LEAK_OUTSIDE_MAPPED)
		return MAPPED_LEAST;
	return heap_bytes < DIRECT_LEAST ? DIRECT_LEAST :
	       heap_bytes < DIRECT_LARGE ? heap_bytes :
					   DIRECT_LARGE;
}

int leak_outside_find_large(struct query *q, uint64_t heap_bytes,
			    struct leak_outside out[LEAK_OUTSIDE_KINDS], struct hdb_error *err)
{
	/* names in JDK 6 to 8 and in later versions */
	static const char *const direct[] = { "java.nio.Bits.reservedMemory",
					      "java.nio.Bits.RESERVED_MEMORY" };
	static const char *const mapped[] = {
		"sun.nio.ch.FileChannelImpl$Unmapper.totalSize",
		"sun.nio.ch.FileChannelImpl$DefaultUnmapper.totalSize"
	};
	uint64_t direct_bytes = 0, mapped_bytes = 0, zlib_bytes;

	for (size_t i = 0; i < BASE_COUNT(direct); i++)
		TRY(add_counter(q->heap, direct[i], &direct_bytes, err));
	/*
	 * memory that Netty allocates itself; libraries include copies of Netty in packages of
	 * their own
	 */
	for (uint32_t no = 0; no < q->heap->class_count; no++) {
		const char *name = heap_class_name(q->heap, no);
		char field[LEAK_NAME_MAX_BYTES];

		if (!base_glob("*netty.util.internal.PlatformDependent", name) ||
		    heap_class_by_name(q->heap, name, 0) != no)
			continue;
		(void)snprintf(field, sizeof(field), "%s.DIRECT_MEMORY_COUNTER", name);
		TRY(add_counter(q->heap, field, &direct_bytes, err));
	}
	for (size_t i = 0; i < BASE_COUNT(mapped); i++)
		TRY(add_counter(q->heap, mapped[i], &mapped_bytes, err));
	TRY(bound_zlib(q, &zlib_bytes, err));
	if (direct_bytes >= leak_outside_least(LEAK_OUTSIDE_DIRECT, heap_bytes) ||
	    mapped_bytes >= leak_outside_least(LEAK_OUTSIDE_MAPPED, heap_bytes) ||
	    zlib_bytes >= DIRECT_LARGE)
		return find(q, zlib_bytes >= DIRECT_LARGE, out, err);
	find_none(out);
	return HDB_OK;
}
