/* analysis/targets.h - finds the object or the classes that a target names. */
#ifndef ANALYSIS_TARGETS_H
#define ANALYSIS_TARGETS_H

#include "analysis/session.h"

/*
 * Returns whether a target names a single object: by its ID ("0x12c4", or eight or more digits
 * without 0x) or by a label as printed in tables ("com.acme.Main@0x12c4", "Main@0x12c4", "class
 * com.acme.Main" for the class object).
 */
bool analysis_is_object(const char *target);

/*
 * Checks only the syntax. Returns HDB_EUSAGE with a message if a string cannot name an object in
 * any dump.
 */
int analysis_check_object(const char *target, struct hdb_error *err);

/*
 * Finds the object named by a target. Returns HDB_NOTFOUND with a message if the object is not in
 * the dump. Returns HDB_EUSAGE if the text cannot name an object, if the object's class differs
 * from the class in the label, or if several class loaders define a class of this name.
 */
int analysis_object(const struct session *session, const char *target, uint32_t *ix,
		    struct hdb_error *err);

/* Class numbers, ascending. */
struct analysis_class_list {
	uint32_t *numbers; /* owned: free() */
	size_t count;
};

/*
 * Finds the classes that a name or pattern ("java.util.*", "*Cache", "char[]") matches. A class can
 * also be named by the ID of its class object. `with_sub` includes subclasses. In patterns, * and ?
 * match any characters; [ and ] match themselves. Returns HDB_NOTFOUND with a message if no class
 * matches.
 */
int analysis_classes(const struct session *session, const char *pattern, bool with_sub,
		     struct analysis_class_list *out, struct hdb_error *err);

/*
 * Like analysis_classes, but returns marks by class number: 1 if the class is named. The caller
 * must free *marks, even after a failure.
 */
int analysis_class_marks(const struct session *session, const char *pattern, bool with_sub,
			 uint8_t **marks, struct hdb_error *err);

#endif
