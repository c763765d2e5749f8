/*
 * oql/oql_display.c - converts objects to text by MAT's rules for well-known classes, which are
 * listed in a table. MAT truncates strings at 1,024 characters and writes non-ASCII characters as
 * \uXXXX; this file does neither. The only recursion is from a reference to its referent, one level
 * deep.
 */
#include "oql/oql_eval.h"

enum rule {
	RULE_NONE,
	RULE_STRING,
	RULE_FIELD,   /* the text of a field */
	RULE_VALUE,   /* a number */
	RULE_BOOLEAN, /* true or false, from a number */
	RULE_BUILDER,
	RULE_SHOWN, /* as formatted by the library */
	RULE_LOCALE,
	RULE_FIELD_OF_CLASS,
	RULE_METHOD,
	RULE_CONSTRUCTOR,
	RULE_STACK_ELEMENT,
	RULE_URL,
	RULE_CLASS /* name of the class that a class object represents */
};

/* The rows of the table. The first row that names the object's class or a superclass is used. */
#define SHOWN(...) \
	{ \
		__VA_ARGS__ \
	}
static const struct {
	const char *class_name;
	enum rule rule;
	const char *path;
} rules[] = {
#include <oql/oql_display.rows.h>
};
#define RULE_COUNT BASE_COUNT(rules)
static_assert(RULE_COUNT <= UINT8_MAX, "a rule's number is a byte of struct oql_class");

static int find_rule(struct oql_eval *ev, uint32_t class_no, size_t *rule)
{
	const struct hdb_fields *fields;
	struct oql_class *class;
	size_t count;

	*rule = 0;
	TRY(oql_class_fields(ev, class_no, false, &fields, &count));
	class = &ev->classes[class_no];
	for (size_t i = 1; !class->has_rule && i < RULE_COUNT && !class->rule; i++)
		if (oql_is_a(ev, class_no, rules[i].class_name))
			class->rule = (uint8_t)i;
	class->has_rule = true;
	*rule = class->rule;
	return HDB_OK;
}

/* ---- values by path ---- */

/* Reads a field. Returns HDB_NOTFOUND if the field is absent or null. */
static int path_value(struct oql_eval *ev, uint32_t ix, const char *path, struct oql_value *out)
{
	*out = oql_object(ix);
	while (*path && out->type == OQL_V_OBJECT) {
		const struct oql_str name = { path, strcspn(path, ".") };
		const struct oql_value of = *out;

		*out = (struct oql_value){ 0 };
		TRY(oql_object_field(ev, NULL, name, &of, out));
		path += name.size + (path[name.size] == '.');
	}
	if (*path)
		*out = (struct oql_value){ 0 };
	return out->type == OQL_V_NULL ? HDB_NOTFOUND : HDB_OK;
}

/* Appends a string, a char[], or the library's text for other objects. */
static int put_shown(struct oql_eval *ev, uint32_t ix, struct bytes *out, bool *has)
{
	struct hdb_text text = { .struct_size = sizeof(text) };
	int r = hdb_read_text(ev->db, ix, ev->budget.most_bytes, &text, ev->err);
	*has = r == HDB_OK;
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	if (text.is_whole)
		bytes_add(out, text.text, text.size);
	else
		r = hdb_fail(ev->err, HDB_ELIMIT,
			     "a string of %" PRIu64 " characters is too "
			     "long",
			     text.units);
	free(text.text);
	return r;
}

int oql_put_string(struct oql_eval *ev, uint32_t ix, struct bytes *out, bool *has)
{
	*has = hdb_is_string(ev->db, ix);
	return *has ? put_shown(ev, ix, out, has) : HDB_OK;
}

/* Appends the text of a field that has a string or a primitive value. */
static int put_field(struct oql_eval *ev, uint32_t ix, const char *path, struct bytes *out,
		     bool *has)
{
	struct oql_value v;
	int r = path_value(ev, ix, path, &v);

	*has = false;
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	if (v.type != OQL_V_OBJECT) {
		*has = true;
		return oql_put_plain(ev, &v, out);
	}
	return oql_put_string(ev, v.ix, out, has);
}

