/*
 * rewrite/shapes.h - the classes of a dump, with the places of the fields in their instances that a
 * policy selects.
 */
#ifndef REWRITE_SHAPES_H
#define REWRITE_SHAPES_H

#include "base/idmap.h"
#include "base/vec.h"
#include "rewrite/named.h"

/* Consecutive bytes of an instance that are selected. */
struct rewrite_run {
	uint32_t offset, size;
};

struct rewrite_class {
	uint64_t class_id, super_id;
	uint64_t fields_offset; /* in the dump */
	uint32_t field_count;
	uint32_t body_bytes;    /* of its own fields */
	uint32_t instance_size; /* as the dump says */
	/* computed for the first instance */
	size_t first_run, run_count;
	uint64_t run_bytes; /* of all runs */
	uint64_t all_bytes; /* of the values of an instance, including the fields of superclasses */
	bool has_runs;
};

struct rewrite_shapes {
	struct rewriter *w; /* lent */
	/* Whether a field is selected. The names are "" unless has_names is set. */
	bool (*selects)(void *ctx, uint8_t type, const char *class_name, const char *field_name);
	void *ctx;
	bool has_names;
	struct rewrite_named *named; /* filled by the same pass; lent; may be NULL */
	/* Whether instance_size is the sum of the fields; set by rewrite_widths_prepare. */
	bool has_sums;
	uint64_t id_bits; /* bitwise OR of all IDs of instances, arrays and roots */
	/* private */
	struct base_vec classes;    /* struct rewrite_class */
	struct base_idmap by_id;    /* class ID -> index in classes */
	struct base_idmap name_of;  /* class ID -> index in names */
	struct base_vec names;      /* uint64_t: string IDs */
	struct base_idmap text_map; /* string ID -> index in texts */
	struct base_vec texts;      /* struct rewrite_text */
	struct base_vec runs;       /* struct rewrite_run */
};

struct rewrite_text {
	uint64_t offset;
	uint32_t size;
};

/* Size of a buffer for the name of a class or field; longer names are truncated. */
#define REWRITE_NAME_MAX 512

/*
 * Reads all classes, and the names if has_names, in one pass over the dump. The caller sets w,
 * selects, ctx and has_names. Call rewrite_shapes_release even after a failure.
 */
int rewrite_shapes_load(struct rewrite_shapes *shapes, struct hdb_error *err);
void rewrite_shapes_release(struct rewrite_shapes *shapes);

/* The name of a class, with dots, and the text with this ID; "" if there is none. */
void rewrite_class_name(struct rewrite_shapes *shapes, uint64_t class_id,
			char out[REWRITE_NAME_MAX]);
void rewrite_text(struct rewrite_shapes *shapes, uint64_t string_id, char out[REWRITE_NAME_MAX]);

/*
 * *out is the class with this ID and its runs, valid until rewrite_shapes_release; NULL if the dump
 * has no such class.
 */
int rewrite_shape_of(struct rewrite_shapes *shapes, uint64_t class_id, struct rewrite_class **out,
		     struct hdb_error *err);

#endif
