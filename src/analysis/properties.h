/*
 * analysis/properties.h - what the heap holds of the VM that it was: system properties,
 * environment, arguments, build, collector.
 */
#ifndef ANALYSIS_PROPERTIES_H
#define ANALYSIS_PROPERTIES_H

#include "analysis/session.h"
#include "heap/collections/collections.h"

/* Bytes of a value that are kept. */
#define ANALYSIS_PROPERTY_MAX 4096

/* Walks all of them, source by source. Zero-initialise. The struct has some 25 KB: allocate it. */
struct analysis_properties {
	/* the current one */
	const char *section; /* "property", "environment", ...; static */
	char name[512];
	char value[ANALYSIS_PROPERTY_MAX];
	uint32_t value_ix; /* HEAP_NONE: no object */
	/* private */
	size_t source;
	bool is_open;
	struct heap_collection collection;
	struct heap_entries entries;
};

/* HDB_OK with the next one, HDB_END after the last. Opens the dump. */
int analysis_properties_next(const struct session *session, struct analysis_properties *p,
			     struct hdb_error *err);

/* One thing that is known of the VM. */
struct analysis_vm_fact {
	const char *key, *help;            /* static */
	char value[ANALYSIS_PROPERTY_MAX]; /* "": not known, or a number */
	uint64_t number;                   /* 0: not known, or a text */
};
/*
 * Fills in what the properties and the management classes tell: *facts is owned (free()), *count
 * of them. An open dump is needed; without one nothing is known, which is no failure.
 */
int analysis_vm_facts(const struct session *session, struct analysis_vm_fact **facts, size_t *count,
		      struct hdb_error *err);

#endif
