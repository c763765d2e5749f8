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
	/* a top-level record other than a heap dump, possibly of unknown tag: walk->record */
	HPROF_EVENT_RECORD,
	HPROF_EVENT_HEAP_BEGIN, /* a HEAP_DUMP or segment begins: walk->record */
	HPROF_EVENT_SUB,        /* a heap sub-record: walk->sub */
	HPROF_EVENT_HEAP_END,   /* that record ends */
	HPROF_EVENT_PROBLEM     /* damage: walk->problem */
};

/* Kinds of damage. The names are stable, because they are printed and can be queried. */
enum hprof_problem_kind {
	HPROF_PROBLEM_TRUNCATED = 1, /* the file ends inside a record */
	HPROF_PROBLEM_RECORD_LENGTH, /* a record's length does not fit what follows */
	/* top-level record of unknown tag, possibly damage: it contains what looks like a heap */
	HPROF_PROBLEM_UNKNOWN_TAG,
	HPROF_PROBLEM_UNKNOWN_SUB_TAG, /* unknown heap sub-record */
	HPROF_PROBLEM_SUB_OVERRUN,     /* a sub-record runs past its segment or the file */
	/* segment longer or shorter than its contents; nothing is lost */
	HPROF_PROBLEM_SEGMENT_LENGTH,
	HPROF_PROBLEM_BAD_RECORD,     /* a record's body does not parse */
	HPROF_PROBLEM_TRAILING_BYTES, /* bytes after the last record that do not form a record */
	/* Not reported by the walk: */
	HPROF_PROBLEM_COMPRESSION, /* the compressed file is damaged */
	HPROF_PROBLEM_EMPTIED      /* primitive arrays have no elements, see emptied.h */
};

struct hprof_problem {
	enum hprof_problem_kind kind;
	uint64_t offset;        /* where the damage was found */
	uint64_t lost_bytes;    /* bytes skipped */
	uint64_t missing_bytes; /* truncated: bytes that the file lacks, at least */
	char message[256];      /* one line */
};

/* "truncated", "unknown-sub-tag", and so on; static. */
const char *hprof_problem_name(int kind);

struct hprof_walk {
	const struct hprof_file *file;
	struct base_view view;
	struct hprof_record record;   /* the current top-level record */
	struct hprof_sub sub;         /* valid after HPROF_EVENT_SUB */
	struct hprof_problem problem; /* valid after HPROF_EVENT_PROBLEM */
	unsigned snapshot;            /* dump number of the current heap record, from 1 */
	uint64_t position;            /* offset of the next event, for progress */
	/* private */
	struct hprof_salvage salvage;
	uint64_t next_record; /* where the next top-level record should begin */
	uint64_t segment_end; /* nominal end of the open heap record */
	uint64_t limit;       /* how far the quick path may go */
	uint64_t suspect;     /* offset of the last object before the current run of roots */
	uint64_t suspect_end; /* end of that object */
	unsigned suspect_age; /* length of that run of roots */
	int state;
	unsigned ended_count; /* number of dumps that have ended */
	bool dump_open;       /* a segment has been read since the last dump ended */
	bool end_known;       /* a record or the end of the file is at segment_end */
	bool following;       /* past segment_end: the length is wrong or wrapped */
	bool has_reported;    /* a problem has been reported */
	bool excused;         /* a reported problem already explains why the length is wrong */
};

/*
 * Starts at the first record. Call hprof_walk_release at the end. The walk must not be moved in
 * memory.
 */
void hprof_walk_init(struct hprof_walk *walk, const struct hprof_file *file);
void hprof_walk_release(struct hprof_walk *walk);

/*
 * Steps to the next event: HDB_OK with *event set, or HDB_END after the last. Fails only if the
 * source fails; damage is an event. Class dumps among the sub-records have been checked as a whole.
 * The total time is linear in the file's size, whatever its contents.
 */
int hprof_walk_next(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err);

/*
 * Whether the walk is positioned at `start` and its next events would be exactly the instances and
 * arrays that the caller has read with hprof_quick_sub from `start` to `last`.
 */
bool hprof_walk_would_meet(const struct hprof_walk *walk, uint64_t start,
			   const struct hprof_sub *last);

/* Skips these, to the position after `last`. Only after hprof_walk_would_meet returned true. */
void hprof_walk_skip(struct hprof_walk *walk, const struct hprof_sub *last);

#endif
