/*
 * queries/objects/q_direct_buffers.c - the direct-buffers query, which lists buffers and
 * foreign-memory segments outside the heap. The dump does not contain their memory, and object
 * sizes do not include it.
 */
#include "analysis/members.h"
#include "derive/segments.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "queries/queries.h"

/* Maximum number of steps up the dominator tree to a thread. */
#define THREAD_STEPS_MAX 1000
/*
 * Maximum number of steps from a buffer to its views. The holder of the last view counts as the
 * holder of the buffer.
 */
#define VIEW_STEPS_MAX 8
/*
 * Maximum number of referrers examined. With more referrers, the choice of a holder would be
 * arbitrary anyway.
 */
#define REFERRERS_MAX 10000u
#define NAME_SIZE 512

#include <queries/objects/q_direct_buffers.query.h>

struct buffers {
	struct base_vec list;     /* struct buffer, largest first */
	struct base_vec segments; /* struct derive_segment */
	struct base_vec modules;  /* uint32_t, ascending: buffers for the JDK's file lib/modules */
	struct store_lists referrers;
	bool has_referrers; /* whether they are open */
	uint64_t modules_bytes;
	uint64_t unreachable_count, unreachable_bytes;
	bool with_views;
};

/* Kinds, in the order of the facts that contain their sums. The last kind has no fact. */
enum kind { DIRECT, MAPPED, SEGMENT, NATIVE, VIEW };

struct buffer {
	uint32_t ix;
	enum kind kind;
	uint64_t bytes; /* its capacity */
};

static int add_buffer(struct buffers *s, const struct buffer *buffer, struct hdb_error *err)
{
	return buffer->kind == VIEW && !s->with_views ?
		       HDB_OK :
		       base_vec_push(&s->list, buffer, sizeof(*buffer), err);
}

/* Sets *out to whether the field path refers to an object. */
static int has(struct query *q, uint32_t ix, const char *path, bool *out, struct hdb_error *err)
{
	uint32_t other;
	const int r = heap_path_object(q->heap, ix, path, &other, err);

	*out = r == HDB_OK;
	return r < 0 ? r : HDB_OK;
}

/* Called for each object of the classes. */
typedef int (*take_object)(struct query *q, uint32_t ix, struct hdb_error *err);

static int take_buffer(struct query *q, uint32_t ix, struct hdb_error *err)
{
	struct buffers *s = q->state;
	struct buffer buffer = { .ix = ix, .kind = DIRECT };
	bool is_view, is_mapped, is_owner;
	int64_t capacity = 0;

	TRY_ERRORS(heap_path_number(q->heap, ix, "capacity", &capacity, err));
	TRY(has(q, ix, "att|viewedBuffer", &is_view, err));
	/* A buffer over a segment does not own memory. */
	if (!is_view)
		TRY(has(q, ix, "segment", &is_view, err));
	TRY(has(q, ix, "fd", &is_mapped, err));
	/*
	 * JNI's NewDirectByteBuffer creates a buffer without a cleaner, because native code frees
	 * the memory.
	 */
	TRY(has(q, ix, "cleaner|memoryRef|block", &is_owner, err));
	buffer.bytes = capacity > 0 ? (uint64_t)capacity : 0;
	buffer.kind = is_view ? VIEW : is_mapped ? MAPPED : is_owner ? DIRECT : NATIVE;
	if (s->modules.count &&
	    bsearch(&ix, s->modules.data, s->modules.count, sizeof(ix), base_compare_u32)) {
		s->modules_bytes += buffer.bytes;
		return HDB_OK;
	}
	return add_buffer(s, &buffer, err);
}

static int take_segment(struct query *q, uint32_t ix, struct hdb_error *err)
{
	struct buffers *s = q->state;
	struct derive_segment segment;

	TRY_FOUND(derive_read_segment(q->heap, ix, &segment, err));
	return base_vec_push(&s->segments, &segment, sizeof(segment), err);
}

/*
 * Adds the buffers for the JDK's modules. jdk.internal.jimage maps the file lib/modules as a whole,
 * and reads classes and resources from it.
 */
static int take_modules(struct query *q, uint32_t ix, struct hdb_error *err)
{
	struct buffers *s = q->state;
	uint32_t map;
	int r = heap_path_object(q->heap, ix, "memoryMap", &map, err);

	TRY_FOUND(r);
	/* The buffer may be a view of the mapping. */
	for (unsigned steps = 0; steps < VIEW_STEPS_MAX && r == HDB_OK; steps++) {
		uint32_t of;

		r = heap_path_object(q->heap, map, "att|viewedBuffer", &of, err);
		map = r == HDB_OK ? of : map;
	}
	return r < 0 ? r : base_vec_push(&s->modules, &map, sizeof(map), err);
}

