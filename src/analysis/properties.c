/*
 * analysis/properties.c - finds system properties and other facts about the VM. The tables below
 * list where these facts are stored.
 */
#include "analysis/properties.h"

#include "analysis/groups.h"
#include "base/glob.h"
#include "base/base_text.h"
#include "heap/known.h"
#include "heap/platform_classes.h"
#include "heap/threads.h"
#include "heap/values/value_text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of memory managers read. A VM has two or three. */
#define MANAGERS_MAX 64

/* The kind of object to which a static field leads. */
enum source_kind { A_COLLECTION, A_VALUE };

/* A place in which properties are stored. */
struct source {
	const char *section;
	const char *field; /* static field, with the name of its class */
	const char *path;  /* field path from this field, or "" for the object itself */
	enum source_kind kind;
	/* path from keys and elements to their strings, or "" if they are strings themselves */
	const char *inside;
};

#define SOURCE(...) \
	{ \
		__VA_ARGS__ \
	}
static const struct source sources[] = {
#include <analysis/properties.rows.h>
};
#define SOURCES BASE_COUNT(sources)

/* ---- iterating over the properties ---- */

/*
 * Finds the object of a key, element or value, or the object at the path `inside` from it. Sets *ix
 * to HEAP_NONE if there is no object.
 */
static int object_of(const struct session *session, const struct heap_value *value,
		     const char *inside, uint32_t *ix, struct hdb_error *err)
{
	uint32_t of;

	*ix = HEAP_NONE;
	if (value->type != HPROF_OBJECT || !value->bits)
		return HDB_OK;
	TRY_FOUND(heap_find(session->heap, value->bits, &of, err));
	if (*inside)
		TRY_FOUND(heap_path_object(session->heap, of, inside, &of, err));
	*ix = of;
	return HDB_OK;
}

/* Writes the text of a value. `ix` is the object that object_of() found for the value. */
static int text_of(const struct session *session, const struct heap_value *value, uint32_t ix,
		   struct base_text text, struct hdb_error *err)
{
	int r;

	text.buf[0] = '\0';
	if (value->type != HPROF_OBJECT)
		heap_basic_text(value, text.buf, text.size);
	if (ix == HEAP_NONE)
		return HDB_OK;
	r = heap_string(session->heap, ix, text.buf, text.size, err);
	if (r == HDB_NOTFOUND)
		heap_value_text(session->heap, ix, text.buf, text.size);
	return r < 0 ? r : HDB_OK;
}

/*
 * Opens the collection of a source. Returns HDB_NOTFOUND if the heap does not contain the
 * collection.
 */
static int open_source(const struct session *session, struct analysis_properties *p,
		       const struct source *source, struct hdb_error *err)
{
	uint32_t ix;

	p->is_open = false;
	TRY(heap_static_object(session->heap, source->field, &ix, err));
	TRY(heap_path_object(session->heap, ix, source->path, &ix, err));
	TRY(heap_collection_open(session->heap, ix, &p->collection, err));
	/*
	 * Maps of the JDK do not have this shape. For any other shape, the iteration owns nothing
	 * that must be released.
	 */
	if (p->collection.inner && p->collection.inner->shape == HEAP_NODES)
		return HDB_NOTFOUND;
	TRY(heap_entries_begin(session->heap, &p->collection, &p->entries, err));
	p->is_open = true;
	return HDB_OK;
}

static int next_of_source(const struct session *session, struct analysis_properties *p,
			  const struct source *source, struct hdb_error *err)
{
	uint32_t key_ix;

	assert(source->kind != A_VALUE);
	TRY(p->is_open ? HDB_OK : open_source(session, p, source, err));
	TRY(heap_entries_next(&p->entries, err));
	(void)snprintf(p->name, sizeof(p->name), "%" PRIu64, p->entries.no);
	if (p->entries.has_key) {
		const struct heap_value *key = &p->entries.key;

		TRY(object_of(session, key, source->inside, &key_ix, err));
		TRY(text_of(session, key, key_ix, BASE_TEXT(p->name), err));
	}
	TRY(object_of(session, &p->entries.value, source->inside, &p->value_ix, err));
	return text_of(session, &p->entries.value, p->value_ix, BASE_TEXT(p->value), err);
}

