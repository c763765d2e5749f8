/*
 * support/small_dump.h - a good dump of some 6 KB with every kind of sub-record, for tests of the
 * walk.
 */
#ifndef SUPPORT_SMALL_DUMP_H
#define SUPPORT_SMALL_DUMP_H

#include "support/hprof_writer.h"

/* Where the dump has its two segments, and where the second one ends. */
struct small_places {
	size_t first, second, end;
};

/* How many records are not of the heap, and how many sub-records there are. */
#define SMALL_HEAD_RECORDS 10
#define SMALL_SUBS (3 + 2 * 60 + 10)

/* Writes the dump; hw_release frees. */
struct small_places small_dump(struct hw *w, unsigned id_size);

/* Its parts: strings, classes and a trace, which come before the heap; class dumps. */
void small_head(struct hw *w);
void small_classes(struct hw *w);
/* `count` nodes from `id` on, every fourth followed by arrays: three sub-records for two nodes. */
void small_nodes(struct hw *w, uint64_t id, unsigned count);

#endif
