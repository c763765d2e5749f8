/*
 * store/schema.h - the records of the base tables, as they are in the file.
 *
 * Text numbers are of the table texts; STORE_NONE stands for "none" wherever a number may be
 * absent.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <assert.h>
#include <stdint.h>

#define STORE_NONE UINT32_MAX

/* Flags of a class. */
enum store_class_flag {
	STORE_CLASS_INVENTED = 1, /* the dump has no CLASS_DUMP for it */
	STORE_CLASS_ARRAY = 2,    /* an array class, by its name or its use */
	STORE_CLASS_UNLOADED = 4, /* an UNLOAD CLASS record names it */
	STORE_CLASS_FILLER = 8,   /* HotSpot's: its objects fill what is dead */
};

/* Reference strengths, by the class of the reference object; sub classes included. */
enum store_strength {
	STORE_STRONG = 0,
	STORE_SOFT = 1,
	STORE_WEAK = 2,
	STORE_PHANTOM = 3,
	STORE_FINALIZER = 4 /* java.lang.ref.FinalReference */
};

/* How well the dump proves a shallow size. */
enum store_size_basis {
	STORE_SIZE_COMPUTED =
		0,            /* by the layout only: no object of it lies close enough to another */
	STORE_SIZE_EXACT = 1, /* an object ends where the next one begins */
	STORE_SIZE_OBSERVED = 2, /* the layout says less, but so many objects lie at one distance */
	STORE_SIZE_CUT = 3 /* the layout says more than there is room for: the room is taken */
};

/* Table classes: numbered in the order of their IDs. */
struct store_class {
	uint64_t class_id;
	uint64_t loader_id;   /* as the dump has it; 0: boot loader */
	uint64_t file_offset; /* of the CLASS_DUMP; 0 if there is none */
	uint64_t signers_id;
	uint64_t protection_domain_id;
	/* shallow size of an instance; of an empty array for array classes */
	uint64_t instance_bytes;
	uint64_t class_bytes;   /* shallow size of the class object */
	uint32_t ix;            /* of the class object */
	uint32_t super_no;      /* class number or STORE_NONE */
	uint32_t loader_ix;     /* object index; 0: boot loader */
	uint32_t name_text;     /* "java.util.HashMap$Node[]" */
	uint32_t declared_size; /* "instance size" of the CLASS_DUMP, bytes */
	uint32_t body_size;     /* bytes of an instance's field values in the dump */
	uint32_t first_field;   /* in table fields: own instance fields */
	uint32_t field_count;
	uint32_t first_static; /* in table fields: static fields */
	uint32_t static_count;
	uint32_t class_serial; /* 0: none */
	uint32_t trace_serial;
	uint8_t flags;        /* enum store_class_flag */
	uint8_t element_type; /* primitive arrays: basic type; object arrays: HPROF's 2; else 0 */
	uint8_t strength;     /* enum store_strength */
	uint8_t size_basis;   /* enum store_size_basis: of instance_bytes, or of arrays */
	uint8_t class_basis;  /* enum store_size_basis: of class_bytes */
	/*
	 * of object arrays whose elements are no references but flat values, or a filler's words;
	 * 0: references
	 */
	uint8_t element_bytes;
	uint8_t unused[2];
	/*
	 * smallest distance of an object of it to the next one, of an array less its elements;
	 * STORE_NONE: none is known
	 */
	uint32_t distance_bytes;
	uint32_t distance_count; /* objects whose distance is known */
	uint64_t layout_bytes;   /* what the layout computes for instance_bytes */
};
static_assert(sizeof(struct store_class) == 128, "stored");

/* Table fields: instance and static fields of all classes. */
struct store_field {
	/* static fields: identifier or raw bits; instance fields: store_flat_field */
	uint64_t value;
	uint32_t name_text; /* or STORE_NONE */
	uint8_t type;       /* HPROF basic type */
	uint8_t is_static;
	uint8_t unused[2];
};
static_assert(sizeof(struct store_field) == 16, "stored");

/*
 * The value of an instance field that holds a flat value: 1 + the number of its class, its bytes,
 * log2 of its alignment; 0 for any other field.
 */
