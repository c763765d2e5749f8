/*
 * queries/leaks/leak_blame.c - finds the step to blame: the step of a path that best explains a
 * leak suspect.
 */
#include "queries/leaks/leak_blame.h"

#include "heap/collections/collections.h"
#include "heap/platform_classes.h"
#include "heap/threads.h"
#include "heap/values/values.h"
#include "queries/leaks/leak_prose.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/*
 * If the end of a path is itself to blame, at most END_FIELDS_SHOWN of its fields are named. Fields
 * other than the first must retain at least a tenth of the end's retained size.
 */
#define END_FIELDS_SHOWN 3u
#define END_FIELD_PART 10u

int leak_holder_find(struct query *q, const struct query_leak_path *path, size_t i,
		     struct leak_holder *out, struct hdb_error *err)
{
	const uint32_t ix = path->nodes[i];
	struct analysis_link link;
	struct heap_object object;
	bool is_thread;

	assert(i < path->count);
	TRY(query_leak_link(q, path, i, &link, err));
	TRY(heap_object(q->heap, ix, &object, err));
	is_thread = heap_is_thread(q->heap, ix);
	*out = (struct leak_holder){ .ix = ix, .count = link.count };
	if (object.kind == STORE_CLASS && link.kind == ANALYSIS_LINK_STATIC)
		out->kind = LEAK_HOLDER_STATIC;
	else if (is_thread && link.kind == ANALYSIS_LINK_LOCAL)
		out->kind = LEAK_HOLDER_LOCAL;
	else if (object.kind == STORE_CLASS)
		out->kind = LEAK_HOLDER_CLASS;
	else if (link.kind == ANALYSIS_LINK_FIELD)
		out->kind = LEAK_HOLDER_FIELD;
	else
		out->kind = is_thread ? LEAK_HOLDER_THREAD : LEAK_HOLDER_OBJECT;
	if (out->kind == LEAK_HOLDER_LOCAL || out->kind == LEAK_HOLDER_THREAD) {
		analysis_describe(&q->session, ix, out->thread, sizeof(out->thread));
		out->local_ix = i + 1 < path->count ? path->nodes[i + 1] : HEAP_NONE;
		return HDB_OK;
	}
	out->class_name = heap_class_name(q->heap, heap_known_class(&object));
	memcpy(out->field, analysis_link_name(&link), strlen(analysis_link_name(&link)) + 1);
	return HDB_OK;
}

/*
 * Returns whether the compiler added the field to an inner class, for the outer object or a
 * captured variable. What holds the inner object explains more.
 */
static bool is_captured(const struct analysis_link *link)
{
	return strncmp(link->text, "this$", 5) == 0 || strncmp(link->text, "val$", 4) == 0;
}

/*
 * Lowers the rank of an application class that holds the next step only because of the VM or the
 * platform: every object refers to its class, every class to its class loader and superclass, and
 * every thread has the fields of java.lang.Thread. Leaves *out unchanged for other steps.
 */
static int weigh_own(struct query *q, const struct query_leak_path *path, size_t i,
		     enum leak_blame *out, struct hdb_error *err)
{
	struct analysis_link link;
	struct heap_value value;
	int r = query_leak_link(q, path, i, &link, err);

	if (r != HDB_OK || !link.count)
		return r;
	if (link.count == 1 && link.kind == ANALYSIS_LINK_FIELD && is_captured(&link)) {
		*out = BLAME_PLATFORM;
	} else if (link.count == 1 &&
		   (link.kind == ANALYSIS_LINK_CLASS || link.kind == ANALYSIS_LINK_LOADER ||
		    link.kind == ANALYSIS_LINK_SUPER)) {
		*out = BLAME_PLATFORM;
	} else if (heap_is_thread(q->heap, path->nodes[i])) {
		r = link.kind == ANALYSIS_LINK_LOCAL ?
			    HDB_OK :
			    heap_field_value(
				    q->heap, path->nodes[i],
				    (struct heap_field_name){ "java.lang.Thread", link.text },
				    &value, err);
		*out = r == HDB_OK ? BLAME_THREAD : BLAME_OWN;
	}
	return r < 0 ? r : HDB_OK;
}

