/*
 * import/context.h - what the passes of one import share. Private to the import.
 */
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

/* Problems that are kept one by one; the others are counted. */
#define IMPORT_PROBLEMS_MAX 10000
/* Distinct missing identifiers that are kept; references to others are counted. */
#define IMPORT_DANGLING_MAX 100000

/* A class while it is being imported. */
struct import_class {
	struct store_class out; /* what will be stored */
	uint64_t super_id;
	uint64_t statics_offset; /* in the dump */
	uint64_t fields_offset;
	uint32_t max_body;    /* longest instance of it, bytes */
	uint32_t field_super; /* nearest super class that has instance fields, or STORE_NONE */
	uint32_t plan_first;  /* reference offsets of an instance: in import.links.plans */
	uint32_t plan_count;
	uint64_t model_bytes;            /* see sizes.c: size before rounding to the alignment */
	uint64_t mirror_bytes;           /* of the class object */
	struct import_distance distance; /* of its objects */
	struct import_distance mirror_distance; /* of the class object */
	uint32_t overhead_bytes;                /* ART: of the class object, in a made-up array */
	uint32_t stack_size_at;  /* stack chunks: where the value of field "size" ends; 0: none */
	uint8_t known;           /* see layout/layout_known.h */
	uint64_t instance_count; /* instances seen by the pass over objects */
	uint32_t first_flat, flat_count; /* of its own fields: in import.flat.fields */
	/* class of the flat values that are its arrays' elements; STORE_NONE */
	uint32_t flat_element_no;
	uint8_t has_dump;    /* a CLASS_DUMP of this snapshot */
	uint8_t mark;        /* for walks over superclasses */
	uint32_t mapping_no; /* its class of the mapping file, or BASE_IDMAP_NONE */
};

/* A root record as read. */
struct import_root {
	uint64_t id;
	uint64_t thread_id; /* the thread object that holds it, 0 none */
	uint32_t thread_serial;
	uint32_t frame_number;
	uint8_t kind;
};

/* A text of the dump: where it is, and its number in the table of texts. */
struct import_text_place {
	uint64_t offset;
	uint32_t size; /* bytes in the dump */
	uint32_t no;   /* STORE_NONE: not in the table, as nothing has referred to it yet */
};

/* From this offset on objects belong to another heap (Android). */
struct import_heap_switch {
	uint64_t offset;
	uint32_t heap_no; /* 1 + number in table heaps */
};

/* Where the content of arrays of bytes and chars ends: see zeroed.c. */
struct import_zeroed {
	uint64_t end;          /* 1 + the last element of any that is not zero */
	uint64_t cut_count;    /* arrays that are longer and have this element */
	uint64_t filled_count; /* arrays of one value each */
};

/* What kind of file the dump is. */
struct import_origin {
	unsigned snapshot; /* which one is imported, from 1 */
	unsigned snapshot_count;
	unsigned made_from, made_from_count; /* see struct import_paths */
	bool is_android;
	enum hprof_redaction redaction; /* as the dump says */
	struct hprof_phd phd;           /* the same */
	enum base_packing packing;      /* of the file */
	bool is_pipe;                   /* no file that can be named later */
	bool is_kept;        /* its contents are in the database: `source` reads them there */
	uint64_t file_bytes; /* of the file as it lies there; 0: a pipe */
};

/*
 * Texts. Those of the dump are noted by scan_records.c and written by names.c when something first
 * refers to them: HotSpot writes every string literal of the program, too, which the database need
 * not have.
 */
struct import_texts {
	struct base_idmap places_by_id; /* string ID -> number in places */
	struct store_texts_writer writer;
	struct base_vec places; /* struct import_text_place */
};

/* What the first pass reads beside objects and classes: scan_records.c, scan_heap.c. */
struct import_records {
	struct base_idmap serial_map; /* class serial -> number in loads */
	struct base_vec loads;        /* struct hprof_load_class */
	struct base_idmap load_map;   /* class ID -> number in loads (the last one) */
	struct base_vec unloaded;     /* uint32_t: class serials of UNLOAD CLASS records */
	struct base_vec roots;        /* struct import_root */
	bool has_sticky;
	struct base_idmap thread_map; /* thread serial -> number in threads */
	/* the same for threads that a THREAD_OBJECT root has named */
	struct base_idmap thread_roots;
	/* struct store_thread; its texts are numbers of places until the end */
	struct base_vec threads;
	struct base_vec traces;       /* struct store_trace */
	struct base_vec trace_frames; /* uint64_t frame IDs */
	/*
	 * struct store_frame; until the end class_text holds the class serial, and the other texts
	 * numbers of places
	 */
	struct base_vec frames;
	/* struct store_heap; texts that come later are found by heap_names */
	struct base_vec heaps;
	struct base_vec heap_names;    /* uint64_t: identifiers of their names */
	struct base_vec heap_switches; /* struct import_heap_switch */
	/* struct store_alloc_site; class_text holds the class serial */
	struct base_vec alloc_sites;
	struct base_vec cpu_samples;
	struct base_vec summaries;             /* struct store_heap_summary */
	struct base_vec thread_starts;         /* struct store_thread_start; as threads */
	struct hprof_control_settings control; /* of the last such record */
	bool has_control;
	struct store_record_count counts[2][256]; /* top-level, sub-records */
	uint32_t primitive_used[16]; /* basic types of primitive arrays that are there */
};

