/*
 * queries/explain/suspect_facts.c - walks over the objects that a suspect holds, and computes
 * figures about them. See suspect_facts.h.
 *
 * Each visited object represents `weight` objects. If a list of children is long, only some
 * children are visited. They are spread evenly over the list, which is sorted by size, and
 * represent the others. If there are still too many objects, only some objects of each level below
 * the top are visited, so that a walk reaches the bottom and its percentages do not depend on the
 * number of objects.
 */
#include "queries/explain/suspect_facts.h"

#include "analysis/describe.h"
#include "base/error.h"
#include "heap/collections/collections.h"
#include "heap/heap_database.h"
#include "heap/platform_classes.h"
#include "heap/threads.h"
#include "queries/explain/entry_private.h"
#include "queries/explain/held_private.h"
#include "queries/inspect/inspect.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Maximum number of objects in a walk, and of children of one object. If a walk exceeds the limit,
 * it starts again with fewer children per object, but with at least FACTS_CHILDREN_MIN.
 */
#define FACTS_OBJECTS_MAX 20000u
#define FACTS_CHILDREN_MAX 1600u
#define FACTS_CHILDREN_MIN 100u
/*
 * If this walk also exceeds the limit, the walk visits 1/FACTS_LEVEL_PART of the remaining objects,
 * and at least FACTS_LEVEL_MIN, on each level below the top.
 */
#define FACTS_LEVEL_PART 8u
#define FACTS_LEVEL_MIN 256u
/*
 * Number of bytes added to each node's size when nodes are chosen, so that some nodes without
 * children are also visited.
 */
#define FACTS_NODE_BYTES 64u
/*
 * If the walk still does not reach the bottom (for example, of a deep chain), the visited objects
 * represent the rest. Objects of at least 1/FACTS_BIG_PART of the suspect's size represent only
 * themselves.
 */
#define FACTS_BIG_PART 64
/* Maximum number of objects in a walk that visits all objects. */
#define FACTS_COUNTED_MAX 400000u
/* Number of children of an object that are always visited, largest first. */
#define FACTS_CHILDREN_LARGE 16u
/*
 * A collection is large if it has at least FACTS_MANY entries, or FACTS_MODERATE entries of at
 * least FACTS_LARGE_BYTES.
 */
#define FACTS_MANY 1000
/* A container with more slots than this multiple of the average is left out of the average. */
#define FACTS_FAR_LARGER 10
#define FACTS_MODERATE 100
#define FACTS_LARGE_BYTES 1024
/*
 * The largest collection is described if it retains at least 1/FACTS_PART of the suspect or, in a
 * group, of a member of average size. Nearly all members of a group are smaller than FACTS_UNUSUAL
 * times the average, so a collection of this size shows nothing about them.
 */
#define FACTS_PART 20
#define FACTS_UNUSUAL 2
/* Minimum number of collections from which nothing was ever removed. */
#define FACTS_FILLED_MIN 500
/*
 * Minimum number of objects in a chain, and maximum ratio of all objects of the class to the
 * objects in the chain.
 */
#define FACTS_CHAIN_MIN 1000
#define FACTS_CHAIN_PART 1.02
/* Maximum number of tree or list nodes to pass on the way up from the accumulation point. */
#define FACTS_NODES 4096u
/* The object reached in this way must retain at least 1/FACTS_TOP_PART of the suspect. */
#define FACTS_TOP_PART 4u
/* Minimum share of the objects of a kind that must be of one class to name only this class. */
#define FACTS_ONE_KIND 0.8
/*
 * A collection counts as the outer one only if it retains at least 1/FACTS_NESTED_PART more than
 * its largest inner collection.
 */
#define FACTS_NESTED_PART 10
/* Number of objects between two checks of the cancel flag. */
#define FACTS_STEPS 1024u
/*
 * Larger numbers are not rounded: beyond this size, few or no fractional digits remain in a double.
 */
#define FACTS_NUMBER_MAX 1e15

#define HELD(class_name, kind) \
	{ \
		class_name, kind \
	}
static const struct {
	const char *class_name;
	uint8_t kind;
} known[] = {
#include <queries/explain/held.rows.h>
};

#define FIGURE(name) #name
static const char *const names[] = {
#include <queries/explain/suspect_facts.rows.h>
};
#undef FIGURE

enum explain_fact explain_fact_of(const char *name)
{
	unsigned no = 0;

	while (no < EXPLAIN_FACT_COUNT && strcmp(names[no], name) != 0)
		no++;
	return (enum explain_fact)no;
}

/* Rounds a number without libm, so that programs that use the library need not link libm. */
static double rounded(double number)
{
	return number > 0 && number < FACTS_NUMBER_MAX ? (double)(uint64_t)(number + 0.5) : number;
}

void explain_fact_set(struct explain_facts *facts, enum explain_fact no, double number)
{
	assert(no < EXPLAIN_FACT_COUNT);
	facts->figures[no].kind = BASE_NUMBER;
	facts->figures[no].number = rounded(number);
	/*
	 * Does not round a share to 100 %: nearly all objects are not all, and a sample cannot show
	 * that a statement applies to all.
	 */
	if ((facts->is_sampled || number < 100) && facts->figures[no].number == 100 &&
	    (strstr(names[no], "percent") || no == EXPLAIN_FACT_empty_values ||
	     no == EXPLAIN_FACT_nonzero))
		facts->figures[no].number = 99;
	facts->figures[no].is_about = false;
}

