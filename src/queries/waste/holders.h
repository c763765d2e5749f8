/*
 * queries/waste/holders.h - through which fields a set of objects is held, and how often through
 * each.
 */
#ifndef QUERIES_WASTE_HOLDERS_H
#define QUERIES_WASTE_HOLDERS_H

#include "analysis/session.h"
#include "base/base_text.h"
#include "base/idmap.h"

/* A field, the elements of an array class, or a thread's local variables. */
struct analysis_holder_count {
	/* class number << 32 | number in the table fields, or one of the special ones */
	uint64_t key;
	uint64_t count; /* references through it */
};

struct analysis_holders {
	struct store_lists referrers;
	bool with_unreachable;     /* count what unreachable objects hold, too */
	struct base_vec counts;    /* struct analysis_holder_count */
	struct base_idmap numbers; /* of the counts, by key */
	uint64_t references;       /* all that were counted */
};

/* Prepares; builds the table of referrers. Release it in any case. */
int analysis_holders_begin(const struct session *session, struct analysis_holders *holders,
			   bool with_unreachable, struct hdb_error *err);
void analysis_holders_release(struct analysis_holders *holders);

/* Forgets what was counted. */
void analysis_holders_clear(struct analysis_holders *holders);

/* Counts who refers to object ix; a root that nothing refers to is held by "<root>". */
int analysis_holders_add(const struct session *session, struct analysis_holders *holders,
			 uint32_t ix, struct hdb_error *err);

/*
 * The commonest: "java.util.HashMap$Node.key", "static Main.cache", "java.lang.String[]", "<local
 * variable>", "<root>"; "" if there is none. *count is its references.
 */
int analysis_holders_top(const struct session *session, const struct analysis_holders *holders,
			 struct base_text text, uint64_t *count, struct hdb_error *err);

#endif
