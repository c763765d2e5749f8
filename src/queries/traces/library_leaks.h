/*
 * queries/traces/library_leaks.h - references by which Android, its makers' versions of it, and
 * tools are known to leak objects.
 *
 * What is known is a table of classes, fields, and the versions and makers that they are a fault
 * of: library.rules. An object that only these keep is no fault of the application. Some
 * references are ignored: a tool looks at the object by them.
 */
#ifndef QUERIES_TRACES_LIBRARY_LEAKS_H
#define QUERIES_TRACES_LIBRARY_LEAKS_H

#include "analysis/session.h"

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
	bool is_of_growth;      /* grows by itself: counts only where growth is looked for */
	const char *class_name; /* of LIBRARY_LOCAL the thread's name */
	const char *field;
	unsigned sdk_least, sdk_most; /* API levels that have it; 0: no bound */
	const char *manufacturer;     /* names with | between; NULL: all */
	const char *build_id;         /* NULL: all */
};

struct library_leaks {
	bool *is_for; /* by rule: whether it is for this heap's version and maker; owned */
};

/* What the rules are for. */
enum library_use {
	LIBRARY_FOR_NOTHING, /* no rule counts */
	LIBRARY_FOR_LEAKS,
	LIBRARY_FOR_GROWTH /* only what is ignored counts, and what grows by itself is ignored */
};

/* Finds out which rules are for this heap. Release it in any case. */
int library_leaks_init(struct library_leaks *leaks, const struct session *session,
		       enum library_use use, struct hdb_error *err);
void library_leaks_release(struct library_leaks *leaks);

/*
 * The rule on a class, by its name (for LIBRARY_LOCAL the thread's), and a field, NULL if the kind
 * has none: NULL if there is none for this heap.
 */
const struct library_rule *library_leaks_rule(const struct library_leaks *leaks,
					      enum library_kind kind, const char *class_name,
					      const char *field);

/* Whether any rule for this heap is of that kind and on that class. */
bool library_leaks_has(const struct library_leaks *leaks, enum library_kind kind,
		       const char *class_name);

/* "known leak of ... (Android API 15 to 28)": what is known, in words. */
void library_leaks_text(const struct library_rule *rule, char *buf, size_t size);

/* "instance field android.os.Message#obj": what signatures of such leaks are made of. */
void library_leaks_pattern(const struct library_rule *rule, char *buf, size_t size);

#endif
