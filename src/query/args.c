/*
 * query/args.c - what a query is asked with: options, and targets that name objects and classes.
 */
#include "query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct hdb_old_option query_old_sub[] = { { "sub", "subclasses" }, { NULL, NULL } };

const char *query_option_now(const struct hdb_query_spec *spec, const char *name)
{
	for (const struct hdb_old_option *o = spec->old_options; o && o->old_name; o++)
		if (strcmp(o->old_name, name) == 0)
			return o->name;
	return name;
}

const char *query_option(const struct query *q, const char *name)
{
	const char *value = NULL;

	/* The last one counts, as on any command line. */
	for (size_t i = 0; i < q->args->option_count; i++) {
		const struct hdb_option *option = &q->args->options[i];

		if (strcmp(query_option_now(&q->def->spec, option->name), name) == 0)
			value = option->value ? option->value : "";
	}
	return value;
}

int query_number(const struct query *q, const char *name, uint64_t low, uint64_t high,
		 uint64_t fallback, uint64_t *out, struct hdb_error *err)
{
	const char *text = query_option(q, name);
	char *end = NULL;
	unsigned long long value;

	*out = fallback;
	if (!text)
		return HDB_OK;
	errno = 0;
	value = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	if (!end || *end || errno || value < low || value > high)
		return hdb_fail(err, HDB_EUSAGE,
				"--%s must be a number from %" PRIu64 " to %" PRIu64 ", not \"%s\"",
				name, low, high, text);
	*out = value;
	return HDB_OK;
}

int query_targets(const struct query *q, size_t low, size_t high, struct hdb_error *err)
{
	const struct hdb_query_spec *spec = &q->def->spec;

	if (q->args->target_count >= low && q->args->target_count <= high)
		return HDB_OK;
	if (high == 0)
		return hdb_fail(err, HDB_EUSAGE, "%s takes no arguments", spec->name);
	if (q->args->target_count < low)
		return hdb_fail(err, HDB_EUSAGE, "missing argument: %s", spec->targets);
	return hdb_fail(err, HDB_EUSAGE, "%s takes at most %zu argument%s: %s", spec->name, high,
			high == 1 ? "" : "s", spec->targets);
}

/* ---- objects ---- */

bool query_is_object(const char *target)
{
	return target[0] == '0' && (target[1] == 'x' || target[1] == 'X');
}

static int parse_id(const char *target, uint64_t *id, struct hdb_error *err)
{
	const char *digits = target + 2;
	char *end = NULL;

	errno = 0;
	if (query_is_object(target) && strspn(digits, "0123456789abcdefABCDEF"))
		*id = strtoull(digits, &end, 16);
	if (!end || *end || errno)
		return hdb_fail(err, HDB_EUSAGE,
				"\"%s\" is no object: expected an identifier like "
				"0x12c4",
				target);
	return HDB_OK;
}

int query_object(struct query *q, const char *target, uint32_t *ix, struct hdb_error *err)
{
	uint64_t id = 0;
	int r = parse_id(target, &id, err);

	if (r < 0)
		return r;
	r = heap_find(q->heap, id, ix, err);
	if (r == HDB_NOTFOUND)
		(void)hdb_fail(err, HDB_NOTFOUND, "there is no object 0x%" PRIx64, id);
	return r;
}

/* ---- classes ---- */

/*
 * Another class that the user may have meant: "HashMap" for "java.util.HashMap", or the wrong case.
 */
static const char *similar_class(struct heap *heap, const char *pattern)
{
	const size_t size = strlen(pattern);

	for (uint32_t no = 0; no < heap->class_count; no++) {
		const char *name = heap_class_name(heap, no);
		const size_t name_size = strlen(name);

		if (name_size < size || strcasecmp(name + name_size - size, pattern) != 0)
			continue;
		if (name_size == size || name[name_size - size - 1] == '.' ||
		    name[name_size - size - 1] == '$')
			return name;
	}
	return NULL;
}

static int no_class(struct heap *heap, const char *pattern, struct hdb_error *err)
{
	const char *similar = similar_class(heap, pattern);

	if (similar)
		return hdb_fail(err, HDB_NOTFOUND, "there is no class %s; there is %s", pattern,
				similar);
	if (strpbrk(pattern, "*?"))
		return hdb_fail(err, HDB_NOTFOUND, "no class matches %s", pattern);
	return hdb_fail(err, HDB_NOTFOUND, "there is no class %s", pattern);
}

/* Marks the class whose class object has the ID. */
static int mark_by_id(struct query *q, const char *target, uint8_t *marks, struct hdb_error *err)
{
	uint32_t ix, no;
	int r = query_object(q, target, &ix, err);

	if (r == HDB_OK)
		r = heap_class_of_object(q->heap, ix, &no, err);
	if (r != HDB_OK)
		return r;
	if (no == HEAP_NONE)
		return hdb_fail(err, HDB_NOTFOUND, "%s is no class object", target);
	marks[no] = 1;
	return HDB_OK;
}

/*
 * Marks the subclasses of marked classes with 2. What is found on a way up is kept for the whole
 * way (3: none above is marked), so that each class is passed twice at most, in a circle of a
 * damaged database too.
 */
static void mark_sub(const struct heap *heap, uint8_t *marks)
{
	for (uint32_t no = 0; no < heap->class_count; no++) {
		uint32_t top = no;
		uint8_t found;

		while (top != STORE_NONE && !marks[top]) {
			marks[top] = 3;
			top = heap_class(heap, top)->super_no;
		}
		found = top == STORE_NONE || marks[top] == 3 ? 3 : 2;
		for (uint32_t at = no; at != top && found == 2 && marks[at] == 3;
		     at = heap_class(heap, at)->super_no)
			marks[at] = 2;
	}
	for (uint32_t no = 0; no < heap->class_count; no++)
		if (marks[no] == 3)
			marks[no] = 0;
}

int query_classes(struct query *q, const char *pattern, bool with_sub, uint32_t **classes,
		  size_t *count, struct hdb_error *err)
{
	struct heap *heap = q->heap;
	uint8_t *marks;
	size_t n = 0;
	int r = heap_load_classes(heap, err);

	*classes = NULL;
	*count = 0;
	if (r < 0)
		return r;
	marks = calloc((size_t)heap->class_count + 1, 1);
	if (!marks)
		return hdb_fail_memory(err, "classes", heap->class_count);
	if (query_is_object(pattern))
		r = mark_by_id(q, pattern, marks, err);
	for (uint32_t no = 0; !query_is_object(pattern) && no < heap->class_count; no++)
		marks[no] = base_glob(pattern, heap_class_name(heap, no));
	if (with_sub && r == HDB_OK)
		mark_sub(heap, marks);
	for (uint32_t no = 0; no < heap->class_count; no++)
		n += marks[no] != 0;
	if (r == HDB_OK && !n)
		r = no_class(heap, pattern, err);
	if (r == HDB_OK) {
		*classes = malloc(n * sizeof(**classes));
		if (!*classes)
			r = hdb_fail_memory(err, "classes", n * sizeof(**classes));
	}
	for (uint32_t no = 0; r == HDB_OK && no < heap->class_count; no++)
		if (marks[no])
			(*classes)[(*count)++] = no;
	free(marks);
	return r;
}
