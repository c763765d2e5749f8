/*
 * queries/objects/collection_path.c - finds the collections that a path passes. See
 * collection_path.h.
 *
 * The row of a collection in the table of known collections determines its internals: the array in
 * the field `store`, entries with the key and value fields, and instances of classes nested in the
 * known class (indexes of skip lists, bins of tables).
 */
#include "queries/objects/collection_path.h"

#include "heap/values/value_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Maximum nesting of wrappers and parts. */
#define LEVELS 16
/* Maximum number of objects that a field path can pass. For example, "table.array" passes one. */
#define PATH_OBJECTS 4
/* Maximum number of array elements searched for an index. */
#define SEARCH_MAX (1u << 20)

/* Position of the search in a path. */
struct place {
	const struct session *session;
	const uint32_t *nodes;
	size_t at;         /* position of the object being examined, or SIZE_MAX beyond the end */
	uint32_t ix;       /* the collection that contains the object */
	uint32_t class_no; /* the known class in the collection's row */
	const struct heap_collection_rule *rule;
	unsigned takes;
};

/*
 * Makes `ix` the current collection if the object is a known collection. Returns HDB_OK or
 * HDB_NOTFOUND.
 */
static int enter(struct place *p, uint32_t ix, struct hdb_error *err)
{
	struct heap_object object;
	const int r = heap_object(p->session->heap, ix, &object, err);

	if (r < 0 || object.kind != STORE_INSTANCE)
		return r < 0 ? r : HDB_NOTFOUND;
	p->ix = ix;
	p->rule = heap_collection_rule(p->session->heap, object.class_no);
	p->class_no = object.class_no;
	/*
	 * Use the class that the row names, because a subclass cannot hide the fields of this
	 * class.
	 */
	while (p->rule && heap_class(p->session->heap, p->class_no)->super_no != STORE_NONE &&
	       heap_collection_rule(p->session->heap,
				    heap_class(p->session->heap, p->class_no)->super_no) == p->rule)
		p->class_no = heap_class(p->session->heap, p->class_no)->super_no;
	return p->rule ? HDB_OK : HDB_NOTFOUND;
}

/*
 * Moves to the object at a field path of the collection, if it is among the next objects on the
 * path of references.
 */
static int follow(struct place *p, const char *path, struct hdb_error *err)
{
	uint32_t target;

	TRY(path && *path ?
		    heap_path_object_as(p->session->heap, (struct heap_as){ p->ix, p->class_no },
					path, &target, err) :
		    HDB_NOTFOUND);
	for (size_t n = 0; n < PATH_OBJECTS && n <= p->at; n++) {
		if (p->nodes[p->at - n] == target) {
			p->at -= n;
			return HDB_OK;
		}
	}
	return HDB_NOTFOUND;
}

/* Moves beyond the object, unless it is the last one. */
static bool pass(struct place *p)
{
	if (!p->at)
		return false;
	p->at--;
	return true;
}

/*
 * Finds the index of an object in an array. Returns HDB_NOTFOUND if the object is not among the
 * elements that were searched.
 */
static int find_index(const struct session *session, uint32_t array_ix, uint32_t ix,
		      uint64_t *index, struct hdb_error *err)
{
	struct heap_walk walk;
	uint64_t id;
	int r;

	assert(ix != HEAP_NONE);
	TRY(heap_id(session->heap, ix, &id, err));
	heap_walk_begin(&walk, array_ix, 0, SEARCH_MAX);
	r = heap_walk_to_next(session->heap, &walk, id, err);
	*index = walk.at - 1;
	return r == HDB_END ? HDB_NOTFOUND : r;
}

static int element_of(const struct session *session, uint32_t array_ix, uint64_t index,
		      struct heap_value *out, struct hdb_error *err)
{
	struct heap_slice slice = { .bits = &out->bits, .room = 1 };
	const int r = heap_elements(session->heap, array_ix, index, &slice, err);

	out->type = slice.type;
	return r < 0 || slice.done ? r : HDB_NOTFOUND;
}

/* Sets how the outermost wrapper, if any, holds the element. */
static void set_kind(const struct place *p, struct analysis_fold *fold, bool is_key)
{
	fold->kind = p->takes != HEAP_TAKES_ALL || !p->rule->key ? ANALYSIS_FOLD_ELEMENT :
		     is_key                                      ? ANALYSIS_FOLD_KEY :
								   ANALYSIS_FOLD_VALUE;
}

/* ---- by shape ---- */

/* Folds an array. p->at is the position of the array. */
static int fold_array(struct place *p, struct analysis_fold *fold, bool is_key_array,
		      struct hdb_error *err)
{
	const struct heap_collection_rule *rule = p->rule;
	const uint32_t array_ix = p->nodes[p->at];
	struct heap_object array;
	uint32_t keys = array_ix;
	uint64_t index = 0;
	int64_t first = 0;
	int r = heap_object(p->session->heap, array_ix, &array, err);