/*
 * Gives the field contextClassLoader of a thread a low rank: other threads refer to the same class
 * loader, so this thread does not retain it.
 */
static int weigh_thread(struct query *q, const struct query_leak_path *path, size_t i,
			enum leak_blame *out, struct hdb_error *err)
{
	struct analysis_link link;

	TRY(query_leak_link(q, path, i, &link, err));
	if (strcmp(link.text, "contextClassLoader") == 0)
		*out = BLAME_ARRAY;
	return HDB_OK;
}

/*
 * Returns the length of the first two components of a qualified name, with dots, for example of
 * "org.h2." in "org.h2.mvstore.MVMap". Returns SIZE_MAX if there are fewer than two dots.
 */
static size_t library_size(const char *name)
{
	const char *dot = strchr(name, '.');

	dot = dot ? strchr(dot + 1, '.') : NULL;
	return dot ? (size_t)(dot + 1 - name) : SIZE_MAX;
}

/*
 * Returns whether a class is a library's collection, or nested in such a collection. Other code
 * puts the objects into such a class. A lambda counts too, because it holds captured objects.
 */
static bool is_structure(struct heap *heap, uint32_t class_no)
{
	const char *name = heap_class_name(heap, class_no);
	const size_t library = library_size(name);
	const struct heap_collection_rule *rule = heap_collection_rule(heap, class_no);
	const char *inner = strrchr(name, '$');
	char outer[NAME_MAX_BYTES];

	if (strstr(name, "$$Lambda"))
		return true;
	/*
	 * If the rule names a superclass from another package, the subclass belongs to the
	 * application and is the class to blame.
	 */
	if (rule && (heap_is_anonymous_class(name) || strchr(rule->class_name, '*') ||
		     strcmp(rule->class_name, name) == 0 ||
		     (library != SIZE_MAX && strncmp(rule->class_name, name, library) == 0)))
		return true;
	if (!inner || (size_t)(inner - name) >= sizeof(outer))
		return false;
	(void)snprintf(outer, sizeof(outer), "%.*s", (int)(inner - name), name);
	class_no = heap_class_by_name(heap, outer, 0);
	rule = class_no == HEAP_NONE ? NULL : heap_collection_rule(heap, class_no);
	return rule && strcmp(rule->class_name, outer) == 0;
}

/*
 * Returns whether a class does not belong to the platform. javac and similar JDK tools count as
 * applications.
 */
static bool is_own(const char *class_name)
{
	static const char tools[] = "com.sun.tools.";

	return strncmp(class_name, tools, sizeof(tools) - 1) == 0 ||
	       !heap_is_platform_class(class_name);
}

int leak_blame_step(struct query *q, const struct query_leak_path *path, size_t i,
		    enum leak_blame *out, struct hdb_error *err)
{
	const uint32_t ix = path->nodes[i];
	struct heap_object object;

	assert(i < path->count);
	TRY(heap_object(q->heap, ix, &object, err));
	/* An array or collection holds objects only on behalf of its owner. */
	if (object.kind == STORE_OBJECT_ARRAY || object.kind == STORE_PRIMITIVE_ARRAY ||
	    (object.kind == STORE_INSTANCE && is_structure(q->heap, object.class_no)))
		*out = BLAME_ARRAY;
	else if (is_own(heap_class_name(q->heap, heap_known_class(&object))))
		*out = BLAME_OWN;
	else if (object.kind == STORE_CLASS)
		*out = BLAME_STATIC;
	else
		*out = heap_is_thread(q->heap, ix) ? BLAME_THREAD : BLAME_PLATFORM;
	if (*out == BLAME_THREAD)
		return weigh_thread(q, path, i, out, err);
	return *out == BLAME_OWN ? weigh_own(q, path, i, out, err) : HDB_OK;
}

int leak_choose_step(struct query *q, const struct query_leak_path *path, size_t *chosen,
		     enum leak_blame *best, struct hdb_error *err)
{
	enum leak_blame end = BLAME_ARRAY;
	int result = path->count ? leak_blame_step(q, path, path->count - 1, &end, err) : HDB_OK;

