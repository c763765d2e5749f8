/*
 * query/leak_path.c - the path from a root to a leak suspect, and who is to blame on it.
 */
#include "query/leak_parts.h"

#include "heap/threads.h"
#include "heap/values.h"
#include "query/describe.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 512

/*
 * Packages whose objects hold what others put there. The first five are MAT's skip pattern; the others are what takes
 * their place on Android and in the VM's compilers for other languages.
 */
static const char *const platform_prefixes[] = {
	"java.", "javax.", "com.sun.", "sun.", "jdk.",
	"android.", "androidx.", "com.android.", "dalvik.", "libcore.", "kotlin.", "kotlinx.",
	"scala.", "groovy.lang.", "clojure.lang.",
};

static const char *const primitive_names[] = {
	"boolean", "byte", "char", "short", "int", "long", "float", "double",
};

/* Of a primitive type, of arrays of it, or of arrays of those. */
static bool is_primitive_name(const char *class_name)
{
	const size_t size = strcspn(class_name, "[");

	for (size_t i = 0; i < sizeof(primitive_names) / sizeof(primitive_names[0]); i++)
		if (strlen(primitive_names[i]) == size &&
		    strncmp(class_name, primitive_names[i], size) == 0)
			return true;
	return false;
}

bool query_is_number_array(const char *class_name)
{
	return is_primitive_name(class_name) && strcmp(class_name + strcspn(class_name, "["), "[]") == 0;
}

bool query_is_platform_class(const char *class_name)
{
	if (is_primitive_name(class_name))
		return true;
	for (size_t i = 0; i < sizeof(platform_prefixes) / sizeof(platform_prefixes[0]); i++)
		if (strncmp(class_name, platform_prefixes[i], strlen(platform_prefixes[i])) == 0)
			return true;
	return false;
}

/* The node above in a tree: the one that is given, or else the table. */
static int parent_of(struct query *q, const uint32_t *parents, bool is_strong, uint32_t ix,
		     bool *reachable, uint32_t *parent, struct hdb_error *err)
{
	if (!parents)
		return derive_reach(q->derive, is_strong, ix, reachable, parent, err);
	*parent = parents[ix];
	*reachable = *parent != ix;
	return HDB_OK;
}

/* Walks up the tree: the first nodes from below are kept, and of the others the last ones. */
static int walk_up(struct query *q, const uint32_t *parents, uint32_t ix,
		   struct query_leak_path *out, struct hdb_error *err)
{
	uint32_t above[LEAK_PATH_ENDS] = { 0 }, parent;
	uint64_t length = 0, from_top;
	bool reachable;

	for (uint32_t at = ix; at != GRAPH_NONE; at = parent, length++) {
		const int r = parent_of(q, parents, out->is_strong, at, &reachable, &parent, err);

		if (r < 0)
			return r;
		if (!reachable)
			return HDB_OK;
		if (length > q->heap->object_count)
			return hdb_fail(err, HDB_ECORRUPT, "%s: damaged: the reach tree has a "
					"cycle; import the dump again", store_path(q->heap->store));
		if (length < LEAK_PATH_ENDS)
			out->nodes[2 * LEAK_PATH_ENDS - 1 - length] = at;
		else
			above[length % LEAK_PATH_ENDS] = at;
	}
	from_top = length <= LEAK_PATH_ENDS ? 0 : length - LEAK_PATH_ENDS;
	if (from_top > LEAK_PATH_ENDS) {
		out->gap = from_top - LEAK_PATH_ENDS;
		from_top = LEAK_PATH_ENDS;
	}
	out->gap_at = (size_t)from_top;
	out->count = (size_t)(length - out->gap);
	/* The root was met last. */
	memmove(out->nodes + from_top, out->nodes + 2 * LEAK_PATH_ENDS - (out->count - from_top),
		(out->count - from_top) * sizeof(out->nodes[0]));
	for (uint64_t i = 0; i < from_top; i++)
		out->nodes[i] = above[(length - 1 - i) % LEAK_PATH_ENDS];
	return HDB_OK;
}

int query_leak_path_find(struct query *q, uint32_t ix, struct query_leak_path *out,
			 struct hdb_error *err)
{
	int r;

	*out = (struct query_leak_path){ .is_strong = true };
	r = walk_up(q, NULL, ix, out, err);
	if (r != HDB_OK || out->count)
		return r;
	*out = (struct query_leak_path){ .is_strong = false };
	return walk_up(q, NULL, ix, out, err);
}

int query_leak_path_along(struct query *q, const uint32_t *parents, uint32_t ix,
			  struct query_leak_path *out, struct hdb_error *err)
{
	*out = (struct query_leak_path){ .is_strong = true };
	return walk_up(q, parents, ix, out, err);
}