/* Appends `before` and the field's text. Appends nothing if the text is empty. */
static int put_part(struct oql_eval *ev, uint32_t ix, const char *path, const char *before,
		    struct bytes *out)
{
	BASE_SCOPED(bytes_release) struct bytes part = { .most = ev->budget.most_bytes };
	bool has;

	TRY(put_field(ev, ix, path, &part, &has));
	if (has && part.size) {
		bytes_string(out, before);
		bytes_add(out, part.data, part.size);
	}
	return HDB_OK;
}

/* ---- characters ---- */

/* Returns the code point at units[i]. Sets *size to the number of units of the code point. */
static uint32_t code_point(const uint64_t *units, size_t count, size_t *size)
{
	const uint32_t high = (uint32_t)units[0] & 0xffff;
	const uint32_t low = count > 1 ? (uint32_t)units[1] & 0xffff : 0;

	assert(count > 0);
	*size = high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000 ? 2 : 1;
	return *size == 2 ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00) : high;
}

/* Appends `count` UTF-16 units of a char[], or of a byte[] with `per` bytes per unit. */
static int put_units(struct oql_eval *ev, uint32_t ix, uint64_t count, unsigned per,
		     struct bytes *out)
{
	uint64_t bits[2048], units[1024];
	struct hdb_slice slice = { .struct_size = sizeof(slice), .bits = bits };
	size_t done = 1, wide;

	for (uint64_t from = 0; from < count && done; from += done) {
		slice.from = from * per;
		slice.room = (size_t)(count - from < 1024 ? count - from : 1024) * per;
		TRY(hdb_elements(ev->db, ix, &slice, ev->err));
		done = slice.count / per;
		for (size_t i = 0; i < done; i++)
			units[i] = per == 2 ? (bits[2 * i] & 0xff) | (bits[2 * i + 1] & 0xff) << 8 :
				   slice.type == HDB_BASIC_BYTE ? bits[i] & 0xff :
								  bits[i];
		/* avoids splitting a surrogate pair */
		if (from + done < count && done > 1 && (units[done - 1] & 0xfc00) == 0xd800)
			done--;
		for (size_t i = 0; i < done; i += wide)
			bytes_utf8(out, code_point(units + i, done - i, &wide));
	}
	return oql_text_check(out, ev->err);
}

/* Appends a byte[] as MAT does: non-ASCII bytes as dots, nothing if all bytes are zero. */
static int put_bytes(struct oql_eval *ev, uint32_t ix, struct bytes *out)
{
	uint64_t bytes[1024] = { 0 };
	struct hdb_slice slice = {
		.struct_size = sizeof(slice), .bits = bytes, .room = 1024, .count = 1
	};
	bool has_any = false;

	for (; slice.count; slice.from += slice.count) {
		TRY(hdb_elements(ev->db, ix, &slice, ev->err));
		for (size_t i = 0; i < slice.count; i++) {
			const unsigned char c = (unsigned char)bytes[i];

			has_any |= c != 0;
			bytes_add(out, c >= 32 && c < 127 ? (const char *)&c : ".", 1);
		}
	}
	if (!has_any)
		out->size = 0;
	return oql_text_check(out, ev->err);
}

static int put_builder(struct oql_eval *ev, uint32_t ix, struct bytes *out, bool *has)
{
	struct oql_value value, count, coder;
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	uint64_t length;

	TRY_FOUND(path_value(ev, ix, "value", &value));
	TRY_FOUND(path_value(ev, ix, "count", &count));
	if (value.type != OQL_V_OBJECT)
		return HDB_OK;
	TRY_ERRORS(path_value(ev, ix, "coder", &coder));
	TRY(hdb_object_at(ev->db, value.ix, &facts, ev->err));
	*has = true;
	length = count.i > 0 ? (uint64_t)count.i : 0;
	if (strcmp(hdb_class_name(ev->db, facts.class_no), "char[]") == 0)
		coder.i = 0;
	else if (strcmp(hdb_class_name(ev->db, facts.class_no), "byte[]") != 0)
		return HDB_OK;
	facts.length /= coder.i ? 2 : 1;
	return put_units(ev, value.ix, length < facts.length ? length : facts.length,
			 coder.i ? 2 : 1, out);
}

