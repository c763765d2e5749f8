/*
 * phd/phd_private.h - the records of a portable heap dump in order, and what is kept of them.
 */
#ifndef PHD_PHD_PRIVATE_H
#define PHD_PHD_PRIVATE_H

#include "base/idmap.h"
#include "base/source.h"
#include "hprof/reader.h"
#include "phd/phd.h"

#include <assert.h>

#define PHD_NONE UINT32_MAX
/* Records between two looks at the cancel flag. */
#define PHD_STEP_RECORDS 16384u

/* Bytes of a text in the head that are kept. */
#define PHD_TEXT_MAX 200

enum phd_kind { PHD_OBJECT, PHD_OBJECT_ARRAY, PHD_PRIMITIVE_ARRAY, PHD_CLASS };

struct phd_record {
	enum phd_kind kind;
	uint8_t element;      /* of a primitive array: HPROF's type */
	uint64_t id;          /* the address */
	uint64_t class_id;    /* of an object array: of its elements; of a class: its superclass */
	uint64_t length;      /* of an array; of a class: bytes of an instance */
	uint64_t bytes;       /* of an array, as recorded; 0: not */
	struct base_vec refs; /* uint64_t */
	struct base_vec name; /* of a class */
};

/* Zero-initialise; phd_reader_release. */
struct phd_reader {
	struct base_work *work; /* lent */
	struct base_view view;
	const uint8_t *at, *end; /* in the view */
	struct hdb_error *err;
	int result; /* the first failure; HDB_END: the file has ended */
	/* the head */
	uint32_t version;
	unsigned word_bytes; /* of an address: 4 or 8 */
	bool is_j9;
	bool is_hashed; /* all records have a hash code of 2 bytes */
	char text[PHD_TEXT_MAX];
	/* where records are */
	uint64_t last_id;
	uint64_t classes[4]; /* those of the last objects that named theirs */
	unsigned next_class;
	bool is_whole; /* the record that ends the dump was met */
};

/* What begins so is a portable heap dump. */
#define PHD_MAGIC "\x00\x12portable heap dump"
#define PHD_MAGIC_SIZE (sizeof(PHD_MAGIC) - 1)

/* HDB_EFORMAT: of a version that is not known. */
int phd_reader_open(struct phd_reader *reader, struct base_source *source, struct hdb_error *err);
/* HDB_END behind the last record, and where the dump is cut or damaged: then not is_whole. */
int phd_reader_next(struct phd_reader *reader, struct phd_record *out);
void phd_reader_release(struct phd_reader *reader);

struct phd_class {
	uint64_t id, super_id;
	uint64_t first_ref; /* number in class_refs */
	uint32_t ref_count;
	uint32_t name_at, name_size; /* in names */
	uint32_t instance_bytes;
	uint32_t most_refs; /* of its objects */
	uint32_t fields;    /* references that an object has room for, with its superclasses' */
	uint32_t super_no;  /* or PHD_NONE; there are no circles */
	uint32_t array_no;  /* of arrays of it, if there are some */
	bool is_read;       /* its record was met; else objects only name it */
	bool has_arrays;
	uint8_t visit;
};

/* Bytes before the elements of an array and of a reference, by what the sizes of arrays allow. */
struct phd_layout {
	unsigned object_header, primitive_header, reference;
};

struct phd {
	struct phd_files files;
	struct base_work *work; /* lent */
	struct base_source *source;
	struct phd_reader head; /* after the first pass */
	struct base_vec classes;
	struct base_idmap class_map; /* ID -> number in classes */
	struct base_idmap name_map;  /* hash of a name, or of it and a loader -> the same */
	struct base_vec names;       /* bytes */
	struct base_vec class_refs;  /* uint64_t */
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

/* The number of the first class of this name, or PHD_NONE. */
uint32_t phd_class_named(const struct phd *phd, const char *name, size_t size);

/* The first reference of a class, which leads to its loader, or 0. */
static inline uint64_t phd_first_ref(const struct phd *phd, const struct phd_class *class)
{
	assert(class->first_ref + class->ref_count <= phd->class_refs.count);
	return class->ref_count ? *base_vec_at(&phd->class_refs, uint64_t, class->first_ref) : 0;
}

struct phd_writer {
	struct phd *phd;
	struct hprof_writer out;
	/* first reference of a class, a thread -> number of the class of that */
	struct base_idmap loaders;
	struct base_vec
		thread_ids; /* uint64_t, by serial number - 1; 0: no thread of the program */
	uint64_t next_text;
	uint64_t boot_id; /* the loader of java.lang.Object */
	uint64_t object_count;
};

/* Writes a text under an identifier of its own. */
int phd_write_text(struct phd_writer *w, const char *text, size_t size, uint64_t *id);

/* Writes threads and their stacks from the javacore, if there is one. */
int phd_write_threads(struct phd_writer *w);

/* ms since 1970 of the local time in the file's name (heapdump.20130429.083110...), or 0. */
uint64_t phd_time_of(const char *path);

#endif