/* Sets a figure to an estimate with two digits. */
static void set_estimate(struct explain_facts *facts, enum explain_fact no, double number)
{
	double unit = 1;

	while (number / unit >= 100)
		unit *= 10;
	explain_fact_set(facts, no, rounded(number / unit) * unit);
	facts->figures[no].is_about = true;
}

void explain_fact_text(struct explain_facts *facts, enum explain_fact no, const char *text)
{
	struct explain_figure *figure = &facts->figures[no];
	const char *lambda = strstr(text, "$$Lambda");

	assert(no < EXPLAIN_FACT_COUNT);
	figure->kind = BASE_STRING;
	figure->is_about = false;
	/* the number and address in the name of a lambda's class mean nothing to readers */
	if (lambda && strcspn(text, " .") > (size_t)(lambda - text))
		(void)snprintf(figure->text, sizeof(figure->text), "lambda of %.*s%s",
			       (int)(lambda - text), text, lambda + strcspn(lambda, " ."));
	else
		(void)snprintf(figure->text, sizeof(figure->text), "%s", text);
}

void explain_fact_object(struct explain_facts *facts, enum explain_fact no, uint32_t ix)
{
	facts->figures[no] = (struct explain_figure){ .kind = BASE_OBJECT, .number = ix };
}

const char *explain_short_class(struct heap *heap, uint32_t class_no)
{
	return inspect_simple_name(heap_class_name(heap, class_no));
}

/* ---- counting ---- */

void held_set(struct explain_facts *out, enum explain_fact no, double number, bool is_about)
{
	if (number > 0)
		(is_about ? set_estimate : explain_fact_set)(out, no, number);
}

void held_set_percent(const struct held_walk *w, struct explain_facts *out, enum explain_fact no,
		      double bytes)
{
	held_set(out, no, bytes < w->all.bytes ? bytes * 100 / w->all.bytes : 100, false);
}

void held_add(struct held_tally *tally, const struct held_addend *a)
{
	unsigned i = 0;

	assert(a->weight > 0 && tally->classes <= HELD_CLASSES);
	while (i < tally->classes && tally->list[i].class_no != a->class_no)
		i++;
	tally->count += a->weight;
	tally->bytes += a->weight * a->bytes;
	if (i == HELD_CLASSES)
		return;
	if (i == tally->classes) {
		tally->list[i].first_places = a->places;
		tally->list[tally->classes++].class_no = a->class_no;
	}
	tally->list[i].is_varied |= a->places != tally->list[i].first_places;
	tally->list[i].count += a->weight;
	tally->list[i].places += a->weight * a->places;
	tally->list[i].used += a->weight * a->used;
	tally->list[i].bytes += a->weight * a->bytes;
}

/* Returns the index of the class with the largest total size. */
static unsigned most_of(const struct held_tally *tally)
{
	unsigned most = 0;

	for (unsigned i = 1; i < tally->classes; i++)
		if (tally->list[i].bytes > tally->list[most].bytes)
			most = i;
	return most;
}

enum held_kind held_kind_of(const struct held_walk *w, uint32_t class_no)
{
	struct heap *heap = w->session->heap;

	assert(class_no < heap->class_count);
	if (w->kinds[class_no] == HELD_UNKNOWN) {
		const char *name = heap_class_name(heap, class_no);

		w->kinds[class_no] = heap_collection_rule(heap, class_no) ? HELD_COLLECTION :
				     strncmp(name, "java.util.", 10) == 0 && strchr(name, '$') &&
						     !strstr(name, "$$Lambda") ?
									    HELD_NODE :
									    HELD_OTHER;
		for (size_t i = 0; i < BASE_COUNT(known); i++)
			if (heap_has_superclass(heap, class_no, known[i].class_name))
				w->kinds[class_no] = known[i].kind;
	}
	return (enum held_kind)w->kinds[class_no];
}

int held_field(const struct held_walk *w, uint32_t ix, const char *path, uint64_t *out,
	       struct hdb_error *err)
{
	struct heap_value value;
	int64_t number;

	*out = 0;
	TRY_FOUND(heap_path_value(w->session->heap, ix, path, &value, err));
	*out = value.type != HPROF_OBJECT && heap_value_number(&value, &number) ? (uint64_t)number :
										  value.bits;
	return HDB_OK;
}

const struct held_node *held_parent(const struct held_walk *w, const struct held_node *node)
{
	assert(node->parent == HEAP_NONE || node->parent < w->nodes.count);
	return node->parent == HEAP_NONE ? NULL :
					   base_vec_at(&w->nodes, struct held_node, node->parent);
}

void held_add_room(struct held_walk *w, const struct held_addend *a)
{
	held_add(&w->rooms, a);
	if (a->bytes > w->big.bytes)
		w->big = *a;
}

/*
 * Counts an object held by another object of its class, and an object that holds two objects of its
 * class.
 */
static void count_link(struct held_walk *w, const struct held_node *node)
{
	const struct held_node *parent = held_parent(w, node);
	const enum held_kind kind = held_kind_of(w, node->class_no);

	if (!parent || parent->class_no != node->class_no ||
	    (kind != HELD_OTHER && kind != HELD_ERROR))
		return;
	w->chained += node->weight;
	w->branches += w->chain_last && w->chain_last->parent == node->parent ? node->weight : 0;
	w->chain_last = node;
}

static int look_at(struct held_walk *w, size_t no, struct hdb_error *err)
{
	struct held_node *node = base_vec_at(&w->nodes, struct held_node, no);
	struct heap_object object;

	TRY(heap_object(w->session->heap, node->ix, &object, err));
	w->is_about |= node->weight > 1;
	held_add(&w->all, &(struct held_addend){ .class_no = object.class_no,
						 .weight = node->weight,
						 .bytes = (double)object.shallow_bytes });
	node->class_no = object.class_no;
	if (object.kind == STORE_CLASS)
		return HDB_OK;
	count_link(w, node);
	return object.kind == STORE_INSTANCE ? held_count_instance(w, node, &object, err) :
					       held_count_array(w, node, &object, err);
}

