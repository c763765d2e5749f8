/*
 * hprof/reader.h - reads HPROF: the file header, top-level records, and heap sub-records.
 *
 * This file declares strict readers of single records. hprof/walk.h combines them, recovers from
 * damage, and decides which records belong to which dump. Nothing here depends on the store.
 * FORMAT.md in this directory describes the format, with the source of each rule.
 */
#ifndef HPROF_READER_H
#define HPROF_READER_H

#include "base/flag.h"
#include "base/source.h"

/*
 * Top-level record tags. Sources: HotSpot's heapDumper.cpp, and for tags that only the HPROF agent
 * of JDK 5 to 8 writes, its hprof_b_spec.h (jdk/src/share/demo/jvmti/hprof).
 */
enum hprof_tag {
	HPROF_UTF8 = 0x01,
	HPROF_LOAD_CLASS = 0x02,
	HPROF_UNLOAD_CLASS = 0x03,
	HPROF_FRAME = 0x04,
	HPROF_TRACE = 0x05,
	HPROF_ALLOC_SITES = 0x06,
	HPROF_HEAP_SUMMARY = 0x07,
	HPROF_START_THREAD = 0x0a,
	HPROF_END_THREAD = 0x0b,
	HPROF_HEAP_DUMP = 0x0c,
	HPROF_CPU_SAMPLES = 0x0d,
	HPROF_CONTROL_SETTINGS = 0x0e,
	HPROF_HEAP_DUMP_SEGMENT = 0x1c,
	HPROF_HEAP_DUMP_END = 0x2c,
	HPROF_REDACTION_MARK = 0xde /* written by hprof-analyzer */
};

/*
 * Flags of ALLOC SITES records, from the agent's hprof_b_spec.h. Without HPROF_SITES_INCREMENTAL, a
 * record is complete.
 */
enum hprof_sites_flag {
	HPROF_SITES_INCREMENTAL = 1,
	/* sorted by allocated bytes rather than by live bytes */
	HPROF_SITES_BY_ALLOCATION = 2,
	HPROF_SITES_COLLECTED = 4 /* written after a garbage collection */
};

/* Heap sub-record tags (HotSpot heapDumper.cpp; ART runtime/hprof/hprof.cc). */
enum hprof_sub_tag {
	HPROF_ROOT_UNKNOWN = 0xff,
	HPROF_ROOT_JNI_GLOBAL = 0x01,
	HPROF_ROOT_JNI_LOCAL = 0x02,
	HPROF_ROOT_JAVA_FRAME = 0x03,
	HPROF_ROOT_NATIVE_STACK = 0x04,
	HPROF_ROOT_STICKY_CLASS = 0x05,
	HPROF_ROOT_THREAD_BLOCK = 0x06,
	HPROF_ROOT_MONITOR_USED = 0x07,
	HPROF_ROOT_THREAD_OBJECT = 0x08,
	HPROF_CLASS_DUMP = 0x20,
	HPROF_INSTANCE_DUMP = 0x21,
	HPROF_OBJECT_ARRAY_DUMP = 0x22,
	HPROF_PRIMITIVE_ARRAY_DUMP = 0x23,
	/* Android */
	HPROF_ROOT_INTERNED_STRING = 0x89,
	HPROF_ROOT_FINALIZING = 0x8a,
	HPROF_ROOT_DEBUGGER = 0x8b,
	HPROF_ROOT_REFERENCE_CLEANUP = 0x8c,
	HPROF_ROOT_VM_INTERNAL = 0x8d,
	HPROF_ROOT_JNI_MONITOR = 0x8e,
	HPROF_ROOT_UNREACHABLE = 0x90,
	HPROF_PRIMITIVE_ARRAY_NODATA = 0xc3,
	HPROF_HEAP_DUMP_INFO = 0xfe
};

/*
 * Name of the first field of some classes in dumps made from heap graphs. The field is an int: the
 * number of bytes by which an instance exceeds the instance size of its class.
 */
#define HPROF_MORE_BYTES "$moreBytes"

/*
 * Text of the first record of a dump redacted by `heapdb redact`. Nothing refers to this string
 * record, so other readers ignore it.
 */
