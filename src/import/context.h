/* import/context.h - the state that the passes of an import share. Private to the import. */
#ifndef IMPORT_CONTEXT_H
#define IMPORT_CONTEXT_H

#include "base/idmap.h"
#include "base/input.h"
#include "base/vec.h"
#include "hprof/walk.h"
#include "import/counts.h"
#include "import/distances.h"
#include "import/idset.h"
#include "import/import.h"
#include "import/mapping.h"
#include "import/object_locator.h"
#include "store/objects.h"
#include "store/records.h"
#include "store/schema.h"
#include "store/store.h"

/* Maximum number of problems stored. Further problems are only counted. */
#define IMPORT_PROBLEMS_MAX 10000
/*
 * Maximum number of distinct missing IDs stored. References to other missing IDs are only counted.
 */
#define IMPORT_DANGLING_MAX 100000

/* A class during the import. */
struct import_class {
	struct store_class out; /* the record to be stored */
	uint64_t super_id;
	uint64_t statics_offset; /* offset in the dump */
	uint64_t fields_offset;
	uint32_t max_body;    /* size of the longest instance in the dump, bytes */
	uint32_t field_super; /* nearest superclass with instance fields, or STORE_NONE */
	/*
	 * index of the first of plan_count entries in import.links.plans, which are the offsets of
	 * the references in an instance
	 */
	uint32_t plan_first;
	uint32_t plan_count;
	uint64_t model_bytes;  /* size before rounding to the alignment; see sizes.c */
	uint64_t mirror_bytes; /* size of the class object */
	/* distances of the instances of the class or, for an array class, of its arrays */
	struct import_distance distance;
	struct import_distance mirror_distance; /* distances of the class object */
	/* ART: size of the artificial array that contains the end of the class object */
	uint32_t overhead_bytes;
	/*
	 * offset of the end of the field that contains the length of the data after the fields,
	 * such as "size" in stack chunks or HPROF_MORE_BYTES; 0 if no data follows the fields
	 */
	uint32_t tail_size_at;
	uint8_t known;           /* see layout/layout_known.h */
	uint64_t instance_count; /* number of instances, as counted in the pass over objects */
	/* flat fields declared by the class: entries of import.flat.fields */
	uint32_t first_flat, flat_count;
	/* for arrays of flat values, class of the elements; otherwise STORE_NONE */
	uint32_t flat_element_no;
	uint8_t has_dump;    /* whether the snapshot has a CLASS_DUMP record for the class */
	uint8_t mark;        /* used by walks over superclasses */
	uint32_t mapping_no; /* number of the class in the mapping file, or BASE_IDMAP_NONE */
};

/* A GC root record. */
struct import_root {
	uint64_t id;
	uint64_t thread_id; /* thread object that holds the object, or 0 if none */
	uint32_t thread_serial;
	uint32_t frame_number;
	uint8_t kind;
};

/* A string of the dump: its position, and its number in the `texts` table. */
struct import_text_place {
	uint64_t offset;
	uint32_t size; /* bytes in the dump */
	/* STORE_NONE if the string has not been written, because nothing has referred to it yet */
	uint32_t no;
};

/* An Android heap, to which the objects after this offset belong. */
struct import_heap_switch {
	uint64_t offset;
	uint32_t heap_no; /* number in the `heaps` table, plus 1 */
};

/* The index at which the contents of byte and char arrays end. See zeroed.c. */
struct import_zeroed {
	uint64_t end;          /* 1 + highest index of a nonzero element in any array */
	uint64_t cut_count;    /* number of longer arrays whose contents end at that index */
	uint64_t filled_count; /* number of arrays in which all elements have the same value */
};

/* Properties of the dump file. */
struct import_origin {
	unsigned snapshot; /* number of the imported snapshot, starting at 1 */
	unsigned snapshot_count;
	unsigned made_from, made_from_count; /* see struct import_paths */
	bool is_android;
	enum hprof_redaction redaction; /* as recorded in the dump */
	struct hprof_phd phd;           /* as recorded in the dump */
	enum base_packing packing;      /* compression of the file */
	/* whether the dump is not a regular file and therefore cannot be opened again by name */
	bool is_pipe;
	/* whether the database contains the dump; `source` then reads the dump from the database */
	bool is_kept;
	/* size of the file, compressed if the file is compressed; 0 for a pipe */
	uint64_t file_bytes;
};

/*
 * Strings. scan_records.c records the position of each string in the dump. names.c writes a string
 * when something refers to it for the first time, because HotSpot also dumps every string literal
 * of the program, which the database does not need.
 */
