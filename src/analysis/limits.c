/*
 * analysis/limits.c - how large the heap could have become, and whether it was at that limit when
 * the dump was made.
 */
#include "analysis/limits.h"

#include "analysis/groups.h"
#include "analysis/properties.h"
#include "heap/known.h"
#include "heap/threads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_MAX_BYTES 512

/* Static fields that have the limit, where no property says otherwise. */
static const char *const limit_fields[] = {
	"jdk.internal.misc.VM.directMemory",
	"sun.misc.VM.directMemory",
};

/* Set with a value of its own, the fields above have that. */
static const char limit_property[] = "sun.nio.MaxDirectMemorySize";
static const char *const limit_defaults[] = { "", "0", "-1" };

/* What HotSpot puts on top of the stack of a thread that ran out of memory. */
static const char out_of_memory[] = "java.lang.OutOfMemoryError.<init>";

static bool is_default(const char *value)
{
	for (size_t i = 0; i < sizeof(limit_defaults) / sizeof(limit_defaults[0]); i++)
		if (strcmp(value, limit_defaults[i]) == 0)
			return true;
	return false;
}

/* Whether the limit of direct buffers was set to something else than the heap's. */
static int find_property(const struct session *session, bool *is_set, struct hdb_error *err)
{
	struct analysis_properties *p = calloc(1, sizeof(*p));
	int r = HDB_OK;

	*is_set = false;
	if (!p)
		return hdb_fail_memory(err, "properties", sizeof(*p));
	while (!*is_set && (r = analysis_properties_next(session, p, err)) == HDB_OK)
		*is_set = strcmp(p->name, limit_property) == 0 && !is_default(p->value);
	free(p);
	return r < 0 ? r : HDB_OK;
}

static int find_bytes(const struct session *session, uint64_t *bytes, struct hdb_error *err)
{
	struct heap_value value;
	bool is_set;
	int r = HDB_NOTFOUND;

	*bytes = 0;
	for (size_t i = 0; r == HDB_NOTFOUND && i < sizeof(limit_fields) / sizeof(limit_fields[0]);
	     i++)
		r = heap_static_value(session->heap, limit_fields[i], &value, err);
	if (r != HDB_OK || value.type != HPROF_LONG || (int64_t)value.bits <= 0)
		return r < 0 ? r : HDB_OK;
	if ((r = find_property(session, &is_set, err)) != HDB_OK)
		return r;
	if (!is_set)
		*bytes = value.bits;
	return r;
}

/* The text of the thread's first frame: HDB_NOTFOUND if it has none. */
static int first_frame(struct heap *heap, uint64_t no, char *buf, size_t size,
		       struct hdb_error *err)
{
	struct store_thread thread;
	struct store_trace trace;
	struct store_frame frame;
	int r;

	if ((r = heap_thread(heap, no, &thread, err)) != HDB_OK)
		return r;
	if ((r = heap_trace(heap, thread.trace_serial, &trace, err)) != HDB_OK)
		return r;
	if ((r = heap_trace_frame(heap, &trace, 0, &frame, err)) != HDB_OK)
		return r;
	return heap_frame_text(heap, &frame, buf, size, err);
}

static int find_error(const struct session *session, bool *found, struct hdb_error *err)
{
	*found = false;
	for (uint64_t no = 0; !*found && no < heap_thread_count(session->heap); no++) {
		char text[FRAME_MAX_BYTES];
		const int r = first_frame(session->heap, no, text, sizeof(text), err);

		if (r < 0)
			return r;
		*found =
			r == HDB_OK && strncmp(text, out_of_memory, sizeof(out_of_memory) - 1) == 0;
	}
	return HDB_OK;
}

int analysis_limit_find(const struct session *session, struct analysis_limit *out,
			struct hdb_error *err)
{
	int r;

	*out = (struct analysis_limit){ .bytes = 0 };
	if ((r = heap_open_dump(session->heap, err)) == HDB_OK)
		r = find_bytes(session, &out->bytes, err);
	/* The database answers without the dump, too. */
	if (r != HDB_OK && r != HDB_ECHANGED)
		return r;
	return find_error(session, &out->is_out_of_memory, err);
}

double analysis_limit_percent(const struct analysis_limit *limit, uint64_t bytes)
{
	return limit->bytes ? analysis_percent(bytes, limit->bytes) : 0;
}
