/*
 * support/planted.c - heaps written from text: parsed into values, then written class by class.
 */
#include "support/planted.h"

#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define CLASSES_MAX 64
#define FIELDS_MAX 24
#define VALUES_MAX 512
#define NAMES_MAX 16
#define NAME_BYTES 128
#define FIRST_CLASS 0x10000u
#define FIRST_OBJECT 0x100000u
#define FIRST_TEXT 1u

enum kind {
	NUMBER,
	TEXT,
	NOTHING,
	OBJECT,
	BYTES,
	LONGS,
	PART,
	ARRAY,
	LIST,
	SET,
	MAP,
	PATHS,
	SAME,
	LAST,
	COUNTER,
	CHAIN,
	REFERENCE
};

struct value {
	enum kind kind;
	uint8_t type;          /* of NUMBER */
	uint64_t bits;         /* NUMBER: its bits; BYTES, LONGS: length */
	char text[NAME_BYTES]; /* TEXT; REFERENCE: its name */
	unsigned class_no;     /* OBJECT: its class; ARRAY: the element class, 0 for Object[] */
	unsigned count;        /* number of copies in a collection */
	unsigned first, next;  /* first field or item, and next sibling; 0: none */
	char field[NAME_BYTES];
	bool is_above;    /* whether the superclass declares the field */
	unsigned name_no; /* number of the name after "@"; NAMES_MAX: none */
};

struct class_ {
	char name[NAME_BYTES];
	unsigned super;          /* CLASSES_MAX: none */
	char loader[NAME_BYTES]; /* name of the object that is the loader; "": none */
	unsigned field_count, static_count;
	char fields[FIELDS_MAX][NAME_BYTES], statics[FIELDS_MAX][NAME_BYTES];
	uint8_t types[FIELDS_MAX], static_types[FIELDS_MAX];
	unsigned static_values[FIELDS_MAX];
};

static struct heap {
	const char *at;
	struct class_ classes[CLASSES_MAX];
	unsigned class_count;
	struct value values[VALUES_MAX];
	unsigned value_count;
	char names[NAMES_MAX][NAME_BYTES];
	uint64_t ids[NAMES_MAX];
	unsigned name_count;
	uint64_t next_id, next_text;
	uint64_t referent;          /* referent of the reference object that is being written */
	uint64_t above[FIELDS_MAX]; /* fields of the superclass of this object */
	uint64_t last_id;           /* ID of the object written before */
	uint64_t counter;           /* last number of a "#" */
} * h;

static void nonsense(const char *wanted)
{
	fail_msg("planted heap: expected %s at \"%.40s\"", wanted, h->at);
	abort(); /* not reached */
}

static bool take(const char *text)
{
	h->at += strspn(h->at, " \t");
	if (strncmp(h->at, text, strlen(text)) != 0)
		return false;
	h->at += strlen(text);
	return true;
}

static void take_name(char *out, const char *more)
{
	size_t n = 0;

	h->at += strspn(h->at, " \t");
	while ((isalnum((unsigned char)*h->at) || strchr(more, *h->at)) && *h->at) {
		if (n + 1 == NAME_BYTES)
			nonsense("a shorter name");
		out[n++] = *h->at++;
	}
	out[n] = '\0';
	if (!n)
		nonsense("a name");
}

/* ---- classes ---- */

static unsigned class_named(const char *name)
{
	unsigned i = 0;

	while (i < h->class_count && strcmp(h->classes[i].name, name) != 0)
		i++;
	if (i == CLASSES_MAX)
		nonsense("fewer classes");
	if (i == h->class_count) {
		memset(&h->classes[i], 0, sizeof(h->classes[i]));
		(void)snprintf(h->classes[i].name, NAME_BYTES, "%s", name);
		h->classes[i].super = i ? 0 : CLASSES_MAX;
		h->class_count++;
	}
	return i;
}