struct import_texts {
	struct base_idmap places_by_id; /* from string ID to index in `places` */
	struct store_texts_writer writer;
	struct base_vec places; /* struct import_text_place */
};

/* Data of the first pass, except objects and classes. Set by scan_records.c and scan_heap.c. */
struct import_records {
	struct base_idmap serial_map; /* maps the serial number of a class to its number in loads */
	struct base_vec loads;        /* struct hprof_load_class */
	/* from class ID to number in `loads`; the last record of a class counts */
	struct base_idmap load_map;
	struct base_vec unloaded; /* uint32_t: class serials of UNLOAD CLASS records */
	struct base_vec roots;    /* struct import_root */
	bool has_sticky;
	struct base_idmap thread_map; /* from thread serial number to number in `threads` */
	/*
	 * from thread serial number to number in `threads`, only for threads with a THREAD_OBJECT
	 * root
	 */
	struct base_idmap thread_roots;
	/* struct store_thread; until the end of the pass, its strings are place numbers */
	struct base_vec threads;
	struct base_vec traces;       /* struct store_trace */
	struct base_vec trace_frames; /* uint64_t frame IDs */
	/*
	 * struct store_frame; until the end of the pass, class_text is a class serial number, and
	 * the other strings are place numbers
	 */
	struct base_vec frames;
	/* struct store_heap; heap_names has the IDs of strings that may follow later in the file */
	struct base_vec heaps;
	struct base_vec heap_names;    /* uint64_t: string IDs of their names */
	struct base_vec heap_switches; /* struct import_heap_switch */
	/* struct store_alloc_site; class_text is a class serial number */
	struct base_vec alloc_sites;
	struct base_vec cpu_samples;
	struct base_vec summaries; /* struct store_heap_summary */
	/* struct store_thread_start; its strings are as in `threads` */
	struct base_vec thread_starts;
	struct hprof_control_settings control; /* settings of the last CONTROL SETTINGS record */
	bool has_control;
	/* counts of top-level records and of sub-records */
	struct store_record_count counts[2][256];
	/* indexed by basic type: whether the dump contains arrays of the type */
	uint32_t primitive_used[16];
};

/* Names from a mapping file. Set by mapped_names.c. */
struct import_names {
	struct import_mapping mapping; /* empty if no file was given */
	struct base_idmap texts;       /* hash to number, for texts that are not in the dump */
	/* number of classes, fields and frames renamed */
	uint64_t class_count, field_count, frame_count;
};

/* Damage in the dump, and missing data. Set by import_problems.c and resolve.c. */
struct import_damage {
	struct base_vec problems; /* struct store_problem */
	uint64_t problem_count;
	struct base_vec dangling; /* struct store_dangling */
	struct base_idmap dangling_map;
	uint64_t dangling_count;
	unsigned incomplete; /* enum store_incomplete: kinds of missing data */
	/* lower bound of the number of bytes missing at the end of the file */
	uint64_t missing_bytes;
	char cut[256]; /* description of the truncation */
	/* number of bytes skipped in the imported heap dump that may have contained objects */
	uint64_t skipped_bytes;
};

/* Classes with a special meaning, and the order of all classes. Set by import_classes.c. */
struct import_known_classes {
	uint32_t class_no;  /* java.lang.Class */
	uint32_t loader_no; /* java.lang.ClassLoader */
	uint32_t object_no; /* java.lang.Object, or STORE_NONE if it is not in the dump */
	uint32_t primitive_no[16];
	bool any_boot_class; /* whether any class belongs to the boot loader */
	uint32_t *order;     /* class numbers, ordered so that superclasses come first */
};

/* Input for the `objects` and `references` tables. Set by import_roots.c and resolve.c. */
struct import_links {
	struct base_vec id_directory;   /* uint64_t: first ID of each block */
	struct base_vec plans;          /* uint32_t: offsets of the references in instances */
	struct base_vec extras;         /* struct import_edge, sorted: see import_roots.c */
	struct base_vec numbered_roots; /* struct store_root, sorted */
	uint64_t root_count;
	uint64_t reference_count;
};

/*
 * Evidence of object sizes that addresses provide. Collected by distances.c, zeroed.c and counts.c,
 * and evaluated by sizes.c.
 */
