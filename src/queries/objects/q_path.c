/*
 * queries/objects/q_path.c - query path: why an object is alive: paths from GC roots to it.
 *
 * The usual questions (avoiding referents of weak, soft, phantom and final references; or using all
 * references) are answered from a reach tree, which contains the least strange paths
 * (derive/strangeness.h). Other exclusions, several paths, and the shortest path need a search
 * backwards along the referrers.
 */
#include "analysis/exclude.h"
#include "graph/paths.h"
#include "heap/collections/collections.h"
#include "heap/heap_database.h"
#include "heap/threads.h"
#include "heap/values/value_text.h"
#include "queries/queries.h"

/*
 * Paths through collections, as map["key"] or list[3]: the
 * entries, tables and inner maps between a collection and its element count as one step.
 */

/* How a collection holds an object. */
enum analysis_fold_kind {
	ANALYSIS_FOLD_INDEX,
	ANALYSIS_FOLD_VALUE,
	ANALYSIS_FOLD_KEY,
	ANALYSIS_FOLD_ELEMENT
};

/* Steps outer - 1 to inner + 1 of a path, which are inside the collection at step `outer`. */
struct analysis_fold {
	uint64_t outer, inner;
	enum analysis_fold_kind kind;
	uint64_t index;        /* for ANALYSIS_FOLD_INDEX; UINT64_MAX if unknown */
	struct heap_value key; /* for ANALYSIS_FOLD_VALUE and _KEY */
};

/* Maximum nesting of wrappers and parts. */
#define LEVELS 16
/* Maximum number of objects that a path of fields passes: "table.array" passes one. */
#define PATH_OBJECTS 4
/* Maximum number of array elements searched for an index. */
#define SEARCH_MAX (1u << 20)

/* Position of the search in a path. */
struct place {
	const struct session *session;
	const uint32_t *nodes;
	size_t at;         /* the object being examined; SIZE_MAX: past the end */
	uint32_t ix;       /* the collection that holds it */
	uint32_t class_no; /* the class that its row names */
	const struct heap_collection_rule *rule;
	unsigned takes;
};

/* Makes `ix` the current collection, if it is a known one: HDB_OK or HDB_NOTFOUND. */
static int enter(struct place *p, uint32_t ix, struct hdb_error *err)
{
	struct heap_object object;
	const int r = heap_object(p->session->heap, ix, &object, err);

	if (r < 0 || object.kind != STORE_INSTANCE)
		return r < 0 ? r : HDB_NOTFOUND;
	p->ix = ix;
	p->rule = heap_collection_rule(p->session->heap, object.class_no);
	p->class_no = object.class_no;
	/* Use the class that the row names, whose fields a subclass cannot hide. */
	while (p->rule && heap_class(p->session->heap, p->class_no)->super_no != STORE_NONE &&
	       heap_collection_rule(p->session->heap,
				    heap_class(p->session->heap, p->class_no)->super_no) == p->rule)
		p->class_no = heap_class(p->session->heap, p->class_no)->super_no;
	return p->rule ? HDB_OK : HDB_NOTFOUND;
}

/* Moves to the object at a field path of the collection, if that is the next one of the path. */
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

/* Moves past the object, unless it is the last one. */
static bool pass(struct place *p)
{
	if (!p->at)
		return false;
	p->at--;
	return true;
}

/*
 * Finds the index of an object in an array. HDB_NOTFOUND if it is not among the elements searched.
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

/* Sets how the element is held, as seen from outside of any wrappers. */
static void set_kind(const struct place *p, struct analysis_fold *fold, bool is_key)
{
	fold->kind = p->takes != HEAP_TAKES_ALL || !p->rule->key ? ANALYSIS_FOLD_ELEMENT :
		     is_key                                      ? ANALYSIS_FOLD_KEY :
								   ANALYSIS_FOLD_VALUE;
}

/* ---- by shape ---- */

/* For arrays: p->at is at the array. */
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

/* Sets *out to whether the entry holds the next object by this field path. */
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
 * Sets *out to whether an object is internal to the collection: nested in its class, or like an
 * entry.
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

/* Follows entries to the one that holds something else. p->at is at the first entry. */
static int fold_entries(struct place *p, struct analysis_fold *fold, bool is_first,
			struct hdb_error *err)
{
	const struct heap_collection_rule *rule = p->rule;
	uint64_t hops = 0;
	bool found = false, is_key = false, inside = true;
	int r = is_inside(p, p->nodes[p->at], &inside, err);