/* ---- the walk ---- */

/* Checks the cancel flag. The steps are not reported as progress, because the total is unknown. */
static int check_cancel(const struct held_walk *w, struct hdb_error *err)
{
	static const struct base_stage unnamed = { .name = NULL };

	return base_step_of(w->session->work, &unnamed, 0, err);
}

/* Returns a reproducible pseudo-random number from 0 to 1. */
static double random_part(struct held_walk *w)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (double)(w->random >> 33) / (double)(1u << 31);
}

/*
 * Decides whether a node is visited. On a level with too many nodes, the probability is
 * proportional to the retained size of the objects that the node represents, because nodes with
 * many objects below them matter most.
 */
static bool is_chosen(struct held_walk *w, struct held_node *node)
{
	const double bytes = node->weight * (double)(node->bytes + FACTS_NODE_BYTES);

	if (bytes >= w->level_bytes)
		return true;
	if (random_part(w) * w->level_bytes >= bytes)
		return false;
	node->weight *= w->level_bytes / bytes;
	return true;
}

/* Removes nodes of the current level until it has room for another node. */
static void thin_level(struct held_walk *w)
{
	while (w->nodes.count - w->level >= w->level_max) {
		size_t kept = w->level;

		w->level_bytes *= 2;
		for (size_t i = w->level; i < w->nodes.count; i++) {
			struct held_node node = *base_vec_at(&w->nodes, struct held_node, i);

			if (is_chosen(w, &node))
				*base_vec_at(&w->nodes, struct held_node, kept++) = node;
		}
		w->nodes.count = kept;
	}
}

/* Begins the next level of a walk that visits only some objects of each level. */
static void begin_level(struct held_walk *w)
{
	const uint64_t part = (w->objects_max - w->nodes.count) / FACTS_LEVEL_PART;

	w->level = w->nodes.count;
	w->level_max = part > FACTS_LEVEL_MIN ? part : FACTS_LEVEL_MIN;
	w->level_bytes = FACTS_NODE_BYTES;
}

/*
 * Appends the children of a node: the largest children, which represent only themselves, and an
 * evenly spaced sample of the other children. The first node may be a class without the objects
 * that are suspects themselves.
 */
static int add_children(struct held_walk *w, size_t no, struct hdb_error *err)
{
	const struct held_node node = *base_vec_at(&w->nodes, struct held_node, no);
	const uint32_t *batch;
	uint64_t length, step, at = 0, split = 0;
	size_t count;

	TRY(store_lists_begin(&w->children, node.ix, &length, err));
	step = length <= w->children_max ?
		       1 :
		       (length - FACTS_CHILDREN_LARGE + w->children_max - 1) / w->children_max;
	assert(step > 0);
	for (;;) {
		TRY(check_cancel(w, err));
		TRY(store_lists_next(&w->children, &batch, &count, err));
		if (!count)
			return HDB_OK;
		for (size_t i = 0; i < count; i++, at++) {
			const bool is_large = at < FACTS_CHILDREN_LARGE;
			uint64_t bytes = 0;

			/*
			 * Children are sorted by size, so objects that are suspects themselves come
			 * first.
			 */
			if (w->split_bytes && no == 0 && at == split)
				TRY(derive_retained(w->session->derive, batch[i], &bytes, err));
			if (bytes && bytes >= w->split_bytes) {
				split++;
				continue;
			}
			struct held_node child = { .ix = batch[i],
						   .parent = (uint32_t)no,
						   .weight = node.weight *
							     (is_large ? 1 : (double)step) };

			if (!is_large && at % step)
				continue;
			if (w->is_by_level) {
				TRY(derive_retained(w->session->derive, child.ix, &child.bytes,
						    err));
				if (!is_chosen(w, &child))
					continue;
				thin_level(w);
			}
			if (w->nodes.count >= w->objects_max) {
				w->is_cut = true;
				return HDB_OK;
			}
			TRY(base_vec_push(&w->nodes, &child, sizeof(child), err));
		}
	}
}

/*
 * Returns whether an object is a node of the same tree or list as the object above it, or of the
 * tree or list that the object above represents.
 */
static bool is_node_of(struct heap *heap, uint32_t class_no, uint32_t above_no)
{
	const char *name = heap_class_name(heap, class_no),
		   *above = heap_class_name(heap, above_no);
	const size_t size = strlen(above);

	return class_no == above_no || (strncmp(name, above, size) == 0 && name[size] == '$');
}

/*
 * Finds the object at which the walk begins: the highest object that holds little besides the
 * accumulation point, or that has the accumulation point as one of its nodes.
 */
static int find_top(const struct session *session, const struct analysis_suspect *s, uint32_t *top,
		    struct hdb_error *err)
{
	struct heap_object object;
	uint64_t bytes, more;
	uint32_t above;

