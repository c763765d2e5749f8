/*
 * support/walked.h - walks a file to its end, fails the test if an event is impossible, and counts
 * the events.
 */
#ifndef SUPPORT_WALKED_H
#define SUPPORT_WALKED_H

#include "hprof/walk.h"
#include "support/structure_checks.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define WALKED_PROBLEMS 16
#define WALKED_SUBS 1024

/* Results of a walk. */
struct walked {
	unsigned records, begins, subs, ends, problems;
	unsigned snapshot; /* highest number of a heap record */
	struct hprof_problem problem[WALKED_PROBLEMS];
	uint64_t sub_end[WALKED_SUBS];
	uint64_t begin_size; /* body size of the first heap record, known when it begins */
	uint64_t heap_size;  /* body size of the last heap record, known when it ends */
	uint64_t hash;       /* hash of all events */
	int code;            /* result of the last step */
};

static inline void walked_note(struct walked *r, uint64_t v)
{
	r->hash = (r->hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	r->hash ^= r->hash >> 29;
}

static inline void walked_event(struct walked *r, const struct hprof_walk *walk,
				enum hprof_event event)
{
	walked_note(r, (uint64_t)event);
	switch (event) {
	case HPROF_EVENT_RECORD:
		r->records++;
		walked_note(r, walk->record.offset);
		break;
	case HPROF_EVENT_HEAP_BEGIN:
		if (r->begins++ == 0)
			r->begin_size = walk->record.body_size;
		if (walk->snapshot > r->snapshot)
			r->snapshot = walk->snapshot;
		break;
	case HPROF_EVENT_SUB:
		if (r->subs < WALKED_SUBS)
			r->sub_end[r->subs] = walk->sub.end;
		r->subs++;
		walked_note(r, walk->sub.offset);
		walked_note(r, walk->sub.id);
		break;
	case HPROF_EVENT_HEAP_END:
		r->ends++;
		r->heap_size = walk->record.body_size;
		break;
	case HPROF_EVENT_PROBLEM:
		if (r->problems < WALKED_PROBLEMS)
			r->problem[r->problems] = walk->problem;
		r->problems++;
		walked_note(r, walk->problem.offset);
		walked_note(r, walk->problem.lost_bytes);
		assert_true(strlen(walk->problem.message) > 10);
		break;
	}
}

/* Checks the invariants of a walk between two events. */
static inline void walked_check(const struct hprof_walk *walk)
{
	const uint64_t size = walk->file->source->size;

	assert(walk->view.src == walk->file->source);
	assert(walk->view.start <= walk->view.end);
	assert(walk->view.end <= size);
	assert(walk->position <= size);
	assert(walk->salvage.file == walk->file);
	base_idmap_check(&walk->salvage.classes);
}

/* Walks a source to its end. Fails if there are more events than bytes. */
static inline void walk_source(struct base_source *source, struct walked *r)
{
	struct hprof_walk walk;
	struct hprof_file file;
	struct hdb_error err = { 0 };
	enum hprof_event event;
	uint64_t events = 0, last_sub = 0;

	memset(r, 0, sizeof(*r));
	assert_int_equal(hprof_open(source, &file, &err), HDB_OK);
	hprof_walk_init(&walk, &file);
	while ((r->code = hprof_walk_next(&walk, &event, &err)) == HDB_OK) {
		walked_event(r, &walk, event);
		walked_check(&walk);
		if (event == HPROF_EVENT_SUB) {
			assert_true(walk.sub.end > walk.sub.offset);
			assert_true(walk.sub.end <= source->size);
			/*
			 * After damage, the walk may go back, but never to before an object that it
			 * has reported.
			 */
			if (walk.sub.tag == HPROF_INSTANCE_DUMP && walk.sub.length > 0) {
				assert_true(walk.sub.offset > last_sub);
				last_sub = walk.sub.offset;
			}
		}
		assert_true(++events <= 2 * source->size);
	}
	if (r->code == HDB_END) {
		assert_int_equal(walk.position, source->size);
		assert_int_equal(r->begins, r->ends);
		assert_int_equal(hprof_walk_next(&walk, &event, &err), HDB_END);
	}
	hprof_walk_release(&walk);
}

/*
 * Walks a copy of the bytes in memory of exactly their size, so that sanitizers detect reads past
 * the end.
 */
static inline void walk_bytes(const uint8_t *data, size_t size, struct walked *r)
{
	struct base_source *source;
	uint8_t *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, data, size);
	assert_int_equal(base_memory_open(copy, size, &source, NULL), HDB_OK);
	walk_source(source, r);
	base_source_close(source);
	free(copy);
	assert_int_equal(r->code, HDB_END);
}

#endif
