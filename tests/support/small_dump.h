/*
 * support/small_dump.h - a valid dump of about 6 KB with every kind of sub-record, for tests of the
 * walk.
 */
#ifndef SUPPORT_SMALL_DUMP_H
#define SUPPORT_SMALL_DUMP_H

#include "support/hprof_writer.h"

/* Offsets of the dump's two segments, and of the end of the second segment. */
struct small_places {
	size_t first, second, end;
};

/* Number of records outside the heap segments, and number of sub-records. */
#define SMALL_HEAD_RECORDS 10
#define SMALL_SUBS (3 + 2 * 60 + 10)

/* Writes the dump. Release it with hw_release. */
struct small_places small_dump(struct hw *w, unsigned id_size);

/*
 * Parts of the dump: strings, classes and a stack trace, which precede the heap, and class dumps.
 */
void small_head(struct hw *w);
void small_classes(struct hw *w);
/*
 * Writes `count` nodes with IDs from `id` on. Arrays follow every fourth node, so two nodes have
 * three sub-records.
 */
void small_nodes(struct hw *w, uint64_t id, unsigned count);

#endif
