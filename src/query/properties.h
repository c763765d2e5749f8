/*
 * query/properties.h - what the heap holds of the VM that it was: system properties, environment,
 * arguments, build, collector.
 */
#ifndef QUERY_PROPERTIES_H
#define QUERY_PROPERTIES_H

#include "heap/collections/collections.h"
#include "query/query.h"

/* Bytes of a value that are kept. */
#define QUERY_PROPERTY_MAX 4096

/* Walks all of them, source by source. Zero-initialise. The struct has some 25 KB: allocate it. */
struct query_properties {
	/* the current one */
	const char *section; /* "property", "environment", ...; static */
	char name[512];
	char value[QUERY_PROPERTY_MAX];
	uint32_t value_ix; /* HEAP_NONE: no object */
	/* private */
	size_t source;
	bool is_open;
	struct heap_collection collection;
	struct heap_entries entries;
};

/* HDB_OK with the next one, HDB_END after the last. Opens the dump. */
int query_properties_next(struct query *q, struct query_properties *p, struct hdb_error *err);

/* One thing that is known of the VM. */
struct query_vm_fact {
	const char *key, *help;         /* static */
	char value[QUERY_PROPERTY_MAX]; /* "": not known */
};
/*
 * Fills in what the properties and the management classes tell: *facts is owned (free()), *count
 * of them. An open dump is needed; without one nothing is known, which is no failure.
 */
int query_vm_facts(struct query *q, struct query_vm_fact **facts, size_t *count,
		   struct hdb_error *err);

#endif
