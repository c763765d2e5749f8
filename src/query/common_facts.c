/*
 * query/common_facts.c - sets facts that may precede any answer, for example that the dump has
 * changed since the import or is incomplete.
 */
#include "heap/heap_database.h"
#include "heap/values/text.h"
#include "query/rows.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	STALE,
	INCOMPLETE,
	REDACTED,
	MISSING_BYTES,
	SKIPPED_BYTES,
	ROOTS_SEEN,
	STRENGTH,
	ONLY_HEAP,
	NO_ROWS
};

static const struct hdb_column facts[QUERY_COMMON_FACTS] = { QUERY_ANSWER_FACTS };

const struct hdb_column *query_common_facts(size_t *count)
{
	*count = QUERY_COMMON_FACTS;
	return facts;
}

static struct hdb_value *add(struct query *q, unsigned no)
{
	struct query_fact *fact = &q->common[q->common_count++];

	assert(q->common_count <= QUERY_COMMON_FACTS);
	fact->column = &facts[no];
	fact->value = (struct hdb_value){ .type = facts[no].type };
	return &fact->value;
}

/* Adds a string, such as a file name, that may not be valid UTF-8. */
static int add_clean(struct query *q, unsigned no, const char *text, struct hdb_error *err)
{
	size_t size = strlen(text);
	char *clean = heap_clean_copy(text, &size);
	struct hdb_value *value;

	if (!clean)
		return hdb_fail_memory(err, "a fact", size);
	value = add(q, no);
	value->text = q->common[q->common_count - 1].text = clean;
	value->text_size = size;
	return HDB_OK;
}

static const char *stale_of(const struct heap *heap)
{
	return heap->state.stale;
}

static const char *incomplete_of(const struct heap *heap)
{
	return heap->state.incomplete;
}

static const char *redacted_of(const struct heap *heap)
{
	return heap->state.redacted;
}

/*
 * Adds the messages of all databases. If there are several, each message begins with the name of
 * its database.
 */
static int add_text(struct query *q, unsigned no, const char *(*text_of)(const struct heap *),
		    struct hdb_error *err)
{
	char *all = NULL;
	int r;

	for (size_t i = 0; i <= q->before_count; i++) {
		const struct heap *heap = i < q->before_count ? q->before[i].heap : q->heap;
		const char *text = text_of(heap);
		char *more;

		if (!text)
			continue;
		if (asprintf(&more, "%s%s%s%s%s", all ? all : "", all ? "; " : "",
			     q->before_count ? heap_path(heap) : "", q->before_count ? ": " : "",
			     text) < 0) {
			free(all);
			return hdb_fail_memory(err, "a fact", strlen(text));
		}
		free(all);
		all = more;
	}
	if (!all)
		return HDB_OK;
	r = add_clean(q, no, all, err);
	free(all);
	return r;
}

int query_add_common_facts(struct query *q, struct hdb_error *err)
{
	const struct heap_state *state = &q->heap->state;
	int r;

	TRY(add_text(q, STALE, stale_of, err));
	TRY(add_text(q, INCOMPLETE, incomplete_of, err));
	if ((r = add_text(q, REDACTED, redacted_of, err)) < 0 || !state->incomplete)
		return r;
	if (state->is_cut) {
		struct hdb_value *value = add(q, MISSING_BYTES);

		value->u = state->missing_bytes;
		if (!value->u)
			value->type = HDB_TYPE_NULL;
	}
	if (state->skipped_bytes)
		add(q, SKIPPED_BYTES)->u = state->skipped_bytes;
	add(q, ROOTS_SEEN)->u = state->roots_seen;
	return HDB_OK;
}

static void report(struct query *q, unsigned no, const char *text)
{
	struct hdb_error why;
	const int r = add_clean(q, no, text, &why);

	if (r < 0)
		query_fail(q, r, &why);
}

void query_report_strength(struct query *q, const char *name)
{
	report(q, STRENGTH, name);
}

void query_report_only_heap(struct query *q, const char *name)
{
	report(q, ONLY_HEAP, name);
}

void query_report_no_rows(struct query *q)
{
	const char *why = q->filter       ? "no row satisfies the condition" :
			  q->def->no_rows ? q->def->no_rows :
					    "the heap contains no matching objects";
	char text[300];

	if (q->heap->is_phd && !q->filter) {
		(void)snprintf(text, sizeof(text), "%s (a portable heap dump has no values)", why);
		why = text;
	}
	for (size_t i = 0; i < q->common_count; i++)
		if (q->common[i].column == &facts[NO_ROWS])
			return;
	/* The fact `cut` already explains omitted rows. */
	if (!q->is_cut)
		report(q, NO_ROWS, why);
}
