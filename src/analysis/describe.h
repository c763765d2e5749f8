/* analysis/describe.h - describes objects and references for several queries. */
#ifndef ANALYSIS_DESCRIBE_H
#define ANALYSIS_DESCRIBE_H

#include "analysis/session.h"
#include "base/base_text.h"
#include "heap/values/values.h"

/*
 * Describes an object's value: the content of a string in quotes, the value of a boxed number, the
 * name of a thread, enum constant or class, or "size=N" for a collection. If there is no
 * description, writes "". Truncates the text to `size` bytes.
 */
void analysis_describe(const struct session *session, uint32_t ix, char *buf, size_t size);

/* Writes a value as text: "12", "true", "'a'", "null", "0x7f00...". Types are HPROF types. */
void analysis_value_text(const struct heap_value *value, char *buf, size_t size);

/* Kinds of references. */
enum analysis_link_kind {
	ANALYSIS_LINK_NONE,
	ANALYSIS_LINK_FIELD,
	ANALYSIS_LINK_STATIC,
	ANALYSIS_LINK_ELEMENT,
	ANALYSIS_LINK_LOCAL,  /* a local variable of a thread */
	ANALYSIS_LINK_CLASS,  /* the reference from an object to its class */
	ANALYSIS_LINK_SUPER,  /* the reference from a class to its superclass */
	ANALYSIS_LINK_LOADER, /* the reference from a class to its class loader */
	ANALYSIS_LINK_OTHER
};

/* Static field in HotSpot dumps: the string literals and other constants of the class. */
#define ANALYSIS_CONSTANTS "<resolved_references>"

/* The references through which an object holds another object. */
struct analysis_link {
	enum analysis_link_kind kind; /* kind of the first reference */
	unsigned count;               /* number of references */
	char text[512];               /* as returned by analysis_holder */
};
/* Finds and names the references from `from` to `to`. Reads the dump. */
int analysis_link_find(const struct session *session, uint32_t from, uint32_t to,
		       struct analysis_link *out, struct hdb_error *err);
/* Returns the text without "static ". Borrowed from *link. */
const char *analysis_link_name(const struct analysis_link *link);

/*
 * Writes how `from` holds `to`: field names separated by commas, "[3]", "<class>", "<super>",
 * "<class loader>", "static NAME" or "<local variable>". Only the start of a long array is
 * searched. If the reference is not found there, writes "[?]". Reads the dump.
 */
int analysis_holder(const struct session *session, uint32_t from, uint32_t to,
		    struct base_text text, struct hdb_error *err);

/* Returns "strong", "soft", "weak", "phantom" or "finalizer", a static string. */
const char *analysis_strength_name(uint8_t strength);

/* A retained size that was found without building the dominator tree. */
struct analysis_retained {
	bool found;
	uint64_t bytes;   /* valid if `found` */
	const char *from; /* "table", "local", or the reason why the size is unknown; static */
};

/*
 * Returns the retained size from the table if the table has been built, and otherwise from a local
 * search within the usual limits.
 */
int analysis_cheap_retained(const struct session *session, uint32_t ix,
			    struct analysis_retained *out, struct hdb_error *err);

#endif