	*top = s->point_ix == HEAP_NONE ? s->ix : s->point_ix;
	TRY(heap_object(session->heap, *top, &object, err));
	TRY(derive_retained(session->derive, *top, &bytes, err));
	for (unsigned i = 0, nodes = 0;
	     i < FACTS_TOP_CLIMBS && nodes < FACTS_NODES && *top != s->ix && !s->split_bytes;) {
		const uint32_t class_no = object.class_no;
		bool is_node;

		TRY(derive_dominator(session->derive, *top, &above, err));
		if (above == HEAP_NONE || above == *top)
			return HDB_OK;
		TRY(heap_object(session->heap, above, &object, err));
		if (object.kind == STORE_CLASS)
			return HDB_OK;
		is_node = is_node_of(session->heap, class_no, object.class_no);
		TRY(derive_retained(session->derive, above, &more, err));
		if (!is_node && (double)bytes < (double)more * FACTS_CLIMB_PART)
			return HDB_OK;
		bytes = is_node ? more : bytes;
		nodes += is_node;
		i += !is_node;
		*top = above;
	}
	return HDB_OK;
}

static int add_tops(struct held_walk *w, const struct analysis_suspect *s, struct hdb_error *err)
{
	const size_t step = (s->members.count + w->children_max - 1) / w->children_max;
	struct held_node node = { .parent = HEAP_NONE, .weight = 1 };
	uint64_t bytes;

	if (s->ix != HEAP_NONE) {
		TRY(find_top(w->session, s, &node.ix, err));
		TRY(derive_retained(w->session->derive, node.ix, &bytes, err));
		/* In the middle of a long chain, the whole suspect is examined. */
		if (bytes < s->retained_bytes / FACTS_TOP_PART)
			node.ix = s->ix;
		return base_vec_push(&w->nodes, &node, sizeof(node), err);
	}
	assert(step > 0 && s->members.count <= s->count);
	for (size_t i = 0; i < s->members.count; i += step) {
		node.ix = *base_vec_at(&s->members, uint32_t, i);
		TRY(base_vec_push(&w->nodes, &node, sizeof(node), err));
	}
	for (size_t i = 0; i < w->nodes.count; i++)
		base_vec_at(&w->nodes, struct held_node, i)->weight =
			(double)s->count / (double)w->nodes.count;
	return HDB_OK;
}

/* ---- the figures ---- */

/*
 * Sets the facts derived from a tally: the number and the class. EXPLAIN_FACT_COUNT stands for no
 * fact.
 */
static void set_tally(const struct held_walk *w, const struct held_tally *tally,
		      const enum explain_fact to[2], struct explain_facts *out)
{
	char name[EXPLAIN_CONTENT_MAX];
	unsigned most;

	if (!tally->classes)
		return;
	most = most_of(tally);
	(void)snprintf(name, sizeof(name), "%.100s%s",
		       explain_short_class(w->session->heap, tally->list[most].class_no),
		       tally->list[most].count < tally->count * FACTS_ONE_KIND ? " and others" :
										 "");
	held_set(out, to[0], tally->count, w->is_about);
	if (to[1] != EXPLAIN_FACT_COUNT)
		explain_fact_text(out, to[1], name);
}

/* Reports the unused slots of the class and of the container that have the most of them. */
static void set_rooms(const struct held_walk *w, struct explain_facts *out)
{
	const unsigned most = most_of(&w->rooms);
	double count = w->rooms.list[most].count;
	double places = w->rooms.list[most].places, used = w->rooms.list[most].used;

	if (!w->rooms.classes || w->rooms.bytes <= 0)
		return;
	assert(count > 0);
	/* a container that holds the other containers must not change their average */
	if (w->big.class_no == w->rooms.list[most].class_no && w->big.weight <= 1 &&
	    count > FACTS_FAR_LARGER && w->big.places * count > places * FACTS_FAR_LARGER) {
		count -= 1;
		places -= w->big.places;
		used -= w->big.used;
	}
	held_set(out, EXPLAIN_FACT_rooms, count, w->is_about);
	explain_fact_text(out, EXPLAIN_FACT_room_kind,
			  explain_short_class(w->session->heap, w->rooms.list[most].class_no));
	explain_fact_set(out, EXPLAIN_FACT_room_places, places / count);
	explain_fact_set(out, EXPLAIN_FACT_room_used, used / count);
	held_set_percent(w, out, EXPLAIN_FACT_free_percent, w->rooms.bytes);
	explain_fact_text(out, EXPLAIN_FACT_big_kind,
			  explain_short_class(w->session->heap, w->big.class_no));
	explain_fact_set(out, EXPLAIN_FACT_big_places, w->big.places);
	explain_fact_set(out, EXPLAIN_FACT_big_used, w->big.used);
	explain_fact_set(out, EXPLAIN_FACT_big_free, w->big.bytes);
}

/*
 * Reports that nothing was ever removed from any of many collections, if these collections take a
 * large share of the memory. A walk that counts all objects replaces only a sentence based on a
 * sample. A sentence about the largest collection takes precedence.
 */
static void set_growth(const struct held_walk *w, struct explain_facts *out)
{
	struct explain_figure *growth = &out->figures[EXPLAIN_FACT_growth];
	const unsigned most = most_of(&w->filled);
	char text[EXPLAIN_CONTENT_MAX];

	if (w->is_count && !growth->is_about)
		return;
	*growth = (struct explain_figure){ .kind = BASE_NOTHING };
	if (w->filled.count < FACTS_FILLED_MIN || w->plumbing * 3 < w->all.bytes ||
	    w->filled.list[most].used < w->filled.list[most].count)
		return;
	(void)snprintf(text, sizeof(text),
		       "Nothing was ever removed from any of its many %.60ss%s.",
		       explain_short_class(w->session->heap, w->filled.list[most].class_no),
		       w->is_about ? " that were sampled" : "");
	explain_fact_text(out, EXPLAIN_FACT_growth, text);
	growth->is_about = w->is_about;
}

