/*
 * base/clear_names.h - original names of the classes and members of an obfuscated app, from the
 * mappings that `traceconv deobfuscate` adds to a trace.
 */
#ifndef BASE_CLEAR_NAMES_H
#define BASE_CLEAR_NAMES_H

#include "base/packets.h"

/*
 * The field of a class in DeobfuscationMapping that contains its fields, and the field that
 * contains its methods.
 */
enum { MAPPING_FIELD = 3, MAPPING_METHOD = 4 };

/*
 * The parts of an entry: the obfuscated names of class and member, their package, and the original
 * name.
 */
enum { CLEAR_CLASS, CLEAR_MEMBER, CLEAR_PACKAGE, CLEAR_NAME, CLEAR_PARTS };

struct clear_name {
	struct proto of[CLEAR_PARTS]; /* borrowed; an entry without a member describes the class */
	struct proto class_name;      /* original name of the class to which the entry refers */
};

/* Appends the classes of a mapping and their members of one kind to a list of struct clear_name. */
int clear_take(struct base_vec *names, struct proto mapping, uint32_t members,
	       struct hdb_error *err);

/* Sorts the list and removes duplicates. Must be called after everything has been added. */
void clear_sort(struct base_vec *names);

/*
 * Returns the first entry that clear_is accepts, or NULL if none matches. Other matching entries
 * follow it directly.
 */
const struct clear_name *clear_find(const struct base_vec *names,
				    const struct proto of[CLEAR_NAME]);

/*
 * Returns whether an entry describes this class and member and, unless `package` is empty, this
 * package.
 */
bool clear_is(const struct clear_name *name, const struct proto of[CLEAR_NAME]);

/*
 * Finds the package in a path such as /data/app/PACKAGE-X/... or /data/app/~~Y/PACKAGE-X/... The
 * result is empty if the path contains none.
 */
struct proto clear_package(struct proto path);

#endif
