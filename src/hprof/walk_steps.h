/*
 * hprof/walk_steps.h - functions shared by walk.c and walk_heap.c. Private to src/hprof.
 */
#ifndef HPROF_WALK_STEPS_H
#define HPROF_WALK_STEPS_H

#include "hprof/walk.h"

/* What the next step does; stored in hprof_walk.state. */
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

/* Continues at the top level, at `offset`. */
static inline void hprof_walk_go_on(struct hprof_walk *walk, uint64_t offset)
{
	walk->next_record = walk->position = offset;
}

/* Damage at an offset, and the number of bytes skipped because of the damage. */
struct hprof_loss {
	enum hprof_problem_kind kind;
	uint64_t offset;
	uint64_t bytes;
};

/* Fills in walk->problem. Always returns HDB_OK, for use in a return statement. */
int hprof_walk_problem(struct hprof_walk *walk, enum hprof_event *event,
		       const struct hprof_loss *loss, const char *format, ...) HDB_PRINTF(4, 5);

/* Opens a heap record with the body of walk->record, and emits HEAP_BEGIN. */
int hprof_walk_open_heap(struct hprof_walk *walk, enum hprof_event *event);

/* Performs one step inside a heap record. */
int hprof_walk_step_heap(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err);

/* Emits HEAP_END. Counts a dump if the record ends one. */
int hprof_walk_emit_heap_end(struct hprof_walk *walk, enum hprof_event *event);

/*
 * Returns 1 if the length of the unknown record at `offset` leads to data that looks like records,
 * 0 if it does not, and a value below 0 if reading the source failed.
 */
int hprof_walk_unknown_record_at(struct hprof_walk *walk, uint64_t offset, struct hdb_error *err);

/*
 * Searches from `from` to the end of the file for a record or sub-record. Returns 1 with *found
 * set, 0 if there is none, or a negative value if the source cannot be read.
 */
int hprof_walk_search_all(struct hprof_walk *walk, uint64_t from, struct hprof_search *found,
			  struct hdb_error *err);

#endif