static void add_field(unsigned class_no, const char *name, uint8_t type)
{
	struct class_ *c = &h->classes[class_no];
	unsigned i = 0;

	while (i < c->field_count && strcmp(c->fields[i], name) != 0)
		i++;
	if (i == FIELDS_MAX)
		nonsense("fewer fields");
	if (i == c->field_count) {
		(void)snprintf(c->fields[i], NAME_BYTES, "%s", name);
		c->types[i] = type;
		c->field_count++;
	} else if (c->types[i] != type) {
		nonsense("one type of a field");
	}
}

static void standard_classes(void)
{
	static const struct {
		const char *name;
		struct {
			const char *name;
			uint8_t type;
		} fields[4];
	} classes[] = {
		{ "java.lang.Object", { { NULL, 0 } } },
		{ "java.lang.Class", { { NULL, 0 } } },
		{ "java.lang.String", { { "value", HPROF_OBJECT }, { "coder", HPROF_BYTE } } },
		{ "java.lang.Object[]", { { NULL, 0 } } },
		{ "byte[]", { { NULL, 0 } } },
		{ "java.util.HashMap$Node[]", { { NULL, 0 } } },
		{ "java.util.ArrayList",
		  { { "elementData", HPROF_OBJECT }, { "size", HPROF_INT } } },
		{ "java.util.HashMap", { { "table", HPROF_OBJECT }, { "size", HPROF_INT } } },
		{ "java.util.HashMap$Node",
		  { { "hash", HPROF_INT },
		    { "key", HPROF_OBJECT },
		    { "value", HPROF_OBJECT },
		    { "next", HPROF_OBJECT } } },
		{ "java.util.HashSet", { { "map", HPROF_OBJECT } } },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		const unsigned no = class_named(classes[i].name);

		for (unsigned f = 0; f < 4 && classes[i].fields[f].name; f++)
			add_field(no, classes[i].fields[f].name, classes[i].fields[f].type);
	}
}

/* ---- parsing ---- */

static unsigned value(void);

static uint8_t type_of(const struct value *v)
{
	return v->kind == NUMBER || v->kind == COUNTER ? v->type : HPROF_OBJECT;
}

static unsigned new_value(enum kind kind)
{
	if (!h->value_count)
		h->value_count = 1;
	if (h->value_count == VALUES_MAX)
		nonsense("fewer values");
	memset(&h->values[h->value_count], 0, sizeof(h->values[0]));
	h->values[h->value_count].kind = kind;
	h->values[h->value_count].count = 1;
	h->values[h->value_count].name_no = NAMES_MAX;
	return h->value_count++;
}

static unsigned number(void)
{
	const unsigned no = new_value(NUMBER);
	struct value *v = &h->values[no];
	char *end, *real_end;

	if (take("#")) {
		v->kind = COUNTER;
		v->type = HPROF_LONG;
		return no;
	}
	const long long whole = strtoll(h->at, &end, 10);
	const double real = strtod(h->at, &real_end);

	v->bits = (uint64_t)whole;
	v->type = HPROF_INT;
	if (real_end > end) {
		v->type = HPROF_DOUBLE;
		memcpy(&v->bits, &real, sizeof(real));
		end = real_end;
	} else if (*end == 'L') {
		v->type = HPROF_LONG;
		end++;
	}
	h->at = end;
	return no;
}

/* Parses the items of a collection after its "(". */
static unsigned collection(enum kind kind)
{
	const unsigned no = new_value(kind);
	unsigned last = 0;

	while (!take(")")) {
		const char *start = h->at;
		unsigned count = 1, item;
		char *end;

		h->at += strspn(h->at, " ");
		if (isdigit((unsigned char)*h->at)) {
			count = (unsigned)strtoul(h->at, &end, 10);
			if (*end == '*')
				h->at = end + 1;
			else
				count = 1;
		}
		item = value();
		h->values[item].count = count;
		if (last)
			h->values[last].next = item;
		else
			h->values[no].first = item;
		last = item;
		(void)take(",");
		if (h->at == start)
			nonsense("\")\"");
	}
	return no;
}

