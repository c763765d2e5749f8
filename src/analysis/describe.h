/*
 * analysis/describe.h - texts about objects and references that several queries show.
 */
#ifndef ANALYSIS_DESCRIBE_H
#define ANALYSIS_DESCRIBE_H

#include "analysis/session.h"
#include "base/base_text.h"
#include "heap/values/values.h"

/*
 * What an object's value is, for people: a string's text in quotes, a boxed number, a thread's
 * name, an enum constant, the class that a class object stands for. "" if it has none that can be
 * told.
 */
void analysis_describe(const struct session *session, uint32_t ix, char *buf, size_t size);

/* A value as text: "12", "true", "'a'", "null", "0x7f00...". Types as in HPROF. */
void analysis_value_text(const struct heap_value *value, char *buf, size_t size);

/* What a reference is. */
enum analysis_link_kind {
	ANALYSIS_LINK_NONE,
	ANALYSIS_LINK_FIELD,
	ANALYSIS_LINK_STATIC,
	ANALYSIS_LINK_ELEMENT,
	ANALYSIS_LINK_LOCAL,  /* a local variable of a thread */
	ANALYSIS_LINK_CLASS,  /* object to its class */
	ANALYSIS_LINK_SUPER,  /* class to its superclass */
	ANALYSIS_LINK_LOADER, /* class to its class loader */
	ANALYSIS_LINK_OTHER
};

/* How an object holds another. */
struct analysis_link {
	enum analysis_link_kind kind; /* of the first reference */
	unsigned count;               /* references */
	char text[512];               /* as analysis_holder gives it */
};
int analysis_link_find(const struct session *session, uint32_t from, uint32_t to,
		       struct analysis_link *out, struct hdb_error *err);
/* Its text without "static ". Borrowed. */
const char *analysis_link_name(const struct analysis_link *link);

/*
 * How `from` holds `to`: the names of its fields with commas between, "[3]", "<class>", "<super>",
 * "<class loader>", "static NAME", "<local variable>". Long arrays are searched so far only, then
 * "[?]".
 */
int analysis_holder(const struct session *session, uint32_t from, uint32_t to,
		    struct base_text text, struct hdb_error *err);

/* "strong", "soft", "weak", "phantom", "finalizer"; static. */
const char *analysis_strength_name(uint8_t strength);

/* What is known of an object's retained size without building dominators. */
struct analysis_retained {
	bool found;
	uint64_t bytes;   /* if it was found */
	const char *from; /* "table", "local", or why it was not found; static */
};

/* From the table, or found locally within the usual limits. */
int analysis_cheap_retained(const struct session *session, uint32_t ix,
			    struct analysis_retained *out, struct hdb_error *err);

#endif