static inline uint64_t store_flat_field(uint32_t value_no, uint32_t bytes, uint32_t align)
{
	const uint64_t kept = bytes < 1u << 24 ? bytes : (1u << 24) - 1;

	return ((uint64_t)value_no + 1) | kept << 32 |
	       (uint64_t)(unsigned)__builtin_ctz(align | 1u << 31) << 56;
}
static inline uint32_t store_flat_class(uint64_t value)
{
	return (uint32_t)(value & UINT32_MAX) - 1;
}
static inline uint32_t store_flat_bytes(uint64_t value)
{
	return value >> 32 & 0xffffff;
}
static inline uint32_t store_flat_align(uint64_t value)
{
	return 1u << (value >> 56 & 31);
}

/* Table roots: in order of ix. */
struct store_root {
	uint32_t ix;
	uint32_t thread_serial; /* 0: none */
	uint32_t frame_number;  /* STORE_NONE: none */
	uint8_t kind;           /* HPROF sub-record tag */
	uint8_t is_local;    /* held by a known thread: an edge of the thread, no root of its own */
	uint8_t is_invented; /* the dump has no such record; a rule of MAT's made it */
	uint8_t unused;
};
static_assert(sizeof(struct store_root) == 16, "stored");

/* Table threads: in order of serial. */
struct store_thread {
	uint32_t thread_serial;
	uint32_t ix; /* of the thread object; STORE_NONE if it is not in the dump */
	uint32_t trace_serial;
	uint32_t name_text; /* START_THREAD's, or STORE_NONE */
	uint32_t group_text;
	uint32_t has_ended; /* an END_THREAD was seen */
	uint64_t object_id;
};
static_assert(sizeof(struct store_thread) == 32, "stored");

/* Table thread.starts: what else START_THREAD records say, in order of serial. */
struct store_thread_start {
	uint32_t thread_serial;
	uint32_t parent_group_text; /* or STORE_NONE */
};
static_assert(sizeof(struct store_thread_start) == 8, "stored");

/* Table traces: in order of serial. Frames are in the table trace.frames. */
struct store_trace {
	uint32_t trace_serial;
	uint32_t thread_serial;
	uint64_t first_frame; /* in trace.frames */
	uint32_t frame_count;
	uint32_t unused;
};
static_assert(sizeof(struct store_trace) == 24, "stored");

/*
 * Table trace.frames: numbers of the table frames; STORE_NONE for a frame that is not in the dump.
 */

/* Table frames: in order of ID. */
struct store_frame {
	uint64_t frame_id;
	uint32_t method_text;
	uint32_t signature_text;
	uint32_t source_text;
	uint32_t class_text; /* class name */
	int32_t line;        /* as in HPROF */
	uint32_t unused;
};
static_assert(sizeof(struct store_frame) == 32, "stored");

/* Table heaps (Android). */
struct store_heap {
	uint32_t heap_id;
	uint32_t name_text;
};
static_assert(sizeof(struct store_heap) == 8, "stored");

/* Kinds of problems from this number on are the import's own. */
#define STORE_PROBLEM_FIRST 100

/* Damage that the import finds; the numbers below are hprof's (hprof/walk.h). */
enum store_problem_kind {
	STORE_PROBLEM_DUPLICATE_ID =
		STORE_PROBLEM_FIRST,  /* two objects with one ID; the first is kept */
	STORE_PROBLEM_MISSING_CLASS,  /* an object whose class is not in the dump; invented */
	STORE_PROBLEM_MISSING_SUPER,  /* a super class that is not in the dump; taken as none */
	STORE_PROBLEM_SUPER_CYCLE,    /* a class that is its own super class; cut */
	STORE_PROBLEM_SHORT_INSTANCE, /* fewer field bytes than its class has fields */
	STORE_PROBLEM_NULL_ID,        /* an object with ID 0; dropped */
	STORE_PROBLEM_MISSING_NAME,   /* a class without a name */
	STORE_PROBLEM_LONG_TEXT,      /* a text longer than is kept; cut */
	STORE_PROBLEM_BAD_FIELD_TYPE, /* a field of unknown type */
	STORE_PROBLEM_CLASS_ID,       /* a class whose ID is another object's */
	STORE_PROBLEM_LOST_PACKETS    /* of a heap graph in a trace */
};

