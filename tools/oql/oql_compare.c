/* oql/oql_compare.c - computes with Java's integer widths, and compares values. */
#include "base/sort.h"
#include "oql/oql_eval.h"

#include <math.h>

bool oql_is_whole(const struct oql_value *v)
{
	return v->type >= OQL_V_BYTE && v->type <= OQL_V_LONG;
}

bool oql_is_number(const struct oql_value *v)
{
	return v->type >= OQL_V_BYTE && v->type <= OQL_V_DOUBLE;
}

double oql_double_of(const struct oql_value *v)
{
	return oql_is_whole(v) ? (double)v->i : v->d;
}

/*
 * Computes an operation on integers. As in Java, the result wraps around at 32 bits, or at 64 bits
 * if either operand is a long.
 */
static struct oql_value whole(const struct oql_expr *e, const struct oql_value *a,
			      const struct oql_value *b)
{
	const uint64_t x = (uint64_t)a->i, y = (uint64_t)b->i;
	const uint64_t z = e->kind == OQL_ADD ? x + y : e->kind == OQL_SUBTRACT ? x - y : x * y;

	if (a->type == OQL_V_LONG || b->type == OQL_V_LONG)
		return oql_long((int64_t)z);
	return oql_int((int32_t)(uint32_t)z);
}

static int concatenate(struct oql_eval *ev, const struct oql_value *a, const struct oql_value *b,
		       struct oql_arena *arena, struct oql_value *out)
{
	struct bytes text = { .most = ev->budget.most_bytes };

	bytes_add(&text, a->text.data, a->text.size);
	return oql_end_string(ev, arena, oql_put_plain(ev, b, &text), &text, out);
}

int oql_arithmetic(struct oql_eval *ev, const struct oql_expr *e, const struct oql_value of[2],
		   struct oql_arena *arena, struct oql_value *out)
{
	const struct oql_value *a = &of[0], *b = &of[1];
	static const char signs[] = "+-*/";
	double x, y;

	if (e->kind == OQL_ADD && a->type == OQL_V_STRING)
		return concatenate(ev, a, b, arena, out);
	if (!oql_is_number(a) || !oql_is_number(b))
		return oql_refuse(ev, e, "\"%c\" takes numbers, not %s%s", signs[e->kind - OQL_ADD],
				  oql_type_name(ev, oql_is_number(a) ? b : a),
				  e->kind == OQL_ADD ?
					  "; to concatenate strings, begin with a string (\"\" "
					  "+ ...)" :
					  "");
	if (e->kind != OQL_DIVIDE && oql_is_whole(a) && oql_is_whole(b)) {
		*out = whole(e, a, b);
		return HDB_OK;
	}
	x = oql_double_of(a);
	y = oql_double_of(b);
	*out = (struct oql_value){ .type = OQL_V_DOUBLE };
	out->d = e->kind == OQL_ADD      ? x + y :
		 e->kind == OQL_SUBTRACT ? x - y :
		 e->kind == OQL_MULTIPLY ? x * y :
					   x / y;
	return HDB_OK;
}

static int compare_texts(struct oql_str a, struct oql_str b)
{
	return base_compare_text(a.data, a.size, b.data, b.size);
}

static int compare_numbers(const struct oql_value *a, const struct oql_value *b)
{
	double x, y;

	if (oql_is_whole(a) && oql_is_whole(b))
		return a->i < b->i ? -1 : a->i > b->i;
	x = oql_double_of(a);
	y = oql_double_of(b);
	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return x < y ? -1 : x > y;
}

static bool equal_lists(const struct oql_list *a, const struct oql_list *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || a->count != b->count)
		return false;
	if (a->kind == OQL_L_ARRAY)
		return a->array_ix == b->array_ix && a->first == b->first;
	if (a->kind == OQL_L_IDS)
		return a->count == 0 || memcmp(a->ixs, b->ixs, a->count * sizeof(a->ixs[0])) == 0;
	for (size_t i = 0; i < a->count; i++)
		if (!oql_equal(&a->values[i], &b->values[i]))
			return false;
	return true;
}

