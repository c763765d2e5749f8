/*
 * queries/leaks/library_leaks.c - which of the known references of libraries a heap has, and the
 * heap without them.
 */
#include "queries/leaks/library_leaks.h"

#include "analysis/describe.h"
#include "base/glob.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "heap/values/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512

static const char static_prefix[] = "static ";
static const char local_holder[] = "<local variable>";

/* What the heap tells of the device. */
struct device {
	int64_t sdk; /* 0: not known */
	char manufacturer[NAME_MAX_BYTES], build_id[NAME_MAX_BYTES];
};

static int read_text(struct query *q, const char *field, char *buf, size_t size,
		     struct hdb_error *err)
{
	uint32_t ix;
	int r = heap_static_object(q->heap, field, &ix, err);

	buf[0] = '\0';
	if (r == HDB_OK)
		r = heap_string(q->heap, ix, buf, size, NULL, err);
	return r < 0 ? r : HDB_OK;
}

static int read_device(struct query *q, struct device *out, struct hdb_error *err)
{
	struct heap_value value;
	int r = heap_static_value(q->heap, "android.os.Build$VERSION.SDK_INT", &value, err);

	*out = (struct device){ .sdk = 0 };
	if (r == HDB_OK && !heap_value_number(&value, &out->sdk))
		out->sdk = 0;
	if (r >= 0)
		r = read_text(q, "android.os.Build.MANUFACTURER", out->manufacturer,
			      sizeof(out->manufacturer), err);
	return r == HDB_OK ? read_text(q, "android.os.Build.ID", out->build_id,
				       sizeof(out->build_id), err) :
			     r;
}

/* A heap that does not tell its version may be of any. */
static bool is_for(const struct library_rule *rule, const struct device *device)
{
	if (device->sdk && ((rule->sdk_least && device->sdk < rule->sdk_least) ||
			    (rule->sdk_most && device->sdk > rule->sdk_most)))
		return false;
	return (!rule->manufacturer || base_is_among(rule->manufacturer, device->manufacturer)) &&
	       (!rule->build_id || strcmp(rule->build_id, device->build_id) == 0);
}

int library_leaks_init(struct library_leaks *leaks, struct query *q, struct hdb_error *err)
{
	struct heap *heap = q->heap;
	struct device device;
	int r = read_device(q, &device, err);

	*leaks = (struct library_leaks){ .q = q };
	if (r != HDB_OK)
		return r;
	leaks->class_of = calloc(library_rule_count, sizeof(*leaks->class_of));
	leaks->from_class = calloc((size_t)heap->class_count + 1, 1);
	if (!leaks->class_of || !leaks->from_class)
		return hdb_fail_memory(err, "leaks of libraries", heap->class_count);
	for (size_t i = 0; i < library_rule_count; i++) {
		const struct library_rule *rule = &library_rules[i];
		const char *name =
			rule->kind == LIBRARY_LOCAL ? "java.lang.Thread" : rule->class_name;
		const uint32_t no =
			is_for(rule, &device) ? heap_class_by_name(heap, name, 0) : HEAP_NONE;

		leaks->class_of[i] = no;
		if (no == HEAP_NONE || rule->kind == LIBRARY_NATIVE)
			continue;
		leaks->has_class_rules |= rule->kind == LIBRARY_STATIC;
		for (uint32_t c = 0; c < heap->class_count && rule->kind != LIBRARY_STATIC; c++)
			leaks->from_class[c] |= heap_is_subclass(heap, c, no);
	}
	for (uint32_t c = 0; c < heap->class_count; c++)
		leaks->from_class[c] |= heap_class(heap, c)->strength != STORE_STRONG;
	return HDB_OK;
}

void library_leaks_release(struct library_leaks *leaks)
{
	free(leaks->class_of);
	free(leaks->from_class);
	*leaks = (struct library_leaks){ .q = leaks->q };
}

/* ---- one reference ---- */

/* Whether a rule knows one of the names by which an object holds the next. */
static int knows_name(struct library_leaks *l, size_t i, const struct heap_object *from,
		      const char *name, size_t size, bool *out, struct hdb_error *err)
{
	const struct library_rule *rule = &library_rules[i];
	char thread[NAME_MAX_BYTES];
	int r = HDB_OK;

	*out = false;
	if (l->class_of[i] == HEAP_NONE || rule->kind == LIBRARY_NATIVE)
		return HDB_OK;
	if (rule->kind == LIBRARY_STATIC) {
		const size_t skip = sizeof(static_prefix) - 1;

		*out = from->kind == STORE_CLASS && from->length == l->class_of[i] && size > skip &&
		       memcmp(name, static_prefix, skip) == 0 &&
		       size - skip == strlen(rule->field) &&
		       memcmp(name + skip, rule->field, size - skip) == 0;
		return HDB_OK;
	}
	if (from->kind != STORE_INSTANCE ||
	    !heap_is_subclass(l->q->heap, from->class_no, l->class_of[i]))
		return HDB_OK;
	if (rule->kind == LIBRARY_FIELD) {
		*out = size == strlen(rule->field) && memcmp(name, rule->field, size) == 0;
		return HDB_OK;
	}
	if (size == sizeof(local_holder) - 1 && memcmp(name, local_holder, size) == 0) {
		r = heap_thread_name(l->q->heap, from->ix, thread, sizeof(thread), err);
		*out = r == HDB_OK && strcmp(thread, rule->class_name) == 0;
	}
	return r < 0 ? r : HDB_OK;
}