/* "duplicate-id", ...; NULL for a number that is none of these. Static. */
const char *store_problem_name(uint32_t kind);

/* Meta value "incomplete": what a dump lacks, so that what holds an object may be missing. */
enum store_incomplete {
	STORE_LACKS_END = 1,   /* the file was cut */
	STORE_LACKS_BYTES = 2, /* bytes with objects in them could not be read */
	STORE_LACKS_ROOTS = 4, /* there is not one root record */
	/* those of primitive arrays, and the system's objects (KOOM) */
	STORE_LACKS_ELEMENTS = 8,
	STORE_LACKS_PACKETS = 16 /* of a heap graph in a trace: the roots that it has count */
};

/* Table problems. */
struct store_problem {
	uint64_t offset;     /* where in the dump */
	uint64_t lost_bytes; /* skipped */
	uint64_t object_id;  /* 0: none */
	uint32_t kind;       /* enum hprof_problem_kind, or enum store_problem_kind */
	uint32_t unused;
	char message[224]; /* zero-terminated */
};
static_assert(sizeof(struct store_problem) == 256, "stored");

/* Table alloc.sites: one record a site; header fields are repeated. */
struct store_alloc_site {
	uint32_t record_no; /* which ALLOC_SITES record */
	uint32_t class_text;
	uint32_t trace_serial;
	uint32_t live_bytes;
	uint32_t live_instances;
	uint32_t allocated_bytes;
	uint32_t allocated_instances;
	uint16_t flags; /* of the record */
	uint8_t array_type;
	uint8_t unused;
};
static_assert(sizeof(struct store_alloc_site) == 32, "stored");

/* Table cpu.samples. */
struct store_cpu_sample {
	uint32_t record_no;
	uint32_t sample_count;
	uint32_t trace_serial;
	uint32_t total_count; /* of the record */
};
static_assert(sizeof(struct store_cpu_sample) == 16, "stored");

/* Table heap.summaries: HEAP SUMMARY records, and the totals of ALLOC SITES records. */
struct store_heap_summary {
	uint64_t file_offset;
	uint64_t time_us; /* since the time in the dump's header */
	uint64_t allocated_bytes;
	uint64_t allocated_instances;
	uint32_t live_bytes;
	uint32_t live_instances;
	uint32_t cutoff_ratio_bits; /* of ALLOC SITES: a float's bits */
	uint16_t flags;             /* of ALLOC SITES: HPROF_SITES_* */
	uint8_t is_alloc_sites;
	uint8_t unused;
};
static_assert(sizeof(struct store_heap_summary) == 48, "stored");

/* Table dangling: identifiers that are referred to but not in the dump. */
struct store_dangling {
	uint64_t object_id;
	uint64_t reference_count;
	uint32_t example_ix; /* an object that refers to it */
	uint32_t unused;
};
static_assert(sizeof(struct store_dangling) == 24, "stored");

/* Table record.counts: how many records of each tag the file has. */
struct store_record_count {
	uint64_t count;
	uint64_t bytes;
	uint32_t tag;
	uint32_t is_sub; /* heap sub-record */
};
static_assert(sizeof(struct store_record_count) == 24, "stored");

/*
 * Table class.counts: how many objects the dump has, by class, kind and length modulo a period
 * (layout/layout.h); class objects, of which each class has one, are not in it. In order of class,
 * kind, is_embedded and length.
 */
struct store_class_count {
	uint64_t count;
	uint64_t elements; /* the sum of their lengths */
	uint32_t class_no;
	uint32_t length;     /* modulo the period */
	uint8_t kind;        /* enum store_kind */
	uint8_t is_embedded; /* arrays that ART makes up, flat values */
	uint8_t unused[6];
};
static_assert(sizeof(struct store_class_count) == 32, "stored");

#endif