	*best = BLAME_ARRAY;
	*chosen = 0;
	for (size_t i = path->count ? path->count - 1 : 0; i > 0 && result >= 0; i--) {
		enum leak_blame here;

		TRY_ERRORS(leak_blame_step(q, path, i - 1, &here, err));
		if (here > *best) {
			*best = here;
			*chosen = i - 1;
		}
	}
	if ((end > *best && !path->is_end_kept) || path->count == 1) {
		*best = end;
		*chosen = path->count - 1;
	}
	return result < 0 ? result : HDB_OK;
}

/*
 * Finds the entry of a thread's map that is nearest to the end of the path, and the ThreadLocal
 * that is the entry's key. Returns HDB_NOTFOUND if there is no entry or the ThreadLocal was
 * collected.
 */
static int find_thread_local(struct query *q, const struct query_leak_path *path, size_t *step,
			     uint32_t *key, struct hdb_error *err)
{
	for (size_t i = path->count; i > 0; i--) {
		struct heap_object object;

		TRY(heap_object(q->heap, path->nodes[i - 1], &object, err));
		*step = i - 1;
		if (object.kind == STORE_INSTANCE &&
		    strcmp(heap_class_name(q->heap, object.class_no),
			   "java.lang.ThreadLocal$ThreadLocalMap$Entry") == 0)
			return heap_field_object(q->heap, object.ix,
						 (struct heap_field_name){ .name = "referent" },
						 key, err);
	}
	return HDB_NOTFOUND;
}

/*
 * Finds the holder of a ThreadLocal. Sets kind to LEAK_HOLDER_NONE if the ThreadLocal is
 * unreachable.
 */
static int find_key_holder(struct query *q, const struct query_leak_path *path, uint32_t key,
			   struct leak_holder *out, struct hdb_error *err)
{
	struct query_leak_path to_key;
	enum leak_blame best;
	size_t step;

	*out = (struct leak_holder){ .ix = HEAP_NONE };
	TRY(query_leak_path_find(q, key, &to_key, err));
	if (to_key.count) {
		TRY(leak_choose_step(q, &to_key, &step, &best, err));
		TRY(leak_holder_find(q, &to_key, step, out, err));
	}
	out->is_thread_local = true;
	analysis_describe(&q->session, path->nodes[0], out->thread, sizeof(out->thread));
	out->key_ix = key;
	return HDB_OK;
}

/*
 * Returns the index of object ix among the steps before `end`, or `end` if the object is not among
 * them.
 */
static size_t step_of(const struct query_leak_path *path, size_t end, uint32_t ix)
{
	size_t i = 0;

	assert(end < path->count);
	while (i < end && path->nodes[i] != ix)
		i++;
	return i;
}

/*
 * If step `i` also belongs to the application, makes it the owner, and moves the step chosen before
 * to `top`: "Cache.entries, in App.CACHE (static)".
 */
static int add_step_above(struct query *q, const struct query_leak_path *path, size_t i,
			  struct query_leak_owner *out, struct hdb_error *err)
{
	enum leak_blame here;
	int r = leak_blame_step(q, path, i, &here, err);

	if (r != HDB_OK || here != BLAME_OWN)
		return r;
	out->top = out->list[0];
	return leak_holder_find(q, path, i, &out->list[0], err);
}

/* ---- the fields to blame if the end of a path is itself to blame ---- */

/* A field of the object at the end of a path, and the size retained only through it. */
struct end_field {
	uint64_t retained_bytes;
	uint32_t ix;
	char name[LEAK_NAME_MAX_BYTES];
};

/* The end object counts as part of a graph if it dominates this many objects of its own class. */
#define ENTERED_MIN 8u
#define ENTERED_MAX 10000u

struct end_fields {
	struct end_field list[END_FIELDS_SHOWN]; /* sorted by retained size, largest first */
	size_t count;
	uint64_t more; /* number of fields outside the list that retain at least least_bytes */
	uint64_t least_bytes; /* minimum retained size of a field to name */
	/* fields of at least this size are suspects themselves; 0 means none */
	uint64_t split_bytes;
	uint64_t kept_bytes;  /* total retained size of all fields */
	uint64_t large_bytes; /* total retained size of fields of at least least_bytes */
	uint64_t fields;      /* number of fields of at least a tenth of least_bytes */
};

