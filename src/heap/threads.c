/* heap/threads.c - reads threads and their stacks. */
#include "heap/threads.h"

#include "base/search.h"
#include "heap/platform_classes.h"
#include "heap/values/text.h"
#include "heap/values/values.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Maximum size of a class, method or file name in a frame. */
#define NAME_MAX_BYTES 1024
/* Maximum length of a thread name in a char[]. */
#define CHARS_MAX 512

uint64_t heap_thread_count(struct heap *heap)
{
	return store_record_count(heap->store, STORE_THREADS);
}

/* Checks the index of a thread before it is used. `no` appears in the message. */
static int check_thread(struct heap *heap, uint64_t no, const struct store_thread *thread,
			struct hdb_error *err)
{
	return thread->ix == STORE_NONE || thread->ix < heap->object_count ?
		       HDB_OK :
		       store_damaged(heap->store, STORE_THREADS, no, "index out of range", err);
}

int heap_thread(struct heap *heap, uint64_t no, struct store_thread *out, struct hdb_error *err)
{
	TRY(store_record(heap->store, STORE_THREADS, no, out, err));
	return check_thread(heap, no, out, err);
}

/* Finds a record in a table that is sorted by its first member, a u32. */
static int find_serial(struct heap *heap, enum store_table table, uint32_t serial, void *out,
		       struct hdb_error *err)
{
	struct base_search search = base_search_in(store_record_count(heap->store, table));

	assert(table == STORE_THREADS || table == STORE_TRACES || table == STORE_THREAD_STARTS);
	while (base_search_next(&search)) {
		uint32_t found;

		TRY(store_record(heap->store, table, search.mid, out, err));
		memcpy(&found, out, sizeof(found));
		if (found == serial)
			return HDB_OK;
		base_search_step(&search, found < serial);
	}
	return HDB_NOTFOUND;
}

int heap_thread_by_serial(struct heap *heap, uint32_t serial, struct store_thread *out,
			  struct hdb_error *err)
{
	TRY(find_serial(heap, STORE_THREADS, serial, out, err));
	return check_thread(heap, serial, out, err);
}

bool heap_is_thread(struct heap *heap, uint32_t ix)
{
	struct heap_object object;

	return heap_object(heap, ix, &object, NULL) == HDB_OK && object.kind == STORE_INSTANCE &&
	       heap_has_superclass(heap, object.class_no, "java.lang.Thread");
}

/* Reads the text of a char[], which contains the name of a thread in Java 8 and earlier. */
static int char_array_text(struct heap *heap, uint32_t ix, char *buf, size_t size,
			   struct hdb_error *err)
{
	uint64_t bits[CHARS_MAX];
	struct heap_slice slice = { .bits = bits, .room = CHARS_MAX };
	struct heap_utf16 to = { .p = buf, .end = buf + size - 1 };

	assert(size > 0);
	TRY(heap_elements(heap, ix, 0, &slice, err));
	for (uint64_t i = 0; slice.type == HPROF_CHAR && i < slice.done; i++)
		heap_put_utf16(&to, bits[i] ? (uint32_t)bits[i] : HEAP_C_ZERO);
	heap_end_utf16(&to);
	*to.p = '\0';
	return HDB_OK;
}

/* Reads the text of a String or a char[]. */
static int name_text(struct heap *heap, uint32_t ix, char *buf, size_t size, struct hdb_error *err)
{
	struct heap_object object;

	TRY(heap_object(heap, ix, &object, err));
	TRY_ERRORS(object.kind == STORE_PRIMITIVE_ARRAY ?
			   char_array_text(heap, ix, buf, size, err) :
			   heap_string(heap, ix, buf, size, err));
	return HDB_OK;
}

int heap_thread_name(struct heap *heap, uint32_t ix, char *buf, size_t size, struct hdb_error *err)
{
	uint32_t name_ix;
	const int r = heap_field_object(
		heap, ix, (struct heap_field_name){ "java.lang.Thread", "name" }, &name_ix, err);

	assert(size > 0);
	buf[0] = '\0';
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	return name_text(heap, name_ix, buf, size, err);
}

void heap_name_pattern(char *name)
{
	char *to = name;

	for (const char *at = name; *at;) {
		const size_t digits = strspn(at, "0123456789");

		*to++ = digits ? '*' : *at;
		at += digits ? digits : 1;
	}
	*to = '\0';
}

/* Reads ThreadGroup.name into HEAP_GROUP_NAME_MAX bytes. */
static int group_name(struct heap *heap, uint32_t ix, char *buf, struct hdb_error *err)
{
	uint32_t name_ix;

	TRY_FOUND(heap_field_object(heap, ix,
				    (struct heap_field_name){ "java.lang.ThreadGroup", "name" },
				    &name_ix, err));
	return name_text(heap, name_ix, buf, HEAP_GROUP_NAME_MAX, err);
}

/*
 * Reads the groups of a thread object from Thread.group (since JDK 19, Thread.holder.group) and
 * ThreadGroup.parent.
 */
static int groups_of_object(struct heap *heap, uint32_t ix, struct heap_thread_groups *out,
			    struct hdb_error *err)
{
	uint32_t holder, group_ix, parent_ix;
	int r = heap_field_object(
		heap, ix, (struct heap_field_name){ "java.lang.Thread", "holder" }, &holder, err);

