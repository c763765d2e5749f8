/*
 * store/schema.h - the records of the base tables, as stored in the file.
 *
 * Text numbers refer to the table texts. Wherever a number is optional, STORE_NONE means that there
 * is none.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <assert.h>
#include <stdint.h>

#define STORE_NONE UINT32_MAX

/* Flags of a class. */
enum store_class_flag {
	STORE_CLASS_INVENTED = 1, /* the dump has no CLASS_DUMP record for the class */
	STORE_CLASS_ARRAY = 2,    /* an array class, according to its name or use */
	STORE_CLASS_UNLOADED = 4, /* an UNLOAD CLASS record names the class */
	STORE_CLASS_FILLER = 8,   /* its objects fill dead areas of HotSpot's heap */
};

/* Strength of references, by the class of the reference object, including its subclasses. */
enum store_strength {
	STORE_STRONG = 0,
	STORE_SOFT = 1,
	STORE_WEAK = 2,
	STORE_PHANTOM = 3,
	STORE_FINALIZER = 4 /* java.lang.ref.FinalReference */
};

/* Evidence in the dump about a shallow size. */
enum store_size_basis {
	/* from the layout only: no object of the class is close enough to another object */
	STORE_SIZE_COMPUTED = 0,
	STORE_SIZE_EXACT = 1, /* an object of the class ends where the next object begins */
	/* the layout yields a smaller size, but many objects have the same larger distance */
	STORE_SIZE_OBSERVED = 2,
	/*
	 * the layout yields a size larger than the distance to the next object, which is used
	 * instead
	 */
	STORE_SIZE_CUT = 3
};

/* Table classes, in the order of IDs. */
struct store_class {
	uint64_t class_id;
	uint64_t loader_id;   /* as in the dump; 0 means boot loader */
	uint64_t file_offset; /* offset of the CLASS_DUMP, or 0 if none */
	uint64_t signers_id;
	uint64_t protection_domain_id;
	/* shallow size of an instance, or of an empty array for array classes */
	uint64_t instance_bytes;
	uint64_t class_bytes;   /* shallow size of the class object */
	uint32_t ix;            /* index of the class object */
	uint32_t super_no;      /* class number or STORE_NONE */
	uint32_t loader_ix;     /* object index; 0 means boot loader */
	uint32_t name_text;     /* "java.util.HashMap$Node[]" */
	uint32_t declared_size; /* "instance size" of the CLASS_DUMP, bytes */
	uint32_t body_size;     /* size of an instance's field values in the dump */
	uint32_t first_field;   /* first own instance field in the `fields` table */
	uint32_t field_count;
	uint32_t first_static; /* first static field in the `fields` table */
	uint32_t static_count;
	uint32_t class_serial; /* 0 means none */
	uint32_t trace_serial;
	uint8_t flags; /* enum store_class_flag */
	/* for primitive arrays, the basic type; for object arrays, HPROF's 2; otherwise 0 */
	uint8_t element_type;
	uint8_t strength;    /* enum store_strength */
	uint8_t size_basis;  /* enum store_size_basis of instance_bytes, or of arrays */
	uint8_t class_basis; /* enum store_size_basis of class_bytes */
	/*
	 * For object arrays whose elements are flat values or words of a filler, width of an
	 * element. 0 if the elements are references.
	 */
	uint8_t element_bytes;
	uint8_t unused[2];
	/*
	 * Smallest distance from an object of the class to the next object, for arrays without the
	 * elements. STORE_NONE if unknown.
	 */
	uint32_t distance_bytes;
	uint32_t distance_count; /* number of objects with a known distance */
	uint64_t layout_bytes;   /* instance_bytes as computed from the layout */
};
static_assert(sizeof(struct store_class) == 128, "stored");

/* Table fields: instance fields and static fields of all classes. */
struct store_field {
	/* for static fields, an ID or raw bits; for instance fields, see store_flat_field */
	uint64_t value;
	uint32_t name_text; /* or STORE_NONE */
	uint8_t type;       /* HPROF basic type */
	uint8_t is_static;
	uint8_t unused[2];
};
static_assert(sizeof(struct store_field) == 16, "stored");

/*
 * Returns the value of an instance field that contains a flat value: 1 + number of its class, size
 * in bytes, and log2 of the alignment. Other fields have the value 0.
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

/* Table roots, in order of ix. */
struct store_root {
	uint32_t ix;
	uint32_t thread_serial; /* 0 means none */
	uint32_t frame_number;  /* STORE_NONE means none */
	uint8_t kind;           /* HPROF sub-record tag */
	/*
	 * whether the root is a local variable of a known thread, which is an edge of the thread
	 * and not a root
	 */
	uint8_t is_local;
	/* whether the dump has no such record, and a rule of MAT added the root */
	uint8_t is_invented;
	uint8_t unused;
};
static_assert(sizeof(struct store_root) == 16, "stored");

/* Table threads, in order of serial number. */
struct store_thread {
	uint32_t thread_serial;
	uint32_t ix; /* index of the thread object; STORE_NONE if it is not in the dump */
	uint32_t trace_serial;
	uint32_t name_text; /* from START_THREAD, or STORE_NONE */
	uint32_t group_text;
	uint32_t has_ended; /* the dump has an END_THREAD record for the thread */
	uint64_t object_id;
};
static_assert(sizeof(struct store_thread) == 32, "stored");

/* Table thread.starts: the other fields of START_THREAD records, in order of serial number. */
struct store_thread_start {
	uint32_t thread_serial;
	uint32_t parent_group_text; /* or STORE_NONE */
};
static_assert(sizeof(struct store_thread_start) == 8, "stored");