/* Largest capacity first. */
BASE_ORDER(compare_buffers, struct buffer, BASE_DOWN(bytes), BASE_UP(ix))

/*
 * Visits the objects of a class and its subclasses that belong to the population. Does nothing if
 * the heap does not have the class.
 */
static int take_class(struct query *q, const char *name, take_object take, struct hdb_error *err)
{
	struct buffers *s = q->state;
	BASE_SCOPED(analysis_members_release) struct analysis_members members = { 0 };
	const uint32_t *ixs;

	TRY_FOUND(analysis_members_find(&q->session, name, true, &members, err));
	ixs = members.ixs.data;
	if (take != take_modules) {
		s->unreachable_count += members.unreachable_count;
		s->unreachable_bytes += members.unreachable_bytes;
	}
	if (members.count)
		TRY(derive_need(q->derive, STORE_RETAINED, err));
	for (uint64_t i = 0; i < members.count; i++) {
		bool reachable;

		TRY_FOUND(derive_is_reachable(q->derive, ixs[i], &reachable, err));
		if (take == take_modules || query_counts(q, reachable))
			TRY_FOUND(take(q, ixs[i], err));
	}
	return HDB_OK;
}

static int list_segments(struct buffers *s, struct hdb_error *err)
{

	derive_join_segments(&s->segments);
	for (size_t i = 0; i < s->segments.count; i++) {
		const struct derive_segment *segment =
			base_vec_at(&s->segments, struct derive_segment, i);
		const struct buffer buffer = {
			.ix = segment->ix,
			.bytes = segment->bytes,
			.kind = segment->is_view              ? VIEW :
				segment->mapping != HEAP_NONE ? MAPPED :
				segment->is_global            ? NATIVE :
								SEGMENT,
		};

		TRY(add_buffer(s, &buffer, err));
	}
	return HDB_OK;
}

static void sum(struct query *q, const struct buffers *s)
{
	static const char *const names[] = { "capacity", "mapped", "segments", "native" };
	uint64_t bytes[VIEW + 1] = { 0 };

	for (size_t i = 0; i < s->list.count; i++) {
		const struct buffer *buffer = base_vec_at(&s->list, struct buffer, i);

		bytes[buffer->kind] += buffer->bytes;
	}
	q->total = s->list.count;
	for (unsigned kind = DIRECT; kind < VIEW; kind++)
		if (kind != SEGMENT || bytes[kind])
			query_fact(q, names[kind], bytes[kind]);
	if (s->modules_bytes)
		query_fact(q, "jdk_modules", s->modules_bytes);
}

static int open_buffers(struct query *q, struct hdb_error *err)
{
	struct buffers *s = q->state;

	s->with_views = query_option(q, "views") != NULL;
	TRY(take_class(q, "jdk.internal.jimage.BasicImageReader", take_modules, err));
	base_vec_sort(&s->modules, sizeof(uint32_t), base_compare_u32);
	TRY(take_class(q, "java.nio.DirectByteBuffer", take_buffer, err));
	TRY(take_class(q, DERIVE_SEGMENT_CLASS, take_segment, err));
	TRY(list_segments(s, err));
	base_vec_sort(&s->list, sizeof(struct buffer), compare_buffers);
	sum(q, s);
	query_report_unreachable(q, s->unreachable_count, s->unreachable_bytes);
	return HDB_OK;
}

/* Candidates for the holder of a buffer without a dominator. */
struct candidates {
	uint32_t holder, view; /* the best holders, or HEAP_NONE */
	uint64_t retained;     /* retained size of the holder */
};

static int look_at_referrer(struct query *q, uint32_t ix, uint32_t from, struct candidates *c,
			    struct hdb_error *err)
{
	struct heap_object object;
	uint64_t retained = 0;
	uint8_t strength;
	bool reachable;
	int r = derive_is_reachable(q->derive, from, &reachable, err);

	if (r < 0 || !reachable)
		return r;
	if ((r = heap_strength(q->heap, from, ix, &strength, err)) < 0 || strength != STORE_STRONG)
		return r < 0 ? r : HDB_OK;
	TRY(heap_object(q->heap, from, &object, err));
	if (heap_has_superclass(q->heap, object.class_no, "java.nio.Buffer")) {
		c->view = from;
		return HDB_OK;
	}
	TRY(derive_retained(q->derive, from, &retained, err));
	if (c->holder == HEAP_NONE || retained > c->retained) {
		c->holder = from;
		c->retained = retained;
	}
	return HDB_OK;
}

