/* import/scan.h - declarations shared by the files of the first pass. Private to the import. */
#ifndef IMPORT_SCAN_H
#define IMPORT_SCAN_H

#include "import/prescan.h"
#include "import/context.h"

/*
 * Number of slots in a cache of classes, by a hash of the ID. Most objects belong to a few classes.
 */
#define CLASS_CACHE 1024u

/*
 * Strings are added to the map in batches, so that the map grows once per batch. A batch ends at
 * this size, or when another record may refer to a string.
 */
#define TEXTS_WAITING (1u << 20)

struct scan {
	struct import *im;
	struct hprof_walk walk;
	struct base_view view; /* window for bodies of top-level records */
	uint64_t cache_id[CLASS_CACHE];
	uint32_t cache_no[CLASS_CACHE];
	uint32_t heap_no;
	uint32_t alloc_records, cpu_records;
	/* uint64_t: IDs of strings that have not been added to the map yet */
	struct base_vec waiting;
	struct import_prescan *chunks; /* one per slot of the pipeline */
	uint64_t events;
	bool is_done; /* whether the walk has reached the end of the file */
};

/* ---- scan_records.c: top-level records ---- */

/* Stores a record. Fails with HDB_EFORMAT or HDB_ETRUNC if the record cannot be parsed. */
int import_scan_record(struct scan *s, const struct hprof_record *rec, struct hdb_error *err);

/*
 * Finds the thread with this serial number. Adds the thread if it is new. The pointer becomes
 * invalid when a thread is added.
 */
int import_thread_of(struct import *im, uint32_t serial, struct store_thread **out,
		     struct hdb_error *err);

/*
 * Adds the waiting strings to the map. Must be called before a string is looked up, and after the
 * last record.
 */
int import_scan_texts(struct scan *s, struct hdb_error *err);

/* ---- scan_heap.c: heap sub-records ---- */

/* Stores the walk's current sub-record. */
int import_scan_sub(struct scan *s, struct hdb_error *err);

/* Finds the number of the class with this ID. Adds the class if it is new. */
int import_scan_class_no(struct scan *s, uint64_t class_id, uint32_t *no, struct hdb_error *err);

#endif