struct import_evidence {
	uint64_t array_overlap; /* MAT's evidence for 4-byte references; see sizes.c */
	uint64_t previous_array, previous_array_end;
	/* number of object arrays that would overlap the next object if references had 8 bytes */
	uint64_t wide_overlaps;
	/* number of distances between neighbours, by number of low zero bits */
	uint64_t low_bits[IMPORT_LOW_BITS + 1];
	struct import_zeroed zeroed;
	uint64_t zeroed_end; /* largest end so far, updated by all threads */
	/* value that all array elements have so far, updated by all threads; see zeroed.c */
	unsigned fill;
	struct import_counts counts_by_class;
	unsigned mat_align_bytes; /* alignment according to MAT's rule; see sizes.c */
	unsigned align_bytes;     /* alignment of the chosen model */
};

/* Flat values of value classes, whose IDs are not addresses. See flat.c. */
struct import_flat {
	bool is_numbered; /* whether the dump numbers its objects, so that no ID is an address */
	bool has_odd_ids; /* whether IDs are addresses, some of which are not multiples of 8 */
	/* instances with IDs up to this value are flat values; 0 if there are no flat values */
	uint64_t last;
	uint64_t count; /* number of flat values */
	/* number of objects, except flat values, whose ID is not a multiple of 8 */
	uint64_t odd_count;
	/*
	 * by entry of the plans: smallest ID of a flat value in that field; NULL if the dump has no
	 * flat values
	 */
	uint64_t *plan;
	/* indexed by class: smallest ID of a flat value in an array of the class */
	uint64_t *element;
	struct base_vec fields; /* struct import_flat_field, sorted by class and field */
};

/* State of an import. */
struct import {
	const struct hdb_import_options *opt;
	struct base_work *work;
	struct base_source *source;
	struct hprof_file file;
	struct store_writer *writer;
	struct import_origin origin;

	struct idset ids;
	struct import_locator locator; /* finds instances and arrays in the dump */
	uint32_t object_count;
	struct base_idmap class_map; /* from class ID to number in `classes` */
	struct base_vec classes;     /* struct import_class; sorted by ID after numbering */
	uint64_t classes_bytes;      /* number of bytes charged to the budget for classes */

	struct import_texts texts;
	struct import_names names;
	struct import_records records;
	struct import_damage damage;
	struct import_known_classes known;
	struct import_links links;
	struct import_evidence evidence;
	struct import_flat flat;
};

/*
 * A field that contains a flat value: the object contains the bytes of the value instead of a
 * reference to it.
 */
struct import_flat_field {
	uint64_t example_id;         /* smallest ID of a value found in the field */
	uint32_t class_no, field_no; /* declaring class, and index among its own fields */
	uint32_t value_no;           /* class of the value */
	/* size and alignment of the value in the most recent layout */
	uint32_t bytes, align;
};

/*
 * flat.c: determines which IDs belong to flat values, or that no ID is an address. The IDs must be
 * finished.
 */
void import_find_flat(struct import *im);
/*
 * Returns whether an ID is not an address although other IDs are. The distances to and from such an
 * object are not evidence of sizes.
 */
static inline bool import_is_apart(const struct import *im, uint64_t id)
{
	return im->flat.has_odd_ids && (id <= im->flat.last || id & 7);
}
/*
 * These functions are called before and after the pass over objects. They determine which fields
 * and arrays contain flat values.
 */
int import_flat_begin(struct import *im, struct hdb_error *err);
int import_flat_end(struct import *im, struct hdb_error *err);

/*
 * Returns the index from which the contents of byte and char arrays are missing, or 0 if arrays are
 * complete. Defined in zeroed.c.
 */
uint64_t import_zeroed_from(const struct import *im);
/* Returns whether all byte and char arrays of the dump contain the same single value. */
bool import_zeroed_is_filled(const struct import *im);
void import_zeroed_merge(struct import *im, const struct import_zeroed *seen);

/* A defect of the dump that the import worked around. */
struct import_trouble {
	uint32_t kind;       /* enum hprof_problem_kind, or enum store_problem_kind */
	uint64_t offset;     /* offset in the dump */
	uint64_t lost_bytes; /* bytes that were skipped */
	uint64_t object_id;  /* 0 means no object */
};

/* import_problems.c: adds a problem. Returns HDB_OK or HDB_ENOMEM. */
int import_problem(struct import *im, const struct import_trouble *trouble, struct hdb_error *err,
		   const char *format, ...) HDB_PRINTF(4, 5);
int import_write_problems(struct import *im, struct hdb_error *err);

/*
 * contents_put.c: copies the dump, decompressed if necessary, to the `contents` table. im->source
 * then reads that table.
 */
