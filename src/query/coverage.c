/*
 * query/coverage.c - what an answer covers, as facts.
 */
#include "query/coverage.h"

#include "analysis/groups.h"
#include "query/rows.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int query_read_population(struct query *q, struct hdb_error *err)
{
	const bool others = query_option(q, "unreachable") != NULL,
		   all = query_option(q, "all") != NULL;

	/* Elsewhere --all is another choice. */
	if (!query_find_option(q->def, "unreachable"))
		return HDB_OK;
	if (others && all)
		return hdb_fail(err, HDB_EUSAGE, "either --unreachable or --all");
	q->population = others ? ANALYSIS_OF_UNREACHABLE :
			all    ? ANALYSIS_OF_ALL :
				 ANALYSIS_OF_REACHABLE;
	return HDB_OK;
}

int query_tell_unreachable(struct query *q, uint64_t count, uint64_t bytes, struct hdb_error *err)
{
	int r = query_fact(q, "unreachable_objects", count, err);

	if (r < 0)
		return r;
	return query_fact(q, "unreachable_shallow", bytes, err);
}

int query_tell_no_android(struct query *q, const char *what, struct hdb_error *err)
{
	char text[256];

	if (q->heap->is_android || heap_class_by_name(q->heap, "android.os.Build", 0) != HEAP_NONE)
		return HDB_OK;
	(void)snprintf(text, sizeof(text), "this is no dump of an Android program: %s", what);
	return query_fact_text(q, "note", text, err);
}

int query_tell_heap(struct query *q, struct hdb_error *err)
{
	struct derive_total whole;
	int r = analysis_heap_total(&q->session, &whole, err);

	if (r != HDB_OK)
		return r;
	return query_tell_unreachable(q, whole.unreachable_count, whole.unreachable_bytes, err);
}

int query_tell_unreached(struct query *q, struct hdb_error *err)
{
	struct analysis_groups classes;
	struct derive_total sum;
	int r;

	if (derive_has_whole(q->derive) || derive_has(q->derive, STORE_DOMINATORS))
		return query_tell_heap(q, err);
	r = analysis_count_groups(&q->session, DERIVE_CLASS, ANALYSIS_COUNT_REACHED, &classes, err);
	if (r != HDB_OK)
		goto out;
	analysis_add_groups(&classes, &sum);
	r = query_tell_unreachable(q, sum.unreachable_count, sum.unreachable_bytes, err);
out:
	analysis_groups_release(&classes);
	return r;
}

static void add(uint64_t *sum, uint64_t value)
{
	if (value != ANALYSIS_NOT_COUNTED)
		*sum = *sum == ANALYSIS_NOT_COUNTED ? value : *sum + value;
}

static bool is_nothing(uint64_t value)
{
	return !value || value == ANALYSIS_NOT_COUNTED;
}

/* Adds a sentence; its numbers get commas between thousands, as in tables. */
static int add_sentence(struct base_vec *to, const char *text, struct hdb_error *err)
{
	size_t digits;
	int r = HDB_OK;

	assert(*text);
	for (const char *p = text; *p; p += digits ? digits : 1) {
		/* Not what is part of a word or of a fraction. */
		const bool is_number =
			p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '.');

		digits = strspn(p, "0123456789");
		if (!digits || !is_number) {
			r = base_bytes_append(to, p, digits ? digits : 1, err);
			if (r != HDB_OK)
				return r;
			continue;
		}
		for (size_t i = 0; i < digits; i++) {
			if (i && (digits - i) % 3 == 0 &&
			    (r = base_bytes_append(to, ",", 1, err)) != HDB_OK)
				return r;
			if ((r = base_bytes_append(to, p + i, 1, err)) != HDB_OK)
				return r;
		}
	}
	return r;
}

int query_cut(struct query *q, const struct analysis_cut *cut, struct hdb_error *err,
	      const char *format, ...)
{
	static const struct analysis_cut unknown = {
		ANALYSIS_NOT_COUNTED,
		ANALYSIS_NOT_COUNTED,
		ANALYSIS_NOT_COUNTED,
	};
	va_list args;
	char *text;
	int size, r;

	assert(format);
	if (cut && is_nothing(cut->rows) && is_nothing(cut->objects) && is_nothing(cut->bytes))
		return HDB_OK;
	va_start(args, format);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = size < 0 ? NULL : malloc((size_t)size + 1);
	if (!text)
		return hdb_fail_memory(err, "a fact", strlen(format));
	va_start(args, format);
	(void)vsnprintf(text, (size_t)size + 1, format, args);
	va_end(args);
	if (!cut)
		cut = &unknown;
	if (!q->is_cut)
		q->cut = unknown;
	add(&q->cut.rows, cut->rows);
	add(&q->cut.objects, cut->objects);
	add(&q->cut.bytes, cut->bytes);
	if ((r = q->is_cut ? base_bytes_append(&q->cut_text, "; ", 2, err) : HDB_OK) < 0)
		goto out;
	q->is_cut = true;
	r = add_sentence(&q->cut_text, text, err);
out:
	free(text);
	return r;
}

static int tell_number(struct query *q, const char *name, uint64_t value, struct hdb_error *err)
{
	return value == ANALYSIS_NOT_COUNTED || !query_has_fact(q, name) ?
		       HDB_OK :
		       query_fact(q, name, value, err);
}

int query_tell_coverage(struct query *q, struct hdb_error *err)
{
	static const char *const names[] = {
		[ANALYSIS_OF_REACHABLE] = "reachable",
		[ANALYSIS_OF_UNREACHABLE] = "unreachable",
		[ANALYSIS_OF_ALL] = "all objects, reachable or not",
	};
	int r = HDB_OK;

	if (q->population != ANALYSIS_OF_NOTHING && query_has_fact(q, "counted"))
		r = query_fact_text(q, "counted", names[q->population], err);
	if (r < 0 || !q->is_cut || !query_has_fact(q, "cut"))
		return r;
	if ((r = base_bytes_append(&q->cut_text, "", 1, err)) != HDB_OK)
		return r;
	if ((r = query_fact_text(q, "cut", q->cut_text.data, err)) != HDB_OK)
		return r;
	if ((r = tell_number(q, "cut_rows", q->cut.rows, err)) != HDB_OK)
		return r;
	if ((r = tell_number(q, "cut_objects", q->cut.objects, err)) != HDB_OK)
		return r;
	return tell_number(q, "cut_bytes", q->cut.bytes, err);
}
