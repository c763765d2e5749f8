/*
 * analysis/targets.c - finds the object or classes that a string names, and suggests corrections
 * for mistakes.
 */
#include "analysis/targets.h"

#include "base/glob.h"
#include "base/suggest.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- suggestions of classes that the user may have meant ---- */

static const char *class_name(void *ctx, uint32_t no)
{
	return heap_class_name(ctx, no);
}

static int no_class(struct heap *heap, const char *pattern, struct hdb_error *err)
{
	const struct base_suggest_names names = { heap->class_count, class_name, heap };
	const char *similar = strpbrk(pattern, "*?") ? NULL : base_suggest_class(pattern, &names);

	assert(heap->classes.records);
	if (similar)
		return hdb_fail(err, HDB_NOTFOUND, "no such class: %s; did you mean %s?", pattern,
				similar);
	if (strpbrk(pattern, "*?"))
		return hdb_fail(err, HDB_NOTFOUND, "no class matches %s", pattern);
	return hdb_fail(err, HDB_NOTFOUND, "no such class: %s", pattern);
}

/* ---- objects ---- */

/* Minimum number of digits of an ID without 0x. */
#define BARE_MIN 8

/* Prefix of the label of a class object. */
static const char class_prefix[] = "class ";

/*
 * Returns the ID in a label such as "com.acme.Main@0x12c4", or NULL if the text is not such a
 * label.
 */
static const char *id_of_label(const char *target)
{
	const char *at = strrchr(target, '@');

	return at && at != target && at[1] == '0' && (at[2] == 'x' || at[2] == 'X') ? at + 1 : NULL;
}

static bool is_class_label(const char *target)
{
	return strncmp(target, class_prefix, sizeof(class_prefix) - 1) == 0;
}

/*
 * Returns whether a string like "8039bc78" is an ID without 0x: it is too long to be a name by
 * chance.
 */
static bool is_bare_id(const char *target)
{
	const size_t size = strspn(target, "0123456789abcdefABCDEF");

	return size >= BARE_MIN && size <= 16 && !target[size] && strpbrk(target, "0123456789");
}

bool analysis_is_object(const char *target)
{
	return (target[0] == '0' && (target[1] == 'x' || target[1] == 'X')) ||
	       is_class_label(target) || id_of_label(target) || is_bare_id(target);
}

static int parse_id(const char *target, uint64_t *id, struct hdb_error *err)
{
	const char *label = id_of_label(target);
	const char *digits = is_bare_id(target) ? target : (label ? label : target) + 2;
	char *end = NULL;

	errno = 0;
	if (analysis_is_object(target) && strspn(digits, "0123456789abcdefABCDEF"))
		*id = strtoull(digits, &end, 16);
	if (!end || *end || errno)
		return hdb_fail(err, HDB_EUSAGE,
				"\"%s\" is not an object ID: expected an ID such as 0x12c4 or a "
				"label such as Main@0x12c4 or \"class com.acme.Main\"",
				target);
	return HDB_OK;
}

int analysis_check_object(const char *target, struct hdb_error *err)
{
	uint64_t id;

	return is_class_label(target) ? HDB_OK : parse_id(target, &id, err);
}

/*
 * Finds the class object named by "class com.acme.Main". Fails if several class loaders define such
 * a class.
 */
static int find_class_object(const struct session *session, const char *target, uint32_t *ix,
			     struct hdb_error *err)
{
	struct heap *heap = session->heap;
	const char *name = target + sizeof(class_prefix) - 1;
	uint32_t first = HEAP_NONE;

	TRY(heap_load_classes(heap, err));
	for (uint32_t no = 0; no < heap->class_count; no++) {
		if (strcmp(name, heap_class_name(heap, no)) != 0)
			continue;
		if (first != HEAP_NONE)
			return hdb_fail(err, HDB_EUSAGE,
					"several class loaders define a class %s; use the ID of "
					"a class object, as listed by `histogram`",
					name);
		first = no;
	}
	if (first == HEAP_NONE)
		return no_class(heap, name, err);
	*ix = heap_class(heap, first)->ix;
	return HDB_OK;
}

/*
 * Returns whether a label names the class, with or without its package. Labels of arrays are like
 * "Main[]" or "Main[512]".
 */
