/*
 * queries/explain/rule_instances.c - functions of rules that examine all instances of a class:
 * referrer(), instances() and instance(). A result takes a pass over the heap, so it is cached.
 */
#include "queries/explain/rule_private.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/search.h"
#include "base/sort.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/*
 * Maximum number of instances whose references referrer() reads one by one. For more instances, the
 * table of referrers is faster.
 */
#define REFERRING_MAX 50000u

/*
 * Returns whether a class matches the patterns or, if these are a plain name, whether the class or
 * a superclass has this name.
 */
static bool is_of_class(struct heap *heap, uint32_t class_no, const char *patterns)
{
	return strchr(patterns, '*') ? base_glob_list(patterns, heap_class_name(heap, class_no)) :
				       heap_has_superclass(heap, class_no, patterns);
}

/* ---- referrer(): the first instance of a class that refers to an object ---- */

/* Counts or collects the objects to which instances of some classes refer. */
struct referring {
	struct heap *heap;
	uint8_t *is_wanted; /* indexed by class number */
	uint64_t count;     /* instances */
	struct base_vec *out;
};

static int count_referring(void *ctx, const struct heap_count *c, struct hdb_error *err)
{
	struct referring *r = ctx;

	(void)err;
	if (c->kind == STORE_INSTANCE && r->is_wanted[c->class_no])
		r->count += c->count;
	return HDB_OK;
}

static int collect_of(struct referring *r, struct store_lists *references, uint32_t ix,
		      struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count = 1;

	TRY(store_lists_begin(references, ix, NULL, err));
	while (count) {
		TRY(store_lists_next(references, &batch, &count, err));
		for (size_t i = 0; i < count; i++) {
			const uint64_t pair = (uint64_t)batch[i] << 32 | ix;

			TRY(base_vec_push(r->out, &pair, sizeof(pair), err));
		}
	}
	return HDB_OK;
}

static int collect_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct referring *r = ctx;
	struct store_lists references;

	heap_references(r->heap, &references);
	for (uint32_t i = 0; i < block->count; i++)
		if (block->kind[i] == STORE_INSTANCE && r->is_wanted[block->class_no[i]])
			TRY(collect_of(r, &references, block->first_ix + i, err));
	return HDB_OK;
}

/*
 * Collects the references of all instances of the classes. Nearly every rule names classes with few
 * instances. Reading these takes a tenth of the time needed for the table of referrers.
 */
static int find_referring(const struct session *session, struct explain_referring *out,
			  struct hdb_error *err)
{
	struct heap *heap = session->heap;
	BASE_FREED uint8_t *is_wanted = NULL;
	struct referring r = { .heap = heap, .out = &out->pairs };
	HEAP_FILTER_SCOPE(heap_show_all, heap);

	TRY(BASE_ALLOC(is_wanted, (size_t)heap->class_count + 1, "classes", err));
	r.is_wanted = is_wanted;
	for (uint32_t no = 0; no < heap->class_count; no++)
		is_wanted[no] = is_of_class(heap, no, out->classes);
	TRY(heap_count_all(heap, session->work, count_referring, &r, err));
	out->are_many = r.count > REFERRING_MAX;
	if (!r.count || out->are_many)
		return HDB_OK;
	TRY(heap_each_block_of(heap, &(struct heap_pass){ session->work, is_wanted }, collect_block,
			       &r, err));
	base_vec_sort(&out->pairs, sizeof(uint64_t), base_compare_u64);
	return HDB_OK;
}

/* Returns the cached instances of the classes that referrer() names. */
static int need_referring(struct rule_scan *s, const char *classes,
			  const struct explain_referring **out)
{
	struct explain_counts *known = s->subject->counts;
	struct explain_referring *at = known->referring;

	while (at < known->referring + EXPLAIN_COUNTS && strcmp(at->classes, classes) != 0)
		at++;
	*out = at;
	if (at < known->referring + EXPLAIN_COUNTS)
		return HDB_OK;
	*out = at = &known->referring[known->next_referring++ % EXPLAIN_COUNTS];
	base_vec_release(&at->pairs);
	(void)snprintf(at->classes, sizeof(at->classes), "%s", classes);
	return find_referring(s->subject->session, at, s->err);
}

/* Looks up an object among the collected references. */
static void search_referring(const struct explain_referring *referring, uint32_t ix,
			     struct base_value *out)
{
	const uint64_t *pairs = referring->pairs.data;
	struct base_search search = base_search_in(referring->pairs.count);

	assert(!referring->are_many);
	while (base_search_next(&search))
		base_search_step(&search, pairs[search.mid] < (uint64_t)ix << 32);
	if (search.low == referring->pairs.count || pairs[search.low] >> 32 != ix)
		return;
	out->kind = BASE_OBJECT;
	out->object = (uint32_t)pairs[search.low];
}

/* Examines all referrers of the object. Used if the classes have many instances. */
static int search_referrers(struct rule_scan *s, const struct base_arguments *a,
			    struct base_value *out)
{
	const struct session *session = s->subject->session;
	struct store_lists referrers;
	const uint32_t *batch;
	size_t count = 1;