	assert(p->at < fold->outer);
	if (r < 0 || !pass(p) || !array.length)
		return r < 0 ? r : HDB_NOTFOUND;
	TRY(find_index(p->session, array_ix, p->nodes[p->at], &index, err));
	fold->kind = rule->kind == HEAP_SET ? ANALYSIS_FOLD_ELEMENT : ANALYSIS_FOLD_INDEX;
	fold->index = index;
	if (rule->shape == HEAP_ARRAY && rule->first) {
		r = heap_path_number_as(p->session->heap, (struct heap_as){ p->ix, p->class_no },
					rule->first, &first, err);
		if (r == HDB_OK && first > 0)
			fold->index = (index + array.length - (uint64_t)first % array.length) %
				      array.length;
		return r < 0 ? r : HDB_OK;
	}
	if (rule->shape == HEAP_ARRAY || (rule->shape == HEAP_SLOTS && !rule->key))
		return HDB_OK;
	is_key_array = is_key_array || (rule->shape == HEAP_PAIRS && index % 2 == 0);
	fold->kind = p->takes != HEAP_TAKES_ALL ? ANALYSIS_FOLD_ELEMENT :
		     is_key_array               ? ANALYSIS_FOLD_KEY :
						  ANALYSIS_FOLD_VALUE;
	if (rule->shape == HEAP_PAIRS)
		index &= ~1ull;
	else
		TRY(heap_path_object_as(p->session->heap, (struct heap_as){ p->ix, p->class_no },
					rule->key, &keys, err));
	return element_of(p->session, keys, index, &fold->key, err);
}

/* Sets *out to whether the entry refers to the next object by this field path. */
static int holds(struct place *p, uint32_t entry, const char *path, bool *out,
		 struct hdb_error *err)
{
	struct place inside = *p;
	int r;

	inside.ix = entry;
	inside.class_no = HEAP_NONE;
	inside.at--;
	r = follow(&inside, path, err);
	*out = r == HDB_OK;
	if (*out)
		p->at = inside.at + 1;
	return r < 0 ? r : HDB_OK;
}

/*
 * Sets *out to whether an object is internal to the collection, because its class is nested in the
 * collection's class or because it has the fields of an entry.
 */
static int is_inside(struct place *p, uint32_t ix, bool *out, struct hdb_error *err)
{
	const struct heap_collection_rule *rule = p->rule;
	struct heap_object object;
	const int r = heap_object(p->session->heap, ix, &object, err);
	uint32_t no = p->class_no;

	*out = false;
	if (r < 0 || object.kind != STORE_INSTANCE)
		return r;
	*out = (rule->value && *rule->value &&
		heap_has_path(p->session->heap, object.class_no, HEAP_NONE, rule->value) &&
		rule->next &&
		heap_has_path(p->session->heap, object.class_no, HEAP_NONE, rule->next));
	for (uint32_t steps = 0;
	     !*out && no != STORE_NONE && steps <= p->session->heap->class_count; steps++) {
		const char *outer = heap_class_name(p->session->heap, no);
		const char *name = heap_class_name(p->session->heap, object.class_no);
		const size_t size = strlen(outer);

		*out = strncmp(name, outer, size) == 0 && name[size] == '$';
		no = heap_class(p->session->heap, no)->super_no;
	}
	return r;
}

/*
 * Follows entries to the entry that holds an object that is not an entry. p->at is at the first
 * entry.
 */
static int fold_entries(struct place *p, struct analysis_fold *fold, bool is_first,
			struct hdb_error *err)
{
	const struct heap_collection_rule *rule = p->rule;
	uint64_t hops = 0;
	bool found = false, is_key = false, inside = true;
	int r = is_inside(p, p->nodes[p->at], &inside, err);

	assert(p->at < fold->outer);
	/*
	 * Tries the value before the key, because an object that is both is more likely of interest
	 * as a value.
	 */
	while (r == HDB_OK && inside && p->at) {
		const uint32_t entry = p->nodes[p->at];
		uint32_t next;

		if (rule->value && (r = holds(p, entry, rule->value, &found, err)) < 0)
			return r;
		if (r == HDB_OK && !found && rule->key) {
			TRY(holds(p, entry, rule->key, &found, err));
			is_key = found;
		}
		if (found) {
			p->at--;
			fold->index = is_first ? hops : UINT64_MAX;
			set_kind(p, fold, is_key);
			if (!rule->key && rule->kind == HEAP_LIST)
				fold->kind = ANALYSIS_FOLD_INDEX;
			return rule->key ? heap_path_value(p->session->heap, entry, rule->key,
							   &fold->key, err) :
					   HDB_OK;
		}
		p->at--;
		hops++;
		is_first = is_first && rule->next &&
			   heap_path_object(p->session->heap, entry, rule->next, &next, NULL) ==
				   HDB_OK &&
			   next == p->nodes[p->at];
		TRY(is_inside(p, p->nodes[p->at], &inside, err));
		r = hops % 4096 ? HDB_OK : base_step(p->session->work, hops, err);
	}
	return r < 0 ? r : HDB_NOTFOUND;
}