	assert(p->at < fold->outer);
	/* A value is a better guess than a key: an object may be both. */
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
		if ((r = is_inside(p, p->nodes[p->at], &inside, err)) < 0)
			return r;
		if (hops % 4096 == 0 && (r = base_step(p->session->work, hops, err)) < 0)
			return r;
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
	/* It may be held by another field: the last entry, an index. */
	return fold_entries(p, fold, r == HDB_OK && rule->shape == HEAP_LINKED, err);
}

/* Goes from the collection at p->ix down to its element. */
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
		 * A wrapped collection or a part. What a view shows of a collection is the view's
		 * own.
		 */
		if ((r = enter(p, p->nodes[p->at], err)) != HDB_OK)
			return r < 0 ? r : HDB_NOTFOUND;
		if (!pass(p))
			return HDB_NOTFOUND;
	}
	return HDB_NOTFOUND;
}

/*
 * Finds the collections on a path: nodes[i] is held by nodes[i + 1], and the last node is a root.
 * Appends them to `out` (struct analysis_fold), starting from the root.
 */
static int find_folds(const struct session *session, const uint32_t *nodes, size_t count,
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

/* Writes how an element is held: ["key"], [3], key ["key"], element. */
static void fold_text(const struct session *session, const struct analysis_fold *fold, char *buf,
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

#define NAME_MAX_BYTES 512
/* Maximum number of objects that a backward search visits: some seconds of work. */
#define SEARCH_NODES_MAX 20000000u

/* Maximum number of paths a user can request. */
#define PATHS_MAX 1000000

static const struct hdb_option_spec options[] = {
	{ "exclude", HDB_OPTION_TEXT, "weak,soft,phantom,finalizer|none|CLASS:FIELD",
	  QUERY_HELP_EXCLUDE, .default_value = ANALYSIS_EXCLUDES_WEAK, .example = "weak,soft" },
	{ "all", HDB_OPTION_NUMBER, "N",
	  "Up to N paths, shortest first, each from a different "
	  "root",
	  .low = 1, .high = PATHS_MAX, .unit = "paths", .default_value = "1", .example = "5" },
	{ "shortest", HDB_OPTION_FLAG,
	  .help = "Show the path with the fewest steps instead of the most informative one" },
	{ "internals", HDB_OPTION_FLAG,
	  .help = "Also show entries, tables and inner maps of known collections" },
	{ .name = NULL },
};

#define COLUMNS(X) \
	X(PATH, COUNT, "path", "path", "Number of the path, from 1") \
	X(STEP, COUNT, "step", "step", \
	  "Position in the path: 0 is the requested object, the last a GC root. Omits steps " \
	  "inside collections.") \
	X(ID, ID, "id", "id", QUERY_HELP_ID) \
	X(CLASS, TEXT, "class", "class", QUERY_HELP_CLASS) \
	X(LABEL, TEXT, "label", "object", QUERY_HELP_LABEL) \
	X(NAME, TEXT, "via_field", "via field", \
	  "Field that holds the previous object. In a collection: [index], element, [\"key\"] or " \
	  "key [\"key\"].") \
	X(SHALLOW, BYTES, "shallow", "shallow", QUERY_HELP_SHALLOW) \
	X(RETAINED, BYTES, "retained", "retained", QUERY_HELP_RETAINED_KNOWN) \
	X(ROOT, TEXT, "root", "root", "Kinds of GC root, for the last step")
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) QUERY_LABEL_COLUMNS };

static const struct hdb_column facts[] = {
	{ "id", HDB_TYPE_ID, "object", QUERY_HELP_ID },
	{ "exclude", HDB_TYPE_TEXT, "excluded", "References that were ignored" },
	{ "way", HDB_TYPE_TEXT, "way", "Method used: reach tree or backward search" },
};

struct path_query {
	uint32_t target;
	struct analysis_excludes excludes;
	bool is_search;
	uint64_t limit, path_no, step;
	struct graph_access access;
	struct graph_paths paths;
	bool has_paths;
	const uint32_t *nodes; /* the current path, target first */
	size_t node_count;
	struct base_vec tree;  /* uint32_t: a path from the tree */
	bool is_folded;        /* collections count as one step */
	struct base_vec folds; /* struct analysis_fold of the current path, the next one last */
};

