/*
 * queries/leaks/library_leaks.h - references by which Android, its makers' versions of it, and
 * tools are known to keep objects that should be gone.
 *
 * What is known is a table of classes, fields, and the versions and makers that they are a fault
 * of; it was found out by LeakCanary (shark-android, AndroidReferenceMatchers), whose names for
 * them are mostly kept. An object that only these keep is no fault of the application. Some
 * references are ignored: a tool looks at the object by them.
 */
#ifndef QUERIES_LEAKS_LIBRARY_LEAKS_H
#define QUERIES_LEAKS_LIBRARY_LEAKS_H

#include "query/query.h"

enum library_kind {
	LIBRARY_FIELD,  /* a field of instances of the class and its subclasses */
	LIBRARY_STATIC, /* a static field */
	LIBRARY_NATIVE, /* a JNI global reference to an instance of the class; no field */
	LIBRARY_LOCAL   /* a local variable of the thread of that name */
};

struct library_rule {
	const char *id;
	enum library_kind kind;
	bool is_ignored;        /* never a reason to be alive; else the fault of a library */
	const char *class_name; /* of LIBRARY_LOCAL the thread's name */
	const char *field;
	unsigned sdk_least, sdk_most; /* API levels that have it; 0: no bound */
	const char *manufacturer;     /* names with | between; NULL: all */
	const char *build_id;         /* NULL: all */
};

extern const struct library_rule library_rules[];
extern const size_t library_rule_count;

struct library_leaks {
	struct query *q;
	uint32_t *class_of;   /* by rule: its class; HEAP_NONE: not for this heap; owned */
	uint8_t *from_class;  /* by class: whether rules are about its instances; owned */
	bool has_class_rules; /* whether some are about static fields of this heap */
};

/* Finds out which rules are for this heap. Classes must be loaded. Release it in any case. */
int library_leaks_init(struct library_leaks *leaks, struct query *q, struct hdb_error *err);
void library_leaks_release(struct library_leaks *leaks);

/*
 * Whether all ways in which `from` holds the next object of a path are known; `holds` is how
 * (analysis_holder). The rule that knows the first of them, or NULL. An ignored one counts as such
 * only if all are.
 */
int library_leaks_edge(struct library_leaks *leaks, uint32_t from, const char *holds,
		       const struct library_rule **out, struct hdb_error *err);

/*
 * The rule that knows why native code holds this object, if that is the only reason for it to be a
 * root; or NULL.
 */
int library_leaks_root(struct library_leaks *leaks, uint32_t ix, const struct library_rule **out,
		       struct hdb_error *err);

/*
 * The reach tree without these references and without the referents of weak, soft, phantom and
 * final ones: parents[object_count] as derive_reach_without gives it; `all`: else only without the
 * ignored ones.
 */
int library_leaks_tree(struct library_leaks *leaks, bool all, uint32_t *parents,
		       struct hdb_error *err);

/* "known leak of ... (Android API 15 to 28)": what is known, in words. */
void library_leaks_text(const struct library_rule *rule, char *buf, size_t size);

#endif