/* Inserts a field into the list, unless another field in the list refers to the same object. */
static void keep_field(struct end_fields *f, const struct end_field *field)
{
	size_t at = f->count;

	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].ix == field->ix)
			return;
	while (at > 0 && f->list[at - 1].retained_bytes < field->retained_bytes)
		at--;
	if (f->count == END_FIELDS_SHOWN) {
		/*
		 * Counts a field that was removed from the list, or that does not fit in the list.
		 */
		f->more += (at == f->count ? field : &f->list[f->count - 1])->retained_bytes >=
			   f->least_bytes;
		if (at == f->count)
			return;
	} else {
		f->count++;
	}
	memmove(&f->list[at + 1], &f->list[at], (f->count - 1 - at) * sizeof(f->list[0]));
	f->list[at] = *field;
}

/* Reads the fields, and keeps each field whose target only this object retains. */
static int find_end_fields(struct query *q, uint32_t ix, struct heap_fields *fields,
			   struct end_fields *out, struct hdb_error *err)
{
	int r;

	while ((r = heap_fields_next(fields, err)) == HDB_OK) {
		struct end_field field = { .retained_bytes = 0 };
		uint32_t dominator;

		if (fields->value.type != HPROF_OBJECT || !fields->value.bits)
			continue;
		TRY_ERRORS(r = heap_find(q->heap, fields->value.bits, &field.ix, err));
		if (r == HDB_NOTFOUND)
			continue;
		TRY(derive_dominator(q->derive, field.ix, &dominator, err));
		if (dominator == ix)
			TRY(derive_retained(q->derive, field.ix, &field.retained_bytes, err));
		if (field.retained_bytes)
			TRY(heap_text(q->heap, fields->field.name_text, field.name,
				      sizeof(field.name), err));
		/*
		 * Names in angle brackets are references that the VM keeps for a class, not fields.
		 */
		if (!field.retained_bytes || field.name[0] == '<' ||
		    (out->split_bytes && field.retained_bytes >= out->split_bytes))
			continue;
		if (field.retained_bytes >= out->least_bytes)
			out->large_bytes += field.retained_bytes;
		out->fields += field.retained_bytes >= out->least_bytes / END_FIELD_PART;
		out->kept_bytes += field.retained_bytes;
		keep_field(out, &field);
	}
	return r == HDB_END ? HDB_OK : r;
}

/*
 * Names the fields of an object that retain the most. Sets out->named to 0 if no field retains
 * anything.
 */
static int name_end_fields(struct query *q, const struct heap_object *object,
			   const struct query_leak_path *path, struct query_leak_owner *out,
			   struct hdb_error *err)
{
	const bool is_static = object->kind == STORE_CLASS;
	struct end_fields found = { .split_bytes = path->split_bytes };
	uint64_t own = path->rest_bytes;
	struct heap_fields fields;
	int r = HDB_OK;

	if (!own)
		TRY(derive_retained(q->derive, object->ix, &own, err));
	found.least_bytes = own / END_FIELD_PART;
	if (is_static)
		heap_statics_begin(q->heap, (uint32_t)object->length, &fields);
	else
		r = heap_fields_begin(q->heap, object->ix, &fields, err);
	if (r == HDB_OK)
		r = find_end_fields(q, object->ix, &fields, &found, err);
	if (r != HDB_OK)
		return r == HDB_ECHANGED ? HDB_OK : r;
	/*
	 * If several fields lead into the same graph, no field dominates the graph, so each retains
	 * nearly nothing. In this case, name the largest fields regardless of their size.
	 */
	if (found.kept_bytes < own / 2) {
		found.least_bytes = 0;
	} else if (is_static && found.large_bytes < own / 2 && found.fields > found.count) {
		/* the class has many static fields, but no large one */
		found.least_bytes = 0;
		found.more = found.fields - found.count;
	}
	for (size_t i = 0; i < found.count; i++) {
		struct leak_holder *holder = &out->list[i];

		if (i && found.list[i].retained_bytes < found.least_bytes)
			break;
		*holder = (struct leak_holder){
			.kind = is_static ? LEAK_HOLDER_STATIC : LEAK_HOLDER_FIELD,
			.count = 1,
			.ix = object->ix,
			.class_name = heap_class_name(q->heap, heap_known_class(object)),
		};
		memcpy(holder->field, found.list[i].name, sizeof(holder->field));
		out->named++;
	}
	out->more = found.more;
	return HDB_OK;
}

