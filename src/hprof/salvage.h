/*
 * hprof/salvage.h - telling records from rubbish: what the walk asks when lengths cannot be
 * trusted. Private to src/hprof.
 *
 * Nothing here decides what an event is; it only says how likely it is that something begins at
 * an offset. All searches share one budget that is linear in the file's size, so that no file,
 * however made, takes more than linear time.
 */
#ifndef HPROF_SALVAGE_H
#define HPROF_SALVAGE_H

#include "base/idmap.h"
#include "hprof/reader.h"

struct hprof_salvage {
	const struct hprof_file *file;
	struct base_view *view;    /* lent by the walk */
	struct base_idmap classes; /* known class ids; each has 0 */
	uint64_t budget;           /* steps that searches may still take */
};

/* Evidence, in bits, that hprof_chain_strength must find. */
enum {
	HPROF_STRENGTH_ANY = 1,     /* it parses */
	HPROF_STRENGTH_LIKELY = 20, /* where a sub-record is expected */
	HPROF_STRENGTH_SURE = 50    /* found by a search */
};

/* Starts with no class known. Owns the class table: hprof_salvage_release. */
void hprof_salvage_init(struct hprof_salvage *s, const struct hprof_file *file,
			struct base_view *view);
void hprof_salvage_release(struct hprof_salvage *s);

/* Remembers a class id as evidence. HDB_ENOMEM; ids beyond a limit are not remembered. */
int hprof_salvage_add_class(struct hprof_salvage *s, uint64_t class_id, struct hdb_error *err);

/* Whether a top-level record may have this tag; whether that record holds heap sub-records. */
bool hprof_tag_known(uint8_t tag);
static inline bool hprof_tag_is_heap(uint8_t tag)
{
	return tag == HPROF_HEAP_DUMP || tag == HPROF_HEAP_DUMP_SEGMENT;
}

/*
 * Whether a tag that is not known may be of a record that a later version of the format has: not 0,
 * of which damage is full, and not a sub-record's.
 */
bool hprof_tag_unknown(uint8_t tag);

/* A text is believed up to this size, and if so many bytes that it begins with have no zero. */
#define HPROF_TEXT_MAX (1u << 24)
#define HPROF_TEXT_LOOK 24u

/* Whether a record of this tag, heap dumps aside, may have a body of this size. */
bool hprof_size_fits(uint8_t tag, uint64_t body_size, unsigned id_size);

/*
 * 1 if the file ends at `offset` or a top-level record begins there and up to depth - 1 others
 * follow it (or the end), 0 if not, below 0 if the source failed.
 */
int hprof_record_plausible(struct hprof_salvage *s, uint64_t offset, unsigned depth,
			   struct hdb_error *err);

/* The same where records of unknown tags may come before each of them, and lead to it. */
int hprof_record_follows(struct hprof_salvage *s, uint64_t offset, unsigned depth,
			 struct hdb_error *err);

/*
 * 1 if the record's size is just what its tag and the counts in its body ask for, 0 if not or if
 * nothing tells (strings, heap dumps), below 0 if the source failed.
 */
int hprof_size_proven(struct hprof_salvage *s, const struct hprof_record *rec,
		      struct hdb_error *err);

/*
 * 1 if sub-records from `offset` on show evidence of `need` bits before `limit`, 0 if not,
 * below 0 if the source failed. Reaching `limit` exactly is evidence, too, and so is a
 * top-level record after them.
 */
int hprof_chain_strength(struct hprof_salvage *s, uint64_t offset, uint64_t limit, unsigned need,
			 struct hdb_error *err);

/* A search: where, for what, and what it found. */
struct hprof_search {
	uint64_t from;     /* first offset to try */
	uint64_t until;    /* offset past the last one to try */
	uint64_t limit;    /* where sub-records that are found must end */
	bool with_subs;    /* look for sub-records */
	bool with_records; /* look for top-level records */
	uint64_t offset;   /* result: of what was found */
	bool is_record;    /* result: a top-level record, else a sub-record */
};

/*
 * 1 if the search found something, 0 if there is nothing or the budget is spent, below 0 if the
 * source failed.
 */
int hprof_search(struct hprof_salvage *s, struct hprof_search *search, struct hdb_error *err);

#endif
