/*
 * queries/waste/holders.h - through which fields a set of objects is held, and by how many
 * references each.
 */
#ifndef QUERIES_WASTE_HOLDERS_H
#define QUERIES_WASTE_HOLDERS_H

#include "analysis/session.h"
#include "base/base_text.h"
#include "base/idmap.h"

/* A field, the elements of an array class, or local variables of threads. */
struct analysis_holder_count {
	/* class number << 32 | index in the table fields, or a special field number */
	uint64_t key;
	uint64_t count; /* number of references through it */
};

/* Counts of references to a set of objects. */
struct analysis_holders {
	struct store_lists referrers;
	bool with_unreachable;     /* also count references from unreachable objects */
	struct base_vec counts;    /* struct analysis_holder_count */
	struct base_idmap numbers; /* indexes of the counts, by key */
	uint64_t references;       /* number of references counted */
};

/* Builds the table of referrers if needed. The caller releases *holders, also after a failure. */
int analysis_holders_begin(const struct session *session, struct analysis_holders *holders,
			   bool with_unreachable, struct hdb_error *err);
void analysis_holders_release(struct analysis_holders *holders);

/* Sets all counts to 0. */
void analysis_holders_clear(struct analysis_holders *holders);

/* Counts the references to object ix. A root without referrers is held by "<root>". */
int analysis_holders_add(const struct session *session, struct analysis_holders *holders,
			 uint32_t ix, struct hdb_error *err);

/*
 * Writes the most frequent holder: "java.util.HashMap$Node.key", "static Main.cache",
 * "java.lang.String[]", "<local variable>", "<root>"; empty if there is none. *count is its number
 * of references.
 */
int analysis_holders_top(const struct session *session, const struct analysis_holders *holders,
			 struct base_text text, uint64_t *count, struct hdb_error *err);

#endif
