/*
 * import/classes.h - interface between the files that build classes: import_classes.c,
 * class_names.c and class_invent.c.
 */
#ifndef IMPORT_CLASSES_H
#define IMPORT_CLASSES_H

#include "import/context.h"

/* ---- class_names.c ---- */

/*
 * Names all classes, marks the unloaded classes, and stores the numbers of specially treated
 * classes in im->known. The classes are not in order yet. import_classes renumbers them later.
 */
int import_name_classes(struct import *im, struct hdb_error *err);

/* Writes the displayed name of a class as a string of the database. */
int import_put_class_name(struct import *im, struct import_class *class, const char *name,
			  struct hdb_error *err);

/* ---- class_invent.c ---- */

/*
 * Returns the alignment that Eclipse MAT computes: the greatest common divisor of the distances
 * between all objects, between 8 and 256. Requires finished IDs.
 */
unsigned import_mat_alignment(const struct import *im);

/*
 * Invents classes as Eclipse MAT does. Their IDs are the first multiples of
 * evidence.mat_align_bytes that do not belong to an object or a missing class. The IDs are added to
 * im->ids, which must be finished again. If the ID of a class belongs to an object that is not a
 * class, the class gets a new ID, and a problem is reported.
 */
int import_invent_classes(struct import *im, struct hdb_error *err);

#endif
