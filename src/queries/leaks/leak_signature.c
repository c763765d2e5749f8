/*
 * queries/leaks/leak_signature.c - computes signatures and shapes; leak_signature.h defines them.
 */
#include "queries/leaks/leak_signature.h"

#include "heap/platform_classes.h"
#include "base/sha1.h"
#include "heap/threads.h"
#include "queries/leaks/leak_blame.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/* Maximum number of fields of a class, and of superclasses, in a shape. */
#define SHAPE_FIELDS_MAX 4096u
#define SHAPE_CLASSES_MAX 256u
/* Number of HPROF type codes, which index the arrays below. */
#define TYPES 12u

static const char field_mark[] = LEAK_SIGNATURE_FIELD;

/* A signature text under construction. */
struct trail {
	char text[LEAK_SIGNATURE_MAX_BYTES];
	size_t used, last; /* length of the text, and position of its last step */
};

struct signer {
	struct query *q;
	struct trail names, shapes;
	/* whether the last step is a platform class, such as a collection */
	bool is_after_platform;
};

/* ---- names ---- */

/*
 * Markers in generated class names. The letters or digits after a marker change with each run or
 * build.
 */
static const char *const generated[] = {
	"$$Lambda",     "$Proxy",          "CGLIB$$",        "ByteBuddy$",
	"MockitoMock$", "HibernateProxy$", "MethodAccessor", "ConstructorAccessor",
};

/*
 * Returns the length of the generated part that follows the marker at `at`, or 0 if there is none.
 */
static size_t generated_size(const char *name, size_t at)
{
	for (size_t i = 0; i < BASE_COUNT(generated); i++) {
		const size_t size = strlen(generated[i]);
		size_t n = 0;

		if (at < size || strncmp(name + at - size, generated[i], size) != 0)
			continue;
		while (isxdigit((unsigned char)name[at + n]) ||
		       (name[at + n] && strchr("/+x", name[at + n])) ||
		       (name[at + n] == '$' && isdigit((unsigned char)name[at + n + 1])))
			n++;
		/*
		 * If other letters follow the marker, as in "$ProxyFactory", the name was not
		 * generated.
		 */
		if (name[at + n] && name[at + n] != '[' && name[at + n] != '$')
			return 0;
		return n;
	}
	return 0;
}

void leak_stable_name(const char *name, char *out, size_t size)
{
	size_t used = 0, at = 0;

	while (name[at] && used + 1 < size) {
		size_t skip = at ? generated_size(name, at) : 0;

		/*
		 * Skips the numbers of anonymous and local classes (Outer$12, Outer$1Local) and of
		 * hidden classes (Name/0x800c0).
		 */
		if (!skip && at && name[at - 1] == '$')
			skip = strspn(name + at, "0123456789");
		if (!skip && at && (name[at] == '/' || name[at] == '+') &&
		    strncmp(name + at + 1, "0x", 2) == 0)
			skip = 3 + strspn(name + at + 3, "0123456789abcdef");
		at += skip;
		if (!skip)
			out[used++] = name[at++];
	}
	out[used] = '\0';
}

/* ---- strings ---- */

/* Appends a step, unless the step equals the last step or does not fit. */
static void add_step(struct trail *t, const char *step)
{
	const size_t room = sizeof(t->text) - t->used;
	int n;

	if (t->used && strcmp(t->text + t->last, step) == 0)
		return;
	n = snprintf(t->text + t->used, room, "%s%s", t->used ? LEAK_SIGNATURE_STEP : "", step);
	if (n < 0 || (size_t)n >= room) {
		t->text[t->used] = '\0';
		return;
	}
	t->last = t->used + (t->used ? sizeof(LEAK_SIGNATURE_STEP) - 1 : 0);
	t->used += (size_t)n;
}

/* Appends a step to both the text and the shape. */
static void add_same(struct signer *s, const char *step)
{
	add_step(&s->names, step);
	add_step(&s->shapes, step);
}