static bool is_referent(unsigned class_no, const char *field)
{
	return strcmp(field, "referent") == 0 &&
	       strcmp(h->classes[class_no].name, "java.lang.ref.Reference") == 0;
}

/* Parses "@NAME" after an object or array. */
static void take_mark(unsigned no)
{
	if (!take("@"))
		return;
	if (h->name_count == NAMES_MAX)
		nonsense("fewer names");
	take_name(h->names[h->name_count], "_");
	h->values[no].name_no = h->name_count++;
}

static unsigned object(void)
{
	char name[NAME_BYTES];
	unsigned no, class_no, last = 0;

	take_name(name, "._$[]/-+");
	class_no = class_named(name);
	if (take("(")) {
		no = collection(ARRAY);
		h->values[no].class_no = class_no;
		return no;
	}
	no = new_value(OBJECT);
	h->values[no].class_no = class_no;
	while (take(":")) {
		unsigned super;

		take_name(name, "._$/-+");
		super = class_named(name);
		h->classes[class_no].super = super;
		class_no = super;
	}
	if (take("^"))
		take_name(h->classes[h->values[no].class_no].loader, "_");
	take_mark(no);
	if (!take("{"))
		return no;
	while (!take("}")) {
		const bool is_above = take("^");
		unsigned field;

		take_name(name, "_$");
		if (!take("="))
			nonsense("\"=\"");
		field = value();
		(void)snprintf(h->values[field].field, NAME_BYTES, "%s", name);
		h->values[field].is_above = is_above;
		/* The VM uses the field that java.lang.ref.Reference declares. */
		add_field(is_above || is_referent(class_no, name) ? class_no :
								    h->values[no].class_no,
			  name, type_of(&h->values[field]));
		if (last)
			h->values[last].next = field;
		else
			h->values[no].first = field;
		last = field;
		(void)take(",");
	}
	return no;
}

static unsigned value(void)
{
	static const struct {
		const char *name;
		enum kind kind;
	} collections[] = { { "array(", ARRAY }, { "list(", LIST },   { "set(", SET },
			    { "map(", MAP },     { "paths(", PATHS }, { "chain(", CHAIN } };
	bool is_part = false, is_long = false;
	unsigned no;

	h->at += strspn(h->at, " \t");
	if (isdigit((unsigned char)*h->at) || *h->at == '-' || *h->at == '#')
		return number();
	if (take("\"")) {
		const size_t size = strcspn(h->at, "\"");

		no = new_value(TEXT);
		(void)snprintf(h->values[no].text, NAME_BYTES, "%.*s", (int)size, h->at);
		h->at += size + 1;
		return no;
	}
	if (take("$")) {
		no = new_value(REFERENCE);
		take_name(h->values[no].text, "_");
		return no;
	}
	if (take("null"))
		return new_value(NOTHING);
	if (take("same"))
		return new_value(SAME);
	if (take("last"))
		return new_value(LAST);
	for (unsigned is_true = 0; is_true < 2; is_true++) {
		if (take(is_true ? "true" : "false")) {
			no = new_value(NUMBER);
			h->values[no].type = HPROF_BOOLEAN;
			h->values[no].bits = is_true;
			return no;
		}
	}
	if (take("bytes(") || (is_part = take("part(")) || (is_long = take("longs("))) {
		no = new_value(is_part ? PART : is_long ? LONGS : BYTES);
		h->values[no].bits = strtoull(h->at, NULL, 10);
		h->at += strspn(h->at, "0123456789");
		if (!take(")"))
			nonsense("\")\"");
		take_mark(no);
		return no;
	}
	for (size_t i = 0; i < sizeof(collections) / sizeof(collections[0]); i++)
		if (take(collections[i].name))
			return collection(collections[i].kind);
	return object();
}

