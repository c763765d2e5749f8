/*
 * import/scan.h - what the files of the first pass share. Private to the import.
 */
#ifndef IMPORT_SCAN_H
#define IMPORT_SCAN_H

#include "import/prescan.h"
#include "import/context.h"

/*
 * Remembers the last classes by a hash of their ID: nearly every object is of one of few classes.
 */
#define CLASS_CACHE 1024u

/*
 * Texts whose identifiers wait until something may speak of them, or there are so many: then the
 * map is made large enough for them at once.
 */
#define TEXTS_WAITING (1u << 20)

struct scan {
	struct import *im;
	struct hprof_walk walk;
	struct base_view view; /* for bodies of top-level records */
	uint64_t cache_id[CLASS_CACHE];
	uint32_t cache_no[CLASS_CACHE];
	uint32_t heap_no;
	uint32_t alloc_records, cpu_records;
	struct base_vec waiting;       /* uint64_t: identifiers of the last texts */
	struct import_prescan *chunks; /* one a slot of the pipeline */
	uint64_t events;
	bool is_done; /* the walk has ended */
};

/* ---- scan_records.c: top-level records ---- */

/* Reads a record's body and keeps it. HDB_EFORMAT or HDB_ETRUNC if it does not parse. */
int import_scan_record(struct scan *s, const struct hprof_record *rec, struct hdb_error *err);

/* The thread with this serial number, made if it is new. The pointer dies when threads grow. */
int import_thread_of(struct import *im, uint32_t serial, struct store_thread **out,
		     struct hdb_error *err);

/* Texts are found by their identifiers from now on: after the last record at the latest. */
int import_scan_texts(struct scan *s, struct hdb_error *err);

/* ---- scan_heap.c: heap sub-records ---- */

/* Keeps the sub-record that the walk is at. */
int import_scan_sub(struct scan *s, struct hdb_error *err);

/* Number of the class with this ID, made if it is new. */
int import_scan_class_no(struct scan *s, uint64_t class_id, uint32_t *no, struct hdb_error *err);

#endif
