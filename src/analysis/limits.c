/*
 * analysis/limits.c - how large the heap could have become, and whether it was at that limit when
 * the dump was made.
 */
#include "analysis/limits.h"

#include "analysis/groups.h"
#include "heap/platform_classes.h"
#include "analysis/properties.h"
#include "heap/known.h"
#include "heap/threads.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Whether a frame's text, "com.acme.App.main(App.java:31)", names a class of the platform. */
static bool is_platform_frame(const char *text)
{
	char class_name[ANALYSIS_FRAME_MAX_BYTES];
	const size_t size = strcspn(text, "(");
	char *dot;

	(void)snprintf(class_name, sizeof(class_name), "%.*s", (int)size, text);
	dot = strrchr(class_name, '.');
	if (dot)
		*dot = 0;
	return heap_is_platform_class(class_name);
}

/* Whether a thread ran out of memory, and where. */
static int look_at_thread(struct heap *heap, uint64_t no, struct analysis_limit *out,
			  struct hdb_error *err)
{
	struct store_thread thread;
	struct store_trace trace;

	TRY(heap_thread(heap, no, &thread, err));
	TRY(heap_trace(heap, thread.trace_serial, &trace, err));
	for (uint32_t depth = 0; depth < trace.frame_count; depth++) {
		char text[ANALYSIS_FRAME_MAX_BYTES];
		struct store_frame frame;

		TRY(heap_trace_frame(heap, &trace, depth, &frame, err));
		TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
		if (!depth && strncmp(text, out_of_memory, sizeof(out_of_memory) - 1) != 0)
			return HDB_OK;
		out->is_out_of_memory = true;
		out->thread_ix = thread.ix;
		if (depth == 1 || (depth && !is_platform_frame(text)))
			memcpy(out->frame, text, sizeof(text));
		if (depth && !is_platform_frame(text))
			return HDB_OK;
	}
	return HDB_OK;
}

static int find_error(const struct session *session, struct analysis_limit *out,
		      struct hdb_error *err)
{
	for (uint64_t no = 0; !out->is_out_of_memory && no < heap_thread_count(session->heap); no++)
		TRY_ERRORS(look_at_thread(session->heap, no, out, err));
	return HDB_OK;
}

int analysis_limit_find(const struct session *session, struct analysis_limit *out,
			struct hdb_error *err)
{
	int r;

	*out = (struct analysis_limit){ .thread_ix = HEAP_NONE };
	if ((r = heap_open_dump(session->heap, err)) == HDB_OK)
		r = find_bytes(session, &out->bytes, err);
	/* The database answers without the dump, too. */
	if (r != HDB_OK && r != HDB_ECHANGED)
		return r;
	return find_error(session, out, err);
}

double analysis_limit_percent(const struct analysis_limit *limit, uint64_t bytes)
{
	return limit->bytes ? analysis_percent(bytes, limit->bytes) : 0;
}
