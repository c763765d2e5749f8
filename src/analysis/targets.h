/*
 * analysis/targets.h - what a text names: an object, classes.
 */
#ifndef ANALYSIS_TARGETS_H
#define ANALYSIS_TARGETS_H

#include "analysis/session.h"

/*
 * Whether a target names one object: by its identifier ("0x12c4") or by a label of the tables
 * ("com.acme.Main@0x12c4", "Main@0x12c4", "class com.acme.Main" for the class object).
 */
bool analysis_is_object(const char *target);

/* HDB_EUSAGE with a message if a text names no object, whatever the dump; else HDB_OK. */
int analysis_check_object(const char *target, struct hdb_error *err);

/*
 * The object that a target names, see analysis_is_object(). HDB_NOTFOUND with a message if the dump
 * has none; HDB_EUSAGE if it is no such name, if the object is of another class than the label
 * says, or if several class loaders have a class of the name.
 */
int analysis_object(const struct session *session, const char *target, uint32_t *ix,
		    struct hdb_error *err);

/* Class numbers, ascending. */
struct analysis_class_list {
	uint32_t *numbers; /* owned: free() */
	size_t count;
};

/*
 * The classes that a name or glob pattern ("java.util.*", "*Cache", "char[]") names. A class may
 * also be named by the ID of its class object. HDB_NOTFOUND with a message if there is none.
 * `with_sub`: their subclasses too. In patterns * and ? match any characters; [ and ] are
 * themselves.
 */
int analysis_classes(const struct session *session, const char *pattern, bool with_sub,
		     struct analysis_class_list *out, struct hdb_error *err);

/* The same as a mark by class number, 1 if it is named; *marks is owned, in any case: free(). */
int analysis_class_marks(const struct session *session, const char *pattern, bool with_sub,
			 uint8_t **marks, struct hdb_error *err);

#endif