static int fold_chains(struct place *p, struct analysis_fold *fold, struct hdb_error *err)
{
	const struct heap_collection_rule *rule = p->rule;
	const char *array = rule->array ? rule->array : rule->store;
	const bool circular = rule->flags & HEAP_CIRCULAR;
	int r = rule->shape == HEAP_CHAINS || rule->array ? follow(p, array, err) : HDB_NOTFOUND;

	if (r == HDB_OK)
		return pass(p) ? fold_entries(p, fold, false, err) : HDB_NOTFOUND;
	if (r == HDB_NOTFOUND && rule->shape != HEAP_CHAINS)
		r = follow(p, rule->store, err);
	if (r == HDB_OK && circular)
		return pass(p) ? fold_entries(p, fold, rule->kind == HEAP_LIST, err) : HDB_NOTFOUND;
	TRY_ERRORS(r);
	/*
	 * The object may be held by another field, such as one for the last entry or for an index.
	 */
	return fold_entries(p, fold, r == HDB_OK && rule->shape == HEAP_LINKED, err);
}

/* Folds the steps from the collection at p->ix to its element. */
static int fold_one(struct place *p, struct analysis_fold *fold, struct hdb_error *err)
{
	int r = HDB_OK;

	assert(p->at < fold->outer);
	for (unsigned level = 0; level < LEVELS; level++) {
		switch (p->rule->shape) {
		case HEAP_WRAP:
			if (p->takes == HEAP_TAKES_ALL)
				p->takes = p->rule->takes;
			r = follow(p, p->rule->store, err);
			break;
		case HEAP_PARTS:
			r = follow(p, p->rule->store, err);
			if (r == HDB_OK && !pass(p))
				r = HDB_NOTFOUND;
			break;
		case HEAP_ARRAY:
		case HEAP_SLOTS:
		case HEAP_PAIRS:
			r = follow(p, p->rule->store, err);
			if (r != HDB_NOTFOUND || p->rule->shape != HEAP_SLOTS)
				return r == HDB_OK ? fold_array(p, fold, false, err) : r;
			TRY(follow(p, p->rule->key, err));
			return fold_array(p, fold, true, err);
		case HEAP_CHAINS:
		case HEAP_LINKED:
		case HEAP_TREE:
			return fold_chains(p, fold, err);
		default:
			return HDB_NOTFOUND;
		}
		if (r != HDB_OK)
			return r < 0 ? r : HDB_NOTFOUND;
		/*
		 * The object is a wrapped collection, or part of a wrapped collection. An element
		 * shown by a view belongs to the view.
		 */
		if ((r = enter(p, p->nodes[p->at], err)) != HDB_OK)
			return r < 0 ? r : HDB_NOTFOUND;
		if (!pass(p))
			return HDB_NOTFOUND;
	}
	return HDB_NOTFOUND;
}

int analysis_fold_path(const struct session *session, const uint32_t *nodes, size_t count,
		       struct base_vec *out, struct hdb_error *err)
{
	size_t at = count;
	int r;

	while (at > 1) {
		struct place p = { .session = session, .nodes = nodes, .at = at - 2 };
		struct analysis_fold fold = { .outer = at - 1, .index = UINT64_MAX };

		if ((r = enter(&p, nodes[at - 1], err)) == HDB_OK)
			r = fold_one(&p, &fold, err);
		TRY_ERRORS(r);
		at--;
		if (r != HDB_OK)
			continue;
		fold.inner = p.at;
		assert(fold.inner < fold.outer);
		if (fold.inner + 1 < fold.outer) {
			TRY(base_vec_push(out, &fold, sizeof(fold), err));
			at = p.at + 1;
		}
	}
	return HDB_OK;
}

void analysis_fold_text(const struct session *session, const struct analysis_fold *fold, char *buf,
			size_t size)
{
	char key[512];
	uint32_t ix;

	assert(size > 0);
	heap_basic_text(&fold->key, key, sizeof(key));
	if (fold->key.type == HPROF_OBJECT && fold->key.bits &&
	    heap_find(session->heap, fold->key.bits, &ix, NULL) == HDB_OK) {
		char text[400];

		heap_value_text(session->heap, ix, text, sizeof(text));
		if (text[0])
			(void)snprintf(key, sizeof(key), "%s", text);
	}
	switch (fold->kind) {
	case ANALYSIS_FOLD_VALUE:
		(void)snprintf(buf, size, "[%s]", key);
		break;
	case ANALYSIS_FOLD_KEY:
		(void)snprintf(buf, size, "key [%s]", key);
		break;
	case ANALYSIS_FOLD_INDEX:
		if (fold->index == UINT64_MAX)
			(void)snprintf(buf, size, "[?]");
		else
			(void)snprintf(buf, size, "[%" PRIu64 "]", fold->index);
		break;
	default:
		(void)snprintf(buf, size, "element");
		break;
	}
}