/*
 * Names the function in which most coroutines are suspended. The compiler makes a class for each
 * suspend function, "Prices$fetch$1", and for each lambda in one, "Prices$fetch$2$1". The field
 * `label` is the number of the suspension point.
 */
static void set_suspended(const struct held_walk *w, struct explain_facts *out)
{
	const unsigned most = most_of(&w->suspended);
	const double label = w->suspended.list[most].first_places;
	char name[EXPLAIN_CONTENT_MAX], *part;

	if (w->suspended.list[most].count * 2 <= w->suspended.count)
		return;
	(void)snprintf(name, sizeof(name), "%s",
		       explain_short_class(w->session->heap, w->suspended.list[most].class_no));
	while ((part = strrchr(name, '$')) && part > name &&
	       strspn(part + 1, "0123456789") == strlen(part + 1))
		*part = '\0';
	part = strrchr(name, '$');
	if (part && part > name)
		*part = '.';
	explain_fact_text(out, EXPLAIN_FACT_suspended_in, name);
	/* a suspended function has a positive number; the highest bit means that it runs */
	if (!w->suspended.list[most].is_varied && label >= 1 && label <= INT32_MAX)
		explain_fact_set(out, EXPLAIN_FACT_suspended_label, label);
}

/*
 * Reports when the first task is due, if the times of all tasks are known, or for how long it has
 * been overdue.
 */
static void set_due(const struct held_walk *w, struct explain_facts *out)
{
	const bool is_late = w->overdue.count > 0;
	char text[EXPLAIN_CONTENT_MAX];

	if (!w->now_ms || w->is_about ||
	    (!is_late && (w->due_ms <= w->now_ms || w->timers < w->scheduled.count)))
		return;
	entry_age_text(is_late ? w->now_ms - w->due_ms : w->due_ms - w->now_ms, BASE_TEXT(text));
	explain_fact_text(out, is_late ? EXPLAIN_FACT_late : EXPLAIN_FACT_due, text);
}

static void set_figures(const struct held_walk *w, struct explain_facts *out)
{
	const struct {
		const struct held_tally *tally;
		enum explain_fact to[2];
	} tallies[] = {
#define TALLY(member, count, kind) \
	{ \
		&w->member, \
		{ \
			EXPLAIN_FACT_##count, EXPLAIN_FACT_##kind \
		} \
	}
		TALLY(empties, empties, empty_kind),
		TALLY(boxes, boxes, box_kind),
		TALLY(errors, errors, error_kind),
		TALLY(references, references, reference_kind),
		TALLY(views, views, view_kind),
		TALLY(futures, futures, COUNT),
		TALLY(tasks, tasks, COUNT),
		TALLY(scheduled, scheduled, scheduled_kind),
		TALLY(slack, slack, slack_kind),
		TALLY(small, small, small_kind),
		TALLY(near, near, near_kind),
		TALLY(direct, direct, COUNT),
		TALLY(suspended, suspended, COUNT),
		TALLY(self_kept, self_kept, self_kept_kind),
		TALLY(overdue, overdue, overdue_kind),
	};

	if (w->all.bytes <= 0)
		return;
	explain_fact_set(out, EXPLAIN_FACT_bytes, w->all.bytes);
	for (size_t i = 0; i < BASE_COUNT(tallies); i++)
		set_tally(w, tallies[i].tally, tallies[i].to, out);
	set_rooms(w, out);
	set_growth(w, out);
	set_suspended(w, out);
	set_due(w, out);
	held_set(out, EXPLAIN_FACT_suppressed, w->suppressed, false);
	held_set(out, EXPLAIN_FACT_open_futures, w->open_futures, w->is_about);
	held_set(out, EXPLAIN_FACT_waited, w->waited, w->is_about);
	held_set(out, EXPLAIN_FACT_cancelled, w->cancelled, w->is_about);
	held_set(out, EXPLAIN_FACT_enqueued, w->enqueued, w->is_about);
	held_set(out, EXPLAIN_FACT_done, w->done, w->is_about);
	held_set(out, EXPLAIN_FACT_queued, w->queued, w->is_about);
	held_set(out, EXPLAIN_FACT_periodic, w->periodic, w->is_about);
	held_set(out, EXPLAIN_FACT_dependents, w->dependents, w->is_about);
	held_set(out, EXPLAIN_FACT_loaders, w->loaders, false);
	if (w->loaders > 0)
		explain_fact_object(out, EXPLAIN_FACT_loader, w->loader_ix);
	held_set(out, EXPLAIN_FACT_cleared, w->cleared, w->is_about);
	held_set_percent(w, out, EXPLAIN_FACT_soft_percent, w->soft_bytes);
	held_set_percent(w, out, EXPLAIN_FACT_slack_percent, w->slack.bytes);
	if (w->slack.classes) {
		const size_t most = most_of(&w->slack);

		explain_fact_set(out, EXPLAIN_FACT_slack_length,
				 w->slack.list[most].places / w->slack.list[most].count);
	}
	held_set_percent(w, out, EXPLAIN_FACT_near_percent, w->near.bytes);
	held_set_percent(w, out, EXPLAIN_FACT_local_percent, w->locals);
	held_set_percent(w, out, EXPLAIN_FACT_waited_percent, w->waited_bytes);
	held_set_percent(w, out, EXPLAIN_FACT_plumbing_percent, w->plumbing);
	if (w->small.classes) {
		const unsigned most = most_of(&w->small);

		explain_fact_set(out, EXPLAIN_FACT_small_used,
				 w->small.list[most].used / w->small.list[most].count);
	}
	held_set(out, EXPLAIN_FACT_direct_bytes, w->direct.bytes, w->is_about);
	held_set_percent(w, out, EXPLAIN_FACT_view_percent, w->views.bytes);
	held_set_percent(w, out, EXPLAIN_FACT_empty_percent, w->empties.bytes);
	held_set_percent(w, out, EXPLAIN_FACT_error_percent, w->errors.bytes);
	held_set_percent(w, out, EXPLAIN_FACT_box_percent, w->boxes.bytes);
}