#define HPROF_REDACTED "heapdb: contents of this dump were redacted"
/* Marks a dump in which redaction replaced strings with keyed hashes. */
#define HPROF_HASHED "heapdb: contents of this dump were redacted, texts are hashes"
/* Marks a dump written by `heapdb strip`. */
#define HPROF_STRIPPED "heapdb: contents of arrays of this dump were left out"
/* First bytes of the record HPROF_REDACTION_MARK, which hprof-analyzer writes. */
#define HPROF_REDACTED_BY_ANALYZER "HPROF-REDACT"

/*
 * The kinds of data that were deliberately removed from a dump, from most to least. Databases store
 * these values, so never renumber them.
 */
enum hprof_redaction {
	HPROF_IS_WHOLE = 0,
	HPROF_IS_REDACTED = 1,
	HPROF_IS_HASHED = 2,
	HPROF_IS_STRIPPED = 3,
	/* detected from the contents, because no record marks it; see import/zeroed.c */
	HPROF_IS_FILLED = 4
};
/* Returns the kind of redaction marked by a record with this text. */
enum hprof_redaction hprof_redaction_of(const uint8_t *text, uint64_t size);

/*
 * Text of a record that marks a dump converted from a portable heap dump (PHD). Such a dump has
 * synthetic fields and no values.
 */
#define HPROF_PHD_FORMAT \
	"heapdb: portable heap dump of version %u, elements at %u and %u, references of %u, by "

/* Length of the text before its first number, which is enough to identify the mark. */
#define HPROF_PHD_SAME 38u

/* Contents of the mark in a converted PHD. */
struct hprof_phd {
	unsigned version; /* 0 if the dump was not converted from a PHD */
	/* size of array headers in bytes */
	unsigned object_header, primitive_header;
	unsigned reference; /* size of a reference in bytes */
	char by[200];       /* name of the VM */
};
/* Parses the text of a PHD mark into *out. Returns false for any other text. */
bool hprof_phd_of(const uint8_t *text, uint64_t size, struct hprof_phd *out);

/* Basic types of fields and array elements. */
enum hprof_type {
	HPROF_OBJECT = 2,
	HPROF_BOOLEAN = 4,
	HPROF_CHAR = 5,
	HPROF_FLOAT = 6,
	HPROF_DOUBLE = 7,
	HPROF_BYTE = 8,
	HPROF_SHORT = 9,
	HPROF_INT = 10,
	HPROF_LONG = 11
};

enum hprof_version { HPROF_1_0_1 = 1, HPROF_1_0_2 = 2, HPROF_1_0_3 = 3 };

/* An HPROF file whose header has been read. */
struct hprof_file {
	struct base_source *source; /* borrowed */
	enum hprof_version version;
	unsigned id_size;      /* 4 or 8 bytes */
	uint64_t timestamp_ms; /* milliseconds since 1970, UTC */
	uint64_t first_record; /* offset of the first record */
	/*
	 * Whether primitive arrays have no elements, whatever their lengths. False after
	 * hprof_open; set by hprof_find_emptied.
	 */
	bool is_emptied;
	/*
	 * cancel flag or NULL; if the flag is set, a search for the next record after damage ends
	 * with HDB_EINTR; borrowed; NULL after hprof_open
	 */
	const base_flag *cancel;
};

/* Returns the size in the file of a value of `type`, or 0 for an unknown type. */
unsigned hprof_type_size(uint8_t type, unsigned id_size);

/* Returns the name of a type, such as "int" or "object", or NULL for an unknown type. Static. */
const char *hprof_type_name(uint8_t type);

/*
 * Reads the header. Fails with HDB_ETRUNC if the header is truncated, and with HDB_EFORMAT if the
 * ID size is neither 4 nor 8 or the file is not HPROF. If the file is not HPROF, the message names
 * the actual format (empty, text, gzip, zip, ELF core, Perfetto, JFR) if the first bytes reveal it.
 */
int hprof_open(struct base_source *source, struct hprof_file *out, struct hdb_error *err);

/* A top-level record. */
struct hprof_record {
	uint64_t offset;      /* offset of its tag */
	uint64_t body_offset; /* offset of the body: offset + 9 */
	/* size in bytes; for heap dump records, corrected if the u4 length wrapped around */
	uint64_t body_size;
	uint32_t time_us; /* time in microseconds since the header's timestamp */
	uint8_t tag;
};

