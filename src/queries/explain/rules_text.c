/* queries/explain/rules_text.c - the text of the rules: compiled in, or read from a file. */
#include "queries/explain/rules.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The Makefile generates RULES_TEXT from rules/NAME.rules, sorted by name. */
#ifndef RULES_TEXT /* for checkers that compile this file alone */
#define RULES_TEXT ""
#endif
static const char own[] = RULES_TEXT;

static int read_own(char **out, struct hdb_error *err)
{
	*out = malloc(sizeof(own));
	if (!*out)
		return hdb_fail_memory(err, "rules", sizeof(own));
	memcpy(*out, own, sizeof(own));
	return HDB_OK;
}

int explain_read_text(const char *file, char **out, struct hdb_error *err)
{
	size_t size;
	FILE *in;
	int r = HDB_OK;

	if (!file)
		return read_own(out, err);
	in = fopen(file, "re");
	if (!in)
		return hdb_fail_open(err, errno, file);
	*out = malloc(EXPLAIN_FILE_MAX + 1);
	if (!*out) {
		r = hdb_fail_memory(err, "rules", EXPLAIN_FILE_MAX);
		goto out;
	}
	size = fread(*out, 1, EXPLAIN_FILE_MAX, in);
	(*out)[size] = '\0';
	if (ferror(in))
		r = hdb_fail_errno(err, errno, "%s: cannot read", file);
	else if (size == EXPLAIN_FILE_MAX)
		r = hdb_fail(err, HDB_EUSAGE, "%s: rules file too large (limit %u bytes)", file,
			     EXPLAIN_FILE_MAX);
	else if (strlen(*out) != size)
		r = hdb_fail(err, HDB_EUSAGE,
			     "%s: contains a NUL byte; a rules file must be plain text", file);
out:
	(void)fclose(in);
	return r;
}