/* Collects the objects of the walk, with at most children_max children per object. */
static int collect(struct held_walk *w, const struct analysis_suspect *s, struct hdb_error *err)
{
	w->nodes.count = 0;
	w->level = 0;
	w->is_cut = false;
	TRY(add_tops(w, s, err));
	for (size_t i = 0; i < w->nodes.count && !w->is_cut; i++) {
		if (w->is_by_level && i >= w->level)
			begin_level(w);
		TRY(add_children(w, i, err));
	}
	return HDB_OK;
}

/* Lets the visited objects represent the objects that the walk did not reach. */
static int fill_cut(struct held_walk *w, struct hdb_error *err)
{
	double bytes[2] = { 0 }; /* total size of the other objects, and of the big objects */

	for (size_t i = 0; i < w->nodes.count; i++) {
		struct held_node *node = base_vec_at(&w->nodes, struct held_node, i);
		struct heap_object object;

		TRY(heap_object(w->session->heap, node->ix, &object, err));
		node->is_big = (double)object.shallow_bytes * FACTS_BIG_PART >= w->whole;
		bytes[node->is_big] += node->weight * (double)object.shallow_bytes;
	}
	if (bytes[0] <= 0 || bytes[0] + bytes[1] >= w->whole)
		return HDB_OK;
	for (size_t i = 0; i < w->nodes.count; i++) {
		struct held_node *node = base_vec_at(&w->nodes, struct held_node, i);

		if (!node->is_big)
			node->weight *= (w->whole - bytes[1]) / bytes[0];
	}
	return HDB_OK;
}

/*
 * Follows the children that retain at least half of the top. Each of them is the first child,
 * because children are sorted by size. Records the last child that is the value of a map entry.
 */
static int find_heavy(struct held_walk *w, struct explain_facts *out, struct hdb_error *err)
{
	uint32_t no = 0;

	for (uint32_t i = 1; i < w->nodes.count && w->top_bytes; i++) {
		const struct held_node *child = base_vec_at(&w->nodes, struct held_node, i);
		const uint32_t above_no = base_vec_at(&w->nodes, struct held_node, no)->class_no;
		uint64_t bytes;

		if (child->parent != no)
			continue;
		TRY(derive_retained(w->session->derive, child->ix, &bytes, err));
		if (bytes < w->top_bytes / 2)
			break;
		no = i;
		if (held_kind_of(w, above_no) != HELD_NODE ||
		    held_kind_of(w, child->class_no) == HELD_NODE)
			continue;
		explain_fact_object(out, EXPLAIN_FACT_heavy, child->ix);
		explain_fact_set(out, EXPLAIN_FACT_heavy_percent,
				 (double)bytes * 100 / (double)w->top_bytes);
	}
	return HDB_OK;
}

/*
 * Names the field through which another object refers to the largest collection or to its wrapper.
 */
static int name_field(struct held_walk *w, struct explain_facts *out, struct hdb_error *err)
{
	uint32_t ix = w->largest_ix, above;
	struct analysis_link link;
	struct heap_object object;
	uint64_t bytes, more;

	TRY(derive_retained(w->session->derive, ix, &bytes, err));
	for (unsigned i = 0; i < FACTS_CLIMBS; i++, ix = above) {
		TRY(derive_dominator(w->session->derive, ix, &above, err));
		if (above == HEAP_NONE || above == ix)
			return HDB_OK;
		TRY(heap_object(w->session->heap, above, &object, err));
		if (object.kind == STORE_CLASS || (object.kind == STORE_INSTANCE &&
						   held_kind_of(w, object.class_no) == HELD_OTHER))
			break;
	}
	TRY(derive_retained(w->session->derive, ix, &more, err));
	TRY(analysis_link_find(w->session, above, ix, &link, err));
	if (link.kind == ANALYSIS_LINK_FIELD || link.kind == ANALYSIS_LINK_STATIC) {
		explain_fact_text(out, EXPLAIN_FACT_holder_field, analysis_link_name(&link));
		explain_fact_text(out, EXPLAIN_FACT_holder_class,
				  inspect_simple_name(heap_class_name(w->session->heap,
								      heap_known_class(&object))));
	}
	if (more > bytes + bytes / FACTS_NESTED_PART)
		explain_fact_set(out, EXPLAIN_FACT_is_nested, 1);
	return HDB_OK;
}

/*
 * Names the field through which each object of a chain holds the next object. Short chains are
 * normal and not reported.
 */
static int set_chain(const struct held_walk *w, struct explain_facts *out, struct hdb_error *err)
{
	const char *name;
	struct analysis_link link;
	unsigned i = 0;

	if (w->chained < FACTS_CHAIN_MIN || w->branches * 10 > w->chained)
		return HDB_OK;
	while (i < w->all.classes && w->all.list[i].class_no != w->chain_last->class_no)
		i++;
	if (i == w->all.classes || w->all.list[i].count > w->chained * FACTS_CHAIN_PART)
		return HDB_OK;
	name = heap_class_name(w->session->heap, w->chain_last->class_no);
	/* Trees of platform classes, such as the tree of a file system, are not reported. */
	if (heap_is_platform_class(name) && !strstr(name, "$$Lambda"))
		return HDB_OK;
	TRY(analysis_link_find(w->session, held_parent(w, w->chain_last)->ix, w->chain_last->ix,
			       &link, err));
	if (link.kind != ANALYSIS_LINK_FIELD)
		return HDB_OK;
	explain_fact_text(out, EXPLAIN_FACT_chain_kind,
			  explain_short_class(w->session->heap, w->chain_last->class_no));
	explain_fact_text(out, EXPLAIN_FACT_chain_field, analysis_link_name(&link));
	return HDB_OK;
}

