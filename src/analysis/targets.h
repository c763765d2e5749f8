/*
 * analysis/targets.h - what a text names: an object, classes.
 */
#ifndef ANALYSIS_TARGETS_H
#define ANALYSIS_TARGETS_H

#include "analysis/session.h"

/* Whether a target names an object ("0x12c4"). */
bool analysis_is_object(const char *target);

/* The number of an identifier like "0x12c4"; HDB_EUSAGE with a message if it is none. */
int analysis_parse_id(const char *target, uint64_t *id, struct hdb_error *err);

/*
 * The object that "0x12c4" names. HDB_NOTFOUND with a message if the dump has none; HDB_EUSAGE if
 * it is no ID.
 */
int analysis_object(const struct session *session, const char *target, uint32_t *ix,
		    struct hdb_error *err);

/*
 * The classes that a name or glob pattern ("java.util.*", "*Cache", "char[]") names, ascending;
 * owned: free(). A class may also be named by the ID of its class object. HDB_NOTFOUND with a
 * message if there is none. `with_sub`: their sub classes too. In patterns * and ? match any
 * characters; [ and ] are themselves.
 */
int analysis_classes(const struct session *session, const char *pattern, bool with_sub,
		     uint32_t **classes, size_t *count, struct hdb_error *err);

#endif
