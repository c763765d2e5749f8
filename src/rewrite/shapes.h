/*
 * rewrite/shapes.h - collects the classes of a dump, and where in their instances the fields that a
 * policy selects are.
 */
#ifndef REWRITE_SHAPES_H
#define REWRITE_SHAPES_H

#include "base/idmap.h"
#include "base/vec.h"
#include "rewrite/named.h"

/* Consecutive selected bytes of an instance. */
struct rewrite_run {
	uint32_t offset, size;
};

struct rewrite_class {
	uint64_t class_id, super_id;
	uint64_t fields_offset; /* offset of the fields in the dump */
	uint32_t field_count;
	uint32_t body_bytes;    /* size of the fields that it declares */
	uint32_t instance_size; /* as recorded in the dump */
	/* set when the first instance of the class is read */
	size_t first_run, run_count;
	uint64_t run_bytes; /* size of all runs */
	uint64_t all_bytes; /* size of an instance's values, including the fields of superclasses */
	bool has_runs;
};

struct rewrite_shapes {
	struct rewriter *w; /* borrowed */
	/* Selects fields. The names are "" unless has_names is set. */
	bool (*selects)(void *ctx, uint8_t type, const char *class_name, const char *field_name);
	void *ctx;
	bool has_names;
	struct rewrite_named *named; /* filled in by the same pass; borrowed; may be NULL */
	/* whether instance_size is the sum of the fields; set and used by convert.c */
	bool has_sums;
	uint64_t id_bits; /* bitwise OR of all IDs of instances, arrays and roots */
	/* private */
	struct base_vec classes;    /* struct rewrite_class */
	struct base_idmap by_id;    /* class ID to index in classes */
	struct base_idmap name_of;  /* class ID to index in names */
	struct base_vec names;      /* uint64_t: string IDs */
	struct base_idmap text_map; /* string ID to index in texts */
	struct base_vec texts;      /* struct rewrite_text */
	struct base_vec runs;       /* struct rewrite_run */
};

struct rewrite_text {
	uint64_t offset;
	uint32_t size;
};

/* Size of the buffer for the name of a class or field. Longer names are truncated. */
#define REWRITE_NAME_MAX 512

/*
 * Reads all classes, and the names if has_names is set, in one pass over the dump. The caller sets
 * w, selects, ctx and has_names, and must call rewrite_shapes_release even after a failure.
 */
int rewrite_shapes_load(struct rewrite_shapes *shapes, struct hdb_error *err);
void rewrite_shapes_release(struct rewrite_shapes *shapes);

/*
 * Write the name of a class (with dots), or the text of a string. Both write "" if there is no such
 * class or string.
 */
void rewrite_class_name(struct rewrite_shapes *shapes, uint64_t class_id,
			char out[REWRITE_NAME_MAX]);
void rewrite_text(struct rewrite_shapes *shapes, uint64_t string_id, char out[REWRITE_NAME_MAX]);

/*
 * Sets *out to a class and its runs, or to NULL if the dump has no such class. Valid until
 * rewrite_shapes_release.
 */
int rewrite_shape_of(struct rewrite_shapes *shapes, uint64_t class_id, struct rewrite_class **out,
		     struct hdb_error *err);

#endif