/*
 * Counts a closed class loader above the walk, because the object at the top may belong to such a
 * class loader.
 */
static int look_above(struct held_walk *w, struct hdb_error *err)
{
	const struct held_node *top = w->nodes.data;
	struct heap *heap = w->session->heap;
	uint32_t ix = w->nodes.count ? top->ix : HEAP_NONE, above;

	for (unsigned i = 0; i < FACTS_CLIMBS && ix != HEAP_NONE && w->loaders == 0; i++) {
		struct heap_object object, loader;
		uint32_t loader_ix;

		TRY(heap_object(heap, ix, &object, err));
		loader_ix = heap_class(heap, heap_known_class(&object))->loader_ix;
		if (loader_ix != HEAP_BOOT_LOADER && loader_ix != HEAP_NONE) {
			TRY(heap_object(heap, loader_ix, &loader, err));
			if (held_kind_of(w, loader.class_no) == HELD_LOADER)
				TRY(held_count_loader(w, loader_ix, top->weight, err));
		}
		TRY(derive_dominator(w->session->derive, ix, &above, err));
		if (above == ix)
			break;
		ix = above;
	}
	return HDB_OK;
}

/*
 * Reads the owners of the largest collection or, if there is none, of the accumulation point. For a
 * group, reads the owners on the common path of its members, because most members share them.
 */
static int look_at_owners(struct held_walk *w, const struct analysis_suspect *s,
			  struct explain_facts *out, struct hdb_error *err)
{
	const double entries = out->figures[EXPLAIN_FACT_entries].number;
	const bool are_many =
		entries >= FACTS_MANY ||
		(entries >= FACTS_MODERATE && w->all.bytes >= entries * FACTS_LARGE_BYTES);
	uint32_t ix = are_many ? w->largest_ix : HEAP_NONE;
	struct heap_collection c;
	bool is_largest;
	int r;

	if (are_many)
		explain_fact_set(out, EXPLAIN_FACT_many, 1);
	if (s->ix == HEAP_NONE && s->common.count)
		ix = *base_vec_at(&s->common, uint32_t, s->common.count - 1);
	else if (ix == HEAP_NONE && s->point_ix != HEAP_NONE)
		ix = s->point_ix;
	else if (ix == HEAP_NONE && w->nodes.count)
		ix = base_vec_at(&w->nodes, struct held_node, 0)->ix;
	if (ix == HEAP_NONE)
		return HDB_OK;
	is_largest = ix == w->largest_ix;
	/* the class of the map inside a synchronized or read-only map may have a limit */
	TRY_ERRORS(r = heap_collection_open(w->session->heap, ix, &c, err));
	return explain_owner_facts(w->session, r == HDB_OK ? c.inner_ix : ix, is_largest, out, err);
}

/* Visits the objects of a suspect and sets the figures that are sums over them. */
static int count(struct held_walk *w, const struct analysis_suspect *s, struct explain_facts *out,
		 struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_value enqueued = { .bits = 0 };

	TRY(heap_open_dump(heap, err));
	TRY(heap_load_classes(heap, err));
	TRY(BASE_ALLOC(w->kinds, (size_t)heap->class_count + 1, "classes", err));
	TRY(derive_children(w->session->derive, &w->children, err));
	TRY_ERRORS(
		heap_static_value(heap, "java.lang.ref.ReferenceQueue.ENQUEUED", &enqueued, err));
	w->enqueued_bits = enqueued.bits;
	w->reference_no = heap_class_by_name(heap, "java.lang.ref.Reference", 0);
	do {
		TRY(collect(w, s, err));
		w->children_max /= 4;
	} while (w->is_cut && w->children_max >= FACTS_CHILDREN_MIN && !w->is_count);
	if (w->is_cut && w->is_count)
		return HDB_OK;
	if (w->is_cut) {
		w->is_by_level = true;
		w->children_max = FACTS_CHILDREN_MIN;
		TRY(collect(w, s, err));
	}
	if (s->ix != HEAP_NONE)
		TRY(derive_retained(w->session->derive,
				    base_vec_at(&w->nodes, struct held_node, 0)->ix, &w->top_bytes,
				    err));
	if (w->split_bytes)
		w->top_bytes = s->retained_bytes;
	w->whole = (double)(s->ix == HEAP_NONE ? s->retained_bytes : w->top_bytes);
	if (w->is_cut)
		TRY(fill_cut(w, err));
	for (size_t i = 0; i < w->nodes.count; i++) {
		if (i % FACTS_STEPS == 0)
			TRY(check_cancel(w, err));
		TRY(look_at(w, i, err));
	}
	TRY(look_above(w, err));
	set_figures(w, out);
	return HDB_OK;
}

/*
 * Reports an array of arrays of numbers in a static field of a library class, such as the table of
 * a parser. An application cannot change such a table, and it does not grow.
 */