	TRY_ERRORS(r);
	TRY_FOUND(heap_field_object(heap, r == HDB_OK ? holder : ix,
				    (struct heap_field_name){ .name = "group" }, &group_ix, err));
	TRY(group_name(heap, group_ix, out->group, err));
	TRY_FOUND(heap_field_object(heap, group_ix,
				    (struct heap_field_name){ "java.lang.ThreadGroup", "parent" },
				    &parent_ix, err));
	return group_name(heap, parent_ix, out->parent, err);
}

/*
 * Finds the groups of a thread: as of its start, from the START_THREAD record, or else from the
 * thread object, whose group the VM clears when the thread ends.
 */
int heap_thread_groups(struct heap *heap, const struct store_thread *thread,
		       struct heap_thread_groups *out, struct hdb_error *err)
{
	struct store_thread_start start;

	out->group[0] = out->parent[0] = '\0';
	TRY(heap_text(heap, thread->group_text, out->group, sizeof(out->group), err));
	if (!out->group[0])
		return thread->ix == STORE_NONE || !heap_is_thread(heap, thread->ix) ?
			       HDB_OK :
			       groups_of_object(heap, thread->ix, out, err);
	TRY_FOUND(find_serial(heap, STORE_THREAD_STARTS, thread->thread_serial, &start, err));
	return heap_text(heap, start.parent_group_text, out->parent, sizeof(out->parent), err);
}

/*
 * Reads a trace. Checks the range of frames, which comes from the file, so that heap_trace_frame
 * need not.
 */
int heap_trace(struct heap *heap, uint32_t trace_serial, struct store_trace *out,
	       struct hdb_error *err)
{
	const int r = find_serial(heap, STORE_TRACES, trace_serial, out, err);
	const uint64_t frames = store_record_count(heap->store, STORE_TRACE_FRAMES);

	if (r == HDB_OK &&
	    (out->first_frame > frames || out->frame_count > frames - out->first_frame))
		return store_damaged(heap->store, STORE_TRACES, trace_serial, "frames out of range",
				     err);
	return r;
}

int heap_trace_frame(struct heap *heap, const struct store_trace *trace, uint32_t depth,
		     struct store_frame *out, struct hdb_error *err)
{
	uint32_t no;
	int r;

	if (depth >= trace->frame_count)
		return HDB_NOTFOUND;
	r = store_record(heap->store, STORE_TRACE_FRAMES, trace->first_frame + depth, &no, err);
	if (r != HDB_OK || no == STORE_NONE)
		return r < 0 ? r : HDB_NOTFOUND;
	return store_record(heap->store, STORE_FRAMES, no, out, err);
}

/*
 * Writes a frame as text. HPROF uses these line numbers: above 0, a line; 0 or -1, unknown; -2, a
 * compiled method; -3, a native method. Some VMs write class names with slashes.
 */
int heap_frame_text(struct heap *heap, const struct store_frame *frame, char *buf, size_t size,
		    struct hdb_error *err)
{
	char class[NAME_MAX_BYTES] = "", method[NAME_MAX_BYTES] = "", source[NAME_MAX_BYTES] = "";

	assert(size > 0);
	TRY(heap_text(heap, frame->class_text, class, sizeof(class), err));
	TRY(heap_text(heap, frame->method_text, method, sizeof(method), err));
	TRY(heap_text(heap, frame->source_text, source, sizeof(source), err));
	for (char *p = class; *p; p++)
		if (*p == '/')
			*p = '.';
	if (frame->line == -3)
		(void)snprintf(buf, size, "%s.%s(Native Method)", class, method);
	else if (frame->line == -2)
		(void)snprintf(buf, size, "%s.%s(Compiled Code)", class, method);
	else if (!source[0])
		(void)snprintf(buf, size, "%s.%s(Unknown Source)", class, method);
	else if (frame->line > 0)
		(void)snprintf(buf, size, "%s.%s(%s:%d)", class, method, source, frame->line);
	else
		(void)snprintf(buf, size, "%s.%s(%s)", class, method, source);
	return HDB_OK;
}

int heap_own_frame(struct heap *heap, const struct store_trace *trace, uint32_t depth,
		   struct base_text to, struct hdb_error *err)
{
	uint32_t library = STORE_NONE;
	struct store_frame frame;
	int r = HDB_OK;

	for (; depth < trace->frame_count; depth++) {
		to.buf[0] = '\0';
		TRY_ERRORS(r = heap_trace_frame(heap, trace, depth, &frame, err));
		if (r != HDB_OK)
			break;
		TRY(heap_frame_text(heap, &frame, to.buf, to.size, err));
		/* the JVM generates such a class for a lambda, so it has no source */
		if (!heap_is_own_class(to.buf))
			continue;
		if (!heap_is_library_class(to.buf))
			return HDB_OK;
		if (library == STORE_NONE)
			library = depth;
	}
	to.buf[0] = '\0';
	if (library == STORE_NONE)
		return HDB_OK;
	TRY_FOUND(heap_trace_frame(heap, trace, library, &frame, err));
	return heap_frame_text(heap, &frame, to.buf, to.size, err);
}
