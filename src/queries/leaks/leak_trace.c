/*
 * queries/leaks/leak_trace.c - the path that keeps an object which should be gone, and which of its
 * references are suspect.
 */
#include "queries/leaks/leak_trace.h"

#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define NAME_MAX_BYTES 512

enum { WITHOUT_LIBRARIES, WITHOUT_IGNORED };

int query_leak_tracer_init(struct query_leak_tracer *tracer, struct object_judge *judge,
			   struct hdb_error *err)
{
	*tracer = (struct query_leak_tracer){ .judge = judge };
	return library_leaks_init(&tracer->library, judge->q, err);
}

void query_leak_tracer_release(struct query_leak_tracer *tracer)
{
	if (!tracer->judge)
		return;
	library_leaks_release(&tracer->library);
	for (unsigned i = 0; i < 2; i++)
		base_big_free(tracer->judge->q->work, &tracer->trees[i]);
}

/* ---- choosing the path ---- */

/*
 * The first reference of the path that is known: of a library, or else to be ignored; NULL: none.
 */
static int find_known(struct query_leak_tracer *t, const struct query_leak_path *path,
		      const struct library_rule **out, struct hdb_error *err)
{
	char holds[NAME_MAX_BYTES];
	int r = path->count ? library_leaks_root(&t->library, path->nodes[0], out, err) : HDB_OK;

	for (size_t i = 0; i + 1 < path->count && r == HDB_OK; i++) {
		const struct library_rule *rule;

		if (*out && !(*out)->is_ignored)
			break;
		r = query_leak_path_holds(t->judge->q, path, i, holds, sizeof(holds), err);
		if (r == HDB_OK)
			r = library_leaks_edge(&t->library, path->nodes[i], holds, &rule, err);
		if (r == HDB_OK && rule && (!*out || !rule->is_ignored))
			*out = rule;
	}
	return r;
}

/* The path without some references: count 0 if there is none. */
static int find_without(struct query_leak_tracer *t, unsigned which, uint32_t ix,
			struct query_leak_path *out, struct hdb_error *err)
{
	struct query *q = t->judge->q;
	struct base_big *tree = &t->trees[which];
	int r = HDB_OK;

	if (!tree->data) {
		r = base_big_alloc(q->work, tree,
				   (uint64_t)q->heap->object_count * sizeof(uint32_t),
				   "paths without some references", err);
		if (r == HDB_OK)
			r = library_leaks_tree(&t->library, which == WITHOUT_LIBRARIES, tree->data,
					       err);
	}
	return r == HDB_OK ? query_leak_path_along(q, tree->data, ix, out, err) : r;
}

/* A path without what is known if there is one; else one that says which library is to blame. */
static int choose_path(struct query_leak_tracer *t, uint32_t ix, struct query_leak_trace *out,
		       struct hdb_error *err)
{
	struct query_leak_path other;
	const struct library_rule *known = NULL;
	int r = query_leak_path_find(t->judge->q, ix, &out->path, err);

	if (r == HDB_OK)
		r = find_known(t, &out->path, &known, err);
	if (r != HDB_OK || !known)
		return r;
	out->is_other_path = true;
	r = find_without(t, WITHOUT_LIBRARIES, ix, &other, err);
	if (r == HDB_OK && other.count) {
		out->path = other;
		known = NULL;
		r = library_leaks_root(&t->library, other.nodes[0], &known, err);
	} else if (r == HDB_OK) {
		r = find_without(t, WITHOUT_IGNORED, ix, &other, err);
		if (r == HDB_OK && !other.count)
			return HDB_NOTFOUND;
		out->path = other;
		known = NULL;
		if (r == HDB_OK)
			r = find_known(t, &out->path, &known, err);
	}
	out->library = known;
	return r;
}

/* ---- who is to blame ---- */

static int judge_steps(struct query_leak_tracer *t, struct query_leak_trace *out,
		       struct hdb_error *err)
{
	const struct query_leak_path *path = &out->path;
	enum object_verdict verdicts[2 * LEAK_PATH_ENDS] = { OBJECT_UNKNOWN };
	int r = HDB_OK;

