/*
 * rewrite/shapes.h - the classes of a dump, gathered before it is written: where the primitive
 * values of their instances lie, and which of them are to be zeroed.
 */
#ifndef REWRITE_SHAPES_H
#define REWRITE_SHAPES_H

#include "base/idmap.h"
#include "base/vec.h"
#include "rewrite/rewriter.h"

/* Bytes of an instance that are zeroed. */
struct rewrite_run {
	uint32_t offset, size;
};

struct rewrite_class {
	uint64_t class_id, super_id, name_id;
	uint64_t fields_offset; /* in the dump */
	uint32_t field_count;
	uint32_t body_bytes; /* of its own fields */
	/* found when an instance is met first */
	size_t first_run, run_count;
	uint64_t all_bytes; /* with the fields of super classes */
	bool has_runs;
};

struct rewrite_shapes {
	struct rewriter *w;         /* lent */
	struct base_vec classes;    /* struct rewrite_class */
	struct base_idmap by_id;    /* class ID -> number in classes */
	struct base_idmap name_of;  /* class ID -> number in names */
	struct base_vec names;      /* uint64_t: string IDs */
	struct base_idmap text_map; /* string ID -> number in texts */
	struct base_vec texts;      /* struct rewrite_text */
	struct base_vec runs;       /* struct rewrite_run */
	/* Whether a primitive field keeps its value; NULL: none does. */
	bool (*keeps)(void *ctx, const char *class_name, const char *field_name);
	void *ctx;
};

struct rewrite_text {
	uint64_t offset;
	uint32_t size;
};

/* Longest name of a class or field; what is longer is cut. */
#define REWRITE_NAME_MAX 512

/*
 * Reads all classes, and names if `keeps` is set; one pass over the dump. `shapes` has w, keeps and
 * ctx set; release it also after a failure.
 */
int rewrite_shapes_load(struct rewrite_shapes *shapes, struct hdb_error *err);
void rewrite_shapes_release(struct rewrite_shapes *shapes);

/* The name of a class, with dots; "" if it has none. */
void rewrite_class_name(struct rewrite_shapes *shapes, uint64_t class_id,
			char out[REWRITE_NAME_MAX]);

/*
 * Writes an instance, its primitive values zeroed but for those that are kept; all of its bytes if
 * they are not what its class says.
 */
int rewrite_instance(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
		     struct hdb_error *err);
/* Writes a class with its primitive static fields zeroed likewise. */
int rewrite_class_dump(struct rewrite_shapes *shapes, const struct hprof_sub *sub,
		       struct hdb_error *err);
/* Writes a primitive array of zeros. */
int rewrite_zero_array(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err);

#endif