static void hash_text(const char *text, char out[BASE_SHA1_TEXT])
{
	uint8_t digest[BASE_SHA1_BYTES];

	base_sha1(text, strlen(text), digest);
	base_sha1_text(digest, out);
}

/* ---- shapes of classes ---- */

/* Counts the fields of one class by type. */
static int count_fields(struct heap *heap, uint32_t first, uint32_t count, uint32_t *by_type,
			struct hdb_error *err)
{
	char name[4];

	for (uint32_t i = 0; i < count && i < SHAPE_FIELDS_MAX; i++) {
		struct store_field field;

		TRY(heap_field(heap, first + i, &field, err));
		TRY(heap_text(heap, field.name_text, name, sizeof(name), err));
		/* References that the VM adds, and synthetic fields, differ between builds. */
		if (name[0] != '<' && name[0] != '$' && field.type < TYPES)
			by_type[field.type]++;
	}
	return HDB_OK;
}

/* Writes counts by type: "object 2, int 1". */
static void put_types(const uint32_t *by_type, char *buf, size_t size)
{
	static const char *const names[TYPES] = {
		[HPROF_OBJECT] = "object", [HPROF_BOOLEAN] = "boolean", [HPROF_CHAR] = "char",
		[HPROF_FLOAT] = "float",   [HPROF_DOUBLE] = "double",   [HPROF_BYTE] = "byte",
		[HPROF_SHORT] = "short",   [HPROF_INT] = "int",         [HPROF_LONG] = "long",
	};
	size_t used = 0;

	for (unsigned type = 0; type < TYPES; type++)
		if (names[type] && by_type[type] && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s %" PRIu32,
						 used ? ", " : "", names[type], by_type[type]);
}

/*
 * Writes the shape of a class, such as "{object 2, int 1}": the number of fields of each type in
 * the class and its superclasses up to the first platform class, whose name follows unless it is
 * java.lang.Object: "{object 2}:java.lang.Thread". For a static field, only the class itself
 * counts.
 */
static int shape_of(struct heap *heap, uint32_t class_no, bool is_static, struct base_text to,
		    struct hdb_error *err)
{
	uint32_t by_type[TYPES] = { 0 }, no = class_no;
	char types[NAME_MAX_BYTES / 2] = "";
	const char *above = "";

	for (unsigned i = 0; i < SHAPE_CLASSES_MAX && no != STORE_NONE; i++) {
		const struct store_class *class = heap_class(heap, no);

		if (i && heap_is_platform_class(heap_class_name(heap, no))) {
			above = heap_class_name(heap, no);
			break;
		}
		TRY(is_static ? count_fields(heap, class->first_static, class->static_count,
					     by_type, err) :
				count_fields(heap, class->first_field, class->field_count, by_type,
					     err));
		no = is_static ? STORE_NONE : class->super_no;
	}
	if (strcmp(above, "java.lang.Object") == 0)
		above = "";
	put_types(by_type, types, sizeof(types));
	(void)snprintf(to.buf, to.size, "%s{%s}%s%s", is_static ? "static" : "", types,
		       above[0] ? ":" : "", above);
	return HDB_OK;
}

/* ---- steps ---- */

/*
 * Appends a step of an application class: class name and reference to the text, field types to the
 * shape.
 */
static int add_own(struct signer *s, const struct heap_object *object, uint32_t class_no,
		   const char *holds, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES], step[2 * NAME_MAX_BYTES + 8];

	leak_stable_name(heap_class_name(s->q->heap, class_no), name, sizeof(name));
	(void)snprintf(step, sizeof(step), "%s%s%s", name, holds[0] ? field_mark : "", holds);
	add_step(&s->names, step);
	TRY(shape_of(s->q->heap, class_no, object && object->kind == STORE_CLASS, BASE_TEXT(name),
		     err));
	(void)snprintf(step, sizeof(step), "%s%s", name, holds[0] ? field_mark : "");
	add_step(&s->shapes, step);
	s->is_after_platform = false;
	return HDB_OK;
}

