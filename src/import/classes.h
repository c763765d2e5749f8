/*
 * import/classes.h - between the files that make classes: import_classes.c, class_names.c,
 * class_invent.c.
 */
#ifndef IMPORT_CLASSES_H
#define IMPORT_CLASSES_H

#include "import/context.h"

/* ---- class_names.c ---- */

/*
 * Names all classes, marks those that were unloaded, and notes in *im the numbers of those that
 * rules speak of. Classes have no order yet: import_classes numbers them, and what was noted, anew.
 */
int import_name_classes(struct import *im, struct hdb_error *err);

/* Writes a class's name, as it is shown, as a text of the database. */
int import_put_class_name(struct import *im, struct import_class *class, const char *name,
			  struct hdb_error *err);

/* ---- class_invent.c ---- */

/*
 * Eclipse MAT's alignment: greatest common divisor of the distances of all objects, 8 to 256 bytes.
 * Of finished IDs.
 */
unsigned import_mat_alignment(const struct import *im);

/*
 * Invents classes as Eclipse MAT does: at the first free multiples of evidence.mat_align_bytes,
 * free of classes that the dump lacks, too. Their IDs are added to im->ids, which is to be finished
 * again. A class whose ID is another object's gets a new one; that is a problem.
 */
int import_invent_classes(struct import *im, struct hdb_error *err);

#endif