static int find_library_table(const struct held_walk *w, const struct analysis_suspect *s,
			      struct explain_facts *out, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	uint32_t ix = s->point_ix != HEAP_NONE ? s->point_ix : s->ix, above, class_no;
	struct heap_object object;
	const char *name;

	if (ix == HEAP_NONE)
		return HDB_OK;
	TRY(heap_object(heap, ix, &object, err));
	name = object.kind == STORE_OBJECT_ARRAY ? heap_class_name(heap, object.class_no) : "";
	if (!strchr(name, '[') || strchr(name, '.'))
		return HDB_OK;
	TRY(derive_dominator(w->session->derive, ix, &above, err));
	TRY_FOUND(above == HEAP_NONE || above == ix ? HDB_NOTFOUND : HDB_OK);
	TRY(heap_object(heap, above, &object, err));
	TRY_FOUND(object.kind == STORE_CLASS ? heap_class_of_object(heap, above, &class_no, err) :
					       HDB_NOTFOUND);
	if (!heap_is_library_class(heap_class_name(heap, class_no)))
		return HDB_OK;
	explain_fact_set(out, EXPLAIN_FACT_library_table, 1);
	explain_fact_text(out, EXPLAIN_FACT_library_kind, explain_short_class(heap, class_no));
	return HDB_OK;
}

/* Forgets the largest collection if it is too small, or too large, to explain the suspect. */
static int check_largest(struct held_walk *w, const struct analysis_suspect *s,
			 struct hdb_error *err)
{
	const bool is_group = s->ix == HEAP_NONE;
	const double whole = w->whole / (double)(is_group && s->count ? s->count : 1);
	uint64_t bytes;

	TRY_FOUND(w->largest_ix == HEAP_NONE ? HDB_NOTFOUND : HDB_OK);
	TRY(derive_retained(w->session->derive, w->largest_ix, &bytes, err));
	if ((double)bytes * FACTS_PART < whole ||
	    (is_group && (double)bytes > whole * FACTS_UNUSUAL))
		w->largest_ix = HEAP_NONE;
	return HDB_OK;
}

static int walk(struct held_walk *w, const struct analysis_suspect *s, struct explain_facts *out,
		struct hdb_error *err)
{
	TRY(count(w, s, out, err));
	TRY(set_chain(w, out, err));
	TRY(held_find_equals(w, out, err));
	TRY(held_set_nonzero(w, out, err));
	if (w->largest_ix == HEAP_NONE)
		w->largest_ix = w->larger_ix;
	if (w->most_ix != HEAP_NONE)
		w->largest_ix = w->most_ix;
	TRY(check_largest(w, s, err));
	TRY(find_library_table(w, s, out, err));
	TRY(find_heavy(w, out, err));
	if (w->largest_ix != HEAP_NONE) {
		TRY(name_field(w, out, err));
		TRY(explain_entry_facts(w->session, w->largest_ix, out, err));
	}
	return look_at_owners(w, s, out, err);
}

/*
 * Sets the facts about the class of the members. These are the objects of a group or, for other
 * suspects, the values of the largest collection.
 */
static void set_members(struct heap *heap, const struct analysis_suspect *suspect,
			struct explain_facts *out)
{
	out->figures[EXPLAIN_FACT_members] = out->figures[EXPLAIN_FACT_entries];
	out->figures[EXPLAIN_FACT_member_kind] = out->figures[EXPLAIN_FACT_value_kind];
	if (suspect->ix != HEAP_NONE)
		return;
	explain_fact_set(out, EXPLAIN_FACT_members, (double)suspect->count);
	explain_fact_text(out, EXPLAIN_FACT_member_kind, heap_class_name(heap, suspect->class_no));
}

static struct held_walk begin(const struct session *session, const struct analysis_suspect *suspect)
{
	return (struct held_walk){ .session = session,
				   .now_ms =
					   heap_meta_number(session->heap, "dump.timestamp_ms", 0),
				   .last_array = { HEAP_NONE, HEAP_NONE },
				   .most_ix = HEAP_NONE,
				   .largest_ix = HEAP_NONE,
				   .larger_ix = HEAP_NONE,
				   .split_bytes = suspect->split_bytes,
				   .contents_part = 1,
				   .children_max = FACTS_CHILDREN_MAX,
				   .objects_max = FACTS_OBJECTS_MAX };
}

static void end(struct held_walk *w)
{
	base_vec_release(&w->nodes);
	base_vec_release(&w->contents);
	free(w->kinds);
}

int explain_facts_count(const struct session *session, enum explain_fact no,
			struct explain_facts *facts, struct hdb_error *err)
{
	BASE_SCOPED(end) struct held_walk w = begin(session, facts->suspect);

	if (!facts->figures[no].is_about || facts->is_counted)
		return HDB_OK;
	facts->is_counted = true;
	w.is_count = true;
	w.children_max = UINT32_MAX;
	w.objects_max = FACTS_COUNTED_MAX;
	TRY(count(&w, facts->suspect, facts, err));
	return w.is_cut ? HDB_OK : held_find_equals(&w, facts, err);
}

int explain_facts_find(const struct session *session, const struct analysis_suspect *suspect,
		       struct explain_facts *out, struct hdb_error *err)
{
	BASE_SCOPED(end) struct held_walk w = begin(session, suspect);

	memset(out, 0, sizeof(*out));
	out->suspect = suspect;
	/* In a redacted dump, removed values are zeros, and a portable heap dump has no values. */
	if (session->heap->state.redacted || session->heap->is_phd)
		return HDB_OK;
	if (suspect->retained_bytes < FACTS_BYTES_MIN)
		return HDB_OK;
	TRY(walk(&w, suspect, out, err));
	set_members(session->heap, suspect, out);
	return HDB_OK;
}
