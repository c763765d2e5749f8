/*
 * queries/objects/q_direct_buffers.c - buffers outside of the heap: their memory is not in the
 * dump, and no size of an object tells of it.
 */
#include "analysis/members.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "queries/queries.h"
#include "query/coverage.h"
#include "query/object_cells.h"

#include <assert.h>
#include <stdlib.h>

/* Steps up the dominator tree to a thread. */
#define THREAD_STEPS_MAX 1000
#define NAME_SIZE 512

enum {
	ID,
	CLASS,
	LABEL,
	KIND,
	CAPACITY,
	POSITION,
	LIMIT,
	ADDRESS,
	HOLDER,
	HOLDER_LABEL,
	THREAD,
	RETAINED
};

static const struct hdb_option_spec options[] = {
	{ "views", HDB_OPTION_FLAG,
	  .help = "slices and duplicates of other buffers, too, which have no memory of their own" },
	QUERY_POPULATION_OPTIONS("buffers"),
	{ .name = NULL },
};

static const struct hdb_column columns[] = {
	{ "id", HDB_TYPE_ID, "id", "the buffer" },
	{ "class", HDB_TYPE_TEXT, "class", "its class" },
	{ "label", HDB_TYPE_TEXT, "object", "what it is" },
	{ "kind", HDB_TYPE_TEXT, "kind",
	  "direct, mapped (a file), native (of memory that is native code's), or view (of another "
	  "buffer)" },
	{ "capacity", HDB_TYPE_BYTES, "capacity",
	  "bytes outside of the heap; of a view, none of its own" },
	{ "position", HDB_TYPE_COUNT, "position", "where it is read or written next" },
	{ "limit", HDB_TYPE_COUNT, "limit", "the first element that must not be read or written" },
	{ "address", HDB_TYPE_ID, "address", "where the memory is" },
	{ "holder_id", HDB_TYPE_ID, "holder id", "its immediate dominator; none: several hold it" },
	{ "holder", HDB_TYPE_TEXT, "holder", "what that is" },
	{ "thread", HDB_TYPE_TEXT, "thread",
	  "the thread without which it would be freed, as those of thread-local caches" },
	{ "retained", HDB_TYPE_BYTES, "retained", "bytes in the heap that it retains" },
	QUERY_LABEL_COLUMNS,
};
static_assert(sizeof(columns) / sizeof(columns[0]) == RETAINED + 3,
	      "a column each, in the order of their numbers");

static const struct hdb_column facts[] = {
	{ "capacity", HDB_TYPE_BYTES, "capacity",
	  "of the direct buffers that are listed, together" },
	{ "mapped", HDB_TYPE_BYTES, "mapped", "of the mapped ones" },
	{ "native", HDB_TYPE_BYTES, "memory of native code",
	  "of the native ones, as the JDK's file of modules: freeing the buffer does not free it" },
	QUERY_COVERAGE_FACTS,
};

struct buffers {
	struct base_vec list; /* struct buffer, largest first */
	size_t at;
	uint64_t unreachable_count, unreachable_bytes;
	bool with_views;
};

struct buffer {
	uint32_t ix;
	const char *kind; /* "direct", "mapped", "native" or "view" */
	uint64_t bytes;   /* its capacity */
};

/* Fills in what buffer out->ix is; HDB_NOTFOUND if it is not to be listed. */
static int look(struct query *q, const struct buffers *s, struct buffer *out, struct hdb_error *err)
{
	const uint32_t ix = out->ix;
	uint32_t other;
	int64_t capacity = 0;
	int r = heap_path_number(q->heap, ix, "capacity", &capacity, err);

	if (r < 0)
		return r;
	out->bytes = r == HDB_OK && capacity > 0 ? (uint64_t)capacity : 0;
	out->kind = "direct";
	if ((r = heap_path_object(q->heap, ix, "att|viewedBuffer", &other, err)) < 0)
		return r;
	if (r == HDB_OK) {
		out->kind = "view";
		return s->with_views ? HDB_OK : HDB_NOTFOUND;
	}
	if ((r = heap_path_object(q->heap, ix, "fd", &other, err)) < 0)
		return r;
	if (r == HDB_OK) {
		out->kind = "mapped";
		return HDB_OK;
	}
	/* NewDirectByteBuffer of JNI makes a buffer without what would free its memory. */
	if ((r = heap_path_object(q->heap, ix, "cleaner|memoryRef|block", &other, err)) < 0)
		return r;
	if (r == HDB_NOTFOUND)
		out->kind = "native";
	return HDB_OK;
}

/* By capacity, the largest first. */
static int compare_buffers(const void *a, const void *b)
{
	const struct buffer *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->ix < y->ix ? -1 : x->ix > y->ix;
}

/* Lists the buffers that count, of those that are there. */
static int list_buffers(struct query *q, struct buffers *s, const struct analysis_members *members,
			struct hdb_error *err)
{
	const uint32_t *ixs = members->ixs.data;

	for (uint64_t i = 0; i < members->count; i++) {
		struct buffer buffer = { .ix = ixs[i] };
		bool reachable;
		int r = derive_is_reachable(q->derive, buffer.ix, &reachable, err);

		if (r != HDB_OK)
			return r;
		if (!query_counts(q, reachable))
			continue;
		if ((r = look(q, s, &buffer, err)) == HDB_NOTFOUND)
			continue;
		if (r != HDB_OK || (r = base_vec_push(&s->list, &buffer, sizeof(buffer), err)) < 0)
			return r;
	}
	if (s->list.count)
		qsort(s->list.data, s->list.count, sizeof(struct buffer), compare_buffers);
	return HDB_OK;
}

