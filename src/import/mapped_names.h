/*
 * import/mapped_names.h - the names of a mapping file in the place of those of the dump.
 */
#ifndef IMPORT_MAPPED_NAMES_H
#define IMPORT_MAPPED_NAMES_H

#include "import/context.h"
#include "import/mapping.h"

/* Reads the file that the options name, if they name one; before names are looked at. */
int import_mapping_open(struct import *im, struct hdb_error *err);

/* Notes in the database which file the names are from, and how many. */
int import_put_mapping_meta(struct import *im, struct hdb_error *err);

/*
 * Replaces the name of a class, with dots and brackets, in `name` of `room` bytes, and notes which
 * class of the mapping it is. Nothing happens if the mapping does not have it.
 */
int import_map_class(struct import *im, struct import_class *class, char *name, size_t room,
		     struct hdb_error *err);

/*
 * The text of a field's name: that of the mapping, else of the dump; STORE_NONE if it has none.
 */
int import_map_field(struct import *im, const struct import_class *class, uint64_t string_id,
		     uint32_t *text, struct hdb_error *err);

/*
 * Gives a frame, whose texts are numbers of places, the texts of the dump, or the class, method,
 * line and source file that class `no` of the mapping says; calls that were inlined are named
 * behind the method. `no` may be BASE_IDMAP_NONE.
 */
int import_map_frame(struct import *im, struct store_frame *frame, uint32_t no,
		     struct hdb_error *err);

#endif
