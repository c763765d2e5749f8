/*
 * hprof/salvage.h - distinguishes records from garbage, for the walk when lengths cannot be
 * trusted. Private to src/hprof.
 *
 * This module only estimates how likely a record is to begin at an offset; the walk decides what to
 * report. All searches share one budget that is linear in the file's size, so the total time is
 * linear for every file.
 */
#ifndef HPROF_SALVAGE_H
#define HPROF_SALVAGE_H

#include "base/idmap.h"
#include "hprof/reader.h"

struct hprof_salvage {
	const struct hprof_file *file;
	struct base_view *view;    /* borrowed from the walk */
	struct base_idmap classes; /* known class IDs; all values are 0 */
	uint64_t budget;           /* remaining search steps */
};

/* Evidence, in bits, that callers require from hprof_chain_strength. */
enum {
	HPROF_STRENGTH_ANY = 1,     /* it parses */
	HPROF_STRENGTH_LIKELY = 20, /* required where a sub-record is expected */
	HPROF_STRENGTH_SURE = 50    /* required at an offset found */
};

/*
 * Initialises the state, with no known classes. The caller must release it with
 * hprof_salvage_release.
 */
void hprof_salvage_init(struct hprof_salvage *s, const struct hprof_file *file,
			struct base_view *view);
void hprof_salvage_release(struct hprof_salvage *s);

/* Adds a known class ID. Beyond a fixed number, further IDs are ignored. Fails with HDB_ENOMEM. */
int hprof_salvage_add_class(struct hprof_salvage *s, uint64_t class_id, struct hdb_error *err);

/*
 * Return whether a top-level record can have this tag, and whether such a record contains heap
 * sub-records.
 */
bool hprof_tag_known(uint8_t tag);
static inline bool hprof_tag_is_heap(uint8_t tag)
{
	return tag == HPROF_HEAP_DUMP || tag == HPROF_HEAP_DUMP_SEGMENT;
}

/*
 * Returns whether an unknown tag may belong to a record of a later version of the format. Tag 0,
 * which is frequent in damaged areas, and the tags of sub-records do not count.
 */
bool hprof_tag_unknown(uint8_t tag);

/*
 * Limits for plausible strings: a maximum size, and the number of first bytes, none of which may be
 * zero.
 */
#define HPROF_TEXT_MAX (1u << 24)
#define HPROF_TEXT_LOOK 24u

/*
 * Returns whether a record with this tag can have a body of this size. The tag must not be the tag
 * of a heap dump.
 */
bool hprof_size_fits(uint8_t tag, uint64_t body_size, unsigned id_size);

/*
 * Returns 1 if the file ends at `offset`, or if a top-level record begins there and is followed by
 * depth - 1 others or by the end of the file. Otherwise returns 0, or a negative value if the
 * source cannot be read.
 */
int hprof_record_plausible(struct hprof_salvage *s, uint64_t offset, unsigned depth,
			   struct hdb_error *err);

/*
 * Like hprof_record_plausible, but, before each record, skips records with unknown tags if their
 * lengths lead to that record.
 */
int hprof_record_follows(struct hprof_salvage *s, uint64_t offset, unsigned depth,
			 struct hdb_error *err);

/*
 * Returns 1 if the record's size is exactly what its tag and the counts in its body require.
 * Returns 0 if the size differs or cannot be derived (strings, heap dumps), and a negative value if
 * the source cannot be read.
 */
int hprof_size_proven(struct hprof_salvage *s, const struct hprof_record *rec,
		      struct hdb_error *err);

/*
 * Returns 1 if the sub-records from `offset` to `limit` provide evidence of `need` bits, 0 if not,
 * and a negative value if the source cannot be read. An end exactly at `limit`, or a top-level
 * record after the sub-records, also counts as evidence.
 */
int hprof_chain_strength(struct hprof_salvage *s, uint64_t offset, uint64_t limit, unsigned need,
			 struct hdb_error *err);

/* A search: its range, its target, and its result. */
struct hprof_search {
	uint64_t from;     /* first offset to try */
	uint64_t until;    /* offset after the last offset to try */
	uint64_t limit;    /* offset at or before which a sub-record must end */
	bool with_subs;    /* whether to search for sub-records */
	bool with_records; /* whether to search for top-level records */
	uint64_t offset;   /* result: offset of the record that was found */
	/* result: whether a top-level record rather than a sub-record was found */
	bool is_record;
};

/*
 * Returns 1 if the search succeeded, 0 if it failed or the budget is exhausted, and a negative
 * value if the source cannot be read.
 */
int hprof_search(struct hprof_salvage *s, struct hprof_search *search, struct hdb_error *err);

#endif