/* Names by a mapping file: mapped_names.c. */
struct import_names {
	struct import_mapping mapping; /* empty: none was given */
	struct base_idmap texts;       /* hash -> number of a text that is not in the dump */
	uint64_t class_count, field_count, frame_count; /* that got other names */
};

/* What is wrong with the dump, and what it lacks: import_problems.c, resolve.c. */
struct import_damage {
	struct base_vec problems; /* struct store_problem */
	uint64_t problem_count;
	struct base_vec dangling; /* struct store_dangling */
	struct base_idmap dangling_map;
	uint64_t dangling_count;
	unsigned incomplete;    /* enum store_incomplete: what the dump lacks */
	uint64_t missing_bytes; /* behind the cut, at least */
	char cut[256];          /* what is said of the cut */
	uint64_t skipped_bytes; /* of the imported heap dump, with objects in them */
};

/* Classes that mean something by themselves, and the order of all: import_classes.c. */
struct import_known_classes {
	uint32_t class_no;  /* java.lang.Class */
	uint32_t loader_no; /* java.lang.ClassLoader */
	uint32_t object_no; /* java.lang.Object; STORE_NONE if the dump lacks it */
	uint32_t primitive_no[16];
	bool any_boot_class; /* a class of the boot loader is there */
	uint32_t *order;     /* class numbers, superclasses first */
};

/* What goes into the tables of objects and references: import_roots.c, resolve.c. */
struct import_links {
	struct base_vec id_directory;   /* uint64_t: first ID of each block */
	struct base_vec plans;          /* uint32_t offsets of references in instances */
	struct base_vec extras;         /* struct import_edge, sorted: see import_roots.c */
	struct base_vec numbered_roots; /* struct store_root, sorted */
	uint64_t root_count;
	uint64_t reference_count;
};

/* What addresses tell of sizes: distances.c, zeroed.c, counts.c; judged in sizes.c. */
struct import_evidence {
	uint64_t array_overlap; /* MAT's evidence for 4-byte references: see sizes.c */
	uint64_t previous_array, previous_array_end;
	uint64_t wide_overlaps; /* object arrays that 8-byte references would make overlap */
	uint64_t low_bits[IMPORT_LOW_BITS +
			  1]; /* distances between neighbours by their low zero bits */
	struct import_zeroed zeroed;
	uint64_t zeroed_end; /* the largest end so far, for all threads */
	unsigned fill;       /* what all of them hold so far, for all threads: see zeroed.c */
	struct import_counts counts_by_class;
	unsigned mat_align_bytes; /* MAT's A: see sizes.c */
	unsigned align_bytes;     /* of sizes, as chosen */
};

/* Flat values of value classes, whose identifiers are no addresses: flat.c. */
struct import_flat {
	bool is_numbered;   /* identifiers are numbers, no addresses */
	bool has_odd_ids;   /* addresses, but not all are multiples of 8 */
	uint64_t last;      /* instances with an ID up to it are flat values; 0: none */
	uint64_t count;     /* of them */
	uint64_t odd_count; /* objects whose ID is neither flat nor a multiple of 8 */
	uint64_t *plan;     /* by reference of the plans: least ID of a flat value; NULL: none */
	uint64_t *element;  /* the same by class, of elements of its arrays */
	struct base_vec fields; /* struct import_flat_field, by class and field */
};

/* An import: what it works on, and by pass what it has found. */
struct import {
	const struct hdb_import_options *opt;
	struct base_work *work;
	struct base_source *source;
	struct hprof_file file;
	struct store_writer *writer;
	struct import_origin origin;

	struct idset ids;
	struct import_locator locator; /* where instances and arrays are */
	uint32_t object_count;
	struct base_idmap class_map; /* class ID -> number in classes */
	struct base_vec classes;     /* struct import_class; sorted by ID after numbering */
	uint64_t classes_bytes;      /* what of the budget they have taken beside */

