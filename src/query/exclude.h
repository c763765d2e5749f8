/*
 * query/exclude.h - references that shall not count: the option --exclude.
 */
#ifndef QUERY_EXCLUDE_H
#define QUERY_EXCLUDE_H

#include "query/query.h"

/*
 * Classes that exclusions of the form CLASS:FIELD may name in all; their subclasses do not count.
 */
#define QUERY_EXCLUDES_MAX 64

/* What is excluded if nobody says: paths through these tell nobody why an object is alive. */
#define QUERY_EXCLUDES_WEAK "weak,soft,phantom,finalizer"

struct query_excluded_field {
	uint32_t class_no;
	char name[128];
};

/* Where instances of a class keep a reference. */
struct query_place {
	uint32_t at; /* bytes from the start of the field values */
	bool is_excluded;
};

struct query_excludes {
	const char *text; /* as it was given; lent */
	bool strengths[STORE_FINALIZER + 1];
	struct query_excluded_field fields[QUERY_EXCLUDES_MAX];
	size_t field_count;
	struct query *query;   /* for the filter */
	uint8_t *from_class;   /* of the filter; owned */
	uint32_t *first_place; /* by class number: in places, up to that of the next class; owned */
	struct base_vec places;   /* struct query_place */
	uint8_t *has_other_edges; /* by class number: edges and fields may not match; owned */
};

/*
 * Reads --exclude: a list of weak, soft, phantom, finalizer, none, CLASS:FIELD; `fallback` if it
 * was not given. HDB_EUSAGE if it is none, HDB_NOTFOUND if there is no such class. Release *out in
 * any case.
 */
int query_excludes_parse(struct query *q, const char *fallback, struct query_excludes *out,
			 struct hdb_error *err);
void query_excludes_release(struct query_excludes *excludes);

/* Whether every way in which `from` holds `to` is excluded. */
int query_is_excluded(struct query *q, const struct query_excludes *excludes, uint32_t from,
		      uint32_t to, bool *out, struct hdb_error *err);

/* The same as a filter, which is lent what *excludes has and must not outlive it or move. */
int query_excludes_filter(struct query *q, struct query_excludes *excludes,
			  struct derive_filter *out, struct hdb_error *err);

/* Whether just what reach.strong leaves out is excluded, or nothing at all. */
bool query_excludes_is_weak(const struct query_excludes *excludes);
bool query_excludes_is_none(const struct query_excludes *excludes);

#endif
