/*
 * base/clear_names.h - original names of the classes and members of an obfuscated app, from the
 * mappings that `traceconv deobfuscate` adds to a trace.
 */
#ifndef BASE_CLEAR_NAMES_H
#define BASE_CLEAR_NAMES_H

#include "base/packets.h"

/* Fields of DeobfuscationMapping that contain the members of a class. */
enum { MAPPING_FIELD = 3, MAPPING_METHOD = 4 };

/* Parts of an entry: the obfuscated class and member, their package, and the original name. */
enum { CLEAR_CLASS, CLEAR_MEMBER, CLEAR_PACKAGE, CLEAR_NAME, CLEAR_PARTS };

struct clear_name {
	struct proto of[CLEAR_PARTS]; /* borrowed; without a member, the entry is about the class */
	struct proto class_name;      /* original name of its class */
};

/* Appends the classes of a mapping and their members of one kind to a list of struct clear_name. */
int clear_take(struct base_vec *names, struct proto mapping, uint32_t members,
	       struct hdb_error *err);

/* Sorts the list and removes duplicates. Call it once everything has been added. */
void clear_sort(struct base_vec *names);

/* Returns the first entry for which clear_is is true; others follow it. NULL if none exists. */
const struct clear_name *clear_find(const struct base_vec *names,
				    const struct proto of[CLEAR_NAME]);

/* Whether an entry is about this class and member, and about this package unless that is empty. */
bool clear_is(const struct clear_name *name, const struct proto of[CLEAR_NAME]);

/*
 * Finds the package in a path: /data/app/PACKAGE-X/... or /data/app/~~Y/PACKAGE-X/...; empty if
 * there is none.
 */
struct proto clear_package(struct proto path);

#endif