/*
 * Finds what to blame if the end of the path is the best step: the largest fields of the object at
 * the end, the object itself or, if the path has no other object, its kinds of GC root.
 */
static int find_end(struct query *q, const struct query_leak_path *path,
		    struct query_leak_owner *out, struct hdb_error *err)
{
	const uint32_t ix = path->nodes[path->count - 1];
	const bool is_thread = heap_is_thread(q->heap, ix);
	struct leak_holder *holder = &out->list[0];
	struct heap_object object;
	char roots[LEAK_NAME_MAX_BYTES];

	TRY(heap_object(q->heap, ix, &object, err));
	if (!is_thread && (object.kind == STORE_CLASS || object.kind == STORE_INSTANCE))
		TRY(name_end_fields(q, &object, path, out, err));
	if (out->named)
		return HDB_OK;
	out->named = 1;
	TRY(leak_holder_find(q, path, path->count - 1, holder, err));
	if (path->count > 1 || is_thread)
		return HDB_OK;
	query_roots_text(q, ix, false, BASE_TEXT(roots));
	if (strcmp(roots, HEAP_ORPHAN_NAME) == 0)
		*holder = (struct leak_holder){ .kind = LEAK_HOLDER_NOTHING, .ix = ix };
	else if (roots[0])
		*holder = (struct leak_holder){ .kind = LEAK_HOLDER_ROOT, .ix = ix };
	if (holder->kind == LEAK_HOLDER_ROOT)
		memcpy(holder->field, roots, sizeof(roots));
	return HDB_OK;
}

/*
 * Sets *out to whether the end of the path is a node at which a thread entered a graph, such as a
 * list of books that refer to each other: most objects that the end dominates are of its own class.
 * In this case, the thread's local variable is to blame, not the fields of the node.
 */
static int is_entered(struct query *q, const struct query_leak_path *path, bool *out,
		      struct hdb_error *err)
{
	const uint32_t ix = path->nodes[path->count - 1];
	struct heap_object object, child;
	struct store_lists children;
	const uint32_t *batch;
	size_t count, all = 0, same = 0;

	*out = false;
	if (path->count < 2 || !heap_is_thread(q->heap, path->nodes[path->count - 2]))
		return HDB_OK;
	TRY(heap_object(q->heap, ix, &object, err));
	TRY(derive_children(q->derive, &children, err));
	TRY(store_lists_begin(&children, ix, NULL, err));
	do {
		TRY(store_lists_next(&children, &batch, &count, err));
		all += count;
		for (size_t i = 0; i < count; i++) {
			TRY(heap_object(q->heap, batch[i], &child, err));
			same += child.class_no == object.class_no;
		}
	} while (count && all < ENTERED_MAX);
	*out = same >= ENTERED_MIN && same > all / 2;
	return HDB_OK;
}

int leak_culprit_find(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		      struct query_leak_owner *out, struct hdb_error *err)
{
	size_t chosen, above, entry = 0;
	bool is_node = false;
	enum leak_blame best;
	uint32_t key;
	int r;

	out->named = 0;
	if (!path->count)
		return HDB_OK;
	TRY(leak_choose_step(q, path, &chosen, &best, err));
	r = find_thread_local(q, path, &entry, &key, err);
	if (r < 0 && r != HDB_ECHANGED)
		return r;
	/*
	 * For the value of a ThreadLocal, the class that declares the ThreadLocal explains more
	 * than the thread's map, unless an application class below the entry is to blame.
	 */
	if (r == HDB_OK && (best != BLAME_OWN || chosen < entry) &&
	    heap_is_thread(q->heap, path->nodes[0])) {
		out->named = 1;
		return find_key_holder(q, path, key, &out->list[0], err);
	}
	if (chosen + 1 == path->count && !path->is_end_kept) {
		TRY(is_entered(q, path, &is_node, err));
		if (!is_node)
			return find_end(q, path, out, err);
		chosen--;
	}
	out->named = 1;
	TRY(leak_holder_find(q, path, chosen, &out->list[0], err));
	above = step_of(path, chosen, suspect_ix);
	return above < chosen ? add_step_above(q, path, above, out, err) : HDB_OK;
}