	struct import_texts texts;
	struct import_names names;
	struct import_records records;
	struct import_damage damage;
	struct import_known_classes known;
	struct import_links links;
	struct import_evidence evidence;
	struct import_flat flat;
};

/* A field that holds a flat value: its bytes are there instead of a reference. */
struct import_flat_field {
	uint64_t example_id;         /* least ID of a value */
	uint32_t class_no, field_no; /* who declares it, the how-manieth of its own fields */
	uint32_t value_no;           /* class of the value */
	uint32_t bytes, align;       /* under the model that classes were laid out with last */
};

/* flat.c: which identifiers are flat values, or no addresses at all. Of finished IDs. */
void import_find_flat(struct import *im);
/*
 * Whether an ID is no address among those that are: an object there, or next to there, tells
 * nothing of sizes.
 */
static inline bool import_is_apart(const struct import *im, uint64_t id)
{
	return im->flat.has_odd_ids && (id <= im->flat.last || id & 7);
}
/* Before the pass over objects, and after it: which fields and arrays have flat values. */
int import_flat_begin(struct import *im, struct hdb_error *err);
int import_flat_end(struct import *im, struct hdb_error *err);

/* zeroed.c: the element from which on arrays of bytes and chars are zeros; 0: they are whole. */
uint64_t import_zeroed_from(const struct import *im);
/* Whether all arrays of bytes and chars hold one value and no other. */
bool import_zeroed_is_filled(const struct import *im);
void import_zeroed_merge(struct import *im, const struct import_zeroed *seen);

/* What is wrong in the dump, and was worked round. */
struct import_trouble {
	uint32_t kind;       /* enum hprof_problem_kind, or enum store_problem_kind */
	uint64_t offset;     /* where in the dump */
	uint64_t lost_bytes; /* skipped */
	uint64_t object_id;  /* 0: none */
};

/* import_problems.c: notes it. HDB_ENOMEM, else HDB_OK. */
int import_problem(struct import *im, const struct import_trouble *trouble, struct hdb_error *err,
		   const char *format, ...) HDB_PRINTF(4, 5);
int import_write_problems(struct import *im, struct hdb_error *err);

/*
 * contents_put.c: copies the dump, inflated if it is compressed, into the table contents, and makes
 * im->source read it there.
 */
int import_unpack(struct import *im, struct base_input *input, struct hdb_error *err);

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

/* names.c */
/* Number of the place of the text with this string ID; BASE_IDMAP_NONE if the dump has none. */
uint32_t import_text_place_no(const struct import *im, uint64_t string_id);
/* Place `no`; NULL for BASE_IDMAP_NONE. Borrowed until another text is read. */
const struct import_text_place *import_text_place_at(const struct import *im, uint32_t no);
/* Where the text with this string ID is; NULL if the dump has none. Borrowed the same way. */
const struct import_text_place *import_text_place(const struct import *im, uint64_t string_id);
/*
 * Turns the number of a place into the number of its text in the table, where it is written if it
 * is not there yet: STORE_NONE if *text is BASE_IDMAP_NONE.
 */
int import_text_use(struct import *im, uint32_t *text, struct hdb_error *err);
/* Writes a text of the import's own, or of a mapping file; *no is its number. */
int import_text_put(struct import *im, const char *text, size_t size, uint32_t *no,
		    struct hdb_error *err);
/* Whether the text with this string ID is `text`. One that cannot be read is no match. */
bool import_text_is(const struct import *im, uint64_t string_id, const char *text);
/* Class names as people know them, from "[Ljava/lang/String;" or "java.lang.String[]". */
uint8_t import_class_name(const char *raw, size_t raw_size, char *out, size_t out_size);

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
/* Number of the first extra edge of the objects from ix on, in im->links.extras. */
size_t import_extras_from(const struct import *im, uint32_t ix);

/*
 * sizes_fields.c: where a stack chunk says how large it is. After import_classes has numbered
 * classes.
 */
int import_find_stack_chunks(struct import *im, struct hdb_error *err);

/* sizes.c: the alignment that the user wants; 0: none. HDB_EUSAGE for a --layout that is none. */
int import_fixed_alignment(const struct import *im, unsigned *align_bytes, struct hdb_error *err);

/* import.c: writes `count` meta values. */
struct import_number {
	const char *name;
	uint64_t value;
};
int import_put_numbers(struct import *im, const struct import_number *numbers, size_t count,
		       struct hdb_error *err);

/* sizes.c: frees the places of objects, which it is the last to need. */
int import_sizes(struct import *im, struct hdb_error *err);

/* import_tables.c: the small tables. */
int import_write_tables(struct import *im, struct hdb_error *err);

#endif