/*
 * Writes the application method with the local variable: "com.acme.Job.run". Searches from the
 * variable's frame outwards. Writes "" if the stack is unknown or has only platform frames.
 */
static int frame_of(struct query *q, uint32_t thread_ix, uint32_t ix, struct base_text to,
		    struct hdb_error *err)
{
	struct store_thread thread = { .ix = HEAP_NONE };
	struct store_trace trace;
	const struct store_root *roots;
	size_t count;
	uint32_t depth = UINT32_MAX;

	to.buf[0] = '\0';
	roots = heap_roots_of(q->heap, ix, &count);
	for (size_t i = 0; i < count; i++) {
		if (!roots[i].is_local || roots[i].frame_number >= depth)
			continue;
		TRY_FOUND(heap_thread_by_serial(q->heap, roots[i].thread_serial, &thread, err));
		if (thread.ix == thread_ix)
			depth = roots[i].frame_number;
	}
	if (depth == UINT32_MAX)
		return HDB_OK;
	TRY_FOUND(heap_trace(q->heap, thread.trace_serial, &trace, err));
	TRY(heap_own_frame(q->heap, &trace, depth, to, err));
	to.buf[strcspn(to.buf, "(")] = '\0';
	return HDB_OK;
}

/* Appends a thread, and the method whose local variable holds the next step. */
static int add_thread(struct signer *s, const struct query_leak_path *path, size_t i,
		      struct hdb_error *err)
{
	char method[NAME_MAX_BYTES], step[2 * NAME_MAX_BYTES];
	int r = frame_of(s->q, path->nodes[i], path->nodes[i + 1], BASE_TEXT(method), err);

	assert(i < path->count);
	(void)snprintf(step, sizeof(step), "java.lang.Thread%s%s%s", field_mark,
		       method[0] ? "local variable of " : "local variable", method);
	add_step(&s->names, step);
	(void)snprintf(step, sizeof(step), "java.lang.Thread%slocal variable", field_mark);
	add_step(&s->shapes, step);
	s->is_after_platform = true;
	return r;
}

/*
 * Appends a step of a platform class, with the name of a static field but without other fields and
 * nested class names.
 */
static void add_platform(struct signer *s, const struct heap_object *object, uint32_t class_no,
			 const char *holds)
{
	char name[NAME_MAX_BYTES], step[2 * NAME_MAX_BYTES + 8];

	leak_stable_name(heap_class_name(s->q->heap, class_no), name, sizeof(name));
	if (object->kind == STORE_CLASS)
		(void)snprintf(step, sizeof(step), "%s%s%s", name, holds[0] ? field_mark : "",
			       holds);
	else
		(void)snprintf(step, sizeof(step), "%.*s", (int)strcspn(name, "$"), name);
	add_same(s, step);
	s->is_after_platform = true;
}

/* Appends an array, unless it is inside a platform collection. */
static void add_array(struct signer *s, uint32_t class_no)
{
	const char *class_name = heap_class_name(s->q->heap, class_no);
	char name[NAME_MAX_BYTES];

	if (s->is_after_platform)
		return;
	leak_stable_name(class_name, name, sizeof(name));
	add_step(&s->names, name);
	add_step(&s->shapes, heap_is_platform_class(class_name) ? name : "{}[]");
}

/* Appends step `i` of the path according to its kind. */
static int add_object(struct signer *s, const struct query_leak_path *path, size_t i,
		      struct hdb_error *err)
{
	struct heap_object object;
	struct analysis_link link;
	uint32_t class_no;