	for (size_t i = 0; i < path->count && r == HDB_OK; i++) {
		r = object_judge_look(t->judge, path->nodes[i], false, &verdicts[i],
				      &out->reasons[i], err);
		if (verdicts[i] == OBJECT_THERE && i + 1 < path->count)
			out->there_count = i + 1;
	}
	out->first_gone = path->count - 1;
	for (size_t i = path->count; i-- > out->there_count;)
		if (verdicts[i] == OBJECT_GONE)
			out->first_gone = i;
	out->reasons[path->count - 1] = out->reason;
	out->first_suspect = out->there_count ? out->there_count - 1 : 0;
	for (size_t i = out->there_count; i + 1 < path->count && r == HDB_OK; i++) {
		const char *reason;

		if (verdicts[i] != OBJECT_GONE)
			continue;
		/* What no rule looks for is not told by itself: then this one is. */
		r = object_judge_look(t->judge, path->nodes[i], true, &verdicts[i], &reason, err);
		out->is_hanging |= verdicts[i] == OBJECT_GONE;
	}
	return r;
}

/*
 * "com.acme.Bus.listeners", "com.acme.Main.bus (static)", "java.lang.Object[][x]": alike for all
 * elements.
 */
static int reference_name(struct query *q, const struct query_leak_path *path, size_t i, char *buf,
			  size_t size, struct hdb_error *err)
{
	static const char fixed[] = "static ";
	struct heap_object object;
	char holds[NAME_MAX_BYTES];
	const char *name, *field = holds;
	int r = query_leak_path_holds(q, path, i, holds, sizeof(holds), err);

	if (r == HDB_OK)
		r = heap_object(q->heap, path->nodes[i], &object, err);
	if (r != HDB_OK)
		return r;
	name = heap_class_name(q->heap, object.kind == STORE_CLASS ? (uint32_t)object.length :
								     object.class_no);
	if (strncmp(holds, fixed, sizeof(fixed) - 1) == 0)
		field += sizeof(fixed) - 1;
	if (holds[0] == '[')
		(void)snprintf(buf, size, "%s[x]", name);
	else
		(void)snprintf(buf, size, "%s%s%s%s", name, field[0] == '<' ? " " : ".", field,
			       field != holds ? " (static)" : "");
	return HDB_OK;
}

static int sign(struct query_leak_tracer *t, struct query_leak_trace *out, struct hdb_error *err)
{
	struct query *q = t->judge->q;
	const struct query_leak_path *path = &out->path;
	char name[2 * NAME_MAX_BYTES];
	struct heap_object object;
	XXH3_state_t state;
	int r = HDB_OK;

	XXH3_64bits_reset(&state);
	for (size_t i = out->first_suspect; i < out->first_gone && r == HDB_OK; i++) {
		r = reference_name(q, path, i, name, sizeof(name), err);
		if (r == HDB_OK && i == out->first_suspect)
			(void)snprintf(out->suspect, sizeof(out->suspect), "%.*s",
				       LEAK_SUSPECT_BYTES - 1, name);
		if (r == HDB_OK && !out->library)
			XXH3_64bits_update(&state, name, strlen(name) + 1);
	}
	if (r == HDB_OK && out->library) {
		XXH3_64bits_update(&state, out->library->id, strlen(out->library->id));
	} else if (r == HDB_OK && out->first_suspect == out->first_gone) {
		/* A root by itself. */
		r = heap_object(q->heap, path->nodes[path->count - 1], &object, err);
		if (r == HDB_OK) {
			const char *class = heap_class_name(q->heap, object.class_no);

			XXH3_64bits_update(&state, class, strlen(class));
		}
	}
	out->signature = XXH3_64bits_digest(&state);
	return r;
}

int query_leak_trace(struct query_leak_tracer *tracer, uint32_t ix, const char *reason,
		     struct query_leak_trace *out, struct hdb_error *err)
{
	int r;

	*out = (struct query_leak_trace){ .reason = reason };
	r = choose_path(tracer, ix, out, err);
	if (r == HDB_OK && !out->path.count)
		return HDB_NOTFOUND;
	if (r == HDB_OK)
		r = judge_steps(tracer, out, err);
	return r == HDB_OK ? sign(tracer, out, err) : r;
}
