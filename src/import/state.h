/*
 * import/state.h - what the passes of one import share. Private to the import.
 */
#ifndef IMPORT_STATE_H
#define IMPORT_STATE_H

#include "base/idmap.h"
#include "base/vec.h"
#include "hprof/walk.h"
#include "import/idset.h"
#include "import/import.h"
#include "import/places.h"
#include "store/records.h"
#include "store/schema.h"
#include "store/store.h"

/* Problems that are kept one by one; the others are counted. */
#define IMPORT_PROBLEMS_MAX 10000
/* Distinct missing identifiers that are kept; references to others are counted. */
#define IMPORT_DANGLING_MAX 100000

/* A class while it is being imported. */
struct import_class {
	struct store_class out;   /* what will be stored */
	uint64_t super_id;
	uint64_t name_string_id;
	uint64_t statics_offset;  /* in the dump */
	uint64_t fields_offset;
	uint32_t max_body;        /* longest instance of it, bytes */
	uint32_t field_super;     /* nearest super class that has instance fields, or STORE_NONE */
	uint32_t min_gap;         /* smallest distance of an instance to the next object; STORE_NONE */
	uint32_t plan_first;      /* reference offsets of an instance: in import.plans */
	uint32_t plan_count;
	uint64_t model_bytes;     /* see sizes.c: size before rounding to the alignment */
	uint32_t order;           /* position among all classes, super classes first */
	uint8_t has_dump;         /* a CLASS_DUMP of this snapshot */
	uint8_t mark;             /* for walks over super classes */
};

/* A root record as read. */
struct import_root {
	uint64_t id;
	uint64_t thread_id;       /* the thread object that holds it, 0 none */
	uint32_t thread_serial;
	uint32_t frame_number;
	uint8_t kind;
};

/* Where a text of the dump is, so that class names can be read again. */
struct import_text_place {
	uint64_t offset;
	uint32_t size;
};

/* From this offset on objects belong to another heap (Android). */
struct import_heap_switch {
	uint64_t offset;
	uint32_t heap_no; /* 1 + number in table heaps */
};

struct import {
	const struct hdb_import_options *opt;
	struct base_work *work;
	struct base_source *source;
	struct hprof_file file;
	struct store_writer *writer;
	unsigned snapshot;            /* which one is imported, from 1 */
	unsigned snapshot_count;
	bool is_android;

	struct idset ids;
	struct base_idmap class_map;  /* class ID -> number in classes */
	struct base_vec classes;      /* struct import_class; sorted by ID after numbering */
	struct base_idmap serial_map; /* class serial -> number in loads */
	struct base_vec loads;        /* struct hprof_load_class */
	struct base_idmap load_map;   /* class ID -> number in loads (the last one) */
	struct base_vec unloaded;     /* uint32_t: class serials of UNLOAD CLASS records */
	struct base_idmap text_map;   /* string ID -> text number */
	struct store_texts_writer texts;
	struct base_vec roots;        /* struct import_root */
	struct base_idmap thread_map; /* thread serial -> number in threads */
	struct base_idmap thread_roots; /* the same for threads that a THREAD_OBJECT root has named */
	struct base_vec threads;      /* struct store_thread */
	struct base_vec traces;       /* struct store_trace */
	struct base_vec trace_frames; /* uint64_t frame IDs */
	struct base_vec frames;       /* struct store_frame; class_text holds the class serial until the end */
	struct base_vec heaps;        /* struct store_heap */
	struct base_vec heap_switches;/* struct import_heap_switch */
	struct base_vec alloc_sites;  /* struct store_alloc_site; class_text holds the class serial */
	struct base_vec cpu_samples;
	struct base_vec summaries;    /* struct store_heap_summary */
	struct base_vec problems;     /* struct store_problem */
	struct base_vec dangling;     /* struct store_dangling */
	struct base_idmap dangling_map;
	struct base_vec id_directory; /* uint64_t: first ID of each block */
	struct base_vec plans;        /* uint32_t offsets of references in instances */
	struct base_vec text_places;  /* struct import_text_place, by text number */
	struct store_record_count counts[2][256]; /* top-level, sub-records */

	struct places places;         /* where instances and arrays are */
	uint32_t object_count;
	uint64_t reference_count;
	uint64_t dangling_count;
	uint64_t problem_count;
	uint64_t root_count;
	uint64_t array_overlap;       /* MAT's evidence for 4-byte references: see sizes.c */
	uint64_t previous_array, previous_array_end;
	uint32_t primitive_used[16];  /* basic types of primitive arrays that are there */
	uint32_t class_class_no;      /* java.lang.Class */
	uint32_t loader_class_no;     /* java.lang.ClassLoader */
	uint32_t object_class_no;     /* java.lang.Object; STORE_NONE if the dump lacks it */
	uint32_t primitive_class_no[16];
	bool has_sticky;
	struct hprof_control_settings control; /* of the last such record */
	bool has_control;
	bool any_boot_class;          /* a class of the boot loader is there */
	uint32_t *order;              /* class numbers, super classes first */
	unsigned mat_align_bytes;     /* MAT's A: see sizes.c */
	struct base_vec extras;       /* struct import_edge, sorted: see import_roots.c */
	struct base_vec numbered_roots; /* struct store_root, sorted */
	uint64_t array_contradictions;/* object arrays that 8-byte references would make overlap */
};

/* import_problems.c */
int import_problem(struct import *im, uint32_t kind, uint64_t offset, uint64_t lost_bytes,
		   uint64_t object_id, struct hdb_error *err, const char *format, ...)
	HDB_PRINTF(7, 8);
int import_write_problems(struct import *im, struct hdb_error *err);

/* scan.c: the first pass, over all records. */
int import_scan(struct import *im, struct hdb_error *err);

/* import_classes.c */
/* The class with this ID, made if it is new. The pointer dies when classes grow. */
int import_class_of(struct import *im, uint64_t class_id, uint32_t *no, struct hdb_error *err);
static inline struct import_class *import_class_at(struct import *im, uint32_t no)
{
	return base_vec_at(&im->classes, struct import_class, no);
}
/* Names, invented classes, numbering, super classes, field plans. Finishes im->ids. */
int import_classes(struct import *im, struct hdb_error *err);
int import_write_classes(struct import *im, struct hdb_error *err);

/* names.c: class names as people know them, from "[Ljava/lang/String;" or "java.lang.String[]". */
void import_class_name(const char *raw, size_t raw_size, char *out, size_t out_size,
		       bool *is_array, uint8_t *element_type);

/* resolve.c: objects and references in order of ix. */
int import_resolve(struct import *im, struct hdb_error *err);

/* An edge that no field holds: thread to local variable, loader to class. */
struct import_edge {
	uint32_t from_ix;
	uint32_t to_ix;
};

/* import_roots.c: roots, and the edges of threads to their locals. */
int import_number_roots(struct import *im, struct hdb_error *err);
int import_write_roots(struct import *im, struct hdb_error *err);
/* Number of the first extra edge of the objects from ix on, in im->extras. */
size_t import_extras_from(const struct import *im, uint32_t ix);

/* sizes.c */
int import_sizes(struct import *im, struct hdb_error *err);

/* import_tables.c: the small tables. */
int import_write_tables(struct import *im, struct hdb_error *err);

#endif