static void static_field(void)
{
	char name[NAME_BYTES], *dot;
	struct class_ *c;
	unsigned no;

	take_name(name, "._$/-+");
	dot = strrchr(name, '.');
	if (!dot || !take("="))
		nonsense("CLASS.FIELD =");
	*dot = '\0';
	c = &h->classes[class_named(name)];
	if (c->static_count == FIELDS_MAX)
		nonsense("fewer static fields");
	(void)snprintf(c->statics[c->static_count], NAME_BYTES, "%s", dot + 1);
	no = value();
	c->static_types[c->static_count] = type_of(&h->values[no]);
	c->static_values[c->static_count++] = no;
}

/* ---- writing ---- */

static uint64_t write_value(struct hw *w, const struct value *v);

static uint64_t class_id(unsigned no)
{
	return FIRST_CLASS + 0x100u * no;
}

static uint64_t new_id(void)
{
	h->next_id += 0x1000;
	return h->next_id;
}

static uint64_t text_id(struct hw *w, const char *text)
{
	hw_utf8(w, ++h->next_text, text);
	return h->next_text;
}

static uint64_t id_named(const char *name)
{
	for (unsigned i = 0; i < h->name_count; i++)
		if (strcmp(h->names[i], name) == 0)
			return h->ids[i];
	nonsense("the name of an object");
	return 0;
}

/*
 * Writes an instance with these values of its class's fields. Fields of superclasses are 0 unless
 * h->above contains them.
 */
static uint64_t put(struct hw *w, unsigned no, uint64_t id, const uint64_t *bits)
{
	struct hw body = { .id_size = 8 };

	for (unsigned c = no; c != CLASSES_MAX; c = h->classes[c].super)
		for (unsigned f = 0; f < h->classes[c].field_count; f++)
			hw_value(&body, h->classes[c].types[f],
				 is_referent(c, h->classes[c].fields[f]) ? h->referent :
				 c == no                                 ? bits[f] :
				 c == h->classes[no].super               ? h->above[f] :
									   0);
	memset(h->above, 0, sizeof(h->above));
	hw_instance(w, id, class_id(no), body.data, (uint32_t)body.size);
	hw_release(&body);
	return id;
}

static uint64_t put_named(struct hw *w, const char *name, const uint64_t *bits)
{
	return put(w, class_named(name), new_id(), bits);
}

static uint64_t put_text(struct hw *w, const char *text)
{
	const uint64_t array = new_id();
	const char *sign = strchr(text, '#');
	char counted[NAME_BYTES + 20];

	if (sign)
		(void)snprintf(counted, sizeof(counted), "%.*s%" PRIu64 "%s", (int)(sign - text),
			       text, h->counter += sign[1] == '#', sign + 1 + (sign[1] == '#'));
	text = sign ? counted : text;
	hw_primitive_array(w, array, HPROF_BYTE, text, (uint32_t)strlen(text));
	return put_named(w, "java.lang.String", (const uint64_t[]){ array, 0 });
}

static uint64_t *write_items(struct hw *w, const struct value *v, uint32_t *count)
{
	uint64_t *ids;

	*count = 0;
	for (unsigned i = v->first; i; i = h->values[i].next)
		*count += h->values[i].count;
	ids = calloc(*count + 1u, sizeof(*ids));
	assert_non_null(ids);
	*count = 0;
	for (unsigned i = v->first; i; i = h->values[i].next)
		for (unsigned k = 0; k < h->values[i].count; k++)
			ids[(*count)++] = write_value(w, &h->values[i]);
	return ids;
}

