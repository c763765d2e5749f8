/*
 * base/secrets.h - searches strings for secrets according to the rules in secrets.rules.
 *
 * Most strings contain no secret, so one pass looks for candidates: three bytes that may begin a
 * word of a rule, or a name to which a value is assigned. The rules search for ASCII only, so only
 * the low bytes of UTF-16 characters are searched.
 */
#ifndef BASE_SECRETS_H
#define BASE_SECRETS_H

#include "base/source.h"

#include <stdbool.h>

/* A row of secrets.rules, which explains the columns. An empty column is NULL here. */
struct base_secret_rule {
	const char *name, *what, *start, *then, *loose, *check, *keys, *fields, *value, *doc;
	unsigned digits; /* number of digits that a text must contain before `loose` is tried */
	unsigned entropy;
	bool needs_at, is_caseless, is_personal;
};

/* Returns the table, and sets *count to the number of its rows. */
const struct base_secret_rule *base_secret_rules(size_t *count);

/* The compiled rules. All threads may use them at the same time. */
struct base_secrets;
/* Compiles the rules. The caller must free *out with base_secrets_free, which accepts NULL. */
int base_secrets_new(struct base_secrets **out, struct hdb_error *err);
void base_secrets_free(struct base_secrets *secrets);

/* The search state of one thread. */
struct base_secret_search;
/*
 * Creates a search. `secrets` is borrowed. The caller must free *out with base_secret_search_free,
 * which accepts NULL.
 */
int base_secret_search_new(const struct base_secrets *secrets, struct base_secret_search **out,
			   struct hdb_error *err);
void base_secret_search_free(struct base_secret_search *search);

/* Text from an array in a dump. */
struct base_secret_text {
	struct base_view *view;
	uint64_t offset, size; /* in bytes */
	/* whether these are chars (big-endian) rather than bytes; bytes may also be UTF-16 */
	bool is_chars;
};

struct base_secret_hit {
	unsigned rule;
	const uint8_t *text; /* the secret; borrowed for the call */
	size_t size;
	/* number of bytes at the start that are the same in every secret of this kind */
	size_t shown;
	/*
	 * name in the text to which the secret was assigned; NULL means it was found by its format
	 */
	const uint8_t *key;
	size_t key_size;
};

/*
 * Calls `take` for each secret in the text. `take` must return HDB_OK or a failure. Long texts are
 * searched in overlapping parts.
 */
int base_secrets_find(struct base_secret_search *search, const struct base_secret_text *text,
		      int (*take)(void *ctx, const struct base_secret_hit *hit,
				  struct hdb_error *err),
		      void *ctx, struct hdb_error *err);

/* Returns whether the name suggests that the value is secret. */
bool base_secrets_has_name(const struct base_secrets *secrets, const char *name, size_t size);
/*
 * Returns whether the values of a field are secret, regardless of their contents, and sets *rule to
 * the rule that applies.
 */
bool base_secrets_has_field(const char *class_name, const char *field, unsigned *rule);
/* A value and its name. */
struct base_secret_named {
	const uint8_t *name, *value;
	size_t name_size, value_size;
	bool is_array; /* an array without a string, which does not hold text for people */
};
/*
 * Returns whether the value looks like the kind of secret that its name suggests. Sets *rule to the
 * first matching rule.
 */
bool base_secrets_is_value(struct base_secret_search *search, const struct base_secret_named *named,
			   unsigned *rule);

#endif