/*
 * Finds the objects that refer to a buffer, except the object that frees the buffer by a phantom
 * reference.
 */
static int find_candidates(struct query *q, uint32_t ix, struct candidates *c,
			   struct hdb_error *err)
{
	struct buffers *s = q->state;
	size_t count = 0, seen = 0;
	const uint32_t *batch;
	int r = HDB_OK;

	*c = (struct candidates){ .holder = HEAP_NONE, .view = HEAP_NONE };
	if (!s->has_referrers)
		TRY(derive_referrers(q->derive, &s->referrers, err));
	s->has_referrers = true;
	TRY(store_lists_begin(&s->referrers, ix, NULL, err));
	while (seen < REFERRERS_MAX &&
	       (r = store_lists_next(&s->referrers, &batch, &count, err)) == HDB_OK && count)
		for (size_t i = 0; i < count && seen < REFERRERS_MAX; i++, seen++)
			TRY_ERRORS(r = look_at_referrer(q, ix, batch[i], c, err));
	return r < 0 ? r : HDB_OK;
}

/*
 * Finds the holder of a buffer: its dominator (sets *is_dominator), or a referrer. If only other
 * buffers hold it, finds the holder of these buffers. Sets *holder to HEAP_NONE if there is no
 * holder.
 */
static int find_holder(struct query *q, uint32_t ix, uint32_t *holder, bool *is_dominator,
		       struct hdb_error *err)
{
	struct heap_object object;

	*holder = HEAP_NONE;
	*is_dominator = true;
	for (unsigned steps = 0; steps < VIEW_STEPS_MAX; steps++) {
		struct candidates c;
		uint32_t up = HEAP_NONE;

		TRY(derive_dominator(q->derive, ix, &up, err));
		if (up == HEAP_NONE || up == ix) {
			TRY(find_candidates(q, ix, &c, err));
			*is_dominator = false;
			*holder = c.holder;
			if (c.holder != HEAP_NONE || c.view == HEAP_NONE)
				return HDB_OK;
			up = c.view;
		}
		TRY(heap_object(q->heap, up, &object, err));
		*holder = up;
		if (!heap_has_superclass(q->heap, object.class_no, "java.nio.Buffer"))
			return HDB_OK;
		ix = up;
	}
	return HDB_OK;
}

/* Sets the holder, and the thread above it. */
static int set_holder(struct query *q, uint32_t ix, struct hdb_error *err)
{
	char name[NAME_SIZE];
	bool is_dominator;
	uint32_t up;
	int r = find_holder(q, ix, &up, &is_dominator, err);

	if (r < 0 || up == HEAP_NONE)
		return r;
	query_set_id(q, HOLDER, up);
	query_set_label(q, HOLDER_LABEL, up);
	for (unsigned steps = 0; is_dominator && up != HEAP_NONE && steps < THREAD_STEPS_MAX;
	     steps++) {
		if (heap_is_thread(q->heap, up)) {
			TRY(heap_thread_name(q->heap, up, name, sizeof(name), err));
			query_set_text(q, THREAD, name);
			return HDB_OK;
		}
		TRY(derive_dominator(q->derive, up, &up, err));
	}
	return HDB_OK;
}

static int set_number(struct query *q, size_t column, uint32_t ix, const char *path,
		      struct hdb_error *err)
{
	int64_t number;

	TRY_FOUND(heap_path_number(q->heap, ix, path, &number, err));
	if (number >= 0 || column == ADDRESS)
		query_set(q, column, (uint64_t)number);
	return HDB_OK;
}

static int buffer_row(struct query *q, size_t no, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SIZE_MAX, RETAINED };
	static const char *const kinds[] = { "direct", "mapped", "segment", "native", "view" };
	struct buffers *s = q->state;
	const struct buffer *buffer = base_vec_at(&s->list, struct buffer, no);
	const uint32_t ix = buffer->ix;

	assert(no < s->list.count);
	if (q->is_counting)
		return HDB_OK;
	if (!q->heap->is_phd)
		query_set(q, CAPACITY, buffer->bytes);
	query_set_text(q, KIND, kinds[buffer->kind]);
	query_set_object(q, &cells, ix);
	TRY(set_number(q, POSITION, ix, "position", err));
	TRY(set_number(q, LIMIT, ix, "limit", err));
	TRY(set_number(q, ADDRESS, ix, "address|effectiveDirectAddress|min", err));
	/* Finding the holder may build the table of referrers. */
	return query_is_shown(q, HOLDER) ? set_holder(q, ix, err) : HDB_OK;
}

QUERY_DEFINE(direct_buffers, QUERY_STATE(struct buffers, list, segments, modules),
	     .open = open_buffers, .row = buffer_row);