static int single_value(const struct session *session, struct analysis_properties *p,
			const struct source *source, struct hdb_error *err)
{
	struct heap_value value;

	assert(source->kind == A_VALUE);
	TRY(heap_static_value(session->heap, source->field, &value, err));
	(void)snprintf(p->name, sizeof(p->name), "%s", source->field);
	TRY(object_of(session, &value, "", &p->value_ix, err));
	return text_of(session, &value, p->value_ix, BASE_TEXT(p->value), err);
}

int analysis_properties_next(const struct session *session, struct analysis_properties *p,
			     struct hdb_error *err)
{
	int r;

	TRY(heap_open_dump(session->heap, err));
	TRY(heap_load_classes(session->heap, err));
	while (p->source < SOURCES) {
		const struct source *source = &sources[p->source];

		p->section = source->section;
		r = source->kind == A_VALUE ? single_value(session, p, source, err) :
					      next_of_source(session, p, source, err);
		TRY_ERRORS(r);
		if (r != HDB_OK || source->kind == A_VALUE) {
			p->source++;
			p->is_open = false;
		}
		if (r == HDB_OK)
			return r;
	}
	return HDB_END;
}

/* ---- the maximum heap size ---- */

/* Static fields that contain the limit, unless the property below is set. */
static const char *const limit_fields[] = {
	"jdk.internal.misc.VM.directMemory",
	"sun.misc.VM.directMemory",
};

/*
 * The property that sets a different limit for direct buffers, and the values that mean "not set".
 */
static const char limit_property[] = "sun.nio.MaxDirectMemorySize";
static const char *const limit_defaults[] = { "", "0", "-1" };

/* HotSpot puts this frame on top of the stack of a thread that ran out of memory. */
static const char out_of_memory[] = "java.lang.OutOfMemoryError.<init>";

static bool is_default(const char *value)
{
	return BASE_HAS(limit_defaults, value);
}

/*
 * Sets *is_set to whether the limit for direct buffers was set to something other than the default.
 */
static int find_property(const struct session *session, bool *is_set, struct hdb_error *err)
{
	struct analysis_properties *p = NULL;
	int r = HDB_OK;

	*is_set = false;
	TRY(BASE_ALLOC(p, 1, "properties", err));
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
	for (size_t i = 0; r == HDB_NOTFOUND && i < BASE_COUNT(limit_fields); i++)
		r = heap_static_value(session->heap, limit_fields[i], &value, err);
	if (r != HDB_OK || value.type != HPROF_LONG || (int64_t)value.bits <= 0)
		return r < 0 ? r : HDB_OK;
	TRY(find_property(session, &is_set, err));
	if (!is_set)
		*bytes = value.bits;
	return HDB_OK;
}

/* Returns whether a frame such as "com.acme.App.main(App.java:31)" belongs to a platform class. */
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

/* Determines whether a thread has run out of memory, and where. */
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
	/* Stacks are stored in the database, so this works even without the dump. */
	if (r != HDB_OK && r != HDB_ECHANGED)
		return r;
	return find_error(session, out, err);
}

double analysis_limit_percent(const struct analysis_limit *limit, uint64_t bytes)
{
	return limit->bytes ? analysis_percent(bytes, limit->bytes) : 0;
}

/* ---- information about the VM ---- */

/*
 * Facts, and the properties that contain them. The first property that exists is used. The
 * arguments, the collector and the maximum heap size have other sources.
 */
#define FACT(...) \
	{ \
		__VA_ARGS__ \
	}
static const struct {
	const char *key, *names, *help;
} known[] = {
#include <analysis/vm_facts.rows.h>
};
#define KNOWN BASE_COUNT(known)
enum { ARGUMENTS = KNOWN - 3, COLLECTOR = KNOWN - 2, MAX_HEAP = KNOWN - 1 };

/* Names of the memory managers, and VM switches, of each collector. */
#define MARK(...) \
	{ \
		__VA_ARGS__ \
	}
static const struct {
	const char *mark, *collector;
} collectors[] = {
#include <analysis/collectors.rows.h>
};

/*
 * Sets the collector to the first one whose name occurs. is_inside means that the text is a command
 * line that may contain a switch.
 */
