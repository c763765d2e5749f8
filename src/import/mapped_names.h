/* import/mapped_names.h - replaces names in the dump with names from a mapping file. */
#ifndef IMPORT_MAPPED_NAMES_H
#define IMPORT_MAPPED_NAMES_H

#include "import/context.h"
#include "import/mapping.h"

/* Reads the mapping file of the options, if any. Must be called before names are used. */
int import_mapping_open(struct import *im, struct hdb_error *err);

/* Stores the name of the mapping file and the number of names replaced. */
int import_put_mapping_meta(struct import *im, struct hdb_error *err);

/*
 * Replaces a class name (in its displayed form, in a buffer of `room` bytes), and records the
 * number of the class in the mapping. Does nothing if the mapping does not contain the class.
 */
int import_map_class(struct import *im, struct import_class *class, char *name, size_t room,
		     struct hdb_error *err);

/*
 * Finds the name of a field in the mapping or, if the mapping does not contain the field, in the
 * dump. Sets *text to STORE_NONE if the name is in neither.
 */
int import_map_field(struct import *im, const struct import_class *class, uint64_t string_id,
		     uint32_t *text, struct hdb_error *err);

/*
 * Replaces the place numbers in a frame with texts: class, method, line and source file from class
 * `no` of the mapping or, if the mapping lacks them, from the dump. Appends inlined calls to the
 * method. `no` may be BASE_IDMAP_NONE.
 */
int import_map_frame(struct import *im, struct store_frame *frame, uint32_t no,
		     struct hdb_error *err);

#endif
