/*
 * queries/explain/suspect_facts.h - measures figures about the objects that a leak suspect holds,
 * regardless of their classes: free slots, equal contents, cleared references, equal keys and so
 * on.
 *
 * Rules of the class "suspect" read these figures, which suspect_facts.rows lists, with held(NAME),
 * so a rule for a new cause needs only code that measures the figure. All figures of a suspect come
 * from one walk over the objects that it dominates, from the top down. The walk visits a limited
 * number of objects, and only an evenly spaced sample of very long lists of children. Figures based
 * on a sample are estimates, and are rounded. Before a rule reports an estimate, it calls
 * about(NAME), which counts all objects unless there are very many. If the figure is still an
 * estimate, about(NAME) returns "about ".
 */
#ifndef QUERIES_EXPLAIN_SUSPECT_FACTS_H
#define QUERIES_EXPLAIN_SUSPECT_FACTS_H

#include "analysis/session.h"
#include "analysis/suspects.h"
#include "base/expression.h"

/*
 * Minimum retained size of a suspect that is measured. A sentence about a smaller suspect would not
 * be useful.
 */
#define FACTS_BYTES_MIN (256u << 10)

/* Numbers of the figures. */
enum explain_fact {
#define FIGURE(name) EXPLAIN_FACT_##name
#include <queries/explain/suspect_facts.rows.h>
#undef FIGURE
	EXPLAIN_FACT_COUNT
};

/* Maximum number of bytes in a string. */
#define EXPLAIN_CONTENT_MAX 160

/* A figure: a string, a number, an object, or nothing. */
struct explain_figure {
	enum base_value_kind kind;
	bool is_about; /* an estimate */
	double number;
	char text[EXPLAIN_CONTENT_MAX];
};

struct explain_facts {
	const struct analysis_suspect *suspect;
	bool is_counted; /* whether explain_facts_count was called */
	bool is_sampled; /* whether the figures being set are of a sample of the entries */
	struct explain_figure figures[EXPLAIN_FACT_COUNT];
};

/*
 * Measures the figures of a suspect. Reads the dump. Requires the `children` and `retained` tables.
 */
int explain_facts_find(const struct session *session, const struct analysis_suspect *suspect,
		       struct explain_facts *out, struct hdb_error *err);

/*
 * Replaces estimates with exact figures by visiting all objects that the suspect holds, if figure
 * `no` is an estimate. Changes nothing if there are too many objects.
 */
int explain_facts_count(const struct session *session, enum explain_fact no,
			struct explain_facts *facts, struct hdb_error *err);

/* Returns the number of the figure with this name, or EXPLAIN_FACT_COUNT if there is none. */
enum explain_fact explain_fact_of(const char *name);

/* Counts of objects by a boolean field that marks them as closed or finished. */
struct explain_flag {
	/*
	 * class of the counted objects, and class whose fields were searched last; initially
	 * HEAP_NONE
	 */
	uint32_t class_no, tried_no;
	uint32_t field_no; /* number of the field among the fields of the object */
	uint32_t last_ix;  /* the object counted last; initially HEAP_NONE */
	bool is_inverse;   /* whether false means closed */
	uint64_t objects, closed;
	char name[EXPLAIN_CONTENT_MAX]; /* "Connection.open" */
};
#define EXPLAIN_FLAG_NONE \
	{ \
		.class_no = HEAP_NONE, .tried_no = HEAP_NONE, .last_ix = HEAP_NONE \
	}

/* Returns whether a boolean field with this name marks an object as closed, or as open. */
bool explain_is_closed_name(const char *name, bool *is_inverse);

/*
 * Counts an object. The first application object that has such a field decides which class is
 * counted. An object that is added twice in succession is counted once.
 */
int explain_flag_add(struct heap *heap, uint32_t ix, struct explain_flag *flag,
		     struct hdb_error *err);

/* ---- for the files of this directory ---- */

/* Sets a figure: a number, a string, or an object given by its index. */
void explain_fact_set(struct explain_facts *facts, enum explain_fact no, double number);
void explain_fact_text(struct explain_facts *facts, enum explain_fact no, const char *text);
void explain_fact_object(struct explain_facts *facts, enum explain_fact no, uint32_t ix);

/* Returns the name of a class without its package: "HashMap". */
const char *explain_short_class(struct heap *heap, uint32_t class_no);

/* Measures the entries of a collection: equal keys, and features that most entries share. */
int explain_entry_facts(const struct session *session, uint32_t collection_ix,
			struct explain_facts *out, struct hdb_error *err);

/*
 * Reads limits, counts and consumers from the owners above an object. If is_largest is set, the
 * object is the largest collection, so its owner holds it through holder_field.
 */
int explain_owner_facts(const struct session *session, uint32_t ix, bool is_largest,
			struct explain_facts *out, struct hdb_error *err);

#endif
