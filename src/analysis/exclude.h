/*
 * analysis/exclude.h - determines which references are ignored, such as weak references, or
 * references in a field named by the user.
 */
#ifndef ANALYSIS_EXCLUDE_H
#define ANALYSIS_EXCLUDE_H

#include "analysis/session.h"

/*
 * Maximum number of classes named by all exclusions CLASS:FIELD together, not counting subclasses.
 */
#define ANALYSIS_EXCLUDES_MAX 64

/*
 * References excluded by default, because paths through them do not explain why an object is alive.
 */
#define ANALYSIS_EXCLUDES_WEAK "weak,soft,phantom,finalizer"

/* An excluded field of a class and its subclasses. */
struct analysis_excluded_field {
	uint32_t class_no;
	char name[128];
};

/* A reference field in the instances of a class. */
struct analysis_place {
	uint32_t at; /* offset in the field values, in bytes */
	bool is_excluded;
};

/* The parsed exclusions. analysis_excludes_filter sets `from_class` and the members after it. */
struct analysis_excludes {
	const char *text; /* the option as given; borrowed */
	bool strengths[STORE_FINALIZER + 1];
	struct analysis_excluded_field fields[ANALYSIS_EXCLUDES_MAX];
	size_t field_count;
	const struct session *session; /* borrowed */
	uint8_t *from_class;           /* indexed by class number; for the filter; owned */
	/*
	 * By class number: index of the class's first entry in `places`. The entries end at the
	 * first entry of the next class. Owned.
	 */
	uint32_t *first_place;
	struct base_vec places; /* struct analysis_place */
	/*
	 * by class number: whether instances may have edges without a field, or fields without an
	 * edge; owned
	 */
	uint8_t *has_other_edges;
};

/*
 * Parses --exclude: a list of weak, soft, phantom, finalizer, none and CLASS:FIELD. Returns
 * HDB_EUSAGE for anything else, and HDB_NOTFOUND if a class does not exist. The text is borrowed.
 * The caller must release *out, even after a failure.
 */
int analysis_excludes_parse(const struct session *session, const char *fallback,
			    struct analysis_excludes *out, struct hdb_error *err);
void analysis_excludes_release(struct analysis_excludes *excludes);

/* Sets *out to whether every reference from `from` to `to` is excluded. */
int analysis_is_excluded(const struct analysis_excludes *excludes, uint32_t from, uint32_t to,
			 bool *out, struct hdb_error *err);

/*
 * Makes a filter for traversals of the whole heap. The filter borrows from *excludes, which must
 * neither move nor be released while the filter is in use.
 */
int analysis_excludes_filter(const struct session *session, struct analysis_excludes *excludes,
			     struct derive_filter *out, struct hdb_error *err);

/*
 * The first function returns whether reach.strong ignores exactly the excluded references. The
 * second returns whether no references are excluded. In both cases, existing tables can be used.
 */
bool analysis_excludes_is_weak(const struct analysis_excludes *excludes);
bool analysis_excludes_is_none(const struct analysis_excludes *excludes);

#endif
