/*
 * rewrite/secret_report.c - searches the strings of a dump, and writes one line for each rule that
 * matches a string.
 */
#include "rewrite/secret_report.h"

#include "base/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of rules remembered per string, so that each rule is reported only once. Beyond
 * this limit, duplicates are accepted.
 */
#define SEEN_MAX 32u

struct rewrite_secrets {
	struct base_outfile *out;
	struct base_secrets *rules;
	struct base_secret_search *search;
	uint64_t count;
};

/* The text being searched, as described in the report. */
struct subject {
	uint64_t id;
	const char *kind; /* "byte[]", "char[]" or "name" */
	uint64_t length;  /* length in elements */
	bool is_kept;
};

struct searching {
	struct rewrite_secrets *secrets;
	const struct subject *subject;
	unsigned seen[SEEN_MAX]; /* rules that have been reported for this text */
	unsigned seen_count;
};

static int put_heading(struct rewrite_secrets *s, struct hdb_error *err)
{
	static const char heading[] = "id\tkind\tlength\trule\twhat\tstays\n";

	return base_outfile_write(s->out, heading, sizeof(heading) - 1, err);
}

int rewrite_secrets_open(const char *path, bool force, struct rewrite_secrets **out,
			 struct hdb_error *err)
{
	const struct base_outfile_options options = { .packing = BASE_PLAIN, .force = force };
	struct rewrite_secrets *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return hdb_fail_memory(err, "rules", sizeof(*s));
	if ((r = base_outfile_create(path, &options, &s->out, err)) < 0 ||
	    (r = base_secrets_new(&s->rules, err)) < 0 ||
	    (r = base_secret_search_new(s->rules, &s->search, err)) < 0 ||
	    (r = put_heading(s, err)) < 0) {
		rewrite_secrets_close(s);
		return r;
	}
	*out = s;
	return HDB_OK;
}

void rewrite_secrets_close(struct rewrite_secrets *s)
{
	if (!s)
		return;
	base_outfile_abort(s->out);
	base_secret_search_free(s->search);
	base_secrets_free(s->rules);
	free(s);
}

int rewrite_secrets_finish(struct rewrite_secrets *s, uint64_t *count, struct hdb_error *err)
{
	struct base_outfile *out = s->out;

	*count = s->count;
	s->out = NULL; /* freed below, even on failure */
	return base_outfile_finish(out, NULL, err);
}

static int report(void *ctx, const struct base_secret_hit *hit, struct hdb_error *err)
{
	struct searching *s = ctx;
	const struct subject *subject = s->subject;
	const struct base_secret_rule *rule;
	size_t count;
	char line[256];
	int n;

	for (unsigned i = 0; i < s->seen_count; i++)
		if (s->seen[i] == hit->rule)
			return HDB_OK;
	if (s->seen_count < SEEN_MAX)
		s->seen[s->seen_count++] = hit->rule;
	rule = &base_secret_rules(&count)[hit->rule];
	n = snprintf(line, sizeof(line), "0x%llx\t%s\t%llu\t%s\t%s\t%s\n",
		     (unsigned long long)subject->id, subject->kind,
		     (unsigned long long)subject->length, rule->name, rule->what,
		     subject->is_kept ? "yes" : "no");
	s->secrets->count++;
	return n < 0 ? HDB_ENOMEM : base_outfile_write(s->secrets->out, line, (size_t)n, err);
}

static int look(struct rewrite_secrets *s, const struct base_secret_text *text,
		const struct subject *subject, struct hdb_error *err)
{
	struct searching searching = { .secrets = s, .subject = subject };

	return base_secrets_find(s->search, text, report, &searching, err);
}

int rewrite_secrets_array(struct rewrite_secrets *s, struct rewriter *w,
			  const struct hprof_sub *sub, bool is_kept, struct hdb_error *err)
{
	const bool has_chars = sub->element_type == HPROF_CHAR;
	const struct subject subject = {
		.id = sub->id,
		.kind = has_chars ? "char[]" : "byte[]",
		.length = sub->length,
		.is_kept = is_kept,
	};
	const struct base_secret_text text = {
		.view = &w->view,
		.offset = sub->body_offset,
		.size = sub->body_size,
		.is_chars = has_chars,
	};

	if (!has_chars && sub->element_type != HPROF_BYTE)
		return HDB_OK;
	return look(s, &text, &subject, err);
}

int rewrite_secrets_record(struct rewrite_secrets *s, struct rewriter *w,
			   const struct hprof_record *rec, bool is_kept, struct hdb_error *err)
{
	struct subject subject = { .kind = "name", .is_kept = is_kept };
	struct base_secret_text text = { .view = &w->view };
	struct hprof_utf8 utf8;

	if (rec->tag != HPROF_UTF8)
		return HDB_OK;
	TRY(hprof_read_utf8(&w->file, &w->view, rec, &utf8, err));
	subject.id = utf8.string_id;
	subject.length = text.size = utf8.text_size;
	text.offset = utf8.text_offset;
	return look(s, &text, &subject, err);
}
