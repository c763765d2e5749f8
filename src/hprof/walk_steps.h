/*
 * hprof/walk_steps.h - what walk.c and walk_heap.c share. Private to src/hprof.
 */
#ifndef HPROF_WALK_STEPS_H
#define HPROF_WALK_STEPS_H

#include "hprof/walk.h"

/* struct hprof_walk's state: what the next step does. */
enum {
	STATE_TOP,   /* reads a top-level record */
	STATE_HEAP,  /* reads a sub-record */
	STATE_OPEN,  /* opens a heap record for sub-records that a search found */
	STATE_CLOSE, /* emits the end of a heap record after a problem */
	STATE_DONE
};

static inline uint64_t hprof_walk_file_size(const struct hprof_walk *walk)
{
	return walk->file->source->size;
}

/* Sends the top level to `offset`. */
static inline void hprof_walk_go_on(struct hprof_walk *walk, uint64_t offset)
{
	walk->next_record = walk->position = offset;
}

/* Damage that was met at an offset, and how many bytes are skipped for it. */
struct hprof_loss {
	enum hprof_problem_kind kind;
	uint64_t offset;
	uint64_t bytes;
};

/* Fills in walk->problem; returns HDB_OK so that it ends a step. */
int hprof_walk_problem(struct hprof_walk *walk, enum hprof_event *event,
		       const struct hprof_loss *loss, const char *format, ...) HDB_PRINTF(4, 5);

/* Opens a heap record whose body is walk->record's; emits HEAP_BEGIN. */
int hprof_walk_open_heap(struct hprof_walk *walk, enum hprof_event *event);

/* One step inside a heap record. */
int hprof_walk_step_heap(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err);

/* Emits HEAP_END and counts the dump if the record ends one. */
int hprof_walk_emit_heap_end(struct hprof_walk *walk, enum hprof_event *event);

/*
 * 1 if the unknown record at `offset` is followed, by its length, by what looks like records; 0
 * if not; below 0 if the source failed.
 */
int hprof_walk_unknown_record_at(struct hprof_walk *walk, uint64_t offset, struct hdb_error *err);

/*
 * Looks for a record or a sub-record from `from` to the end of the file: 1, *found says where; 0 if
 * there is none; below 0 if the source failed.
 */
int hprof_walk_search_all(struct hprof_walk *walk, uint64_t from, struct hprof_search *found,
			  struct hdb_error *err);

#endif
