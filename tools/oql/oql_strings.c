/*
 * oql/oql_strings.c - methods of java.lang.String. Strings are UTF-8 here, but Java counts UTF-16
 * units, so indexes and lengths are converted.
 */
#include "oql/oql_eval.h"

/* ---- UTF-16 units ---- */

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Counts the units of the first `size` bytes. */
static int64_t units_in(const char *text, size_t size)
{
	int64_t units = 0;

	for (size_t i = 0; i < size; i++)
		units += continues(text[i]) ? 0 : 1 + ((unsigned char)text[i] >= 0xf0);
	return units;
}

/* Returns the byte offset of unit `unit`, or the end of the string if it has fewer units. */
static size_t byte_of(struct oql_str text, int64_t unit)
{
	size_t i = 0;

	for (int64_t at = 0; i < text.size; i++) {
		if (continues(text.data[i]))
			continue;
		if (at >= unit)
			break;
		at += 1 + ((unsigned char)text.data[i] >= 0xf0);
	}
	return i;
}

/* Returns the offset after the character at `at`. */
static size_t after(struct oql_str text, size_t at)
{
	do
		at++;
	while (at < text.size && continues(text.data[at]));
	return at;
}

/* Iterates over a string by UTF-16 units. */
struct units {
	struct oql_str text;
	size_t at;
	int32_t low; /* second half of a surrogate pair, returned next, or 0 if none */
};

/* Returns the next UTF-16 unit, or -1 at the end. */
static int32_t next_unit(struct units *u)
{
	const size_t start = u->at;
	int32_t c = u->low;

	u->low = 0;
	if (c)
		return c;
	if (start == u->text.size)
		return -1;
	u->at = after(u->text, start);
	c = (unsigned char)u->text.data[start];
	if (u->at - start > 1)
		c &= 0xff >> (u->at - start + 1);
	for (size_t i = start + 1; i < u->at && i < start + 4; i++)
		c = c << 6 | ((unsigned char)u->text.data[i] & 63);
	if (c < 0x10000)
		return c;
	u->low = 0xdc00 | (c & 0x3ff);
	return 0xd7c0 + (c >> 10);
}

static int64_t hash_of(struct oql_str s)
{
	struct units u = { .text = s };
	uint32_t hash = 0;

	for (int32_t c; (c = next_unit(&u)) >= 0;)
		hash = hash * 31 + (uint32_t)c;
	return (int32_t)hash;
}

static int64_t compare(struct oql_str s, struct oql_str t)
{
	struct units u = { .text = s }, v = { .text = t };
	int32_t a, b;

	do {
		a = next_unit(&u);
		b = next_unit(&v);
	} while (a == b && a >= 0);
	return a < 0 || b < 0 ? units_in(s.data, s.size) - units_in(t.data, t.size) : a - b;
}

/* ---- parts ---- */

static struct oql_value text_value(const char *data, size_t size)
{
	return (struct oql_value){ .type = OQL_V_STRING, .text = { data, size } };
}

/*
 * Finds the first or last occurrence of `part` from byte `from` on. Returns SIZE_MAX if `part` does
 * not occur.
 */
static size_t find_part(struct oql_str text, struct oql_str part, size_t from, bool is_last)
{
	size_t found = SIZE_MAX;

	for (size_t i = from; part.size <= text.size && i <= text.size - part.size; i++) {
		if (part.size && memcmp(text.data + i, part.data, part.size) != 0)
			continue;
		found = i;
		if (!is_last)
			break;
	}
	return found;
}

static bool has_part_at(struct oql_str s, struct oql_str t, size_t at)
{
	return at <= s.size && t.size <= s.size - at &&
	       (!t.size || memcmp(s.data + at, t.data, t.size) == 0);
}