/* Bodies of top-level records. Strings are borrowed until the view is used again. */
struct hprof_utf8 {
	uint64_t string_id;
	const uint8_t *text;  /* Modified UTF-8, not terminated */
	uint64_t text_size;   /* bytes */
	uint64_t text_offset; /* offset of the text in the file */
};
struct hprof_load_class {
	uint32_t class_serial;
	uint64_t class_id;
	uint32_t trace_serial;
	uint64_t name_string_id;
};
struct hprof_frame {
	uint64_t frame_id;
	uint64_t method_string_id;
	uint64_t signature_string_id;
	uint64_t source_string_id;
	uint32_t class_serial;
	int32_t line; /* line number if positive; 0 none, -1 unknown, -2 compiled, -3 native */
};
struct hprof_trace {
	uint32_t trace_serial;
	uint32_t thread_serial;
	uint32_t frame_count;
	uint64_t frames_offset; /* offset of frame_count identifiers in the file */
};
struct hprof_start_thread {
	uint32_t thread_serial;
	uint64_t thread_id;
	uint32_t trace_serial;
	uint64_t name_string_id;
	uint64_t group_name_string_id;
	uint64_t parent_group_name_string_id;
};
struct hprof_heap_summary {
	uint32_t live_bytes;
	uint32_t live_instances;
	uint64_t allocated_bytes;
	uint64_t allocated_instances;
};
struct hprof_alloc_sites {
	uint16_t flags;
	uint32_t cutoff_ratio_bits; /* bits of a float */
	uint32_t live_bytes;
	uint32_t live_instances;
	uint64_t allocated_bytes;
	uint64_t allocated_instances;
	/* number of sites as recorded, but at most the number that fit in the body */
	uint32_t site_count;
	uint64_t sites_offset; /* offset of the first site; each has HPROF_ALLOC_SITE_SIZE bytes */
};
#define HPROF_ALLOC_SITE_SIZE 25
struct hprof_alloc_site {
	uint8_t array_type; /* 0 if not an array, 2 for an object array, otherwise a basic type */
	uint32_t class_serial;
	uint32_t trace_serial;
	uint32_t live_bytes;
	uint32_t live_instances;
	uint32_t allocated_bytes;
	uint32_t allocated_instances;
};
struct hprof_cpu_samples {
	uint32_t sample_count; /* total */
	uint32_t trace_count;
	/* offset of trace_count pairs of u4: number of samples, and serial number of the trace */
	uint64_t traces_offset;
};
struct hprof_control_settings {
	uint32_t flags; /* bit flags: 1 for allocation traces, 2 for CPU sampling */
	uint16_t trace_depth;
};

/*
 * Read the bodies of records. Each fails with HDB_EFORMAT, and reports the offset, if the body is
 * too short for its record type.
 */
int hprof_read_utf8(const struct hprof_file *file, struct base_view *view,
		    const struct hprof_record *rec, struct hprof_utf8 *out, struct hdb_error *err);
int hprof_read_load_class(const struct hprof_file *file, struct base_view *view,
			  const struct hprof_record *rec, struct hprof_load_class *out,
			  struct hdb_error *err);
/* Reads an UNLOAD_CLASS or END_THREAD record, whose body is one u4 serial. */
int hprof_read_serial(const struct hprof_file *file, struct base_view *view,
		      const struct hprof_record *rec, uint32_t *serial, struct hdb_error *err);
int hprof_read_frame(const struct hprof_file *file, struct base_view *view,
		     const struct hprof_record *rec, struct hprof_frame *out,
		     struct hdb_error *err);
int hprof_read_trace(const struct hprof_file *file, struct base_view *view,
		     const struct hprof_record *rec, struct hprof_trace *out,
		     struct hdb_error *err);
int hprof_read_start_thread(const struct hprof_file *file, struct base_view *view,
			    const struct hprof_record *rec, struct hprof_start_thread *out,
			    struct hdb_error *err);
int hprof_read_heap_summary(const struct hprof_file *file, struct base_view *view,
			    const struct hprof_record *rec, struct hprof_heap_summary *out,
			    struct hdb_error *err);
int hprof_read_alloc_sites(const struct hprof_file *file, struct base_view *view,
			   const struct hprof_record *rec, struct hprof_alloc_sites *out,
			   struct hdb_error *err);
int hprof_read_alloc_site(struct base_view *view, uint64_t offset, struct hprof_alloc_site *out,
			  struct hdb_error *err);
int hprof_read_cpu_samples(const struct hprof_file *file, struct base_view *view,
			   const struct hprof_record *rec, struct hprof_cpu_samples *out,
			   struct hdb_error *err);