/* Table traces, in order of serial number. Their frames are in the table trace.frames. */
struct store_trace {
	uint32_t trace_serial;
	uint32_t thread_serial;
	uint64_t first_frame; /* index of the first frame in the `trace.frames` table */
	uint32_t frame_count;
	uint32_t unused;
};
static_assert(sizeof(struct store_trace) == 24, "stored");

/*
 * Table trace.frames: numbers of records in the `frames` table; STORE_NONE for a frame that is not
 * in the dump.
 */

/* Table frames, in order of ID. */
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

/* Problem kinds from this number on are found by the import. */
#define STORE_PROBLEM_FIRST 100

/*
 * Defects that the import finds. Smaller numbers are defects that the HPROF walk finds
 * (hprof/walk.h).
 */
enum store_problem_kind {
	/* two objects have the same ID; only the first is kept */
	STORE_PROBLEM_DUPLICATE_ID = STORE_PROBLEM_FIRST,
	/* the class of an object is not in the dump and is invented */
	STORE_PROBLEM_MISSING_CLASS,
	/* a superclass is not in the dump; the class has no superclass */
	STORE_PROBLEM_MISSING_SUPER,
	STORE_PROBLEM_SUPER_CYCLE,    /* a class is its own superclass; the cycle is cut */
	STORE_PROBLEM_SHORT_INSTANCE, /* an instance has fewer bytes than the fields of its class */
	STORE_PROBLEM_NULL_ID,        /* an object has ID 0; it is dropped */
	STORE_PROBLEM_MISSING_NAME,   /* a class has no name */
	STORE_PROBLEM_LONG_TEXT,      /* a string is longer than the maximum; it is truncated */
	STORE_PROBLEM_BAD_FIELD_TYPE, /* a field has an unknown type */
	STORE_PROBLEM_CLASS_ID,       /* a class has the ID of another object */
	STORE_PROBLEM_LOST_PACKETS    /* packets of a heap graph in a trace are missing */
};

/*
 * Meta value "incomplete": kinds of data that the dump lacks. As a result, referrers of objects may
 * be missing.
 */
enum store_incomplete {
	STORE_LACKS_END = 1,   /* the file is truncated */
	STORE_LACKS_BYTES = 2, /* bytes that contained objects could not be read */
	STORE_LACKS_ROOTS = 4, /* there are no root records */
	/* elements of primitive arrays, and system objects (KOOM) */
	STORE_LACKS_ELEMENTS = 8,
	/* packets of a heap graph in a trace; existing roots are used */
	STORE_LACKS_PACKETS = 16
};

/* Table problems. */
struct store_problem {
	uint64_t offset;     /* offset in the dump */
	uint64_t lost_bytes; /* bytes skipped */
	uint64_t object_id;  /* 0 means no object */
	uint32_t kind;       /* enum hprof_problem_kind, or enum store_problem_kind */
	uint32_t unused;
	char message[224]; /* zero-terminated */
};
static_assert(sizeof(struct store_problem) == 256, "stored");

/* Table alloc.sites: one record per site, each of which repeats the fields of the header. */
struct store_alloc_site {
	uint32_t record_no; /* number of the ALLOC_SITES record */
	uint32_t class_text;
	uint32_t trace_serial;
	uint32_t live_bytes;
	uint32_t live_instances;
	uint32_t allocated_bytes;
	uint32_t allocated_instances;
	uint16_t flags; /* flags of the record */
	uint8_t array_type;
	uint8_t unused;
};
static_assert(sizeof(struct store_alloc_site) == 32, "stored");

/* Table cpu.samples. */
struct store_cpu_sample {
	uint32_t record_no;
	uint32_t sample_count;
	uint32_t trace_serial;
	uint32_t total_count; /* total count in the record */
};
static_assert(sizeof(struct store_cpu_sample) == 16, "stored");

/* Table heap.summaries: HEAP SUMMARY records, and the totals of ALLOC SITES records. */
struct store_heap_summary {
	uint64_t file_offset;
	uint64_t time_us; /* relative to the time in the dump's header */
	uint64_t allocated_bytes;
	uint64_t allocated_instances;
	uint32_t live_bytes;
	uint32_t live_instances;
	uint32_t cutoff_ratio_bits; /* cutoff ratio in ALLOC SITES: the bits of a float */
	uint16_t flags;             /* flags in ALLOC SITES: HPROF_SITES_* */
	uint8_t is_alloc_sites;
	uint8_t unused;
};
static_assert(sizeof(struct store_heap_summary) == 48, "stored");

/* Table dangling: IDs to which objects refer but which are not in the dump. */
struct store_dangling {
	uint64_t object_id;
	uint64_t reference_count;
	uint32_t example_ix; /* one of the objects that refer to the ID */
	uint32_t unused;
};
static_assert(sizeof(struct store_dangling) == 24, "stored");

/* Table record.counts: number of records with each tag. */
struct store_record_count {
	uint64_t count;
	uint64_t bytes;
	uint32_t tag;
	uint32_t is_sub; /* heap sub-record */
};
static_assert(sizeof(struct store_record_count) == 24, "stored");

/*
 * Table class.counts: number of objects by class, kind and length modulo a period
 * (layout/layout.h). Class objects are not included because each class has one. Sorted by class,
 * kind, is_embedded and length.
 */
struct store_class_count {
	uint64_t count;
	uint64_t elements; /* sum of their lengths */
	uint32_t class_no;
	uint32_t length;     /* modulo the period */
	uint8_t kind;        /* enum store_kind */
	uint8_t is_embedded; /* artificial arrays of ART, or flat values */
	uint8_t unused[6];
};
static_assert(sizeof(struct store_class_count) == 32, "stored");

#endif