static bool is_name_of(const char *label, size_t label_size, const char *class)
{
	const char *bracket = memchr(label, '[', label_size);
	const size_t size = bracket ? (size_t)(bracket - label) : label_size;
	const size_t class_size = strcspn(class, "[");

	if (!size || size > class_size || !bracket != !class[class_size] ||
	    memcmp(class + class_size - size, label, size) != 0)
		return false;
	return size == class_size || strchr(".$", class[class_size - size - 1]);
}

/*
 * Checks that the class in a label is the class of the object. Otherwise, the label was copied from
 * another dump, and an answer would describe the wrong object.
 */
static int check_label(const struct session *session, const char *target, uint32_t ix,
		       struct hdb_error *err)
{
	const char *label = id_of_label(target);
	struct heap_object object;
	const char *class;

	if (!label)
		return HDB_OK;
	TRY(heap_object(session->heap, ix, &object, err));
	class = heap_class_name(session->heap, object.class_no);
	if (is_name_of(target, (size_t)(label - 1 - target), class))
		return HDB_OK;
	return hdb_fail(err, HDB_EUSAGE, "expected an object of class %.*s, but %s is of class %s",
			(int)(label - 1 - target), target, label, class);
}

int analysis_object(const struct session *session, const char *target, uint32_t *ix,
		    struct hdb_error *err)
{
	uint64_t id = 0;
	int r;

	if (is_class_label(target))
		return find_class_object(session, target, ix, err);
	TRY(parse_id(target, &id, err));
	r = heap_find(session->heap, id, ix, err);
	if (r == HDB_NOTFOUND)
		(void)hdb_fail(err, HDB_NOTFOUND, "no such object: 0x%" PRIx64, id);
	TRY(r);
	return check_label(session, target, *ix, err);
}

/* ---- classes ---- */

/* Marks the class whose class object has this ID. */
static int mark_by_id(const struct session *session, const char *target, uint8_t *marks,
		      struct hdb_error *err)
{
	uint32_t ix, no;

	TRY(analysis_object(session, target, &ix, err));
	TRY(heap_class_of_object(session->heap, ix, &no, err));
	if (no == HEAP_NONE)
		return hdb_fail(err, HDB_NOTFOUND, "%s is not a class object", target);
	marks[no] = 1;
	return HDB_OK;
}

/*
 * Marks the subclasses of marked classes with 2. The result for a class is stored for its whole
 * chain of superclasses (3 means that no superclass is marked), so each class is visited at most
 * twice, even if a damaged dump contains a cycle.
 */
static void mark_sub(const struct heap *heap, uint8_t *marks)
{
	assert(heap->classes.records);
	assert(marks);
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
		marks[no] = marks[no] == 1 || marks[no] == 2;
}

/* Marks the classes that match a pattern. Fails if no class matches. */
static int mark_classes(const struct session *session, const char *pattern, bool with_sub,
			uint8_t *marks, struct hdb_error *err)
{
	struct heap *heap = session->heap;
	bool any = false;

	if (analysis_is_object(pattern))
		TRY(mark_by_id(session, pattern, marks, err));
	for (uint32_t no = 0; !analysis_is_object(pattern) && no < heap->class_count; no++)
		marks[no] = base_glob(pattern, heap_class_name(heap, no));
	if (with_sub)
		mark_sub(heap, marks);
	for (uint32_t no = 0; no < heap->class_count && !any; no++)
		any = marks[no];
	return any ? HDB_OK : no_class(heap, pattern, err);
}

int analysis_class_marks(const struct session *session, const char *pattern, bool with_sub,
			 uint8_t **marks, struct hdb_error *err)
{
	*marks = NULL;
	TRY(heap_load_classes(session->heap, err));
	TRY(BASE_ALLOC(*marks, (size_t)session->heap->class_count + 1, "classes", err));
	return mark_classes(session, pattern, with_sub, *marks, err);
}

int analysis_classes(const struct session *session, const char *pattern, bool with_sub,
		     struct analysis_class_list *out, struct hdb_error *err)
{
	const uint32_t count = session->heap->class_count;
	BASE_FREED uint8_t *marks = NULL;

	*out = (struct analysis_class_list){ 0 };
	TRY(analysis_class_marks(session, pattern, with_sub, &marks, err));
	TRY(BASE_ALLOC(out->numbers, count, "classes", err));
	for (uint32_t no = 0; no < count; no++)
		if (marks[no])
			out->numbers[out->count++] = no;
	return HDB_OK;
}
