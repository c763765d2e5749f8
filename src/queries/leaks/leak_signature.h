/*
 * queries/leaks/leak_signature.h - what makes two leak suspects of different dumps the same leak.
 *
 * The text of a signature is the path from the first step that is the application's down to where
 * the suspect accumulates, " > " between steps:
 *
 *     com.acme.Cache#static ENTRIES > java.util.HashMap > com.acme.Session[]
 *
 * It has no IDs, indexes, sizes and threads' names. Classes of the platform stand there without
 * nested classes, fields (but for static ones) and arrays, repeated steps once, so that it is the
 * same whichever bucket of a map the path passes, and in the next JDK. Numbers that a VM or a
 * generator makes (lambdas, proxies, anonymous classes) are left out. The signature is the text's
 * SHA-1. The shape is the SHA-1 of the same text with the application's classes told by the types
 * of their fields, and without the fields' names: what a class that was renamed has still.
 */
#ifndef QUERIES_LEAKS_LEAK_SIGNATURE_H
#define QUERIES_LEAKS_LEAK_SIGNATURE_H

#include "queries/leaks/leak_parts.h"
#include "queries/traces/leak_traces.h"

/* Between the steps of a text, and between a class and its field. */
#define LEAK_SIGNATURE_STEP " > "
#define LEAK_SIGNATURE_FIELD "#"

/* Room for a text of 48 steps; what is longer is cut, always at the same place. */
#define LEAK_SIGNATURE_MAX_BYTES 8000

/* Fills the three cells of a suspect's row. */
int query_leak_sign(struct query *q, struct leak_rows *rows, const struct query_leak_suspect *about,
		    struct leak_row *row, struct hdb_error *err);

/*
 * The text of leaking objects that the same references keep, "" if no reference is suspect: of a
 * known leak of a library the rule's pattern. The signature is LeakCanary's, the SHA-1 of the text
 * without what is between its parts; there is no shape.
 */
void query_leaking_signature_text(const struct leak_group *group, const struct leak_steps *steps,
				  struct heap *heap, struct base_text to);

/*
 * "com.acme.A$$Lambda" of "com.acme.A$$Lambda$14/0x800c0": a class's name without what differs from
 * one run of a program to the next. `out` has room for `size` bytes, 1 at least.
 */
void leak_stable_name(const char *class_name, char *out, size_t size);

#endif
