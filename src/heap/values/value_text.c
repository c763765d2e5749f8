/*
 * heap/values/value_text.c - evaluates the templates for values of known classes; see value_text.h.
 *
 * Values inside values are evaluated with a stack of a few levels, so objects that refer to
 * themselves do no harm.
 */
#include "heap/values/value_text.h"

#include "base/base_text.h"

#include "heap/values/binder.h"
#include "heap/values/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum nesting of values. A ZonedDateTime in an Optional needs four levels. */
#define LEVELS 5
/*
 * Maximum size of a path in a template, and maximum number of values in one string. Further values
 * are omitted.
 */
#define PATH_MAX_BYTES 128
#define VALUES_MAX 64

/*
 * Writes a value of a basic type. Chars that cannot be printed by themselves (surrogates, control
 * characters) are written as in Java source code.
 */
void heap_basic_text(const struct heap_value *value, char *buf, size_t size)
{
	union {
		uint32_t u;
		float f;
	} narrow = { .u = (uint32_t)value->bits };
	union {
		uint64_t u;
		double d;
	} wide = { .u = value->bits };
	char utf8[8] = "";
	char *end;
	int64_t number;

	switch (value->type) {
	case HPROF_OBJECT:
		if (value->bits)
			(void)snprintf(buf, size, "0x%" PRIx64, value->bits);
		else
			(void)snprintf(buf, size, "null");
		break;
	case HPROF_BOOLEAN:
		(void)snprintf(buf, size, "%s", value->bits & 0xff ? "true" : "false");
		break;
	case HPROF_CHAR:
		end = value->bits >= 0xd800 && value->bits < 0xe000 ?
			      NULL :
			      heap_put_utf8(utf8, utf8 + sizeof(utf8) - 1,
					    (uint32_t)value->bits & 0xffff);
		if (!end || value->bits < 0x20) {
			(void)snprintf(buf, size, "'\\u%04x'",
				       (unsigned)(uint32_t)value->bits & 0xffff);
		} else {
			*end = '\0';
			(void)snprintf(buf, size, "'%s'", utf8);
		}
		break;
	case HPROF_FLOAT:
		(void)snprintf(buf, size, "%s", base_real(narrow.f, true).text);
		break;
	case HPROF_DOUBLE:
		(void)snprintf(buf, size, "%s", base_real(wide.d, false).text);
		break;
	default:
		if (!heap_value_number(value, &number))
			number = (int64_t)value->bits;
		(void)snprintf(buf, size, "%" PRId64, number);
		break;
	}
}

/* ---- rows ---- */

static const char *row_name(uint32_t row)
{
	size_t count;
	const struct heap_value_rule *rules = heap_value_rules(&count);

	return row < count ? rules[row].class_name : NULL;
}

/*
 * Copies a path of a template, up to the closing brace or a format. Returns false if the path is
 * too long.
 */
static bool read_path(const char *text, char path[PATH_MAX_BYTES])
{
	const size_t size = strcspn(text, "}%@");

	if (size >= PATH_MAX_BYTES)
		return false;
	memcpy(path, text, size);
	path[size] = '\0';
	return true;
}

/*
 * Returns whether a row matches a class, that is, whether the class has the first field of the
 * template.
 */
static bool fits(struct heap *heap, uint32_t row, uint32_t class_no)
{
	size_t count;
	const char *brace = strchr(heap_value_rules(&count)[row].text, '{');
	char path[PATH_MAX_BYTES];

	return !brace ||
	       (read_path(brace + 1, path) && heap_has_path(heap, class_no, class_no, path));
}

static const struct heap_known_rows value_rows = { HEAP_KNOWN_VALUES, row_name, fits };

/*
 * Returns whether the value of a class is a number. Also checks the type of the field, because a
 * class of the same name may store a reference in `value`.
 */