int hprof_read_control_settings(const struct hprof_file *file, struct base_view *view,
				const struct hprof_record *rec, struct hprof_control_settings *out,
				struct hdb_error *err);

/* A heap sub-record. Its tag determines which members are valid. */
struct hprof_sub {
	uint64_t offset; /* offset of its tag */
	uint64_t end;    /* offset after the last byte */
	uint64_t id;     /* object id; in HEAP_DUMP_INFO, the u4 heap id */
	/*
	 * The class of an instance, the array class of an object array, the superclass of a class,
	 * the ID of the reference for a JNI global, or the string ID of the heap's name in
	 * HEAP_DUMP_INFO.
	 */
	uint64_t class_id;
	/*
	 * Offset of the field values of an instance, of the elements of an array, or of the data
	 * after the instance size of a class.
	 */
	uint64_t body_offset;
	uint64_t body_size; /* size of the data at body_offset */
	/* number of elements in an array, body_size of an instance, or instance size of a class */
	uint32_t length;
	uint32_t trace_serial;  /* instance, array, class, thread object */
	uint32_t thread_serial; /* roots with a thread */
	/*
	 * for a JNI local or Java frame root, the frame (0xffffffff if none); for a JNI monitor
	 * root, the depth
	 */
	uint32_t frame_number;
	uint8_t tag;
	uint8_t element_type; /* primitive array */
};

/* Offset at which a sub-record begins, and offset beyond which it must not extend. */
struct hprof_range {
	uint64_t offset;
	uint64_t limit;
};

/*
 * Reads the sub-record at range.offset. Fails with HDB_EFORMAT for an unknown tag or basic type,
 * and with HDB_ETRUNC if the sub-record extends beyond the limit or the end of the file; even then,
 * sets out->offset and out->tag.
 */
int hprof_sub_read_in(const struct hprof_file *file, struct base_view *view,
		      struct hprof_range range, struct hprof_sub *out, struct hdb_error *err);

/* Like hprof_sub_read_in, but limited only by the end of the file. */
int hprof_sub_read(const struct hprof_file *file, struct base_view *view, uint64_t offset,
		   struct hprof_sub *out, struct hdb_error *err);

/*
 * Finds the size of an array's body without trailing zero bytes, or `least` if that is larger.
 * Fails if the body cannot be read.
 */
int hprof_content_end(struct base_view *view, const struct hprof_sub *sub, uint64_t least,
		      uint64_t *out, struct hdb_error *err);

/* Returns whether sub-records with this tag describe roots. */
bool hprof_sub_is_root(uint8_t tag);

/*
 * Returns the name of a tag, such as "INSTANCE DUMP" or "ROOT JNI GLOBAL", or NULL for an unknown
 * tag. Static.
 */
const char *hprof_sub_name(uint8_t tag);
const char *hprof_tag_name(uint8_t tag);

/* The parts of a CLASS_DUMP. */
struct hprof_class {
	uint64_t class_id;
	uint64_t super_id;
	uint64_t loader_id;
	uint64_t signers_id;
	uint64_t protection_domain_id;
	/* size of the instance fields in bytes, including inherited ones */
	uint32_t instance_size;
	uint32_t trace_serial;
	uint32_t constant_count;
	uint32_t static_count;
	uint32_t field_count;
	uint64_t constants_offset; /* offset of the first constant, after the number of constants */
	uint64_t statics_offset;
	uint64_t fields_offset;
};

/* Reads a CLASS_DUMP that hprof_sub_read accepted, so its parts are known to be in bounds. */
int hprof_class_read(const struct hprof_file *file, struct base_view *view,
		     const struct hprof_sub *sub, struct hprof_class *out, struct hdb_error *err);

struct hprof_static {
	uint64_t name_string_id;
	uint64_t value; /* identifier or raw bits, zero-extended */
	uint8_t type;
};
struct hprof_field {
	uint64_t name_string_id;
	uint8_t type;
};

/* Reads the static field at *offset and advances *offset past it. */
int hprof_static_next(const struct hprof_file *file, struct base_view *view, uint64_t *offset,
		      struct hprof_static *out, struct hdb_error *err);
int hprof_field_next(const struct hprof_file *file, struct base_view *view, uint64_t *offset,
		     struct hprof_field *out, struct hdb_error *err);

#endif
