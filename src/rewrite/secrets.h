/*
 * rewrite/secrets.h - looks in texts for what looks like a secret, and reports where: never what.
 */
#ifndef REWRITE_SECRETS_H
#define REWRITE_SECRETS_H

#include "base/outfile.h"
#include "rewrite/rewriter.h"

struct rewrite_secret_rule {
	const char *name; /* NULL ends the table */
	const char *help;
	const char *pattern; /* PCRE2 */
	/* Whether a match is one; NULL: each is. */
	bool (*check)(const uint8_t *text, size_t size);
};

extern const struct rewrite_secret_rule rewrite_secret_rules[];

/* Checks of rules: the last digit of a card's number, the check digits of a bank account's. */
bool rewrite_luhn(const uint8_t *text, size_t size);
bool rewrite_mod97(const uint8_t *text, size_t size);

struct rewrite_secrets;

/*
 * Begins a report in the file `path`, tab-separated, which appears when it is finished. *out is
 * owned: rewrite_secrets_close.
 */
int rewrite_secrets_open(const char *path, bool force, struct rewrite_secrets **out,
			 struct hdb_error *err);

/* Looks at an array of bytes or chars; `is_kept`: its contents stay in the dump. */
int rewrite_secrets_array(struct rewrite_secrets *secrets, struct rewriter *w,
			  const struct hprof_sub *sub, bool is_kept, struct hdb_error *err);
/* Looks at a text record, which stays. */
int rewrite_secrets_record(struct rewrite_secrets *secrets, struct rewriter *w,
			   const struct hprof_record *rec, struct hdb_error *err);

/* Gives the report its name; *count is how many were found. */
int rewrite_secrets_finish(struct rewrite_secrets *secrets, uint64_t *count, struct hdb_error *err);
/* NULL is fine. */
void rewrite_secrets_close(struct rewrite_secrets *secrets);

#endif