bool heap_value_is_number(struct heap *heap, uint32_t class_no)
{
	struct heap_known_row row;
	struct heap_value_rule const *rules;
	size_t count;

	if (!heap_known_row(heap, &value_rows, class_no, &row))
		return false;
	rules = heap_value_rules(&count);
	return strcmp(rules[row.row].text, "{value}") == 0 &&
	       heap_path_type(heap, class_no, row.class_no, "value") != HPROF_OBJECT;
}

/* ---- evaluating templates ---- */

struct frame {
	const char *at; /* position in the template */
	uint32_t ix;
	uint32_t class_no; /* the class named by the row, at which the search for fields starts */
	uint32_t row;
	size_t start;   /* position in the buffer at which the frame's text starts */
	size_t section; /* position at which the current section in <> starts; SIZE_MAX if none */
	bool has_value; /* whether a value was shown */
};

struct machine {
	struct heap *heap;
	char *buf;
	size_t size, used;
	unsigned depth, values;
	struct frame frames[LEVELS];
};

/* Appends a string, which is truncated between characters at the end of the buffer. */
static void append(struct machine *m, const char *text, size_t size)
{
	assert(m->used < m->size);
	if (size > m->size - 1 - m->used) {
		size = m->size - 1 - m->used;
		/* Cuts between characters. */
		while (size && ((uint8_t)text[size] & 0xc0) == 0x80)
			size--;
	}
	memcpy(m->buf + m->used, text, size);
	m->used += size;
	m->buf[m->used] = '\0';
}

/* Begins the template of an object. Returns false if its class has no template. */
static bool push(struct machine *m, uint32_t ix, uint32_t class_no)
{
	struct heap_known_row row;
	size_t count;

	assert(m->depth <= LEVELS);
	if (m->depth == LEVELS || !heap_known_row(m->heap, &value_rows, class_no, &row))
		return false;
	m->frames[m->depth++] = (struct frame){
		.at = heap_value_rules(&count)[row.row].text,
		.ix = ix,
		.class_no = row.class_no,
		.row = row.row,
		.start = m->used,
		.section = SIZE_MAX,
	};
	return true;
}

/* Removes the output of the current <...> section, if there is one. */
static void drop(struct machine *m, struct frame *f)
{
	assert(f->section == SIZE_MAX || f->section <= m->used);
	if (f->section == SIZE_MAX)
		return;
	m->used = f->section;
	m->buf[m->used] = '\0';
	f->section = SIZE_MAX;
	f->at += strcspn(f->at, ">");
	f->at += *f->at == '>';
}

/* Appends a number, padded with zeros if a width is given. */
static void put_number(struct machine *m, struct frame *f, const struct heap_value *value,
		       const char *how)
{
	char text[64];
	int64_t number = 0;
	const bool is_number = heap_value_number(value, &number);

	if (is_number && number <= 0 && f->section != SIZE_MAX) {
		drop(m, f);
		return;
	}
	if (is_number && *how == '%')
		(void)snprintf(text, sizeof(text), "%0*" PRId64, (int)strtol(how + 1, NULL, 10),
			       number);
	else
		heap_basic_text(value, text, sizeof(text));
	append(m, text, strlen(text));
	f->has_value = true;
}

/* Appends a string, a class name, or the value of another object. */
static void put_object(struct machine *m, struct frame *f, uint32_t ix)
{
	struct heap_object object;
	char text[HEAP_VALUE_STRING];

	if (heap_object(m->heap, ix, &object, NULL) < 0) {
		drop(m, f);
	} else if (object.kind == STORE_CLASS) {
		const char *name = heap_class_name(m->heap, (uint32_t)object.length);

		append(m, name, strlen(name));
		f->has_value = true;
	} else if (heap_string(m->heap, ix, text, sizeof(text), NULL) == HDB_OK) {
		if (!text[0])
			drop(m, f);
		append(m, text, strlen(text));
		f->has_value = f->has_value || text[0];
	} else if (object.kind != STORE_INSTANCE || !push(m, ix, object.class_no)) {
		const char *name = heap_class_name(m->heap, object.class_no);

		append(m, name, strlen(name));
		f->has_value = true;
	}
}