static int skip(void *ctx, uint32_t from, uint32_t to, bool *out, struct hdb_error *err)
{
	struct query *q = ctx;
	const struct path_query *s = q->state;
	const int r = heap_passes_over(q->heap, from, out, err);

	return r < 0 || *out ? r : analysis_is_excluded(&s->excludes, from, to, out, err);
}

/* ---- opening ---- */

static int fail_none(const struct query *q, bool reachable, const char *id, struct hdb_error *err)
{
	if (!reachable)
		return hdb_fail(err, HDB_NOTFOUND, "no GC root reaches %s: it is garbage", id);
	if (q->is_filtered)
		return hdb_fail(err, HDB_NOTFOUND,
				"%s is held only through objects outside the heap %s or excluded "
				"references",
				id, query_option(q, "heap"));
	return hdb_fail(err, HDB_NOTFOUND,
			"%s is held only through excluded references; "
			"--exclude none shows its path",
			id);
}

/* Reads the path from a reach tree. */
static int read_tree(struct query *q, struct path_query *s, bool is_strong, bool *found,
		     struct hdb_error *err)
{
	uint32_t ix = s->target, parent;
	bool reachable = true;

	*found = false;
	while (ix != GRAPH_NONE) {
		TRY(derive_reach(q->derive, is_strong, ix, &parent, err));
		reachable = parent != ix;
		if (!reachable)
			break;
		TRY(base_vec_push(&s->tree, &ix, sizeof(ix), err));
		if (s->tree.count > q->heap->object_count)
			return hdb_fail(err, HDB_ECORRUPT,
					"%s: damaged: the reach tree has a cycle; "
					"import the dump again",
					heap_path(q->heap));
		ix = parent;
	}
	*found = reachable;
	s->nodes = s->tree.data;
	/* A class that is never unloaded needs no holder: the path begins there. */
	for (s->node_count = 1; s->node_count < s->tree.count; s->node_count++)
		if (heap_stays(q->heap, s->nodes[s->node_count]))
			break;
	s->node_count += s->node_count < s->tree.count;
	s->path_no = 1;
	return HDB_OK;
}

static int open_search(struct query *q, struct path_query *s, struct hdb_error *err)
{
	const struct graph_paths_options opt = {
		.max_nodes = SEARCH_NODES_MAX,
		.skip = skip,
		.ctx = q,
	};

	s->is_search = true;
	TRY(derive_access(q->derive, false, &s->access, err));
	TRY(graph_paths_init(&s->paths, &s->access, s->target, &opt, err));
	s->has_paths = true;
	return HDB_OK;
}

/* Returns the next path of the search: HDB_OK or HDB_END. */
static int search_next(struct path_query *s, struct hdb_error *err)
{
	int r;

	if (s->path_no == s->limit)
		return HDB_END;
	r = graph_paths_next(&s->paths, &s->nodes, &s->node_count, err);
	if (r == GRAPH_BUDGET)
		return hdb_fail(err, HDB_ELIMIT, "no further path after visiting %u objects",
				SEARCH_NODES_MAX);
	s->path_no += r == HDB_OK;
	s->step = 0;
	return r;
}

/* Finds the collections of a new path. Without the dump it stays as it is. */
static int fold_path(struct query *q, struct path_query *s, struct hdb_error *err)
{
	int r;

	s->folds.count = 0;
	if (!s->is_folded)
		return HDB_OK;
	r = find_folds(&q->session, s->nodes, s->node_count, &s->folds, err);
	if (r == HDB_ECHANGED)
		s->folds.count = 0;
	return r == HDB_ECHANGED ? HDB_OK : r;
}

static int open_path(struct query *q, struct hdb_error *err)
{
	struct path_query *s = q->state;
	bool all, found = false, is_elsewhere = false;
	uint32_t parent = GRAPH_NONE;
	int r;

	s->is_folded = !query_option(q, "internals");
	s->limit = query_number(q, "all", 0);
	TRY(analysis_object(&q->session, q->targets[0], &s->target, err));
	TRY(heap_passes_over(q->heap, s->target, &is_elsewhere, err));
	if (is_elsewhere)
		return hdb_fail(err, HDB_NOTFOUND, "%s is not in the heap %s", q->targets[0],
				query_option(q, "heap"));
	TRY(heap_load_roots(q->heap, err));
	TRY(query_read_excludes(q, &s->excludes, err));
	query_fact_text(q, "exclude", s->excludes.text);
	query_fact_id(q, "id", s->target);
	all = analysis_excludes_is_weak(&s->excludes);
	if (s->limit == 1 && !q->is_filtered && !query_option(q, "shortest") &&
	    (all || analysis_excludes_is_none(&s->excludes))) {
		query_fact_text(q, "way", "reach tree");
		TRY(read_tree(q, s, all, &found, err));
	} else {
		query_fact_text(q, "way", "search backwards");
		TRY_ERRORS(open_search(q, s, err));
		TRY_ERRORS(r = search_next(s, err));
		found = r == HDB_OK;
	}
	if (found)
		return fold_path(q, s, err);
	TRY(derive_reach(q->derive, false, s->target, &parent, err));
	return fail_none(q, parent != s->target, q->targets[0], err);
}