static uint64_t write_map(struct hw *w, const struct value *v)
{
	uint32_t count;
	uint64_t *ids = write_items(w, v, &count), table = new_id();
	const bool is_set = v->kind == SET;
	char key[32];

	for (uint32_t i = 0; i < count; i++) {
		(void)snprintf(key, sizeof(key), v->kind == PATHS ? "/orders/%u" : "key %u", i);
		ids[i] = put_named(w, "java.util.HashMap$Node",
				   (const uint64_t[]){ i, is_set ? ids[i] : put_text(w, key),
						       is_set ? 0 : ids[i], 0 });
	}
	hw_object_array(w, table, class_id(class_named("java.util.HashMap$Node[]")), ids, count);
	free(ids);
	table = put_named(w, "java.util.HashMap", (const uint64_t[]){ table, count });
	return is_set ? put_named(w, "java.util.HashSet", (const uint64_t[]){ table }) : table;
}

static uint64_t write_array(struct hw *w, const struct value *v)
{
	uint32_t count;
	uint64_t *ids = write_items(w, v, &count), array = new_id();

	hw_object_array(w, array,
			class_id(v->class_no ? v->class_no : class_named("java.lang.Object[]")),
			ids, count);
	free(ids);
	if (v->kind == ARRAY)
		return array;
	return put_named(w, "java.util.ArrayList", (const uint64_t[]){ array, count });
}

static uint64_t id_of(const struct value *v)
{
	return v->name_no < NAMES_MAX ? h->ids[v->name_no] : new_id();
}

static uint64_t write_object(struct hw *w, const struct value *v)
{
	const struct class_ *c;
	const uint64_t id = id_of(v);
	uint64_t bits[FIELDS_MAX] = { 0 }, above[FIELDS_MAX] = { 0 }, referent = 0, value = 0;

	for (unsigned i = v->first; i; i = h->values[i].next) {
		value = h->values[i].kind == SAME ? value : write_value(w, &h->values[i]);

		if (strcmp(h->values[i].field, "referent") == 0)
			referent = value;
		if (h->values[i].is_above)
			c = &h->classes[h->classes[v->class_no].super];
		else
			c = &h->classes[v->class_no];
		for (unsigned f = 0; f < c->field_count; f++)
			if (strcmp(c->fields[f], h->values[i].field) == 0)
				(h->values[i].is_above ? above : bits)[f] = value;
	}
	h->referent = referent;
	memcpy(h->above, above, sizeof(above));
	h->last_id = put(w, v->class_no, id, bits);
	return id;
}

/* Writes the object of a value, if any. Returns the object's ID, or the bits of the value. */
static uint64_t write_value(struct hw *w, const struct value *v)
{
	uint32_t count;
	uint64_t id;

	switch (v->kind) {
	case NUMBER:
		return v->bits;
	case COUNTER:
		return ++h->counter;
	case LAST:
		return h->last_id;
	case CHAIN:
		free(write_items(w, v, &count));
		return h->last_id;
	case TEXT:
		return put_text(w, v->text);
	case OBJECT:
		return write_object(w, v);
	case BYTES:
	case LONGS:
		id = id_of(v);
		hw_primitive_array(w, id, v->kind == LONGS ? HPROF_LONG : HPROF_BYTE, NULL,
				   (uint32_t)v->bits);
		return id;
	case PART: {
		uint8_t *content = calloc(1, v->bits);

		assert_non_null(content);
		memset(content, 1, v->bits / 8);
		id = id_of(v);
		hw_primitive_array(w, id, HPROF_BYTE, content, (uint32_t)v->bits);
		free(content);
		return id;
	}
	case ARRAY:
	case LIST:
		return write_array(w, v);
	case SET:
	case MAP:
	case PATHS:
		return write_map(w, v);
	case REFERENCE:
		return id_named(v->text);
	default:
		return 0;
	}
}

/* Converts a name to the form in a dump: "a.B" to "a/B", "a.B[]" to "[La/B;", "byte[]" to "[B". */
static void binary_name(const char *name, char *out, size_t size)
{
	const size_t used = strlen(name);

	if (strcmp(name, "byte[]") == 0)
		(void)snprintf(out, size, "[B");
	else if (used > 2 && strcmp(name + used - 2, "[]") == 0)
		(void)snprintf(out, size, "[L%.*s;", (int)used - 2, name);
	else
		(void)snprintf(out, size, "%s", name);
	for (; *out; out++)
		*out = *out == '.' ? '/' : *out;
}