/*
 * Appends the result of a function. A missing result is treated like a null value: the enclosing
 * section is removed.
 */
static void put_function(struct machine *m, struct frame *f, uint32_t ix,
			 const struct heap_value *value, const char *how)
{
	const size_t size = strcspn(how + 1, "}");
	const heap_value_function function = heap_value_function_named(how + 1, size);
	char text[1024] = "";

	if (function && function(&(struct heap_shown){ m->heap, ix, value }, text, sizeof(text)) &&
	    text[0]) {
		append(m, text, strlen(text));
		f->has_value = true;
	} else {
		drop(m, f);
	}
}

/* Evaluates the {...} at f->at. */
static void put_value(struct machine *m, struct frame *f)
{
	const char *text = f->at + 1, *how = text + strcspn(text, "}%@");
	struct heap_value value = { 0 };
	char path[PATH_MAX_BYTES];
	uint32_t ix = HEAP_NONE;
	int r = read_path(text, path) && m->values++ < VALUES_MAX ?
			heap_path_value_as(m->heap, (struct heap_as){ f->ix, f->class_no }, path,
					   &value, NULL) :
			HDB_NOTFOUND;

	f->at = how + strcspn(how, "}");
	f->at += *f->at == '}';
	if (r == HDB_OK && value.type == HPROF_OBJECT)
		r = value.bits ? heap_find(m->heap, value.bits, &ix, NULL) : HDB_NOTFOUND;
	if (r != HDB_OK)
		drop(m, f);
	else if (*how == '@')
		put_function(m, f, ix, &value, how);
	else if (value.type != HPROF_OBJECT)
		put_number(m, f, &value, how);
	else
		put_object(m, f, ix);
}

/*
 * Ends a template: continues with the next row of the class if nothing was shown, and otherwise
 * returns to the outer template.
 */
static void pop(struct machine *m, struct frame *f)
{
	size_t count;
	const struct heap_value_rule *rules = heap_value_rules(&count);

	assert(m->depth > 0);
	assert(f->start <= m->used);
	if (f->has_value || !strchr(rules[f->row].text, '{')) {
		m->depth--;
		if (m->depth)
			m->frames[m->depth - 1].has_value = true;
		return;
	}
	m->used = f->start;
	m->buf[m->used] = '\0';
	if (f->row + 1 < count &&
	    strcmp(rules[f->row].class_name, rules[f->row + 1].class_name) == 0) {
		f->row++;
		f->at = rules[f->row].text;
		return;
	}
	m->depth--;
	if (m->depth)
		drop(m, &m->frames[m->depth - 1]);
}

/* Executes one step. Characters outside braces and sections are copied. */
static void step(struct machine *m, struct frame *f)
{
	switch (*f->at) {
	case '\0':
		pop(m, f);
		break;
	case '{':
		put_value(m, f);
		break;
	case '<':
		f->section = m->used;
		f->at++;
		break;
	case '>':
		f->section = SIZE_MAX;
		f->at++;
		break;
	default:
		append(m, f->at, 1);
		f->at++;
		break;
	}
}

/*
 * Writes the value of an object. A nested value pushes a frame instead of recursing, so LEVELS
 * limits the depth even if objects refer to each other.
 */
void heap_value_text(struct heap *heap, uint32_t ix, char *buf, size_t size)
{
	struct machine m = { .heap = heap, .buf = buf, .size = size };
	struct heap_object object;

	assert(size > 0);
	buf[0] = '\0';
	if (heap_object(heap, ix, &object, NULL) < 0)
		return;
	if (object.kind == STORE_CLASS)
		(void)snprintf(buf, size, "%s", heap_class_name(heap, (uint32_t)object.length));
	if (object.kind == STORE_PRIMITIVE_ARRAY && heap->is_android)
		heap_value_overhead(heap, ix, buf, size);
	if (object.kind != STORE_INSTANCE || ix == HEAP_BOOT_LOADER ||
	    !push(&m, ix, object.class_no))
		return;
	while (m.depth)
		step(&m, &m.frames[m.depth - 1]);
}
