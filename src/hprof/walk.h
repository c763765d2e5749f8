/*
 * hprof/walk.h - a walk over a whole HPROF file, event by event, that survives damage.
 *
 * Undoes wrapped lengths, follows sub-records across wrong segment ends, resumes after damage
 * where the format allows it, and says what it lost as problem events. The same file gives the
 * same events each time.
 */
#ifndef HPROF_WALK_H
#define HPROF_WALK_H

#include "hprof/salvage.h"

enum hprof_event {
	/* a top-level record that is not a heap dump, maybe of unknown tag: walk->record */
	HPROF_EVENT_RECORD,
	HPROF_EVENT_HEAP_BEGIN, /* a HEAP_DUMP or segment begins: walk->record */
	HPROF_EVENT_SUB,        /* a heap sub-record: walk->sub */
	HPROF_EVENT_HEAP_END,   /* the end of that record */
	HPROF_EVENT_PROBLEM     /* damage: walk->problem */
};

/* Kinds of damage; names are stable, they are printed and queried. */
enum hprof_problem_kind {
	HPROF_PROBLEM_TRUNCATED = 1, /* the file ends inside a record */
	HPROF_PROBLEM_RECORD_LENGTH, /* a record's length does not fit what follows */
	/* top-level record of unknown tag that may be damage: it holds something like a heap */
	HPROF_PROBLEM_UNKNOWN_TAG,
	HPROF_PROBLEM_UNKNOWN_SUB_TAG, /* unknown heap sub-record */
	HPROF_PROBLEM_SUB_OVERRUN,     /* a sub-record runs past its segment or the file */
	/* segment longer or shorter than what it holds; nothing lost */
	HPROF_PROBLEM_SEGMENT_LENGTH,
	HPROF_PROBLEM_BAD_RECORD,     /* a record's body does not parse */
	HPROF_PROBLEM_TRAILING_BYTES, /* bytes after the last record that are no record */
	/* No events of the walk: */
	HPROF_PROBLEM_COMPRESSION, /* the compressed file is damaged */
	HPROF_PROBLEM_EMPTIED      /* primitive arrays were emptied, see emptied.h */
};

struct hprof_problem {
	enum hprof_problem_kind kind;
	uint64_t offset;        /* where it was met */
	uint64_t lost_bytes;    /* how many bytes were skipped */
	uint64_t missing_bytes; /* truncated: how many the file lacks at least */
	char message[256];      /* one line */
};

/* "truncated", "unknown-sub-tag", ...; static. */
const char *hprof_problem_name(int kind);

struct hprof_walk {
	const struct hprof_file *file;
	struct base_view view;
	struct hprof_record record;   /* the current top-level record */
	struct hprof_sub sub;         /* valid after HPROF_EVENT_SUB */
	struct hprof_problem problem; /* valid after HPROF_EVENT_PROBLEM */
	unsigned snapshot;            /* dump number of the current heap record, from 1 */
	uint64_t position;            /* offset of what comes next, for progress */
	/* private */
	struct hprof_salvage salvage;
	uint64_t next_record; /* where the next top-level record should begin */
	uint64_t segment_end; /* nominal end of the open heap record */
	uint64_t limit;       /* how far the quick path may go */
	uint64_t suspect;     /* offset of the last object before the roots just read */
	uint64_t suspect_end; /* its end */
	unsigned suspect_age; /* how many these are */
	int state;
	unsigned ended_count; /* dumps that have ended so far */
	bool dump_open;       /* a segment came since the last dump ended */
	bool end_known;       /* a record, or the file's end, is at segment_end */
	bool following;       /* past segment_end: the length is wrong or wrapped */
	bool told;            /* a problem was told before */
	bool excused;         /* a problem told already why the length does not fit */
};

/* Starts at the first record. End with hprof_walk_release; the walk must not be moved. */
void hprof_walk_init(struct hprof_walk *walk, const struct hprof_file *file);
void hprof_walk_release(struct hprof_walk *walk);

/*
 * Steps to the next event: HDB_OK with *event set, HDB_END after the last, below 0 only for
 * failures of the source (damage is an event). Sub-records that are class dumps have been
 * checked whole. The time is linear in the file's size whatever the bytes.
 */
int hprof_walk_next(struct hprof_walk *walk, enum hprof_event *event, struct hdb_error *err);

/*
 * Whether the walk stands at `start` and its next events would be the instances and arrays that
 * the caller has read with hprof_quick_sub, one after the other from `start` to `last`.
 */
bool hprof_walk_would_meet(const struct hprof_walk *walk, uint64_t start,
			   const struct hprof_sub *last);

/* Steps over them, behind `last`, after hprof_walk_would_meet said yes. */
void hprof_walk_skip(struct hprof_walk *walk, const struct hprof_sub *last);

#endif