	assert(a->value->kind == BASE_OBJECT);
	TRY(derive_referrers(session->derive, &referrers, s->err));
	TRY(store_lists_begin(&referrers, a->value->object, NULL, s->err));
	while (count && s->subject->steps && out->kind == BASE_NOTHING) {
		TRY(store_lists_next(&referrers, &batch, &count, s->err));
		for (size_t i = 0; i < count && s->subject->steps; i++, s->subject->steps--) {
			struct heap_object object;

			TRY(heap_object(session->heap, batch[i], &object, s->err));
			if (object.kind != STORE_INSTANCE ||
			    !is_of_class(session->heap, object.class_no, a->text))
				continue;
			out->kind = BASE_OBJECT;
			out->object = batch[i];
			break;
		}
	}
	return HDB_OK;
}

int rule_referrer(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_referring *referring;

	if (a->value->kind != BASE_OBJECT)
		return HDB_OK;
	TRY(need_referring(s, a->text, &referring));
	if (referring->are_many)
		return search_referrers(s, a, out);
	search_referring(referring, a->value->object, out);
	return HDB_OK;
}

/* ---- instances(), instance(): instances for which an expression is true ---- */

/* Number of instances for which an expression has a value other than 0. */
struct instances {
	struct rule_scan *s;
	const uint8_t *is_wanted; /* indexed by class number */
	uint32_t expression;
	struct explain_count *out;
};

/* Stands for a count if not all instances could be examined. */
#define COUNT_UNKNOWN (-1.0)

static int count_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct instances *n = ctx;
	struct explain_subject *subject = n->s->subject;

	for (uint32_t i = 0; i < block->count && subject->steps; i++) {
		struct base_value value = { .kind = BASE_NOTHING };
		bool is_reachable;

		if (block->kind[i] != STORE_INSTANCE || !n->is_wanted[block->class_no[i]])
			continue;
		subject->steps--;
		TRY(derive_is_reachable(subject->session->derive, block->first_ix + i,
					&is_reachable, err));
		if (!is_reachable)
			continue;
		TRY(rule_evaluate_at(n->s, block->first_ix + i, n->expression, &value));
		if (value.kind < BASE_NUMBER || (value.kind == BASE_NUMBER && value.number == 0))
			continue;
		if (n->out->count++ == 0)
			n->out->first_ix = block->first_ix + i;
	}
	return HDB_OK;
}

static int count_instances(struct rule_scan *s, const struct base_arguments *a,
			   struct explain_count *out)
{
	const struct session *session = s->subject->session;
	BASE_FREED uint8_t *is_wanted = NULL;
	bool any = false;

	*out = (struct explain_count){ .first_ix = HEAP_NONE };
	TRY(BASE_ALLOC(is_wanted, (size_t)session->heap->class_count + 1, "classes", s->err));
	for (uint32_t no = 0; no < session->heap->class_count; no++) {
		is_wanted[no] = is_of_class(session->heap, no, a->value->text);
		any |= is_wanted[no];
	}
	if (!any)
		return HDB_OK;
	TRY(heap_each_block_of(session->heap, &(struct heap_pass){ session->work, is_wanted },
			       count_block, &(struct instances){ s, is_wanted, a->expression, out },
			       s->err));
	if (!s->subject->steps)
		out->count = COUNT_UNKNOWN;
	return HDB_OK;
}

/*
 * Counts reachable instances of a class for which an expression is true. This takes a pass over the
 * heap, so results are cached.
 */
static int find_instances(struct rule_scan *s, const struct base_arguments *a,
			  const struct explain_count **out)
{
	struct explain_counts *known = s->subject->counts;
	struct explain_count *c = known->list;

	assert(a->value->kind == BASE_STRING);
	while (c < known->list + EXPLAIN_COUNTS &&
	       (strcmp(c->classes, a->value->text) != 0 || strcmp(c->expression, a->text) != 0))
		c++;
	if (c == known->list + EXPLAIN_COUNTS) {
		c = &known->list[known->next++ % EXPLAIN_COUNTS];
		TRY(count_instances(s, a, c));
		(void)snprintf(c->classes, sizeof(c->classes), "%s", a->value->text);
		(void)snprintf(c->expression, sizeof(c->expression), "%s", a->text);
	}
	*out = c;
	return HDB_OK;
}

int rule_instances(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_count *found;

	if (a->value->kind != BASE_STRING)
		return HDB_OK;
	TRY(find_instances(s, a, &found));
	if (found->count != COUNT_UNKNOWN)
		base_value_set_number(out, found->count);
	return HDB_OK;
}

/* instance(): returns the first matching instance. */
int rule_instance(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_count *found;

	if (a->value->kind != BASE_STRING)
		return HDB_OK;
	TRY(find_instances(s, a, &found));
	if (found->first_ix != HEAP_NONE)
		*out = (struct base_value){ .kind = BASE_OBJECT, .object = found->first_ix };
	return HDB_OK;
}
