/*
 * hprof/walk.h - walks over a whole HPROF file event by event, even if the file is damaged.
 *
 * The walk corrects wrapped lengths, follows sub-records across wrong segment ends, resumes after
 * damage where the format allows it, and reports losses as problem events. It is deterministic: the
 * same file always gives the same events.
 */
#ifndef HPROF_WALK_H
#define HPROF_WALK_H

#include "hprof/salvage.h"

enum hprof_event {
	/* a top-level record other than a heap dump, possibly with an unknown tag: walk->record */
	HPROF_EVENT_RECORD,
	HPROF_EVENT_HEAP_BEGIN, /* a HEAP_DUMP or segment begins: walk->record */
	HPROF_EVENT_SUB,        /* a heap sub-record: walk->sub */
	HPROF_EVENT_HEAP_END,   /* the HEAP_DUMP or segment ends */
	HPROF_EVENT_PROBLEM     /* damage: walk->problem */
};

/* Kinds of damage. The names are stable, because they are printed and users can query them. */
enum hprof_problem_kind {
	HPROF_PROBLEM_TRUNCATED = 1, /* the file ends inside a record */
	HPROF_PROBLEM_RECORD_LENGTH, /* the length of a record does not match the bytes after it */
	/*
	 * a record with an unknown tag, probably a known record that is damaged, judging by the tag
	 * or the contents
	 */
	HPROF_PROBLEM_UNKNOWN_TAG,
	HPROF_PROBLEM_UNKNOWN_SUB_TAG, /* unknown heap sub-record */
	HPROF_PROBLEM_SUB_OVERRUN,     /* a sub-record extends beyond its segment or the file */
	/* a segment is longer or shorter than its contents; nothing is lost */
	HPROF_PROBLEM_SEGMENT_LENGTH,
	HPROF_PROBLEM_BAD_RECORD,     /* the body of a record cannot be parsed */
	HPROF_PROBLEM_TRAILING_BYTES, /* bytes after the last record that do not form a record */
	/* not reported by the walk: */
	HPROF_PROBLEM_COMPRESSION, /* the compressed file is damaged */
	HPROF_PROBLEM_EMPTIED      /* primitive arrays have no elements, see emptied.h */
};

struct hprof_problem {
	enum hprof_problem_kind kind;
	uint64_t offset;        /* where the damage was found */
	uint64_t lost_bytes;    /* bytes skipped */
	uint64_t missing_bytes; /* for a truncated file, minimum number of missing bytes */
	char message[256];      /* one line */
};

struct hprof_walk {
	const struct hprof_file *file;
	struct base_view view;
	struct hprof_record record;   /* the current top-level record */
	struct hprof_sub sub;         /* valid after HPROF_EVENT_SUB */
	struct hprof_problem problem; /* valid after HPROF_EVENT_PROBLEM */
	unsigned snapshot;            /* number of the current heap record's dump, starting at 1 */
	uint64_t position;            /* offset of the next event, for progress */
	/* private */
	struct hprof_salvage salvage;
	uint64_t next_record; /* expected offset of the next top-level record */
	uint64_t segment_end; /* nominal end of the current heap record */
	uint64_t limit;       /* offset up to which the quick path may read */
	/* offset of the last object before the current run of roots; its length may be wrong */
	uint64_t suspect;
	uint64_t suspect_end; /* end of that object */
	unsigned suspect_age; /* length of that run */
	int state;
	unsigned ended_count; /* number of dumps that have ended */
	bool dump_open;       /* whether a segment has been read since the last dump ended */
	/* whether segment_end is known to be the start of a record or the end of the file */
	bool end_known;
	/*
	 * whether the walk is beyond segment_end, because the segment's length is wrong or has
	 * wrapped
	 */
	bool following;
	bool has_reported; /* whether a problem has been reported */
	bool excused;      /* whether a reported problem already explains the wrong length */
};

/*
 * Starts at the first record. The caller must not move *walk in memory, and must release it with
 * hprof_walk_release.
 */
void hprof_walk_init(struct hprof_walk *walk, const struct hprof_file *file);
void hprof_walk_release(struct hprof_walk *walk);

/*
 * Advances to the next event. Returns HDB_OK with *event set, or HDB_END after the last event.
 * Fails only if the source cannot be read; damage is an event. A class dump has been checked
 * completely when its event arrives. The total time is linear in the size of the file, whatever its
 * contents.
 */
int hprof_walk_next(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err);

/*
 * Returns whether the walk is at `start` and its next events would be exactly the instances and
 * arrays that the caller read with hprof_quick_sub from `start` to `last`.
 */
bool hprof_walk_would_meet(const struct hprof_walk *walk, uint64_t start,
			   const struct hprof_sub *last);

/* Continues after `last`. Requires that hprof_walk_would_meet returned true for `last`. */
void hprof_walk_skip(struct hprof_walk *walk, const struct hprof_sub *last);

#endif