/* ---- reflection ---- */

static int put_class_name(struct oql_eval *ev, uint32_t ix, struct bytes *out)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	bool has;

	TRY(hdb_object_at(ev->db, ix, &facts, ev->err));
	if (facts.kind != HDB_KIND_CLASS)
		return put_field(ev, ix, "name", out, &has);
	bytes_string(out, hdb_class_name(ev->db, facts.stands_for));
	return HDB_OK;
}

static int put_class_field(struct oql_eval *ev, uint32_t ix, const char *path, const char *after,
			   struct bytes *out)
{
	struct oql_value v;

	TRY_ERRORS(path_value(ev, ix, path, &v));
	if (v.type == OQL_V_OBJECT)
		TRY_ERRORS(put_class_name(ev, v.ix, out));
	bytes_string(out, after);
	return HDB_OK;
}

static int put_modifiers(struct oql_eval *ev, uint32_t ix, bool is_field, struct bytes *out)
{
	/* in the order of java.lang.reflect.Modifier.toString */
	static const struct {
		unsigned bit;
		const char *of_fields, *of_methods;
	} modifiers[] = {
		{ 1, "public ", "public " },   { 4, "protected ", "protected " },
		{ 2, "private ", "private " }, { 0x400, "", "abstract " },
		{ 8, "static ", "static " },   { 0x10, "final ", "final " },
		{ 0x80, "transient ", "" },    { 0x40, "volatile ", "" },
		{ 0x20, "", "synchronized " }, { 0x100, "", "native " },
		{ 0x800, "", "strictfp " },
	};
	struct oql_value v;

	TRY_FOUND(path_value(ev, ix, "modifiers", &v));
	for (size_t i = 0; i < BASE_COUNT(modifiers); i++)
		if (v.i & modifiers[i].bit)
			bytes_string(out,
				     is_field ? modifiers[i].of_fields : modifiers[i].of_methods);
	return HDB_OK;
}

/* Maximum number of parameters of a method (JVM specification). */
#define PARAMETERS_MAX 255

static int put_parameters(struct oql_eval *ev, uint32_t ix, struct bytes *out)
{
	uint64_t ids[PARAMETERS_MAX];
	struct hdb_slice slice = { .struct_size = sizeof(slice),
				   .room = PARAMETERS_MAX,
				   .bits = ids };
	struct oql_value v, parameter;

	TRY_ERRORS(path_value(ev, ix, "parameterTypes", &v));
	if (v.type == OQL_V_OBJECT)
		TRY(hdb_elements(ev->db, v.ix, &slice, ev->err));
	assert(slice.count <= PARAMETERS_MAX);
	bytes_string(out, "(");
	for (size_t i = 0; i < slice.count; i++) {
		struct hdb_basic basic;

		hdb_basic_of(slice.type, ids[i], &basic);
		TRY(oql_basic(ev, &basic, false, &parameter));
		bytes_string(out, i ? ", " : "");
		if (parameter.type == OQL_V_OBJECT)
			TRY_ERRORS(put_class_name(ev, parameter.ix, out));
	}
	bytes_string(out, ")");
	return HDB_OK;
}

static int put_reflected(struct oql_eval *ev, enum rule rule, uint32_t ix, struct bytes *out)
{
	const bool is_field = rule == RULE_FIELD_OF_CLASS;

	TRY(put_modifiers(ev, ix, is_field, out));
	if (rule != RULE_CONSTRUCTOR)
		TRY(put_class_field(ev, ix, is_field ? "type" : "returnType", " ", out));
	TRY(put_class_field(ev, ix, "clazz", "", out));
	if (rule != RULE_CONSTRUCTOR)
		TRY(put_part(ev, ix, "name", ".", out));
	return !is_field ? put_parameters(ev, ix, out) : HDB_OK;
}