static void note_collector(struct analysis_vm_fact *facts, const char *text, bool is_inside)
{
	for (size_t i = 0; i < BASE_COUNT(collectors); i++)
		if (!facts[COLLECTOR].value[0] &&
		    (is_inside ? collectors[i].mark[0] == '-' && strstr(text, collectors[i].mark) :
				 !strcmp(text, collectors[i].mark)))
			(void)snprintf(facts[COLLECTOR].value, sizeof(facts[COLLECTOR].value),
				       "%s (by \"%s\")", collectors[i].collector,
				       collectors[i].mark);
}

static void note_property(struct analysis_vm_fact *facts, const struct analysis_properties *p)
{
	struct analysis_vm_fact *arguments = &facts[ARGUMENTS];
	const size_t used = strlen(arguments->value);

	if (strcmp(p->section, "vm argument") == 0) {
		(void)snprintf(arguments->value + used, sizeof(arguments->value) - used, "%s%s",
			       used ? " " : "", p->value);
		note_collector(facts, p->value, true);
		return;
	}
	if (strcmp(p->section, "environment") == 0) {
		if (base_is_among("JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS", p->name))
			note_collector(facts, p->value, true);
		return;
	}
	for (size_t i = 0; i < KNOWN; i++)
		if (!facts[i].value[0] && base_is_among(known[i].names, p->name))
			(void)snprintf(facts[i].value, sizeof(facts[i].value), "%s", p->value);
}

/* Reads the name of the memory manager with this ID. Returns HDB_NOTFOUND if there is no name. */
static int manager_name(struct heap *heap, uint64_t id, char *buf, size_t size,
			struct hdb_error *err)
{
	uint32_t ix, name;

	if (!id)
		return HDB_NOTFOUND;
	TRY(heap_find(heap, id, &ix, err));
	TRY(heap_path_object(heap, ix, "name", &name, err));
	return heap_string(heap, name, buf, size, err);
}

/* Reads the memory managers, which java.lang.management creates when it is first used. */
static int note_managers(const struct session *session, struct analysis_vm_fact *facts,
			 struct hdb_error *err)
{
	uint64_t bits[MANAGERS_MAX];
	struct heap_slice slice = { .bits = bits, .room = MANAGERS_MAX };
	struct heap_object object;
	uint32_t ix;
	char text[128];
	int r;

	TRY_FOUND(heap_static_object(session->heap, "sun.management.MemoryImpl.mgrs", &ix, err));
	TRY(heap_object(session->heap, ix, &object, err));
	if (object.kind == STORE_OBJECT_ARRAY)
		TRY(heap_elements(session->heap, ix, 0, &slice, err));
	assert(slice.done <= MANAGERS_MAX);
	for (uint64_t i = 0; i < slice.done; i++) {
		TRY_ERRORS(r = manager_name(session->heap, bits[i], text, sizeof(text), err));
		if (r == HDB_OK)
			note_collector(facts, text, false);
	}
	return HDB_OK;
}

static int note_limit(const struct session *session, struct analysis_vm_fact *facts,
		      struct hdb_error *err)
{
	struct analysis_limit limit;

	TRY(analysis_limit_find(session, &limit, err));
	facts[MAX_HEAP].number = limit.bytes;
	return HDB_OK;
}

static int note_facts(const struct session *session, struct analysis_vm_fact *facts,
		      struct hdb_error *err)
{
	BASE_FREED struct analysis_properties *p = NULL;
	int r;

	TRY(BASE_ALLOC(p, 1, "properties", err));
	for (size_t i = 0; i < KNOWN; i++) {
		facts[i].key = known[i].key;
		facts[i].help = known[i].help;
	}
	while ((r = analysis_properties_next(session, p, err)) == HDB_OK)
		note_property(facts, p);
	TRY_ERRORS(r);
	TRY(note_managers(session, facts, err));
	return note_limit(session, facts, err);
}

int analysis_vm_facts(const struct session *session, struct analysis_vm_fact **facts, size_t *count,
		      struct hdb_error *err)
{
	int r;

	*count = 0;
	TRY(BASE_ALLOC(*facts, KNOWN, "properties", err));
	r = note_facts(session, *facts, err);
	/* Without the dump, these facts are unknown. This is not a failure. */
	if (r == HDB_ECHANGED)
		return HDB_OK;
	TRY(r);
	*count = KNOWN;
	return HDB_OK;
}