static int sum(struct query *q, struct buffers *s, struct hdb_error *err)
{
	uint64_t direct = 0, mapped = 0, native = 0;
	int r;

	for (size_t i = 0; i < s->list.count; i++) {
		const struct buffer *buffer = base_vec_at(&s->list, struct buffer, i);

		direct += buffer->kind[0] == 'd' ? buffer->bytes : 0;
		mapped += buffer->kind[0] == 'm' ? buffer->bytes : 0;
		native += buffer->kind[0] == 'n' ? buffer->bytes : 0;
	}
	q->total = s->list.count;
	if ((r = query_fact(q, "capacity", direct, err)) != HDB_OK)
		return r;
	if ((r = query_fact(q, "mapped", mapped, err)) != HDB_OK)
		return r;
	return query_fact(q, "native", native, err);
}

static int find_buffers(struct query *q, struct buffers *s, struct hdb_error *err)
{
	struct analysis_members members;
	int r = analysis_members_find(&q->session, "java.nio.DirectByteBuffer", true, &members,
				      err);

	if (r != HDB_OK)
		goto out;
	s->unreachable_count = members.unreachable_count;
	s->unreachable_bytes = members.unreachable_bytes;
	if (members.count && (r = derive_need(q->derive, STORE_RETAINED, err)) != HDB_OK)
		goto out;
	r = list_buffers(q, s, &members, err);
out:
	analysis_members_release(&q->session, &members);
	/* A heap without the class has no such buffers. */
	return r == HDB_NOTFOUND ? HDB_OK : r;
}

static int open_buffers(struct query *q, struct hdb_error *err)
{
	struct buffers *s = calloc(1, sizeof(*s));
	int r;

	q->state = s;
	if (!s)
		return hdb_fail_memory(err, "buffers", sizeof(*s));
	s->with_views = query_option(q, "views") != NULL;
	if ((r = find_buffers(q, s, err)) != HDB_OK)
		return r;
	if ((r = sum(q, s, err)) != HDB_OK)
		return r;
	return query_tell_unreachable(q, s->unreachable_count, s->unreachable_bytes, err);
}

/* Holder, and the thread above it. */
static int set_holder(struct query *q, uint32_t ix, struct hdb_error *err)
{
	char name[NAME_SIZE];
	uint32_t up = HEAP_NONE;
	int r = derive_dominator(q->derive, ix, &up, err);

	if (r < 0 || up == HEAP_NONE || up == ix)
		return r;
	if ((r = query_set_id(q, HOLDER, up, err)) != HDB_OK)
		return r;
	if ((r = query_set_label(q, HOLDER_LABEL, up, err)) != HDB_OK)
		return r;
	for (unsigned steps = 0; up != HEAP_NONE && steps < THREAD_STEPS_MAX; steps++) {
		if (heap_is_thread(q->heap, up)) {
			r = heap_thread_name(q->heap, up, name, sizeof(name), err);
			return r < 0 ? r : query_set_text(q, THREAD, name, err);
		}
		if ((r = derive_dominator(q->derive, up, &up, err)) != HDB_OK)
			return r;
	}
	return HDB_OK;
}

static int set_number(struct query *q, size_t column, uint32_t ix, const char *path,
		      struct hdb_error *err)
{
	int64_t number;
	const int r = heap_path_number(q->heap, ix, path, &number, err);

	if (r != HDB_OK)
		goto out;
	if (number >= 0 || column == ADDRESS)
		query_set(q, column, (uint64_t)number);
out:
	return r < 0 ? r : HDB_OK;
}

static int next_buffers(struct query *q, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SIZE_MAX, RETAINED };
	struct buffers *s = q->state;
	const struct buffer *buffer;
	uint32_t ix;
	int r;

	assert(s->at <= s->list.count);
	if (s->at == s->list.count)
		return HDB_END;
	buffer = base_vec_at(&s->list, struct buffer, s->at++);
	if (q->is_counting)
		return HDB_OK;
	ix = buffer->ix;
	query_set(q, CAPACITY, buffer->bytes);
	if ((r = query_set_text(q, KIND, buffer->kind, err)) != HDB_OK)
		return r;
	if ((r = query_set_object(q, &cells, ix, err)) != HDB_OK)
		return r;
	if ((r = set_number(q, POSITION, ix, "position", err)) != HDB_OK)
		return r;
	if ((r = set_number(q, LIMIT, ix, "limit", err)) != HDB_OK)
		return r;
	if ((r = set_number(q, ADDRESS, ix, "address|effectiveDirectAddress", err)) != HDB_OK)
		return r;
	return set_holder(q, ix, err);
}

static void close_buffers(struct query *q)
{
	struct buffers *s = q->state;

	if (s)
		base_vec_release(&s->list);
	free(s);
}

const struct query_def query_direct_buffers = {
	.spec = {
		.name = "direct-buffers", .aliases = "native-buffers",
		.group = "objects", .example = "",
		.targets = "",
		.summary = "buffers outside of the heap, largest first: their capacity, holder and thread",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 1,
	},
	.population = ANALYSIS_OF_REACHABLE,
	.uses = QUERY_USES_STRENGTH | QUERY_USES_HEAP,
	.open = open_buffers, .next = next_buffers, .close = close_buffers,
};