int leak_add_static(struct query *q, const struct query_leak_path *path,
		    struct query_leak_owner *out, struct hdb_error *err)
{
	const struct leak_holder below = out->list[0];
	struct leak_holder above;
	struct heap_object object;
	enum leak_blame here;
	bool is_user;

	if (out->named != 1 || out->more || out->top.kind || below.kind != LEAK_HOLDER_FIELD ||
	    below.is_thread_local || path->count < 2)
		return HDB_OK;
	for (size_t i = step_of(path, path->count - 1, below.ix); i-- > 0;) {
		TRY(heap_object(q->heap, path->nodes[i], &object, err));
		/* An object that holds a class loader holds the whole application. */
		if (heap_has_superclass(q->heap, object.class_no, "java.lang.ClassLoader"))
			return HDB_OK;
		TRY(leak_blame_step(q, path, i, &here, err));
		/*
		 * A field of the application explains more than the library's object to which it
		 * refers.
		 */
		is_user =
			heap_is_library_class(below.class_name) && here == BLAME_OWN &&
			!heap_is_library_class(heap_class_name(q->heap, heap_known_class(&object)));
		if (object.kind != STORE_CLASS && !is_user)
			continue;
		TRY(leak_holder_find(q, path, i, &above, err));
		if (is_user && above.kind != LEAK_HOLDER_STATIC && above.kind != LEAK_HOLDER_FIELD)
			continue;
		if (here != BLAME_OWN || (above.kind != LEAK_HOLDER_STATIC && !is_user) ||
		    strcmp(above.class_name, below.class_name) == 0)
			return HDB_OK;
		out->top = below;
		out->list[0] = above;
		return HDB_OK;
	}
	return HDB_OK;
}

/*
 * Limits of the search for the application's objects that refer to a library's object: number of
 * levels, such as the cache above its store, each of which costs a pass over all references; number
 * of the library's objects on these levels; and number of referrers of each object.
 */
#define USER_LEVELS 2u
#define USER_OBJECTS 64u
#define USER_REFERRERS 64u

/*
 * An object of a library that is an owner, the library's objects above it, and the objects that
 * refer to any of these.
 */
struct users {
	struct base_vec objects;   /* uint32_t: the topmost dominator, then each level */
	uint32_t below_ix, top_ix; /* the owner, and its topmost dominator in a library */
	struct leak_holder found;
	/* number of the application's objects that refer to `objects`: 0, 1, or more than 1 */
	size_t count;
};

static void release_users(struct users *u)
{
	base_vec_release(&u->objects);
}

/* Examines an object that refers to one of the library's objects. */
static int look_at_user(struct query *q, struct users *u, uint32_t ix, uint32_t below_ix,
			struct hdb_error *err)
{
	struct analysis_link link;
	struct heap_object object;
	const char *name;
	uint32_t parent;
	uint8_t strength;
	bool is_local = false;

	TRY(derive_reach(q->derive, true, ix, &parent, err));
	TRY(heap_object(q->heap, ix, &object, err));
	TRY(heap_strength(q->heap, ix, below_ix, &strength, err));
	name = heap_class_name(q->heap, heap_known_class(&object));
	/* An unreachable object is recorded as its own parent. */
	if (parent == ix || strength != STORE_STRONG || !heap_is_own_class(name) ||
	    (object.kind != STORE_INSTANCE && object.kind != STORE_CLASS))
		return HDB_OK;
	/*
	 * A servlet in a container does not own the container. An object in a local variable may be
	 * in the container, too.
	 */
	for (uint32_t at = ix, up = ix, steps = 0; up != GRAPH_NONE; at = up) {
		if (at == u->top_ix || at == u->below_ix)
			return HDB_OK;
		TRY(base_step(q->work, steps++, err));
		is_local = is_local || heap_is_thread(q->heap, at);
		TRY(derive_dominator(q->derive, at, &up, err));
		if (up == at)
			break;
	}
	if (heap_is_library_class(name)) {
		for (size_t i = 0; i < u->objects.count; i++)
			if (*base_vec_at(&u->objects, uint32_t, i) == ix)
				return HDB_OK;
		return base_vec_push(&u->objects, &ix, sizeof(ix), err);
	}
	TRY(analysis_link_find(&q->session, ix, below_ix, &link, err));
	if ((link.kind != ANALYSIS_LINK_FIELD && link.kind != ANALYSIS_LINK_STATIC) ||
	    is_captured(&link))
		return HDB_OK;
	u->count += is_local ? 2 : 1;
	u->found = (struct leak_holder){ .ix = ix,
					 .count = link.count,
					 .class_name = name,
					 .kind = link.kind == ANALYSIS_LINK_STATIC ?
							 LEAK_HOLDER_STATIC :
							 LEAK_HOLDER_FIELD };
	(void)snprintf(u->found.field, sizeof(u->found.field), "%s", analysis_link_name(&link));
	return HDB_OK;
}

