/*
 * hprof/walk.h - walks over a whole HPROF file event by event and survives damage.
 *
 * The walk corrects wrapped lengths, follows sub-records across wrong segment ends, resumes after
 * damage where the format allows it, and reports losses as problem events. It is deterministic: the
 * same file gives the same events.
 */
#ifndef HPROF_WALK_H
#define HPROF_WALK_H

#include "hprof/salvage.h"

enum hprof_event {
	/* a top-level record other than a heap dump, possibly with an unknown tag: walk->record */
	HPROF_EVENT_RECORD,
	HPROF_EVENT_HEAP_BEGIN, /* a HEAP_DUMP or segment begins: walk->record */
	HPROF_EVENT_SUB,        /* a heap sub-record: walk->sub */
	HPROF_EVENT_HEAP_END,   /* that record ends */
	HPROF_EVENT_PROBLEM     /* damage: walk->problem */
};

/* Kinds of damage. The names are stable, because they are printed and users can query them. */
enum hprof_problem_kind {
	HPROF_PROBLEM_TRUNCATED = 1, /* the file ends inside a record */
	HPROF_PROBLEM_RECORD_LENGTH, /* primitive arrays have no elements; see emptied.h */
	/*
	 * a top-level record with an unknown tag that may be damaged, because it contains data that
	 * looks like a heap
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

/* Returns "truncated", "unknown-sub-tag", and so on, a static string. */
const char *hprof_problem_name(int kind);

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
	uint64_t next_record; /* offset at which the next top-level record should begin */
	uint64_t segment_end; /* nominal end of the current heap record */
	uint64_t limit;       /* offset up to which the fast path may read */
	uint64_t suspect;     /* offset of the last object before the current run of roots */
	uint64_t suspect_end; /* end of that object */
	unsigned suspect_age; /* number of roots in this run */
	int state;
	unsigned ended_count; /* number of dumps that have ended */
	bool dump_open;       /* whether a segment has been read since the last dump ended */
	/* whether segment_end is known to be the start of a record or the end of the file */
	bool end_known;
	/* whether the walk is beyond segment_end, because the length is wrong or has wrapped */
	bool following;
	bool has_reported; /* whether a problem has been reported */
	bool excused;      /* whether a reported problem already explains the wrong length */
};

/*
 * Starts at the first record. The caller must call hprof_walk_release at the end, and must not move
 * *walk in memory.
 */
void hprof_walk_init(struct hprof_walk *walk, const struct hprof_file *file);
void hprof_walk_release(struct hprof_walk *walk);

/*
 * Advances to the next event. Returns HDB_OK with *event set, or HDB_END after the last event.
 * Fails only if reading the source fails. Damage is reported as an event. Class dumps among the
 * sub-records have been checked completely. The total time is linear in the size of the file,
 * regardless of its contents.
 */
int hprof_walk_next(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err);

/*
 * Returns whether the walk is positioned at `start` and its next events would be exactly the
 * instances and arrays that the caller has read with hprof_quick_sub from `start` to `last`.
 */
bool hprof_walk_would_meet(const struct hprof_walk *walk, uint64_t start,
			   const struct hprof_sub *last);

/*
 * Skips these sub-records and continues after `last`. May be called only after
 * hprof_walk_would_meet has returned true.
 */
void hprof_walk_skip(struct hprof_walk *walk, const struct hprof_sub *last);

#endif
