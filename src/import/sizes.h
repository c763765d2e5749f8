/*
 * import/sizes.h - interface between the files that compute sizes: sizes.c (the models and the
 * output), sizes_vm.c (chooses the layout that the VM used), sizes_fields.c (lays out classes under
 * a model) and vm_version.c.
 */
#ifndef IMPORT_SIZES_H
#define IMPORT_SIZES_H

#include "import/context.h"
#include "layout/layout.h"

/* Maximum size of the evidence text for one parameter, including the terminator. */
#define SIZES_EVIDENCE_MAX 400

/*
 * How well a model matches the distances between objects. Except for tight_arrays, the members
 * count classes.
 */
struct sizes_score {
	uint64_t contradicted; /* classes with an object that would overlap the next object */
	/* classes with an object that ends exactly where the next object begins */
	uint64_t exact;
	uint64_t loose;        /* all other classes; class objects are not counted */
	uint64_t tight_arrays; /* number of element widths that occur in an array without padding */
};

/* A struct layout_shape in stored form. Its gaps are in sizes.gaps. */
struct sizes_shape {
	uint64_t end;
	uint64_t size;
	uint32_t first_gap;
	uint8_t gap_count;
	bool has_fields, is_contended, ends_with_reference;
};

/* The data that the layout rules need about all classes, and the results of the last layout. */
struct sizes {
	struct import *im;
	struct layout_statics *statics; /* indexed by class number */
	uint64_t *first_type;           /* indexed by class number: index in types */
	struct base_vec types;          /* uint8_t: types of instance fields */
	/* room for the fields of any single class, including injected fields */
	struct layout_field *fields;
	struct sizes_shape *shapes; /* indexed by class number */
	struct base_vec gaps;       /* struct layout_gap */
};

/* ---- sizes_fields.c ---- */

/* Reads the field types of all classes. The caller must release *s, even after a failure. */
int import_sizes_open(struct import *im, struct sizes *s, struct hdb_error *err);
void import_sizes_release(struct sizes *s);

/* Lays out all classes. Sets import_class.model_bytes (not rounded) and mirror_bytes. */
int import_sizes_lay_out(struct sizes *s, const struct layout_model *model, struct hdb_error *err);

/* Compares the result of import_sizes_lay_out with the distances. */
struct sizes_score import_sizes_score(const struct sizes *s, const struct layout_model *model);
/*
 * Compares only array classes, for which no layout is needed. This is a cheap way to rule out
 * models.
 */
struct sizes_score import_sizes_score_arrays(const struct sizes *s,
					     const struct layout_model *model);

/*
 * Compares the size of an object with the smallest distance. Returns a value of enum
 * store_size_basis.
 */
uint8_t import_sizes_basis(uint64_t bytes, uint64_t align, const struct import_distance *distance,
			   int64_t least);

/*
 * HotSpot fills dead areas with arrays of 4-byte words, regardless of the width of references
 * (gc/shared/ collectedHeap.cpp, memory/universe.cpp: a TypeArrayKlass of T_INT named like an array
 * of FillerElement).
 */
#define SIZES_FILLER_BYTES 4u
/* Maximum width of flat elements that can be stored. */
#define SIZES_ELEMENT_MAX 128u

/*
 * Returns whether the size of this class's objects depends on their length and references have 8
 * bytes.
 */
bool import_sizes_is_wide(const struct layout_model *model, const struct import_class *class);
/* Returns the offset of the first element in an array of the class. */
unsigned import_sizes_array_base(const struct layout_model *model,
				 const struct import_class *class);

/*
 * Returns the distance to compare with the size of an instance. Normally this is the smallest
 * distance. However, if the smallest distance is less than the size, and at most `most` objects but
 * not all have it, the likely cause is an ID inside another object, and the function returns the
 * next larger distance.
 */
int64_t import_sizes_least(const struct import_distance *distance, uint64_t bytes, uint32_t most);

/* ---- flat.c ---- */

/* Computes the size and alignment of im->flat.fields. The field types must have been read. */
void import_sizes_flat(const struct sizes *s, const struct layout_model *model);
/* Returns the width of an element in an array of flat values of class value_no. */
uint32_t import_sizes_flat_element(const struct sizes *s, const struct layout_model *model,
				   uint32_t value_no);

/* ---- sizes_art.c ---- */

/*
 * Determines which of ART's two ways of placing fields was used: the one that gives more classes
 * their recorded size.
 */
int import_sizes_art_model(struct import *im, struct layout_model *out, struct hdb_error *err);

/* ---- vm_version.c ---- */

/*
 * Reads the object with this ID from the dump. Returns false if there is no such object. The
 * function searches the dump, so use it only for a few objects.
 */
bool import_sizes_read_object(struct import *im, struct base_view *view, uint64_t id,
			      struct hprof_sub *out);

/*
 * Returns the feature version of the VM, such as 8 or 17, from the version string in a static field
 * of the class library. Returns 0 if the dump does not contain the version. Sets `evidence` to the
 * source of the version.
 */
unsigned import_sizes_vm_version(struct import *im, char evidence[SIZES_EVIDENCE_MAX]);

/* ---- sizes_vm.c ---- */

enum sizes_parameter { SIZES_RULES, SIZES_HEADER, SIZES_REFERENCE, SIZES_ALIGN, SIZES_PARAMETERS };

/* The layout of the VM that wrote the dump, and the evidence for it. */
struct sizes_choice {
	struct layout_model model;
	struct sizes_score score;
	bool has_addresses; /* whether IDs are addresses, so that distances are evidence */
	/* number of distances that are not multiples of the alignment, which indicates damage */
	uint64_t odd_distances;
	char evidence[SIZES_PARAMETERS][SIZES_EVIDENCE_MAX];
};

/* Parameters specified by the user. 0 means that heapdb infers the parameter. */
struct sizes_fixed {
	unsigned header_bytes, reference_bytes, align_bytes;
};

/* Chooses a layout. On return, all classes have been laid out with the chosen layout. */
int import_sizes_choose(struct sizes *s, const struct sizes_fixed *fixed, struct sizes_choice *out,
			struct hdb_error *err);

#endif
