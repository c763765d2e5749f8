/*
 * oql/oql_attributes.h - private to oql: subject and tables of attributes.
 */
#ifndef OQL_OQL_ATTRIBUTES_H
#define OQL_OQL_ATTRIBUTES_H

#include "oql/oql_eval.h"

/* The value whose attribute is requested. */
struct subject {
	struct oql_eval *ev;
	struct oql_arena *arena;
	const struct oql_value *v;
	struct hdb_object_facts facts; /* if it is an object */
	int which;                     /* selects the attribute */
};

typedef int get_fn(const struct subject *s, struct oql_value *out);

struct attribute {
	const char *name;
	get_fn *get;
	int which; /* selects one of several attributes of a function */
};

static inline int find(const struct attribute *table, struct subject *s, struct oql_str name,
		       struct oql_value *out)
{
	for (const struct attribute *a = table; a->name; a++)
		if (oql_is(name, a->name)) {
			s->which = a->which;
			return a->get(s, out);
		}
	return HDB_NOTFOUND;
}

/* Looks up a number or text of `heapdb info`. *out is unchanged if there is none. */
int oql_info(const struct subject *s, const char *key, struct oql_value *out);

/* A kind of GC root: heapdb's name, MAT's name, and MAT's number. */
struct oql_root_kind {
	const char *kind, *mat_name;
	int mat_type;
};
/* Finds a kind by either name. Unknown names give the first kind. */
const struct oql_root_kind *oql_root_kind(const char *kind);

/*
 * Evaluates an attribute of a heap object, filling s->facts. HDB_NOTFOUND if there is no such
 * attribute.
 */
int oql_object_attribute(struct subject *s, struct oql_str name, struct oql_value *out);

#endif