/* ---- rows ---- */

static void set_roots(struct query *q, uint32_t ix)
{
	const struct store_root *roots;
	char text[NAME_MAX_BYTES] = "", name[128];
	size_t count, used = 0;

	roots = heap_roots_of(q->heap, ix, &count);
	for (size_t i = 0; i < count && used < sizeof(text); i++) {
		if (roots[i].is_local || (i && roots[i].kind == roots[i - 1].kind))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
					 heap_root_name(roots[i].kind));
		if (roots[i].kind == HPROF_ROOT_THREAD_OBJECT && used < sizeof(text) &&
		    heap_thread_name(q->heap, ix, name, sizeof(name), NULL) == HDB_OK && name[0])
			used += (size_t)snprintf(text + used, sizeof(text) - used, " \"%s\"", name);
	}
	if (!used && heap_is_orphan(q->heap, ix)) {
		query_set_text(q, ROOT, HEAP_ORPHAN_NAME);
		return;
	}
	if (!used && heap_stays(q->heap, ix))
		(void)snprintf(text, sizeof(text), "%s", HEAP_STAYS_NAME);
	query_set_text(q, ROOT, text);
}

static int next_path(struct query *q, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SHALLOW, RETAINED };
	struct path_query *s = q->state;
	char name[NAME_MAX_BYTES + 8]; /* a key in brackets */
	const struct analysis_fold *fold = NULL;
	uint32_t ix;
	int r = HDB_OK;

	if (s->step == s->node_count) {
		TRY(s->is_search ? search_next(s, err) : HDB_END);
		TRY(fold_path(q, s, err));
	}
	if (s->folds.count)
		fold = base_vec_at(&s->folds, struct analysis_fold, s->folds.count - 1);
	if (fold && fold->inner + 1 == s->step) {
		s->step = fold->outer;
		s->folds.count--;
	} else {
		fold = NULL;
	}
	ix = s->nodes[s->step];
	query_set(q, PATH, s->path_no);
	query_set(q, STEP, s->step);
	query_set_object(q, &cells, ix);
	if (fold) {
		fold_text(&q->session, fold, name, sizeof(name));
		query_set_text(q, NAME, name);
	} else if (s->step) {
		r = analysis_holder(&q->session, ix, s->nodes[s->step - 1], BASE_TEXT(name), err);
		if (r == HDB_OK)
			query_set_text(q, NAME, name);
		else if (r == HDB_ECHANGED)
			/* the path does not need the dump, only the names of fields do */
			r = HDB_OK;
	}
	TRY(r);
	if (s->step + 1 == s->node_count)
		set_roots(q, ix);
	s->step++;
	return HDB_OK;
}

static void close_path(struct query *q)
{
	struct path_query *s = q->state;

	if (s->has_paths)
		graph_paths_release(&s->paths);
	base_vec_release(&s->tree);
	analysis_excludes_release(&s->excludes);
	base_vec_release(&s->folds);
}

const struct query_def query_path = {
	.spec = {
		.name = "path", .aliases = "path-to-gc-roots|path2gc|roots-of",
		.group = "leaks", .example = "0xfeb10838",
		.targets = "OBJECT",
		.target_types = HDB_TARGET_OBJECT, .target_min = 1, .target_max = 1,
		.summary = "Path from a GC root to an object, preferring application fields to "
			"locals and thread-locals",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
	},
	.uses = QUERY_USES_HEAP | QUERY_CHOOSES_HEAP,
	.heap_help = "Only paths whose objects are all in this Android heap",
	.state_size = sizeof(struct path_query),
	.open = open_path, .next = next_path, .close = close_path,
};
