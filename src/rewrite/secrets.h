/*
 * rewrite/secrets.h - searches texts for secrets. The report says where they are, and never shows
 * them.
 */
#ifndef REWRITE_SECRETS_H
#define REWRITE_SECRETS_H

#include "base/outfile.h"
#include "rewrite/rewriter.h"

struct rewrite_secret_rule {
	const char *name; /* NULL ends the table */
	const char *help;
	const char *pattern; /* PCRE2 */
	/* Whether a match is valid, e.g. by check digits; NULL: all are. */
	bool (*check)(const uint8_t *text, size_t size);
	/*
	 * Conditions for a match that can be checked for all rules in one pass. Most texts do not
	 * meet them, so the pattern need not be tried.
	 */
	uint32_t marks;  /* REWRITE_HAS_*, all of them */
	uint32_t least;  /* bytes, at least */
	uint32_t digits; /* digits, at least */
};

/* Which characters a text contains. */
enum {
	REWRITE_HAS_DASH = 1 << 0,
	REWRITE_HAS_UNDERSCORE = 1 << 1,
	REWRITE_HAS_DOT = 1 << 2,
	REWRITE_HAS_SPACE = 1 << 3,
	REWRITE_HAS_SLASH = 1 << 4,
	REWRITE_HAS_AT = 1 << 5,
	REWRITE_HAS_COLON = 1 << 6,
	REWRITE_HAS_SETTER = 1 << 7, /* : or = */
	REWRITE_HAS_A = 1 << 8,
	REWRITE_HAS_J = 1 << 9,
	REWRITE_HAS_CAPITAL = 1 << 10
};

extern const struct rewrite_secret_rule rewrite_secret_rules[];

/* Checks used by the rules: the last digit of a card number, the check digits of an IBAN. */
bool rewrite_luhn(const uint8_t *text, size_t size);
bool rewrite_mod97(const uint8_t *text, size_t size);

struct rewrite_secrets;

/*
 * Begins a report in a new file `path`, with tab-separated values. The file appears only when the
 * report is finished. *out is owned: rewrite_secrets_close.
 */
int rewrite_secrets_open(const char *path, bool force, struct rewrite_secrets **out,
			 struct hdb_error *err);

/* Searches an array of bytes or chars. `is_kept`: its contents stay in the dump. */
int rewrite_secrets_array(struct rewrite_secrets *secrets, struct rewriter *w,
			  const struct hprof_sub *sub, bool is_kept, struct hdb_error *err);
/* Searches a text record. `is_kept`: it stays in the dump. */
int rewrite_secrets_record(struct rewrite_secrets *secrets, struct rewriter *w,
			   const struct hprof_record *rec, bool is_kept, struct hdb_error *err);

/* Completes the report under its name. *count is the number of findings. */
int rewrite_secrets_finish(struct rewrite_secrets *secrets, uint64_t *count, struct hdb_error *err);
/* NULL is allowed. */
void rewrite_secrets_close(struct rewrite_secrets *secrets);

#endif