static void write_class(struct hw *w, unsigned no, const uint64_t *static_bits,
			uint64_t (*ids)[FIELDS_MAX])
{
	const struct class_ *c = &h->classes[no];
	struct hprof_field fields[FIELDS_MAX];
	struct hw_static statics[FIELDS_MAX];
	const struct hw_class class = {
		.id = class_id(no),
		.super_id = c->super == CLASSES_MAX ? 0 : class_id(c->super),
		.loader_id = c->loader[0] ? id_named(c->loader) : 0,
		.fields = fields,
		.field_count = c->field_count,
		.statics = statics,
		.static_count = c->static_count,
	};

	for (unsigned f = 0; f < c->field_count; f++)
		fields[f] = (struct hprof_field){ ids[0][f], c->types[f] };
	for (unsigned f = 0; f < c->static_count; f++)
		statics[f] = (struct hw_static){ ids[1][f], c->static_types[f], static_bits[f] };
	hw_class(w, &class);
	hw_root(w, HPROF_ROOT_STICKY_CLASS, class.id, 0, 0);
}

void planted_write(struct hw *w, const char *text)
{
	static uint64_t ids[CLASSES_MAX][2][FIELDS_MAX];
	uint64_t statics[FIELDS_MAX] = { 0 }, first = 0;
	unsigned items[VALUES_MAX], item_count = 0;
	uint8_t roots[VALUES_MAX] = { 0 }; /* further roots by item; 0: none */
	bool is_redacted;

	h = calloc(1, sizeof(*h));
	assert_non_null(h);
	h->at = text;
	h->next_id = FIRST_OBJECT;
	standard_classes();
	is_redacted = take("redacted;");
	do {
		if (take("static "))
			static_field();
		else if (h->at += strspn(h->at, " \t"), *h->at) {
			roots[item_count] = take("thread ") ? HPROF_ROOT_THREAD_OBJECT :
					    take("local ")  ? HPROF_ROOT_JAVA_FRAME :
							      0;
			items[item_count++] = object();
		}
	} while (take(";"));
	if (*h->at)
		nonsense("\";\" or the end");
	for (unsigned i = 0; i < h->name_count; i++)
		h->ids[i] = new_id();
	hw_init(w, HPROF_1_0_2, 8, PLANTED_TIME_MS);
	if (is_redacted)
		(void)text_id(w, HPROF_REDACTED);
	for (unsigned i = 0; i < h->class_count; i++) {
		char name[NAME_BYTES];

		binary_name(h->classes[i].name, name, sizeof(name));
		hw_load_class(w, i + 1, class_id(i), 0, text_id(w, name));
		for (unsigned f = 0; f < h->classes[i].field_count; f++)
			ids[i][0][f] = text_id(w, h->classes[i].fields[f]);
		for (unsigned f = 0; f < h->classes[i].static_count; f++)
			ids[i][1][f] = text_id(w, h->classes[i].statics[f]);
	}
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (unsigned i = 0; i < h->class_count; i++) {
		for (unsigned f = 0; f < h->classes[i].static_count; f++)
			statics[f] = write_value(w, &h->values[h->classes[i].static_values[f]]);
		write_class(w, i, statics, ids[i]);
	}
	for (unsigned i = 0; i < item_count; i++) {
		const uint64_t id = write_value(w, &h->values[items[i]]);

		first = first ? first : id;
		if (roots[i])
			hw_root(w, roots[i], id, 1, 0);
	}
	if (first)
		hw_root(w, HPROF_ROOT_JNI_GLOBAL, first, 1, 0);
	free(h);
}
