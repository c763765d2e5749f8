/*
 * oql/oql_unparse.c - converts expressions to text as in MAT's column headings.
 */
#include "oql/oql_ast.h"

#include <math.h>
#include <stdio.h>

/*
 * Finds the shortest sequence of digits, at least two, that is read back as the same number:
 * "d.ddde+dd" in buf.
 */
static void shortest(char buf[40], double value, bool is_float)
{
	for (int digits = 1; digits < 17; digits++) {
		snprintf(buf, 40, "%.*e", digits, value);
		if (is_float ? strtof(buf, NULL) == (float)value : strtod(buf, NULL) == value)
			return;
	}
}

void oql_put_double(struct bytes *out, double value, bool is_float)
{
	char buf[40], digits[24];
	size_t count = 0;
	long exponent;

	if (isnan(value) || isinf(value)) {
		bytes_string(out, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
		return;
	}
	if (signbit(value))
		bytes_string(out, "-");
	value = fabs(value);
	if (value == 0) {
		bytes_string(out, "0.0");
		return;
	}
	shortest(buf, value, is_float);
	for (const char *c = buf; *c && *c != 'e'; c++)
		if (*c != '.')
			digits[count++] = *c;
	assert(count > 0);
	assert(count <= sizeof(digits));
	while (count > 1 && digits[count - 1] == '0')
		count--;
	exponent = strtol(strchr(buf, 'e') + 1, NULL, 10);
	if (exponent < -3 || exponent >= 7) {
		bytes_add(out, digits, 1);
		bytes_string(out, ".");
		bytes_add(out, count > 1 ? digits + 1 : "0", count > 1 ? count - 1 : 1);
		bytes_format(out, "E%ld", exponent);
		return;
	}
	if (exponent < 0)
		bytes_string(out, "0.");
	for (long i = exponent + 1; i < 0; i++)
		bytes_string(out, "0");
	for (long i = 0; i < (long)count || i <= exponent; i++) {
		bytes_add(out, i < (long)count ? &digits[i] : "0", 1);
		if (i == exponent)
			bytes_string(out, i + 1 < (long)count ? "." : ".0");
	}
}

static void put_str(struct bytes *out, struct oql_str s)
{
	bytes_add(out, s.data, s.size);
}

static void put_list(struct bytes *out, const struct oql_expr *e, const char *between)
{
	for (size_t i = 0; i < e->arg_count; i++) {
		bytes_string(out, i ? between : "");
		oql_unparse(e->args[i], out);
	}
}

static void put_literal(const struct oql_expr *e, struct bytes *out)
{
	if (e->kind == OQL_BOOL)
		bytes_string(out, e->i ? "true" : "false");
	else if (e->kind == OQL_CHAR)
		bytes_utf8(out, (uint32_t)e->i);
	else if (e->kind == OQL_FLOAT || e->kind == OQL_DOUBLE)
		oql_put_double(out, e->d, e->kind == OQL_FLOAT);
	else
		bytes_format(out, "%" PRId64, e->i);
}

/*
 * Templates by kind of expression: "$a", "$b" and "$c" are its operands, "$n" its name, "$." the
 * part before the last step of a path, "$v" the value of a literal, "$," comma-separated arguments,
 * "$&" and "$|" arguments joined by the operator, "$f" an aggregate, "$s" a sub-select.
 */
static const char *const templates[] = {
	[OQL_NULL] = "null",
	[OQL_BOOL] = "$v",
	[OQL_INT] = "$v",
	[OQL_LONG] = "$vL",
	[OQL_FLOAT] = "$v",
	[OQL_DOUBLE] = "$vD",
	[OQL_CHAR] = "'$v'",
	[OQL_STRING] = "\"$n\"",
	[OQL_NAME] = "$n",
	[OQL_SNAPSHOT] = "$n",
	[OQL_SELECT] = "($s)",
	[OQL_FIELD] = "$.$n",
	[OQL_ATTRIBUTE] = "$.@$n",
	[OQL_METHOD] = "$.$n($,)",
	[OQL_CALL] = "$.$n($,)",
	[OQL_AGGREGATE] = "$f",
	[OQL_INDEX] = "$a[$b]",
	[OQL_SLICE] = "$a[$b:$c]",
	[OQL_NEGATE] = "-$a",
	[OQL_ADD] = "($a + $b)",
	[OQL_SUBTRACT] = "($a - $b)",
	[OQL_MULTIPLY] = "($a * $b)",
	[OQL_DIVIDE] = "($a / $b)",
	[OQL_EQUAL] = "($a = $b)",
	[OQL_NOT_EQUAL] = "($a != $b)",
	[OQL_LESS] = "($a < $b)",
	[OQL_LESS_EQUAL] = "($a <= $b)",
	[OQL_GREATER] = "($a > $b)",
	[OQL_GREATER_EQUAL] = "($a >= $b)",
	[OQL_LIKE] = "($a like $b)",
	[OQL_NOT_LIKE] = "($a not like $b)",
	[OQL_IN] = "($a in $b)",
	[OQL_NOT_IN] = "($a not in $b)",
	[OQL_IMPLEMENTS] = "($a implements $n)",
	[OQL_AND] = "($&)",
	[OQL_OR] = "($|)",
};

static void put_part(struct bytes *out, const struct oql_expr *e, char part)
{
	static const char *const aggregates[] = { "count", "sum", "min", "max", "avg" };

	static_assert(BASE_COUNT(aggregates) == OQL_AVG + 1, "a name for each aggregate");
	switch (part) {
	case 'a':
		oql_unparse(e->a, out);
		break;
	case 'b':
		oql_unparse(e->b, out);
		break;
	case 'c':
		oql_unparse(e->c, out);
		break;
	case 'n':
		put_str(out, e->name);
		break;
	case '.':
		if (e->a) {
			oql_unparse(e->a, out);
			bytes_string(out, ".");
		}
		break;
	case 'f':
		bytes_format(out, "%s(%s", aggregates[e->aggregate], e->arg_count ? "" : "*");
		put_list(out, e, ", ");
		bytes_string(out, ")");
		break;
	case 's':
		oql_unparse_select(e->select, out);
		break;
	case 'v':
		put_literal(e, out);
		break;
	default:
		put_list(out, e, part == '&' ? " and " : part == '|' ? " or " : ", ");
	}
}

void oql_unparse(const struct oql_expr *e, struct bytes *out)
{
	for (const char *at = templates[e->kind]; *at; at++)
		if (*at == '$')
			put_part(out, e, *++at);
		else
			bytes_add(out, at, 1);
}

static void put_from(const struct oql_from *from, struct bytes *out)
{
	bytes_format(out, " FROM %s%s", from->is_objects ? "OBJECTS " : "",
		     from->is_instanceof ? "INSTANCEOF " : "");
	switch (from->kind) {
	case OQL_FROM_CLASS:
		put_str(out, from->name);
		break;
	case OQL_FROM_PATTERN:
		bytes_format(out, "\"%.*s\"", OQL_STR(from->name));
		break;
	case OQL_FROM_ADDRESSES:
	case OQL_FROM_IDS:
		for (size_t i = 0; i < from->number_count; i++)
			bytes_format(out,
				     from->kind == OQL_FROM_IDS ? "%s%" PRIu64 : "%s0x%" PRIx64,
				     i ? "," : "", from->numbers[i]);
		break;
	case OQL_FROM_VALUE:
		bytes_string(out, "( ");
		oql_unparse(from->expr, out);
		bytes_string(out, " )");
		break;
	case OQL_FROM_SELECT:
		bytes_string(out, "( ");
		oql_unparse_select(from->select, out);
		bytes_string(out, " )");
		break;
	}
	if (from->alias.data)
		bytes_format(out, " %.*s", OQL_STR(from->alias));
}

static void put_items(const struct oql_select *s, struct bytes *out)
{
	for (size_t i = 0; i < s->item_count; i++) {
		bytes_string(out, i ? ", " : "");
		oql_unparse(s->items[i].expr, out);
		if (s->items[i].alias.data)
			bytes_format(out, " AS \"%.*s\"", OQL_STR(s->items[i].alias));
	}
}

void oql_unparse_select(const struct oql_select *s, struct bytes *out)
{
	bytes_format(out, "SELECT %s%s%s", s->is_distinct ? "DISTINCT " : "",
		     s->is_retained ? "AS RETAINED SET " : "",
		     s->is_star    ? "*" :
		     s->is_objects ? "OBJECTS " :
				     "");
	put_items(s, out);
	put_from(&s->from, out);
	if (s->where) {
		bytes_string(out, " WHERE ");
		oql_unparse(s->where, out);
	}
	for (size_t i = 0; i < s->group_count; i++) {
		bytes_string(out, i ? ", " : " GROUP BY ");
		oql_unparse(s->groups[i], out);
	}
	if (s->next) {
		bytes_string(out, " UNION (");
		oql_unparse_select(s->next, out);
		bytes_string(out, ")");
	}
	for (size_t i = 0; i < s->order_count; i++) {
		bytes_string(out, i ? ", " : " ORDER BY ");
		oql_unparse(s->orders[i].expr, out);
		bytes_string(out, s->orders[i].is_descending ? " DESC" : "");
	}
	if (s->has_limit)
		bytes_format(out, " LIMIT %" PRIu64, s->limit);
	if (s->offset)
		bytes_format(out, " OFFSET %" PRIu64, s->offset);
}
