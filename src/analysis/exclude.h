/*
 * analysis/exclude.h - references that shall not count.
 */
#ifndef ANALYSIS_EXCLUDE_H
#define ANALYSIS_EXCLUDE_H

#include "analysis/session.h"

/*
 * Classes that exclusions of the form CLASS:FIELD may name in all; their subclasses do not count.
 */
#define ANALYSIS_EXCLUDES_MAX 64

/* What is excluded by default: paths through these do not explain why an object is alive. */
#define ANALYSIS_EXCLUDES_WEAK "weak,soft,phantom,finalizer"

struct analysis_excluded_field {
	uint32_t class_no;
	char name[128];
};

/* Where instances of a class keep a reference. */
struct analysis_place {
	uint32_t at; /* bytes from the start of the field values */
	bool is_excluded;
};

struct analysis_excludes {
	const char *text; /* as it was given; lent */
	bool strengths[STORE_FINALIZER + 1];
	struct analysis_excluded_field fields[ANALYSIS_EXCLUDES_MAX];
	size_t field_count;
	const struct session *session; /* lent */
	uint8_t *from_class;           /* of the filter; owned */
	uint32_t *first_place; /* by class number: in places, up to that of the next class; owned */
	struct base_vec places;   /* struct analysis_place */
	uint8_t *has_other_edges; /* by class number: edges and fields may not match; owned */
};

/*
 * Reads --exclude: a list of weak, soft, phantom, finalizer, none, CLASS:FIELD; `fallback` if it
 * was not given. HDB_EUSAGE if it is none, HDB_NOTFOUND if there is no such class. Release *out in
 * any case.
 */
int analysis_excludes_parse(const struct session *session, const char *fallback,
			    struct analysis_excludes *out, struct hdb_error *err);
void analysis_excludes_release(struct analysis_excludes *excludes);

/* Whether every way in which `from` holds `to` is excluded. */
int analysis_is_excluded(const struct analysis_excludes *excludes, uint32_t from, uint32_t to,
			 bool *out, struct hdb_error *err);

/* The same as a filter, which is lent what *excludes has and must not outlive it or move. */
int analysis_excludes_filter(const struct session *session, struct analysis_excludes *excludes,
			     struct derive_filter *out, struct hdb_error *err);

/* Whether just what reach.strong leaves out is excluded, or nothing at all. */
bool analysis_excludes_is_weak(const struct analysis_excludes *excludes);
bool analysis_excludes_is_none(const struct analysis_excludes *excludes);

#endif
