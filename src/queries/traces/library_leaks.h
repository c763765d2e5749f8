/*
 * queries/traces/library_leaks.h - references by which Android, vendors' variants of it, and tools
 * are known to leak objects.
 *
 * The table library.rules lists classes, fields, and the affected versions and manufacturers. If
 * only these references hold an object, the application is not at fault. Some are ignored
 * altogether, because a tool uses them to observe the object.
 */
#ifndef QUERIES_TRACES_LIBRARY_LEAKS_H
#define QUERIES_TRACES_LIBRARY_LEAKS_H

#include "analysis/session.h"

/* Kind of reference that a rule is about. */
enum library_kind {
	LIBRARY_FIELD,  /* a field of instances of the class and its subclasses */
	LIBRARY_STATIC, /* a static field of the class */
	LIBRARY_NATIVE, /* a JNI global reference to an instance of the class, without a field */
	LIBRARY_LOCAL   /* a local variable of the thread with that name */
};

struct library_rule {
	const char *id;
	enum library_kind kind;
	/*
	 * whether the reference never keeps an object alive; otherwise, the leak is the library's
	 * fault
	 */
	bool is_ignored;
	/* whether the collection grows by design, which matters only in a search for growth */
	bool is_of_growth;
	const char *class_name; /* class, or name of the thread for LIBRARY_LOCAL */
	const char *field;
	unsigned sdk_least, sdk_most; /* range of API levels; 0 means no bound */
	const char *manufacturer;     /* names separated by |; NULL means any */
	const char *build_id;         /* NULL means any */
};

/* The rules that apply to a heap. */
struct library_leaks {
	/* indexed by rule: whether it applies to this heap's version and manufacturer; owned */
	bool *is_for;
};

/* What the rules are used for. */
enum library_use {
	LIBRARY_FOR_NOTHING, /* no rule applies */
	LIBRARY_FOR_LEAKS,
	/* only ignored references matter, including collections that grow by design */
	LIBRARY_FOR_GROWTH
};

/* Finds the rules that apply to this heap. The caller must release *leaks, even after a failure. */
int library_leaks_init(struct library_leaks *leaks, const struct session *session,
		       enum library_use use, struct hdb_error *err);
void library_leaks_release(struct library_leaks *leaks);

/*
 * Returns the rule for a class (or thread, for LIBRARY_LOCAL) and a field, or NULL if none applies
 * to this heap. `field` is NULL for kinds without one.
 */
const struct library_rule *library_leaks_rule(const struct library_leaks *leaks,
					      enum library_kind kind, const char *class_name,
					      const char *field);

/* Returns whether any rule of this kind for this class applies to this heap. */
bool library_leaks_has(const struct library_leaks *leaks, enum library_kind kind,
		       const char *class_name);

/* Writes a description of a rule: "known leak of a library: ... (..., Android API 15 to 28)". */
void library_leaks_text(const struct library_rule *rule, char *buf, size_t size);

/*
 * Writes the pattern that signatures of such leaks are computed from: "instance field
 * android.os.Message#obj".
 */
void library_leaks_pattern(const struct library_rule *rule, char *buf, size_t size);

#endif
