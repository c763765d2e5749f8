/*
 * queries/objects/q_secrets.c - the secrets query: tokens, keys, passwords and personal data in the
 * heap, and their owners. Secrets themselves are never shown.
 */
#include "queries/leaks/leak_parts.h"
#include "queries/objects/collection_path.h"
#include "queries/objects/secret_scan.h"
#include "queries/queries.h"
#include "query/conditions.h"

#define OWNER_MAX 1024u

#include <queries/objects/q_secrets.query.h>

static int count_secrets(struct query *q, uint64_t *count, struct hdb_error *err)
{
	(void)err;
	*count = q->total;
	return HDB_OK;
}

static const struct query_measure secrets = { "secrets", count_secrets };

static int open_secrets(struct query *q, struct hdb_error *err)
{
	struct secret_scan *scan = q->state;

	TRY(query_check_conditions(q, 1, &secrets, err));
	scan->session = &q->session;
	TRY(secret_scan_run(scan, err));
	TRY(analysis_counter_order(&scan->found, 1, &q->total, err));
	query_fact(q, "secrets", q->total);
	return query_judge(q, &q->session, 1, &secrets, err);
}

/*
 * Returns whether the key of a map may be shown, as ["key"]. A key that looks like a word is not
 * itself a secret.
 */
static bool is_plain(const char *text)
{
	const size_t size = strlen(text);

	return size < 64 && size > 4 &&
	       strspn(text + 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-") ==
		       size - 4;
}

/*
 * Sets the key or field through which the second to last object of the path holds the string:
 * map["key"] or a field.
 */
static int set_key(struct query *q, const struct query_leak_path *path, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec folds = { 0 };
	uint32_t nodes[2 * LEAK_PATH_ENDS];
	size_t count = path->count;
	char text[OWNER_MAX];

	/* The string holds its array, so it is the end of the path. */
	if (count > 1 && heap_is_string(q->heap, path->nodes[count - 2]))
		count--;
	if (count < 2)
		return HDB_OK;
	if (count > 2) {
		TRY(query_leak_path_holds(q, path, count - 3, BASE_TEXT(text), err));
		if (strstr(text, ANALYSIS_CONSTANTS)) {
			query_set_text(q, KEY, "constant");
			return HDB_OK;
		}
	}
	for (size_t i = 0; i < count; i++)
		nodes[i] = path->nodes[count - 1 - i];
	TRY(analysis_fold_path(&q->session, nodes, count, &folds, err));
	for (size_t i = 0; i < folds.count; i++) {
		const struct analysis_fold *fold = base_vec_at(&folds, struct analysis_fold, i);

		if (fold->inner == 0) {
			analysis_fold_text(&q->session, fold, text, sizeof(text));
			if (fold->kind == ANALYSIS_FOLD_VALUE && !is_plain(text))
				(void)snprintf(text, sizeof(text), "[...]");
			query_set_text(q, KEY, fold->kind == ANALYSIS_FOLD_KEY ? "key" : text);
			return HDB_OK;
		}
	}
	TRY(query_leak_path_holds(q, path, count - 2, BASE_TEXT(text), err));
	query_set_text(q, KEY, text);
	return HDB_OK;
}

/* Sets the path to the object and, for a secret with a name, further to its value. */
static int set_owner(struct query *q, const struct secret *secret, struct hdb_error *err)
{
	const uint32_t end = secret->holder_ix == HEAP_NONE ? secret->value_ix : secret->holder_ix;
	struct query_leak_path path;
	char owner[OWNER_MAX] = "";

	TRY(query_leak_path_find(q, end, &path, err));
	query_set(q, REACHABLE, path.count != 0);
	if (!path.count) {
		query_set_class_of(q, OWNER, end);
		return HDB_OK;
	}
	if (end != secret->value_ix && path.count < 2 * LEAK_PATH_ENDS)
		path.nodes[path.count++] = secret->value_ix;
	path.is_end_kept = true;
	TRY(query_leak_culprit(q, &path, HEAP_NONE, BASE_TEXT(owner), err));
	query_set_text(q, OWNER, owner);
	return secret->key[0] ? HDB_OK : set_key(q, &path, err);
}

static int secret_row(struct query *q, size_t no, struct hdb_error *err)
{
	const struct secret_scan *scan = q->state;
	const struct secret *secret = analysis_counter_at(&scan->found, no);
	size_t count;
	const struct base_secret_rule *rule = &base_secret_rules(&count)[secret->rule];

	assert(secret->rule < count);
	query_lend_text(q, KIND, rule->name);
	query_lend_text(q, WHAT, rule->what);
	query_format(q, VALUE, "%s... (%" PRIu64 " %s)", secret->shown, secret->size,
		     secret->is_bytes ? "bytes" : "characters");
	query_set(q, COPIES, secret->head.count);
	query_set_id(q, ID, secret->value_ix);
	if (secret->key[0])
		query_set_text(q, KEY, secret->key);
	return set_owner(q, secret, err);
}

static void close_secrets(struct query *q)
{
	secret_scan_release(q->state);
}

QUERY_DEFINE(secrets, .state_size = sizeof(struct secret_scan), .open = open_secrets,
	     .row = secret_row, .close = close_secrets);
