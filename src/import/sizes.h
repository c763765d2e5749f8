/*
 * import/sizes.h - between the files that compute sizes: sizes.c (the models, and what is written),
 * sizes_vm.c (which layout the VM had), sizes_fields.c (classes laid out under a model),
 * vm_version.c.
 */
#ifndef IMPORT_SIZES_H
#define IMPORT_SIZES_H

#include "import/context.h"
#include "layout/layout.h"

/* Longest text of evidence for one parameter, bytes with its end. */
#define SIZES_EVIDENCE_MAX 400

/* How well a model agrees with the distances between objects; classes counted, not objects. */
struct sizes_score {
	uint64_t contradicted; /* classes of which an object reaches into the next one */
	uint64_t exact;        /* of which an object ends where the next one begins */
	uint64_t loose;        /* of which neither is true; class objects are not counted */
	uint64_t tight_arrays; /* widths of elements of which some array has no padding at all */
};

/* The shape of a laid out class, its gaps kept apart. */
struct sizes_shape {
	uint64_t end;
	uint64_t size;
	uint32_t first_gap;
	uint8_t gap_count;
	bool has_fields, is_contended, ends_with_reference;
};

/* What layout rules need of all classes, and what they made of them last. */
struct sizes {
	struct import *im;
	struct layout_statics *statics; /* by class number */
	uint64_t *first_type;           /* by class number: in types */
	struct base_vec types;          /* uint8_t: of instance fields */
	struct layout_field *fields;    /* room for the fields of any class and injected ones */
	struct sizes_shape *shapes;     /* by class number */
	struct base_vec gaps;           /* struct layout_gap */
};

/* ---- sizes_fields.c ---- */

/* Reads the field types of all classes. *s is to be released also on failure. */
int import_sizes_open(struct import *im, struct sizes *s, struct hdb_error *err);
void import_sizes_release(struct sizes *s);

/* Lays out all classes: import_class.model_bytes (not rounded) and mirror_bytes. */
int import_sizes_lay_out(struct sizes *s, const struct layout_model *model, struct hdb_error *err);

/*
 * Compares what sizes_lay_out left with the distances; needs no classes of a model whose arrays
 * alone fail.
 */
struct sizes_score import_sizes_score(const struct sizes *s, const struct layout_model *model);
/* The part of sizes_score that array classes give. */
struct sizes_score import_sizes_score_arrays(const struct sizes *s,
					     const struct layout_model *model);

/* enum store_size_basis of an object of this size at this least distance. */
uint8_t import_sizes_basis(uint64_t bytes, uint64_t align, const struct import_distance *distance,
			   int64_t least);

/*
 * HotSpot fills dead areas with arrays of words of 4 bytes, whatever the width of references
 * (gc/shared/ collectedHeap.cpp, memory/universe.cpp: a TypeArrayKlass of T_INT under the name of
 * an array of FillerElement).
 */
#define SIZES_FILLER_BYTES 4u
/* Elements of an array that are flat values are no wider. */
#define SIZES_ELEMENT_MAX 128u

/* Whether an object of the class has room for references of 8 bytes in what its length says. */
bool import_sizes_is_wide(const struct layout_model *model, const struct import_class *class);
/* Bytes before the first element of an array of the class. */
unsigned import_sizes_array_base(const struct layout_model *model,
				 const struct import_class *class);

/*
 * The distance that counts for an instance that is laid out with this size: the smallest, unless it
 * is less, at most `most` objects lie at it, and others do not: then an ID inside another object is
 * to blame, and the next one counts.
 */
int64_t import_sizes_least(const struct import_distance *distance, uint64_t bytes, uint32_t most);

/* ---- flat.c ---- */

/* Sets bytes and align of im->flat.fields, once types are read. */
void import_sizes_flat(const struct sizes *s, const struct layout_model *model);
/* Bytes of an element of an array of flat values of class value_no. */
uint32_t import_sizes_flat_element(const struct sizes *s, const struct layout_model *model,
				   uint32_t value_no);

/* ---- sizes_art.c ---- */

/*
 * How ART places fields: of its two ways, the one that makes more classes as large as the dump
 * records.
 */
int import_sizes_art_model(struct import *im, struct layout_model *out, struct hdb_error *err);

/* ---- vm_version.c ---- */

/*
 * The object with this ID, as the dump has it. False if there is none. A search; for a few objects.
 */
bool import_sizes_read_object(struct import *im, struct base_view *view, uint64_t id,
			      struct hprof_sub *out);

/*
 * Feature version of the VM (8, 17), from the version text that the class library keeps in a static
 * field; 0 if the dump has none. `evidence` says where it is from.
 */
unsigned import_sizes_vm_version(struct import *im, char evidence[SIZES_EVIDENCE_MAX]);

/* ---- sizes_vm.c ---- */

enum sizes_parameter { SIZES_RULES, SIZES_HEADER, SIZES_REFERENCE, SIZES_ALIGN, SIZES_PARAMETERS };

/* The layout of the VM that wrote the dump, and why. */
struct sizes_choice {
	struct layout_model model;
	struct sizes_score score;
	bool has_addresses;     /* IDs are addresses, so distances are evidence */
	uint64_t odd_distances; /* that are no multiples of the alignment: damage */
	char evidence[SIZES_PARAMETERS][SIZES_EVIDENCE_MAX];
};

/* Parts that the user has fixed; 0: infer. */
struct sizes_fixed {
	unsigned header_bytes, reference_bytes, align_bytes;
};

/* Chooses, and leaves all classes laid out under the choice. */
int import_sizes_choose(struct sizes *s, const struct sizes_fixed *fixed, struct sizes_choice *out,
			struct hdb_error *err);

#endif