static char turned(char c, bool to_upper)
{
	if (to_upper)
		return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Converts a string to upper or lower case, ASCII letters only. */
static int turn(struct oql_eval *ev, struct oql_str s, bool to_upper, struct oql_arena *arena,
		struct oql_value *out)
{
	char *copy = oql_take_text(arena, s.data, s.size, ev->err);

	if (!copy)
		return HDB_ELIMIT;
	for (size_t i = 0; i < s.size; i++)
		copy[i] = turned(copy[i], to_upper);
	*out = text_value(copy, s.size);
	return HDB_OK;
}

static struct oql_value trimmed(struct oql_str s)
{
	while (s.size && (unsigned char)s.data[0] <= ' ') {
		s.data++;
		s.size--;
	}
	while (s.size && (unsigned char)s.data[s.size - 1] <= ' ')
		s.size--;
	return text_value(s.data, s.size);
}

/* Evaluates substring(from), substring(from, to) and charAt(from). */
static int part(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_str s = call->of->text;
	const bool is_char = oql_is(call->e->name, "charAt");
	const int64_t length = units_in(s.data, s.size), from = call->args.values[0].i;
	const int64_t to = is_char              ? from + 1 :
			   call->args.count > 1 ? call->args.values[1].i :
						  length;
	const size_t at = byte_of(s, from);
	struct units u = { .text = { s.data, s.size } };

	if (from < 0 || to < from || to > length)
		return oql_refuse(ev, call->e,
				  "range %" PRId64 " to %" PRId64
				  " is out of bounds for a string of "
				  "%" PRId64 " characters",
				  from, to, length);
	*out = text_value(s.data + at, byte_of(s, to) - at);
	if (!is_char)
		return HDB_OK;
	for (int64_t i = 0; i < from; i++)
		next_unit(&u);
	*out = (struct oql_value){ .type = OQL_V_CHAR, .i = next_unit(&u) };
	return HDB_OK;
}

/* ---- regular expressions and replacement ---- */

/* Finds the next match. Like Java's split, ignores an empty match at the beginning. */
static int next_split(struct oql_eval *ev, struct oql_pattern *pattern, struct oql_match *m)
{
	const size_t from = m->end;

	TRY(oql_matches(ev, pattern, m));
	if (m->is_found && m->start == m->end && (m->end == 0 || m->end == from)) {
		m->is_found = m->end < m->text.size;
		m->end = m->is_found ? after(m->text, m->end) : m->end;
		return m->is_found ? oql_matches(ev, pattern, m) : HDB_OK;
	}
	return HDB_OK;
}

/* Evaluates split(regex) and split(regex, limit). */
static int split(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_args args = call->args;
	const int64_t limit = args.count > 1 ? args.values[1].i : 0;
	struct oql_arena *arena = call->frame->arena;
	const struct oql_str s = call->of->text;
	struct oql_match m = { .text = s };
	struct oql_value *values = NULL, *made;
	struct oql_pattern *pattern;
	size_t count = 0, room = 0, at = 0;

	TRY(oql_pattern(ev, call->e, args.values[0].text, false, &pattern));
	do {
		if (count == room && !OQL_GROW(arena, values, room, ev->err))
			return HDB_ELIMIT;
		m.is_found = false;
		if (limit <= 0 || (int64_t)count + 1 < limit)
			TRY(next_split(ev, pattern, &m));
		values[count++] = text_value(s.data + at, (m.is_found ? m.start : s.size) - at);
		at = m.end;
		TRY(oql_tick(ev));
	} while (m.is_found);
	while (limit == 0 && count > 1 && !values[count - 1].text.size)
		count--;
	TRY(oql_make_list(ev, arena, count, &made, out));
	memcpy(made, values, count * sizeof(values[0]));
	return HDB_OK;
}

/* Evaluates replace(text, by), replaceAll(regex, by) and replaceFirst(regex, by). */
static int replace(struct oql_eval *ev, const struct oql_call *call, const struct oql_str with[2],
		   struct oql_value *out)
{
	const bool is_literal = oql_is(call->e->name, "replace");
	const bool is_first = oql_is(call->e->name, "replaceFirst");
	struct bytes text = { .most = ev->budget.most_bytes };
	struct oql_match m = { .text = call->of->text };
	struct oql_pattern *pattern = NULL;
	size_t at = 0;
	int r = HDB_OK;

	if (!is_literal && with[1].size && strpbrk(with[1].data, "$\\"))
		return oql_refuse(ev, call->e,
				  "\"$\" and \"\\\" are not supported in the "
				  "replacement");
	if (!is_literal)
		r = oql_pattern(ev, call->e, with[0], false, &pattern);
	while (r == HDB_OK && m.end <= m.text.size) {
		if (pattern && (r = oql_matches(ev, pattern, &m)) < 0)
			break;
		if (is_literal) {
			m.start = find_part(m.text, with[0], m.end, false);
			m.is_found = m.start != SIZE_MAX;
			m.end = m.is_found ? m.start + with[0].size : m.end;
		}
		if (!m.is_found)
			break;
		bytes_add(&text, m.text.data + at, m.start - at);
		bytes_add(&text, with[1].data, with[1].size);
		at = m.end;
		m.end = m.start == m.end ? after(m.text, m.end) : m.end;
		if (is_first)
			break;
		r = oql_tick(ev);
	}
	bytes_add(&text, m.text.data + at, m.text.size - at);
	return oql_end_string(ev, call->frame->arena, r, &text, out);
}

/* ---- methods by their arguments ---- */

static int without(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_str name = call->e->name, s = call->of->text;

	if (oql_is(name, "length"))
		*out = oql_int(units_in(s.data, s.size));
	else if (oql_is(name, "isEmpty"))
		*out = oql_bool(s.size == 0);
	else if (oql_is(name, "isBlank"))
		*out = oql_bool(trimmed(s).text.size == 0);
	else if (oql_is(name, "hashCode"))
		*out = oql_int(hash_of(s));
	else if (oql_is(name, "toString") || oql_is(name, "intern"))
		*out = *call->of;
	else if (oql_is(name, "trim") || oql_is(name, "strip"))
		*out = trimmed(s);
	else if (oql_is(name, "toUpperCase") || oql_is(name, "toLowerCase"))
		return turn(ev, s, oql_is(name, "toUpperCase"), call->frame->arena, out);
	else
		return HDB_NOTFOUND;
	return HDB_OK;
}

/*
 * Evaluates indexOf and lastIndexOf of a string, character or character code. indexOf starts at
 * unit `from`.
 */
static int index_of(const struct oql_call *call, struct oql_str t, int64_t from,
		    struct oql_value *out)
{
	const struct oql_str s = call->of->text;
	const size_t at = find_part(s, t, from > 0 ? byte_of(s, from) : 0,
				    oql_is(call->e->name, "lastIndexOf"));

	*out = oql_int(at == SIZE_MAX ? -1 : units_in(s.data, at));
	return HDB_OK;
}

static int with_text(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_str name = call->e->name, s = call->of->text;
	const struct oql_str t = call->args.values[0].text;
	struct oql_match match = { .text = s };
	struct bytes text = { .most = ev->budget.most_bytes };
	struct oql_pattern *pattern;

	if (oql_is(name, "startsWith")) {
		*out = oql_bool(has_part_at(s, t, 0));
	} else if (oql_is(name, "endsWith")) {
		*out = oql_bool(t.size <= s.size && has_part_at(s, t, s.size - t.size));
	} else if (oql_is(name, "contains")) {
		*out = oql_bool(find_part(s, t, 0, false) != SIZE_MAX);
	} else if (oql_is(name, "equals")) {
		*out = oql_bool(s.size == t.size && has_part_at(s, t, 0));
	} else if (oql_is(name, "equalsIgnoreCase")) {
		*out = oql_bool(s.size == t.size && strncasecmp(s.data, t.data, s.size) == 0);
	} else if (oql_is(name, "compareTo")) {
		*out = oql_int(compare(s, t));
	} else if (oql_is(name, "split")) {
		return split(ev, call, out);
	} else if (oql_is(name, "concat")) {
		bytes_add(&text, s.data, s.size);
		bytes_add(&text, t.data, t.size);
		return oql_end_string(ev, call->frame->arena, HDB_OK, &text, out);
	} else if (oql_is(name, "matches")) {
		TRY(oql_pattern(ev, call->e, t, true, &pattern));
		TRY(oql_matches(ev, pattern, &match));
		*out = oql_bool(match.is_found);
	} else {
		return HDB_NOTFOUND;
	}
	return HDB_OK;
}

/*
 * Converts a character or character code to text; strings stay unchanged. Returns HDB_NOTFOUND for
 * other values.
 */
static int needle_of(struct oql_eval *ev, const struct oql_value *v, struct oql_arena *arena,
		     struct oql_value *out)
{
	struct bytes text = { .most = ev->budget.most_bytes };

	*out = *v;
	if (v->type == OQL_V_STRING)
		return HDB_OK;
	if (v->type != OQL_V_CHAR && (!oql_is_whole(v) || v->i < 0 || v->i > 0x10ffff))
		return HDB_NOTFOUND;
	bytes_utf8(&text, (uint32_t)v->i);
	return oql_end_string(ev, arena, HDB_OK, &text, out);
}

int oql_string_method(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out)
{
	const struct oql_str name = call->e->name;
	const struct oql_value *first = call->args.values, *second = first + 1;
	const size_t count = call->args.count;
	const bool has_from = count == 2 && oql_is_whole(second);
	struct oql_value needle, by;

	assert(call->of->type == OQL_V_STRING);
	if (count == 0)
		return without(ev, call, out);
	if (oql_is_whole(first) &&
	    ((count == 1 && (oql_is(name, "substring") || oql_is(name, "charAt"))) ||
	     (has_from && oql_is(name, "substring"))))
		return part(ev, call, out);
	if (count > 2)
		return HDB_NOTFOUND;
	if ((oql_is(name, "indexOf") && (count == 1 || has_from)) ||
	    (oql_is(name, "lastIndexOf") && count == 1)) {
		TRY(needle_of(ev, first, call->frame->arena, &needle));
		return index_of(call, needle.text, has_from ? second->i : 0, out);
	}
	if (count == 2 && (oql_is(name, "replace") || oql_is(name, "replaceAll") ||
			   oql_is(name, "replaceFirst"))) {
		TRY(needle_of(ev, first, call->frame->arena, &needle));
		TRY(needle_of(ev, second, call->frame->arena, &by));
		return replace(ev, call, (const struct oql_str[]){ needle.text, by.text }, out);
	}
	if (has_from && oql_is(name, "split") && first->type == OQL_V_STRING)
		return split(ev, call, out);
	return count == 1 && first->type == OQL_V_STRING ? with_text(ev, call, out) : HDB_NOTFOUND;
}