	assert(i < path->count);
	TRY(heap_object(s->q->heap, path->nodes[i], &object, err));
	TRY(query_leak_link(s->q, path, i, &link, err));
	class_no = heap_known_class(&object);
	if (object.kind == STORE_OBJECT_ARRAY || object.kind == STORE_PRIMITIVE_ARRAY)
		add_array(s, class_no);
	else if (link.kind == ANALYSIS_LINK_LOCAL && heap_is_thread(s->q->heap, path->nodes[i]))
		return add_thread(s, path, i, err);
	else if (heap_is_platform_class(heap_class_name(s->q->heap, class_no)))
		add_platform(s, &object, class_no, link.text);
	else
		return add_own(s, &object, class_no, link.text, err);
	return HDB_OK;
}

/*
 * Chooses the first step of the text: the first application step at or below the suspect, else the
 * best step of the whole path. Steps above the suspect differ between dumps, because several paths
 * may lead to it.
 */
static int find_start(struct signer *s, const struct query_leak_path *path, uint32_t suspect_ix,
		      size_t *start, struct hdb_error *err)
{
	enum leak_blame best, here;
	size_t from = 0;

	for (size_t i = 0; i < path->count; i++)
		if (path->nodes[i] == suspect_ix)
			from = i;
	TRY(leak_choose_step(s->q, path, start, &best, err));
	for (size_t i = from; i + 1 < path->count; i++) {
		TRY(leak_blame_step(s->q, path, i, &here, err));
		if (here == BLAME_OWN) {
			*start = i;
			break;
		}
	}
	return HDB_OK;
}

/* Sets the three cells for the signature. */
static int keep(struct leak_rows *rows, const struct signer *s, struct leak_row *row,
		struct hdb_error *err)
{
	char hash[BASE_SHA1_TEXT];

	hash_text(s->names.text, hash);
	TRY(leak_rows_text(rows, row, LEAK_SIGNATURE_TEXT, err, "%s", s->names.text));
	TRY(leak_rows_text(rows, row, LEAK_SIGNATURE, err, "%s", hash));
	hash_text(s->shapes.text, hash);
	return leak_rows_text(rows, row, LEAK_SHAPE, err, "%s", hash);
}

int query_leak_sign(struct query *q, struct leak_rows *rows, const struct query_leak_suspect *about,
		    struct leak_row *row, struct hdb_error *err)
{
	const struct analysis_suspect *s = about->suspect;
	const struct query_leak_path *path = about->path;
	struct signer signer = { .q = q };
	const char *name = heap_class_name(q->heap, s->class_no);
	size_t start = 0;
	int r = HDB_OK;

	if (path->count)
		TRY(find_start(&signer, path, analysis_suspect_top(s), &start, err));
	for (size_t i = start; i < path->count; i++)
		TRY(add_object(&signer, path, i, err));
	/* The path to a group ends above its members, so their class is appended. */
	if (s->ix == HEAP_NONE && heap_is_platform_class(name))
		add_same(&signer, name);
	else if (s->ix == HEAP_NONE)
		r = add_own(&signer, NULL, s->class_no, "", err);
	return r == HDB_OK ? keep(rows, &signer, row, err) : r;
}

/* ---- leaking objects ---- */

void query_leaking_signature_text(const struct leak_group *group, const struct leak_steps *steps,
				  struct heap *heap, struct base_text to)
{
	struct trail trail = { .used = 0 };
	char step[2 * NAME_MAX_BYTES];

	if (group->rule)
		library_leaks_pattern(group->rule, trail.text, sizeof(trail.text));
	for (size_t i = 0; i < steps->list.count && !group->rule; i++) {
		const struct leak_step *at = base_vec_at(&steps->list, struct leak_step, i);

		if (!at->is_suspect)
			continue;
		(void)snprintf(step, sizeof(step), "%s%s%s", inspect_class_of(heap, at->ix),
			       field_mark, leak_steps_text(steps, at->generic));
		add_step(&trail, step);
	}
	(void)snprintf(to.buf, to.size, "%s", trail.text);
}
