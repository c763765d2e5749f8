/*
 * base/clear_names.h - names of classes and members before an app was obfuscated, by the
 * mappings that `traceconv deobfuscate` adds to a trace.
 */
#ifndef BASE_CLEAR_NAMES_H
#define BASE_CLEAR_NAMES_H

#include "base/packets.h"

/* Fields of the members of a class of DeobfuscationMapping. */
enum { MAPPING_FIELD = 3, MAPPING_METHOD = 4 };

/* What is obfuscated, where, and what it was. */
enum { CLEAR_CLASS, CLEAR_MEMBER, CLEAR_PACKAGE, CLEAR_NAME, CLEAR_PARTS };

struct clear_name {
	struct proto of[CLEAR_PARTS]; /* borrowed; without a member: the class itself */
	struct proto class_name;      /* what its class was */
};

/* Adds the classes of a mapping and their members of a kind to a list of struct clear_name. */
int clear_take(struct base_vec *names, struct proto mapping, uint32_t members,
	       struct hdb_error *err);

/* Once all are there; drops what came twice. */
void clear_sort(struct base_vec *names);

/* The first of the names that clear_is; the others follow it. NULL: there is none. */
const struct clear_name *clear_find(const struct base_vec *names,
				    const struct proto of[CLEAR_NAME]);

/* Whether a name is of this class and member, and of this package unless that is empty. */
bool clear_is(const struct clear_name *name, const struct proto of[CLEAR_NAME]);

/* The package in a path: /data/app/PACKAGE-X/..., /data/app/~~Y/PACKAGE-X/...; empty: unknown. */
struct proto clear_package(struct proto path);

#endif