int import_unpack(struct import *im, struct base_input *input, struct hdb_error *err);

/* scan.c: the first pass, over all records. */
int import_scan(struct import *im, struct hdb_error *err);

/* import_classes.c */
/*
 * Finds the number of the class with this ID, and adds the class if it is new. Pointers to classes
 * become invalid when a class is added.
 */
int import_class_of(struct import *im, uint64_t class_id, uint32_t *no, struct hdb_error *err);
static inline struct import_class *import_class_at(struct import *im, uint32_t no)
{
	return base_vec_at(&im->classes, struct import_class, no);
}
/*
 * Names, invents and numbers the classes, links superclasses, plans how fields are read, and
 * finishes im->ids.
 */
int import_classes(struct import *im, struct hdb_error *err);
int import_write_classes(struct import *im, struct hdb_error *err);

/* names.c */
/*
 * Returns the number of the string's position in im->strings, or BASE_IDMAP_NONE if the dump does
 * not contain a string with this ID.
 */
uint32_t import_text_place_no(const struct import *im, uint64_t string_id);
/*
 * Returns the place with this number, or NULL for BASE_IDMAP_NONE. Valid until another string is
 * read.
 */
const struct import_text_place *import_text_place_at(const struct import *im, uint32_t no);
/*
 * Returns the place of the string with this ID, or NULL if the dump does not contain the string.
 * Valid until another string is read.
 */
const struct import_text_place *import_text_place(const struct import *im, uint64_t string_id);
/*
 * Reads the string at a recorded position. The string is borrowed until `view` is used again. A
 * string longer than STORE_TEXT_MAX bytes is truncated and reported as a problem of the dump.
 * Reading fails with HDB_EIO if the string cannot be read.
 */
struct import_text {
	const char *bytes;
	uint32_t size;
};
int import_text_read(struct import *im, const struct import_text_place *place,
		     struct base_view *view, struct import_text *out, struct hdb_error *err);
/*
 * Replaces the number of a place with the number of its string in the `texts` table. Writes the
 * string if it is not in the table yet. BASE_IDMAP_NONE becomes STORE_NONE.
 */
int import_text_use(struct import *im, uint32_t *text, struct hdb_error *err);
/*
 * Writes a string that is not in the dump, such as a name from a mapping file. Sets *no to its
 * number.
 */
int import_text_put(struct import *im, const char *text, size_t size, uint32_t *no,
		    struct hdb_error *err);
/*
 * Returns whether the string with this ID equals `text`. Returns false if the string cannot be
 * read.
 */
bool import_text_is(const struct import *im, uint64_t string_id, const char *text);
/*
 * Converts a class name, "[Ljava/lang/String;" or "java.lang.String[]", to the displayed form.
 * Returns the element type of an array class, or 0 for other classes.
 */
uint8_t import_class_name(const char *raw, size_t raw_size, char *out, size_t out_size);

/* resolve.c: writes objects and references in order of index. */
int import_resolve(struct import *im, struct hdb_error *err);

/*
 * An edge that is not in a field: from a thread to a local variable, or from a class loader to a
 * class.
 */
struct import_edge {
	uint32_t from_ix;
	uint32_t to_ix;
};

/* import_roots.c: numbers roots, and adds edges from threads to their local variables. */
int import_number_roots(struct import *im, struct hdb_error *err);
int import_write_roots(struct import *im, struct hdb_error *err);
/*
 * Returns the number of the first extra edge in im->links.extras that starts at an object with
 * index `ix` or higher.
 */
size_t import_extras_from(const struct import *im, uint32_t ix);

/* sizes_fields.c: sets tail_size_at of all classes. Requires numbered classes. */
int import_find_tails(struct import *im, struct hdb_error *err);

/*
 * sizes.c: sets the alignment that the user specified, or 0. Returns HDB_EUSAGE for an invalid
 * --layout.
 */
int import_fixed_alignment(const struct import *im, unsigned *align_bytes, struct hdb_error *err);

/* import.c: writes `count` meta values. */
struct import_number {
	const char *name;
	uint64_t value;
};
int import_put_numbers(struct import *im, const struct import_number *numbers, size_t count,
		       struct hdb_error *err);

/* sizes.c: computes sizes. This is the last pass to use the object locator, and frees it. */
int import_sizes(struct import *im, struct hdb_error *err);

/* import_tables.c: writes the small tables. */
int import_write_tables(struct import *im, struct hdb_error *err);

#endif
