/* query/coverage.c - sets the facts that describe which objects an answer covers. */
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

	/* If the query has no option --unreachable, its option --all means something else. */
	if (!query_find_option(q->def, "unreachable"))
		return HDB_OK;
	if (others && all)
		return hdb_fail(err, HDB_EUSAGE, "--unreachable cannot be combined with --all");
	q->population = others ? ANALYSIS_OF_UNREACHABLE :
			all    ? ANALYSIS_OF_ALL :
				 ANALYSIS_OF_REACHABLE;
	return HDB_OK;
}

void query_report_unreachable(struct query *q, uint64_t count, uint64_t bytes)
{
	query_fact(q, "unreachable_objects", count);
	query_fact(q, "unreachable_shallow", bytes);
}

void query_report_no_android(struct query *q, const char *what)
{
	char text[256];

	if (q->heap->is_android || heap_class_by_name(q->heap, "android.os.Build", 0) != HEAP_NONE)
		return;
	(void)snprintf(text, sizeof(text), "the dump is not from an Android program: %s", what);
	query_fact_text(q, "note", text);
}

void query_report_heap(struct query *q)
{
	struct derive_total whole;
	struct hdb_error why;
	const int r = analysis_heap_total(&q->session, &whole, &why);

	if (r < 0)
		query_fail(q, r, &why);
	else
		query_report_unreachable(q, whole.unreachable_count, whole.unreachable_bytes);
}

void query_report_unreached(struct query *q)
{
	struct hdb_error why;
	struct analysis_groups classes;
	struct derive_total sum;
	int r;

	if (derive_has_whole(q->derive) || derive_has(q->derive, STORE_DOMINATORS)) {
		query_report_heap(q);
		return;
	}
	r = analysis_count_groups(&q->session, DERIVE_CLASS, ANALYSIS_COUNT_REACHED, &classes,
				  &why);
	if (r < 0) {
		query_fail(q, r, &why);
	} else {
		analysis_add_groups(&classes, &sum);
		query_report_unreachable(q, sum.unreachable_count, sum.unreachable_bytes);
	}
	analysis_groups_release(&classes);
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

/* Appends a sentence, adding thousands separators to numbers, as in tables. */
static int add_sentence(struct base_vec *to, const char *text, struct hdb_error *err)
{
	size_t digits;

	assert(*text);
	for (const char *p = text; *p; p += digits ? digits : 1) {
		/* Digits inside words and fractions stay as they are. */
		const bool is_number =
			p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '.');

		digits = strspn(p, "0123456789");
		if (!digits || !is_number) {
			TRY(base_bytes_append(to, p, digits ? digits : 1, err));
			continue;
		}
		for (size_t i = 0; i < digits; i++) {
			if (i && (digits - i) % 3 == 0)
				TRY(base_bytes_append(to, ",", 1, err));
			TRY(base_bytes_append(to, p + i, 1, err));
		}
	}
	return HDB_OK;
}

void query_cut(struct query *q, const struct analysis_cut *cut, const char *format, ...)
{
	static const struct analysis_cut unknown = {
		ANALYSIS_NOT_COUNTED,
		ANALYSIS_NOT_COUNTED,
		ANALYSIS_NOT_COUNTED,
	};
	struct hdb_error why;
	va_list args;
	char *text;
	int size, r;

	assert(format);
	if (cut && is_nothing(cut->rows) && is_nothing(cut->objects) && is_nothing(cut->bytes))
		return;
	va_start(args, format);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = size < 0 ? NULL : malloc((size_t)size + 1);
	if (!text) {
		query_fail(q, hdb_fail_memory(&why, "a fact", strlen(format)), &why);
		return;
	}
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
	r = q->is_cut ? base_bytes_append(&q->cut_text, "; ", 2, &why) : HDB_OK;
	q->is_cut = true;
	if (r < 0 || (r = add_sentence(&q->cut_text, text, &why)) < 0)
		query_fail(q, r, &why);
	free(text);
}

static void report_number(struct query *q, const char *name, uint64_t value)
{
	if (value != ANALYSIS_NOT_COUNTED && query_has_fact(q, name))
		query_fact(q, name, value);
}

void query_report_coverage(struct query *q)
{
	static const char *const names[] = {
		[ANALYSIS_OF_REACHABLE] = "reachable",
		[ANALYSIS_OF_UNREACHABLE] = "unreachable",
		[ANALYSIS_OF_ALL] = "all objects, reachable or not",
	};
	struct hdb_error why;
	int r;

	if (q->population != ANALYSIS_OF_NOTHING && query_has_fact(q, "counted"))
		query_fact_text(q, "counted", names[q->population]);
	if (!q->is_cut || !query_has_fact(q, "cut"))
		return;
	if ((r = base_bytes_append(&q->cut_text, "", 1, &why)) < 0) {
		query_fail(q, r, &why);
		return;
	}
	query_fact_text(q, "cut", q->cut_text.data);
	report_number(q, "cut_rows", q->cut.rows);
	report_number(q, "cut_objects", q->cut.objects);
	report_number(q, "cut_bytes", q->cut.bytes);
}
