/* heap/threads.h - reads threads and their stacks. */
#ifndef HEAP_THREADS_H
#define HEAP_THREADS_H

#include "base/base_text.h"
#include "heap/heap.h"

/* Size of the buffer for the name of a thread group. Longer names are truncated. */
#define HEAP_GROUP_NAME_MAX 256

/* Return the number of threads in the dump, and thread number `no` in order of serial number. */
uint64_t heap_thread_count(struct heap *heap);
int heap_thread(struct heap *heap, uint64_t no, struct store_thread *out, struct hdb_error *err);

/* Finds the thread with this serial number. Returns HDB_OK or HDB_NOTFOUND. */
int heap_thread_by_serial(struct heap *heap, uint32_t serial, struct store_thread *out,
			  struct hdb_error *err);

/* Returns whether ix is an instance of java.lang.Thread or a subclass. Classes must be loaded. */
bool heap_is_thread(struct heap *heap, uint32_t ix);

/*
 * Reads the name of a thread object (field `name`, a String or, in old JDKs, a char[]) as UTF-8
 * into buf. Writes "" if it is unknown.
 */
int heap_thread_name(struct heap *heap, uint32_t ix, char *buf, size_t size, struct hdb_error *err);
/*
 * Replaces each number in a thread's name with "*", in place: "pool-1-thread-7" becomes
 * "pool-*-thread-*". Threads of one pool have the same pattern.
 */
void heap_name_pattern(char *name);

/*
 * The names of a thread's group and of that group's parent, as UTF-8, or "" if the dump does not
 * record them. They come from the thread's START_THREAD record, or otherwise from fields of the
 * thread object, which VMs clear when a thread ends.
 */
struct heap_thread_groups {
	char group[HEAP_GROUP_NAME_MAX], parent[HEAP_GROUP_NAME_MAX];
};
int heap_thread_groups(struct heap *heap, const struct store_thread *thread,
		       struct heap_thread_groups *out, struct hdb_error *err);

/* Finds the trace with this serial number. Returns HDB_OK or HDB_NOTFOUND. */
int heap_trace(struct heap *heap, uint32_t trace_serial, struct store_trace *out,
	       struct hdb_error *err);

/*
 * Reads frame number `depth` of a trace (0 is the innermost). Returns HDB_NOTFOUND if the dump does
 * not contain the frame.
 */
int heap_trace_frame(struct heap *heap, const struct store_trace *trace, uint32_t depth,
		     struct store_frame *out, struct hdb_error *err);

/* Writes a frame in the format of the JVM: "java.lang.Object.wait(Object.java:338)". */
int heap_frame_text(struct heap *heap, const struct store_frame *frame, char *buf, size_t size,
		    struct hdb_error *err);

/*
 * Writes the innermost frame of an application class, in the format of heap_frame_text. Starts at
 * frame number `depth` and ends where the dump lacks a frame. If there is no such frame, writes
 * the innermost frame of a library, or "".
 */
int heap_own_frame(struct heap *heap, const struct store_trace *trace, uint32_t depth,
		   struct base_text to, struct hdb_error *err);

#endif