/* ---- others ---- */

static int put_locale(struct oql_eval *ev, uint32_t ix, struct bytes *out)
{
	TRY(put_part(ev, ix, "baseLocale.language", "", out));
	TRY(put_part(ev, ix, "baseLocale.region", "_", out));
	TRY(put_part(ev, ix, "baseLocale.variant", "_", out));
	return out->size ? HDB_OK : put_part(ev, ix, "language", "", out);
}

static int put_stack_element(struct oql_eval *ev, uint32_t ix, struct bytes *out)
{
	struct oql_value line;

	TRY(put_part(ev, ix, "declaringClass", "", out));
	TRY(put_part(ev, ix, "methodName", ".", out));
	TRY(put_part(ev, ix, "fileName", "(", out));
	TRY_ERRORS(path_value(ev, ix, "lineNumber", &line));
	if (line.i > 0)
		bytes_format(out, ":%" PRId64, line.i);
	bytes_string(out, ")");
	return HDB_OK;
}

static int put_url(struct oql_eval *ev, uint32_t ix, struct bytes *out)
{
	int r = put_part(ev, ix, "protocol", "", out);

	bytes_string(out, ":");
	TRY(r);
	TRY(put_part(ev, ix, "authority", "//", out));
	TRY(put_part(ev, ix, "file", "", out));
	return put_part(ev, ix, "ref", "#", out);
}

static int put_by_rule(struct oql_eval *ev, size_t no, uint32_t ix, struct bytes *out, bool *has)
{
	struct oql_value v;
	int r;

	assert(no < RULE_COUNT);
	*has = true;
	switch (rules[no].rule) {
	case RULE_FIELD:
		return put_field(ev, ix, rules[no].path, out, has);
	case RULE_CLASS:
		return put_field(ev, ix, "name", out, has);
	case RULE_VALUE:
	case RULE_BOOLEAN:
		r = path_value(ev, ix, rules[no].path, &v);
		*has = r == HDB_OK;
		if (r != HDB_OK)
			return r < 0 ? r : HDB_OK;
		if (rules[no].rule == RULE_BOOLEAN)
			v = oql_bool(v.i != 0);
		return oql_put_plain(ev, &v, out);
	case RULE_LOCALE:
		return put_locale(ev, ix, out);
	case RULE_FIELD_OF_CLASS:
	case RULE_METHOD:
	case RULE_CONSTRUCTOR:
		return put_reflected(ev, rules[no].rule, ix, out);
	case RULE_STACK_ELEMENT:
		return put_stack_element(ev, ix, out);
	case RULE_URL:
		return put_url(ev, ix, out);
	default:
		break;
	}
	*has = false;
	if (rules[no].rule == RULE_BUILDER)
		return put_builder(ev, ix, out, has);
	if (rules[no].rule == RULE_SHOWN)
		return put_shown(ev, ix, out, has);
	return oql_put_string(ev, ix, out, has);
}

int oql_display(struct oql_eval *ev, uint32_t ix, struct bytes *out, bool *has)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
	size_t rule;
	int r = hdb_object_at(ev->db, ix, &facts, ev->err);

	*has = false;
	if (r < 0 || facts.kind == HDB_KIND_CLASS || facts.kind == HDB_KIND_OBJECT_ARRAY)
		return r;
	if (!facts.is_real) {
		bytes_string(out, "<system class loader>");
		*has = true;
		return HDB_OK;
	}
	if (facts.kind == HDB_KIND_PRIMITIVE_ARRAY) {
		const char *name = hdb_class_name(ev->db, facts.class_no);

		*has = strcmp(name, "char[]") == 0 || strcmp(name, "byte[]") == 0;
		if (!*has)
			return HDB_OK;
		return *name == 'c' ? put_shown(ev, ix, out, has) : put_bytes(ev, ix, out);
	}
	TRY(find_rule(ev, facts.class_no, &rule));
	return put_by_rule(ev, rule, ix, out, has);
}
