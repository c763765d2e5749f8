/*
 * queries/objects/secret_scan.h - finds the secrets of a heap by their format in the contents of
 * arrays, and by the name of the field, map key, property or variable that contains them.
 *
 * A pass over the objects on all threads searches arrays, and marks strings that are names of
 * secrets. A pass over the references finds the objects that refer to these strings. Memory: 3 bits
 * per object, and about 200 bytes per secret.
 */
#ifndef QUERIES_OBJECTS_SECRET_SCAN_H
#define QUERIES_OBJECTS_SECRET_SCAN_H

#include "analysis/hash_counter.h"
#include "base/secrets.h"

#define SECRET_SHOWN_MAX 40u
#define SECRET_KEY_MAX 96u

/*
 * Equal secrets that were found by the same rule. For a secret with a format, head.first_ix is the
 * array.
 */
struct secret {
	struct analysis_counter_head head;
	uint32_t rule;
	/*
	 * for a secret with a name, the object or class that has both the name and the secret;
	 * otherwise HEAP_NONE
	 */
	uint32_t holder_ix;
	uint32_t value_ix; /* the string or array */
	uint64_t size;     /* in bytes or characters */
	bool is_bytes;     /* whether the secret is a key whose bytes are not text */
	char shown
		/* start of the secret, if the same for all secrets of the rule */
		[SECRET_SHOWN_MAX];
	char key[SECRET_KEY_MAX]; /* name of the secret; "" if it has none */
};

struct secret_scan {
	const struct session *session; /* borrowed */
	struct analysis_counter found; /* struct secret */
	/* private */
	struct base_secrets *rules;
	struct base_secret_search **searches; /* indexed by slot */
	unsigned slot_count;
	/* bit sets by object: strings that are names; objects to examine; arrays with a secret */
	struct base_big names, holders, taken;
	struct base_vec personal; /* personal data that has not been counted yet */
	struct store_block *references;
	/* indexed by class number: whether instances have a field whose name is that of a secret */
	uint8_t *has_field;
};

/*
 * Finds the secrets. The caller must zero *scan and set its session first, and call
 * secret_scan_release even after a failure.
 */
int secret_scan_run(struct secret_scan *scan, struct hdb_error *err);
void secret_scan_release(struct secret_scan *scan);

#endif