bool oql_equal(const struct oql_value *a, const struct oql_value *b)
{
	if (oql_is_number(a) && oql_is_number(b))
		return compare_numbers(a, b) == 0;
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case OQL_V_STRING:
	case OQL_V_JAVA_CLASS:
		return compare_texts(a->text, b->text) == 0;
	case OQL_V_OBJECT:
		return a->ix == b->ix;
	case OQL_V_LIST:
	case OQL_V_ROW:
		return equal_lists(a->list, b->list);
	default:
		return a->i == b->i && a->ix == b->ix;
	}
}

int oql_order(struct oql_eval *ev, const struct oql_expr *e, const struct oql_value *a,
	      const struct oql_value *b, int *order)
{
	if (a->type == OQL_V_NULL || b->type == OQL_V_NULL) {
		struct bytes text = { .most = ev->budget.most_bytes };
		int r;

		oql_unparse(a->type == OQL_V_NULL ? e->a : e->b, &text);
		r = oql_refuse(
			ev, e,
			"%.*s is null, which <, <=, > and >= cannot compare; add \"... != null "
			"AND\" before the comparison",
			(int)(text.size < 200 ? text.size : 200), text.data);
		bytes_release(&text);
		return r;
	}
	if (oql_is_number(a) && oql_is_number(b))
		*order = compare_numbers(a, b);
	else if (a->type == OQL_V_STRING && b->type == OQL_V_STRING)
		*order = compare_texts(a->text, b->text);
	else if (a->type == b->type && (a->type == OQL_V_CHAR || a->type == OQL_V_BOOL))
		*order = a->i < b->i ? -1 : a->i > b->i;
	else
		return oql_refuse(ev, e, "%s and %s cannot be compared with <, <=, > or >=",
				  oql_type_name(ev, a), oql_type_name(ev, b));
	return HDB_OK;
}

/* Returns the rank of a value's type: numbers, strings, others, null. */
static int class_of(const struct oql_value *v)
{
	return v->type == OQL_V_NULL ? 100 : oql_is_number(v) ? 0 : (int)v->type;
}

int oql_rank(const struct oql_value *a, const struct oql_value *b)
{
	const int x = class_of(a), y = class_of(b);

	if (x != y)
		return x - y;
	if (oql_is_number(a))
		return compare_numbers(a, b);
	if (a->type == OQL_V_STRING || a->type == OQL_V_JAVA_CLASS)
		return compare_texts(a->text, b->text);
	if (a->type == OQL_V_OBJECT)
		return a->ix < b->ix ? -1 : a->ix > b->ix;
	if (a->type == OQL_V_LIST || a->type == OQL_V_ROW)
		return a->list->count < b->list->count ? -1 : a->list->count > b->list->count;
	return a->i < b->i ? -1 : a->i > b->i;
}

static void put_raw(struct bytes *out, char type, const void *data, size_t size)
{
	bytes_add(out, &type, 1);
	bytes_add(out, data, size);
}

int oql_put_key(struct oql_eval *ev, const struct oql_value *v, struct bytes *out)
{
	uint64_t size;
	double d;

	switch (v->type) {
	case OQL_V_BYTE:
	case OQL_V_SHORT:
	case OQL_V_INT:
	case OQL_V_LONG:
		put_raw(out, 'i', &v->i, sizeof(v->i));
		return HDB_OK;
	case OQL_V_FLOAT:
	case OQL_V_DOUBLE:
		d = v->d == 0 ? 0 : v->d;
		if (d > -9e18 && d < 9e18 && d == trunc(d)) {
			const int64_t i = (int64_t)d;

			put_raw(out, 'i', &i, sizeof(i));
		} else {
			put_raw(out, 'd', &d, sizeof(d));
		}
		return HDB_OK;
	case OQL_V_BOOL:
	case OQL_V_CHAR:
		put_raw(out, v->type == OQL_V_BOOL ? 'b' : 'c', &v->i, sizeof(v->i));
		return HDB_OK;
	case OQL_V_OBJECT:
		put_raw(out, 'o', &v->ix, sizeof(v->ix));
		return HDB_OK;
	case OQL_V_STRING:
		size = v->text.size;
		put_raw(out, 's', &size, sizeof(size));
		bytes_add(out, v->text.data, v->text.size);
		return HDB_OK;
	case OQL_V_NULL:
		bytes_add(out, "n", 1);
		return HDB_OK;
	default:
		bytes_add(out, "x", 1);
		return oql_put_value(ev, v, false, out);
	}
}