int library_leaks_edge(struct library_leaks *leaks, uint32_t from, const char *holds,
		       const struct library_rule **out, struct hdb_error *err)
{
	struct heap_object object;
	int r = heap_object(leaks->q->heap, from, &object, err);

	*out = NULL;
	for (const char *p = holds; *p && r == HDB_OK;) {
		const size_t size = strcspn(p, ",");
		const struct library_rule *found = NULL;
		bool knows;

		for (size_t i = 0; i < library_rule_count && r == HDB_OK && !found; i++) {
			r = knows_name(leaks, i, &object, p, size, &knows, err);
			if (r == HDB_OK && knows)
				found = &library_rules[i];
		}
		if (!found) {
			*out = NULL;
			return r;
		}
		if (!*out || (*out)->is_ignored)
			*out = found;
		p += size;
		p += strspn(p, ", ");
	}
	return r;
}

int library_leaks_root(struct library_leaks *leaks, uint32_t ix, const struct library_rule **out,
		       struct hdb_error *err)
{
	struct heap_object object;
	size_t count;
	const struct store_root *roots = heap_roots_of(leaks->q->heap, ix, &count);
	int r = heap_object(leaks->q->heap, ix, &object, err);

	*out = NULL;
	for (size_t i = 0; i < count; i++)
		if (!roots[i].is_local && roots[i].kind != HPROF_ROOT_JNI_GLOBAL)
			return r;
	for (size_t i = 0; i < library_rule_count && r == HDB_OK && !*out; i++)
		if (count && library_rules[i].kind == LIBRARY_NATIVE &&
		    leaks->class_of[i] != HEAP_NONE && object.kind == STORE_INSTANCE &&
		    heap_is_subclass(leaks->q->heap, object.class_no, leaks->class_of[i]))
			*out = &library_rules[i];
	return r;
}

/* ---- the heap without them ---- */

struct filter_context {
	struct library_leaks *leaks;
	bool all;
};

/* Takes out referents of weak ones, and what known references alone hold. */
static int keep(void *ctx, uint32_t from, uint32_t *edges, uint32_t *count, struct hdb_error *err)
{
	const struct filter_context *f = ctx;
	struct query *q = f->leaks->q;
	uint32_t kept = 0;

	for (uint32_t e = 0; e < *count; e++) {
		const struct library_rule *rule = NULL;
		char holds[NAME_MAX_BYTES];
		uint8_t strength;
		int r = heap_strength(q->heap, from, edges[e], &strength, err);

		if (r >= 0 && strength == STORE_STRONG)
			r = analysis_holder(&q->session, from, edges[e], holds, sizeof(holds), err);
		if (r >= 0 && strength == STORE_STRONG)
			r = library_leaks_edge(f->leaks, from, holds, &rule, err);
		if (r < 0)
			return r;
		if (strength == STORE_STRONG && !(rule && (f->all || rule->is_ignored)))
			edges[kept++] = edges[e];
	}
	*count = kept;
	return HDB_OK;
}

int library_leaks_tree(struct library_leaks *leaks, bool all, uint32_t *parents,
		       struct hdb_error *err)
{
	struct filter_context context = { leaks, all };
	const struct derive_filter filter = {
		.from_class = leaks->from_class,
		.wants_classes = leaks->has_class_rules,
		.keep = keep,
		.ctx = &context,
	};

	return derive_reach_without(leaks->q->derive, &filter, parents, err);
}

void library_leaks_text(const struct library_rule *rule, char *buf, size_t size)
{
	char versions[64] = "";

	if (rule->sdk_least && rule->sdk_most == rule->sdk_least)
		(void)snprintf(versions, sizeof(versions), ", Android API %u", rule->sdk_least);
	else if (rule->sdk_least && rule->sdk_most)
		(void)snprintf(versions, sizeof(versions), ", Android API %u to %u",
			       rule->sdk_least, rule->sdk_most);
	else if (rule->sdk_least)
		(void)snprintf(versions, sizeof(versions), ", Android API %u and later",
			       rule->sdk_least);
	else if (rule->sdk_most)
		(void)snprintf(versions, sizeof(versions), ", Android API up to %u",
			       rule->sdk_most);
	(void)snprintf(buf, size, "known leak of a library: %s (%s%s%s%s%s)", rule->id,
		       rule->class_name, rule->field ? "." : "", rule->field ? rule->field : "",
		       rule->manufacturer ? ", of some makers" : "", versions);
}