int query_leak_path_holds(struct query *q, const struct query_leak_path *path, size_t i, char *buf,
			  size_t size, struct hdb_error *err)
{
	int r;

	buf[0] = '\0';
	if (i + 1 >= path->count || (path->gap && i + 1 == path->gap_at))
		return HDB_OK;
	r = query_holder(q, path->nodes[i], path->nodes[i + 1], buf, size, err);
	if (r == HDB_ECHANGED) {
		buf[0] = '\0'; /* the path stands without the dump, only the names of fields do not */
		r = HDB_OK;
	}
	return r;
}

void query_leak_roots(struct query *q, uint32_t ix, char *buf, size_t size)
{
	size_t count, used = 0;
	const struct store_root *roots = heap_roots_of(q->heap, ix, &count);

	buf[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		if (roots[i].is_local || (i && roots[i].kind == roots[i - 1].kind))
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
					 heap_root_name(roots[i].kind));
	}
	if (!used && heap_is_orphan(q->heap, ix))
		(void)snprintf(buf, size, "%s", HEAP_ORPHAN_NAME);
}

int query_leak_path_rows(struct query *q, struct query_story *story, uint64_t part,
			 const struct query_leak_path *path, struct hdb_error *err)
{
	char text[NAME_MAX_BYTES];
	int r = HDB_OK;

	for (size_t i = 0; i < path->count && r == HDB_OK; i++) {
		struct query_story_row row = query_story_row("path", part);
		struct query_story_row gap = query_story_row("gap", part);
		struct heap_object object;

		if (path->gap && i == path->gap_at) {
			gap.count = path->gap;
			r = query_story_text(story, &gap.text, err, "%" PRIu64 " more steps",
					     path->gap);
			if (r == HDB_OK)
				r = query_story_add(story, &gap, err);
		}
		row.ix = path->nodes[i];
		row.step = i + (i >= path->gap_at ? path->gap : 0);
		if (r == HDB_OK)
			r = heap_object(q->heap, row.ix, &object, err);
		if (r == HDB_OK)
			row.shallow_bytes = object.shallow_bytes;
		if (r == HDB_OK)
			r = derive_retained(q->derive, row.ix, &row.retained_bytes, err);
		if (r == HDB_OK)
			r = query_leak_path_holds(q, path, i, text, sizeof(text), err);
		if (r == HDB_OK && text[0])
			r = query_story_text(story, &row.holds, err, "%s", text);
		if (r == HDB_OK)
			r = query_story_add(story, &row, err);
	}
	return r;
}

/* "com.acme.Cache.entries (static)", "local variable of thread \"main\"", ... */
static int holder_text(struct query *q, const struct query_leak_path *path, size_t i, char *buf,
		       size_t size, struct hdb_error *err)
{
	static const char fixed[] = "static ";
	const uint32_t ix = path->nodes[i];
	char field[NAME_MAX_BYTES], what[NAME_MAX_BYTES];
	struct heap_object object;
	const char *name;
	int r = query_leak_path_holds(q, path, i, field, sizeof(field), err);

	if (r == HDB_OK)
		r = heap_object(q->heap, ix, &object, err);
	if (r != HDB_OK)
		return r;
	query_describe(q, ix, what, sizeof(what));
	name = heap_class_name(q->heap, object.kind == STORE_CLASS ? (uint32_t)object.length :
			       object.class_no);
	if (object.kind == STORE_CLASS && strncmp(field, fixed, sizeof(fixed) - 1) == 0)
		(void)snprintf(buf, size, "%s.%s (static)", name, field + sizeof(fixed) - 1);
	else if (heap_is_thread(q->heap, ix) && strcmp(field, "<local variable>") == 0)
		(void)snprintf(buf, size, "a local variable of thread %s", what);
	else if (object.kind == STORE_CLASS)
		(void)snprintf(buf, size, "class %s%s%s", name, field[0] ? " " : "", field);
	else if (object.kind == STORE_INSTANCE && field[0] && field[0] != '<')
		(void)snprintf(buf, size, "%s.%s", name, field);
	else if (heap_is_thread(q->heap, ix))
		(void)snprintf(buf, size, "thread %s", what);
	else
		(void)snprintf(buf, size, "%s%s%s", name, field[0] == '<' ? " " : "", field);
	return HDB_OK;
}

/* How well a step of a path explains it. */
enum blame { BLAME_ARRAY, BLAME_PLATFORM, BLAME_THREAD, BLAME_STATIC, BLAME_OWN };

