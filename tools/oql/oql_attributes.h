/*
 * oql/oql_attributes.h - what the files of attributes share: what is asked, and tables of names.
 * Private to oql.
 */
#ifndef OQL_OQL_ATTRIBUTES_H
#define OQL_OQL_ATTRIBUTES_H

#include "oql/oql_eval.h"

/* What an attribute is asked of. */
struct subject {
	struct oql_eval *ev;
	struct oql_arena *arena;
	const struct oql_value *v;
	struct hdb_object_facts facts; /* of objects */
	int which;                     /* the attribute's */
};

typedef int get_fn(const struct subject *s, struct oql_value *out);

struct attribute {
	const char *name;
	get_fn *get;
	int which; /* of several that one function gets */
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

/* A number or a text of `heapdb info`; *out stays where it has none. */
int oql_info(const struct subject *s, const char *key, struct oql_value *out);

/* A kind of GC roots, as heapdb names it, as MAT does, and MAT's number of it. */
struct oql_root_kind {
	const char *kind, *mat_name;
	int mat_type;
};
/* By either name; of an unknown one the first kind. */
const struct oql_root_kind *oql_root_kind(const char *kind);

/*
 * An attribute of an object of the heap; fills s->facts on the way. HDB_NOTFOUND: it has none of
 * the name.
 */
int oql_object_attribute(struct subject *s, struct oql_str name, struct oql_value *out);

#endif
