/*
 * phd/phd_private.h - reads the records of a portable heap dump in order, and stores its classes.
 */
#ifndef PHD_PHD_PRIVATE_H
#define PHD_PHD_PRIVATE_H

#include "base/idmap.h"
#include "base/source.h"
#include "hprof/reader.h"
#include "phd/phd.h"

#include <assert.h>

#define PHD_NONE UINT32_MAX
/* Number of records between two checks of the cancel flag. */
#define PHD_STEP_RECORDS 16384u

/* Maximum bytes kept of a string in the header. */
#define PHD_TEXT_MAX 200

enum phd_kind { PHD_OBJECT, PHD_OBJECT_ARRAY, PHD_PRIMITIVE_ARRAY, PHD_CLASS };

struct phd_record {
	enum phd_kind kind;
	uint8_t element; /* HPROF type of the elements of a primitive array */
	uint64_t id;     /* the address */
	/* class of an object, or of the elements of an object array; superclass of a class */
	uint64_t class_id;
	uint64_t length;      /* length of an array; size of an instance of a class */
	uint64_t bytes;       /* size of an array; 0 means not recorded */
	struct base_vec refs; /* uint64_t */
	struct base_vec name; /* name of a class */
};

/* Reads records one by one. Zero-initialise; release with phd_reader_release. */
struct phd_reader {
	struct base_work *work; /* borrowed */
	struct base_view view;
	const uint8_t *at, *end; /* unread part of the view */
	struct hdb_error *err;
	int result; /* HDB_OK, the first failure, or HDB_END at the end of the file */
	/* header */
	uint32_t version;
	unsigned word_bytes; /* size of an address: 4 or 8 */
	bool is_j9;
	bool is_hashed; /* whether all records have a hash code of 2 bytes */
	char text[PHD_TEXT_MAX];
	/* state of decoding */
	uint64_t last_id;
	/* the last four classes in object records; short records refer to them by number */
	uint64_t classes[4];
	unsigned next_class;
	bool is_whole; /* whether the record that ends the dump has been read */
};

/* The bytes at the start of every portable heap dump. */
#define PHD_MAGIC "\x00\x12portable heap dump"
#define PHD_MAGIC_SIZE (sizeof(PHD_MAGIC) - 1)

/* Reads the header. Fails with HDB_EFORMAT if the input is not a PHD of a supported version. */
int phd_reader_open(struct phd_reader *reader, struct base_source *source, struct hdb_error *err);
/*
 * Reads the next record. Returns HDB_END after the last one. A truncated or damaged dump also
 * returns HDB_END, but leaves is_whole false.
 */
int phd_reader_next(struct phd_reader *reader, struct phd_record *out);
void phd_reader_release(struct phd_reader *reader);

struct phd_class {
	uint64_t id, super_id;
	uint64_t first_ref; /* index in class_refs */
	uint32_t ref_count;
	uint32_t name_at, name_size; /* position and size of the name in names */
	uint32_t instance_bytes;
	uint32_t most_refs; /* maximum number of references in an object of this class */
	/* number of reference fields of an instance, including inherited ones */
	uint32_t fields;
	uint32_t super_no; /* index of the superclass, or PHD_NONE; cycles have been broken */
	uint32_t array_no; /* index of the array class for this class, if has_arrays */
	/* whether the class's record was read; otherwise, only references to the class are known */
	bool is_read;
	bool has_arrays;
	uint8_t visit;
};

/* Sizes of the header of an array and of a reference, inferred from the sizes of arrays. */
struct phd_layout {
	unsigned object_header, primitive_header, reference;
};

struct phd {
	struct phd_files files;
	struct base_work *work; /* borrowed */
	struct base_source *source;
	struct phd_reader head; /* the reader of the first pass; its header fields remain valid */
	struct base_vec classes;
	struct base_idmap class_map; /* ID to index in classes */
	/* hash of a name, alone or with a class loader, to index in classes */
	struct base_idmap name_map;
	struct base_vec names;      /* bytes */
	struct base_vec class_refs; /* uint64_t */
	struct phd_layout layout;
	uint32_t most_fields;
	uint64_t file_bytes, object_count, problem_count;
};

static inline struct phd_class *phd_class_at(const struct phd *phd, uint32_t no)
{
	assert(no < phd->classes.count);
	return base_vec_at(&phd->classes, struct phd_class, no);
}

static inline const char *phd_name(const struct phd *phd, uint32_t at)
{
	assert(at <= phd->names.count);
	return (const char *)phd->names.data + at;
}

/* Returns the index of the first class with this name, or PHD_NONE. */
uint32_t phd_class_named(const struct phd *phd, const char *name, size_t size);

/*
 * Returns the first reference of a class, which is its class loader if the dump records one, or 0
 * if the class has no references.
 */
static inline uint64_t phd_first_ref(const struct phd *phd, const struct phd_class *class)
{
	assert(class->first_ref + class->ref_count <= phd->class_refs.count);
	return class->ref_count ? *base_vec_at(&phd->class_refs, uint64_t, class->first_ref) : 0;
}

struct phd_writer {
	struct phd *phd;
	struct hprof_writer out;
	/* ID of a thread or of a class's first reference, to the index of that object's class */
	struct base_idmap loaders;
	struct base_vec
		/* uint64_t, indexed by serial number - 1; 0 means a thread without an object */
		thread_ids;
	uint64_t next_text;
	uint64_t boot_id; /* ID of the class loader of java.lang.Object */
	uint64_t object_count;
};

/* Writes a string with a new ID. */
int phd_write_text(struct phd_writer *w, const char *text, size_t size, uint64_t *id);

/* Writes the threads and their stacks, if there is a javacore. */
int phd_write_threads(struct phd_writer *w);

/*
 * Returns the time in a file name (heapdump.20130429.083110...) in ms since 1970, or 0 if the name
 * has none. The name contains local time, which is treated as UTC.
 */
uint64_t phd_time_of(const char *path);

#endif