static int blame(struct query *q, uint32_t ix, enum blame *out, struct hdb_error *err)
{
	struct heap_object object;
	const int r = heap_object(q->heap, ix, &object, err);

	if (r < 0)
		return r;
	/* An array only passes on what its owner holds. */
	if (object.kind == STORE_OBJECT_ARRAY || object.kind == STORE_PRIMITIVE_ARRAY)
		*out = BLAME_ARRAY;
	else if (!query_is_platform_class(heap_class_name(q->heap, object.kind == STORE_CLASS ?
					  (uint32_t)object.length : object.class_no)))
		*out = BLAME_OWN;
	else if (object.kind == STORE_CLASS)
		*out = BLAME_STATIC;
	else
		*out = heap_is_thread(q->heap, ix) ? BLAME_THREAD : BLAME_PLATFORM;
	return HDB_OK;
}

/* The last of the steps that explain most; the end of the path, which holds nothing on it, only if no other is own. */
static int choose_step(struct query *q, const struct query_leak_path *path, size_t *chosen,
		       enum blame *best, struct hdb_error *err)
{
	enum blame end = BLAME_ARRAY;
	int result = path->count ? blame(q, path->nodes[path->count - 1], &end, err) : HDB_OK;

	*best = BLAME_ARRAY;
	*chosen = 0;
	for (size_t i = path->count ? path->count - 1 : 0; i > 0 && result >= 0; i--) {
		enum blame here;
		const int r = blame(q, path->nodes[i - 1], &here, err);

		if (r < 0)
			return r;
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

/* The ThreadLocal whose value the path goes through: HDB_NOTFOUND if it goes through none. */
static int find_thread_local(struct query *q, const struct query_leak_path *path, size_t *step,
			     uint32_t *key, struct hdb_error *err)
{
	for (size_t i = path->count; i > 0; i--) {
		struct heap_object object;
		const int r = heap_object(q->heap, path->nodes[i - 1], &object, err);

		if (r < 0)
			return r;
		*step = i - 1;
		if (object.kind == STORE_INSTANCE &&
		    strcmp(heap_class_name(q->heap, object.class_no),
			   "java.lang.ThreadLocal$ThreadLocalMap$Entry") == 0)
			return heap_field_object(q->heap, object.ix, NULL, "referent", key, err);
	}
	return HDB_NOTFOUND;
}

/* "thread-local com.acme.Context.CURRENT (static) of thread "pool-1-thread-1"". */
static int thread_local_text(struct query *q, const struct query_leak_path *path, uint32_t key,
			     char *buf, size_t size, struct hdb_error *err)
{
	char owner[NAME_MAX_BYTES] = "", thread[NAME_MAX_BYTES];
	struct query_leak_path to_key;
	enum blame best;
	size_t step;
	int r = query_leak_path_find(q, key, &to_key, err);

	if (r == HDB_OK && to_key.count)
		r = choose_step(q, &to_key, &step, &best, err);
	if (r == HDB_OK && to_key.count)
		r = holder_text(q, &to_key, step, owner, sizeof(owner), err);
	if (r != HDB_OK)
		return r;
	query_describe(q, path->nodes[0], thread, sizeof(thread));
	(void)snprintf(buf, size, "thread-local %s of thread %s", owner, thread);
	return HDB_OK;
}

/* ", in com.acme.App.CACHE (static)": the suspect, if it is another step, further up, and not the platform's. */
static int add_suspect_step(struct query *q, const struct query_leak_path *path, size_t chosen,
			    uint32_t suspect_ix, char *buf, size_t size, struct hdb_error *err)
{
	const size_t used = strlen(buf);
	char text[2 * NAME_MAX_BYTES];

	for (size_t i = 0; i < chosen; i++) {
		enum blame here;
		int r;

		if (path->nodes[i] != suspect_ix)
			continue;
		r = blame(q, suspect_ix, &here, err);
		if (r == HDB_OK && here == BLAME_OWN)
			r = holder_text(q, path, i, text, sizeof(text), err);
		if (r == HDB_OK && here == BLAME_OWN)
			(void)snprintf(buf + used, size - used, ", in %s", text);
		return r;
	}
	return HDB_OK;
}

int query_leak_culprit(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		       char *buf, size_t size, struct hdb_error *err)
{
	size_t chosen, entry = 0;
	enum blame best;
	uint32_t key;
	int r;

	buf[0] = '\0';
	if (!path->count)
		return HDB_OK;
	r = choose_step(q, path, &chosen, &best, err);
	if (r != HDB_OK)
		return r;
	r = find_thread_local(q, path, &entry, &key, err);
	if (r == HDB_OK && (best != BLAME_OWN || chosen < entry) &&
	    heap_is_thread(q->heap, path->nodes[0]))
		return thread_local_text(q, path, key, buf, size, err);
	if (r < 0 && r != HDB_ECHANGED)
		return r;
	r = holder_text(q, path, chosen, buf, size, err);
	return r == HDB_OK ? add_suspect_step(q, path, chosen, suspect_ix, buf, size, err) : r;
}