int leak_add_user(struct query *q, struct query_leak_owner *out, struct hdb_error *err)
{
	BASE_SCOPED(release_users) struct users u = { .count = 0 };
	const struct leak_holder below = out->list[0];
	uint32_t ix = below.ix, up = ix;
	size_t at = 0;

	if (out->named != 1 || out->more || below.kind != LEAK_HOLDER_FIELD ||
	    below.is_thread_local || !heap_is_library_class(below.class_name))
		return HDB_OK;
	do {
		ix = up;
		TRY(derive_dominator(q->derive, ix, &up, err));
	} while (up != GRAPH_NONE && up != ix &&
		 heap_is_library_class(heap_class_name_of(q->heap, up)));
	u.below_ix = below.ix;
	u.top_ix = ix;
	TRY(base_vec_push(&u.objects, &ix, sizeof(ix), err));
	for (unsigned level = 0; at < u.objects.count; level++) {
		const size_t end = u.objects.count;

		/* Objects beyond these limits may also have users. */
		if (level == USER_LEVELS || end > USER_OBJECTS)
			return HDB_OK;
		TRY(derive_expect_referrers(q->derive, base_vec_at(&u.objects, uint32_t, at),
					    end - at, err));
		for (; at < end; at++) {
			BASE_SCOPED(base_vec_release) struct base_vec referrers = { 0 };

			ix = *base_vec_at(&u.objects, uint32_t, at);
			TRY(derive_referrers_of(q->derive, ix, USER_REFERRERS, &referrers, err));
			for (size_t k = 0; k < referrers.count && u.count < 2; k++)
				TRY(look_at_user(q, &u, *base_vec_at(&referrers, uint32_t, k), ix,
						 err));
			if (referrers.count == USER_REFERRERS || u.count > 1)
				return HDB_OK;
		}
	}
	if (u.count != 1)
		return HDB_OK;
	if (!out->top.kind)
		out->top = below;
	out->list[0] = u.found;
	return HDB_OK;
}

int leak_collection_owner(struct query *q, const struct query_leak_path *path,
			  struct query_leak_owner *out, uint32_t *element_ix, struct hdb_error *err)
{
	struct query_leak_path to = *path;
	struct query_leak_owner outer = { .named = 0 };
	enum leak_blame best, above = BLAME_OWN;
	size_t chosen;

	*element_ix = HEAP_NONE;
	TRY(leak_culprit_find(q, path, HEAP_NONE, out, err));
	TRY(leak_choose_step(q, path, &chosen, &best, err));
	if (best == BLAME_OWN && chosen && chosen + 1 < path->count)
		TRY(leak_blame_step(q, path, chosen - 1, &above, err));
	if (above == BLAME_ARRAY) {
		to.count = chosen + 1;
		to.gap = to.gap_at > chosen ? 0 : to.gap;
		to.is_end_kept = true;
		TRY(leak_culprit_find(q, &to, HEAP_NONE, &outer, err));
	}
	if (outer.named) {
		*element_ix = path->nodes[chosen];
		*out = outer;
	}
	return leak_add_static(q, &to, out, err);
}

int query_leak_culprit(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		       struct base_text to, struct hdb_error *err)
{
	struct query_leak_owner owner = { .named = 0 };

	TRY(leak_culprit_find(q, path, suspect_ix, &owner, err));
	leak_owner_text(&owner, to);
	return HDB_OK;
}
