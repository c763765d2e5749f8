/*
 * queries/leaks/leak_signature.h - recognises the same leak in different dumps.
 *
 * The text of a signature is the path from the first step of the application down to the
 * accumulation point, with " > " between steps:
 *
 *   com.acme.Cache#static ENTRIES > java.util.HashMap > com.acme.Session[]
 *
 * It contains no IDs, indexes, sizes or thread names. Platform classes appear without nested
 * classes, arrays and fields (except static fields), and repeated steps appear once, so the text
 * does not depend on the bucket of a map or on the JDK version. Generated numbers (lambdas,
 * proxies, anonymous classes) are omitted. The signature is the SHA-1 of the text.
 *
 * The shape is the SHA-1 of the same text with each application class replaced by the number of its
 * fields of each type, without field names. It does not change when classes are renamed.
 */
#ifndef QUERIES_LEAKS_LEAK_SIGNATURE_H
#define QUERIES_LEAKS_LEAK_SIGNATURE_H

#include "queries/leaks/leak_parts.h"
#include "queries/traces/leak_traces.h"

/* Separators between the steps of a path, and between a class and its field. */
#define LEAK_SIGNATURE_STEP " > "
#define LEAK_SIGNATURE_FIELD "#"

/*
 * Maximum size of a text, about 48 steps. A longer text ends after the last step that fits, so the
 * result is reproducible.
 */
#define LEAK_SIGNATURE_MAX_BYTES 8000

/* Fills in the cells signature, signature_shape and signature_text of a suspect's row. */
int query_leak_sign(struct query *q, struct leak_rows *rows, const struct query_leak_suspect *about,
		    struct leak_row *row, struct hdb_error *err);

/*
 * Writes the signature text of a group of leaking objects: its suspect references or, for a known
 * library leak, the pattern of the rule; or "" if no reference is suspect. The signature is
 * LeakCanary's: the SHA-1 of the text without separators. There is no shape.
 */
void query_leaking_signature_text(const struct leak_group *group, const struct leak_steps *steps,
				  struct heap *heap, struct base_text to);

/*
 * Writes a class name without the parts that change between runs: "com.acme.A$$Lambda" for
 * "com.acme.A$$Lambda$14/0x800c0". `size`, at least 1, includes the terminator.
 */
void leak_stable_name(const char *class_name, char *out, size_t size);

#endif
