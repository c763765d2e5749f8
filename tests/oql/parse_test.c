/*
 * tests/oql/parse_test.c - statements of MAT's query language: statements are parsed and printed
 * again, and errors are reported with their position.
 */
#include "oql/oql.h"
#include "oql/oql_ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A statement, and how it is printed; NULL: unchanged. */
static const struct {
	const char *text, *printed;
} good[] = {
	{ "SELECT * FROM java.lang.String", NULL },
	{ "select * from java.lang.String[][]", "SELECT * FROM java.lang.String[][]" },
	{ "SELECT a.b.@c[0].d(1, \"x\")[1:-1] FROM X a", NULL },
	{ "SELECT 1 + 2 * 3 - 4 / 5 FROM X", "SELECT ((1 + (2 * 3)) - (4 / 5)) FROM X" },
	{ "SELECT -2147483648, -x, 017, 1e3, 0.1, 0.1d, 2.5f, 10L, 'c' FROM X",
	  "SELECT -2147483648, -x, 17, 1000.0, 0.1, 0.1D, 2.5, 10L, 'c' FROM X" },
	{ "SELECT (a = b), (1 OR 0) FROM X", "SELECT (a = b), (1 or 0) FROM X" },
	{ "SELECT * FROM X x WHERE a OR b AND c = 1 = true",
	  "SELECT * FROM X x WHERE (a or (b and ((c = 1) = true)))" },
	{ "SELECT * FROM X WHERE a NOT LIKE \"x\" AND b NOT IN ( SELECT * FROM Y )",
	  "SELECT * FROM X WHERE ((a not like \"x\") and (b not in (SELECT * FROM Y)))" },
	{ "SELECT * FROM X x WHERE x implements a.b.C",
	  "SELECT * FROM X x WHERE (x implements a.b.C)" },
	{ "SELECT DISTINCT AS RETAINED SET OBJECTS a, b AS \"c\" FROM OBJECTS INSTANCEOF \"x.*\" y",
	  NULL },
	{ "SELECT distinct FROM X", NULL },
	{ "SELECT objects, distinct.a FROM objects.X objects", NULL },
	{ "SELECT * FROM 0x12c4,0x12D0", "SELECT * FROM 0x12c4,0x12d0" },
	{ "SELECT * FROM OBJECTS 1,2", NULL },
	{ "SELECT * FROM ${snapshot}.getClasses()", "SELECT * FROM ( ${snapshot}.getClasses() )" },
	{ "SELECT * FROM OBJECTS ( ( SELECT * FROM X ) ) y UNION ( SELECT * FROM Z )",
	  "SELECT * FROM OBJECTS ( (SELECT * FROM X) ) y UNION (SELECT * FROM Z)" },
	{ "SELECT count(*), SUM(a.b) FROM X a GROUP BY a.c, d ORDER BY 1 DESC, a LIMIT 3 OFFSET 4",
	  "SELECT count(*), sum(a.b) FROM X a GROUP BY a.c, d ORDER BY 1 DESC, a LIMIT 3 OFFSET 4" },
	{ "SELECT order FROM X limit", NULL },
	{ "SELECT /* a */ x // b\n FROM java . lang . X", "SELECT x FROM java.lang.X" },
	{ "SELECT ${h}.x FROM OBJECTS $${h}[0:-1] e", "SELECT h.x FROM OBJECTS ( h[0:-1] ) e" },
	{ "SELECT -9223372036854775808L FROM X", NULL },
	{ "SELECT gr\303\266\303\237e FROM \303\234ber$1", NULL },
};

/* The error message of a statement begins with this. */
static const struct {
	const char *text, *message;
} bad[] = {
	{ "", "line 1, column 1: expected SELECT, found the end" },
	{ "SELECT", "line 1, column 7: expected an expression, found the end" },
	{ "SELECT x y FROM X", "line 1, column 10: expected FROM, found \"y\"" },
	{ "SELECT *\nFROM", "line 2, column 5: expected a class" },
	{ "SELECT * FROM X WHERE \303\244 <> 1", "line 1, column 25: \"<>\" is written \"!=\"" },
	{ "SELECT * FROM X WHERE a == 1", "line 1, column 25: \"==\" is written \"=\"" },
	{ "SELECT * FROM X WHERE NOT a", "line 1, column 23: NOT is allowed only before" },
	{ "SELECT * FROM X;", "line 1, column 16: \";\" has no meaning" },
	{ "SELECT 1 = 1 FROM X", "line 1, column 10: expected FROM, found \"=\"" },
	{ "SELECT 9223372036854775808L FROM X",
	  "line 1, column 8: this number does not fit into 64 bits" },
	{ "SELECT ${a b} FROM X", "line 1, column 8: expected ${snapshot}, or ${h}" },
	{ "SELECT 3000000000 FROM X", "line 1, column 8: 3000000000 does not fit into 32 bits" },
	{ "SELECT 99999999999999999999L FROM X",
	  "line 1, column 8: this number does not fit into 64" },
	{ "SELECT 0x12 FROM X", "line 1, column 8: addresses are allowed only after FROM" },
	{ "SELECT * FROM 0x11112222333344445", "line 1, column 15: this address has more than 64" },
	{ "SELECT \"a FROM X", "line 1, column 8: expected a quote" },
	{ "SELECT 'ab' FROM X", "line 1, column 8: expected one character" },
	{ "SELECT /* a FROM X", "line 1, column 8: expected \"*/\"" },
	{ "SELECT a[1 FROM X", "line 1, column 12: expected \"]\" or \":\", found \"FROM\"" },
	{ "SELECT f(1 FROM X", "line 1, column 12: expected \",\" or \")\"" },
	{ "SELECT * FROM OBJECTS f(x)", "line 1, column 23: an expression after FROM must be in" },
	{ "SELECT * FROM X WHERE count(*) > 1",
	  "line 1, column 23: count() is allowed only in SELECT" },
	{ "SELECT sum(count(*)) FROM X", "line 1, column 12: count() is allowed only in SELECT" },
	{ "SELECT sum(a, b) FROM X", "line 1, column 8: sum() takes one argument" },
	{ "SELECT * FROM X GROUP BY a", "line 1, column 1: GROUP BY needs columns" },
	{ "SELECT a FROM X UNION ( SELECT b FROM Y LIMIT 1 )", "line 1, column 17: ORDER BY and" },
	{ "SELECT a FROM X LIMIT x", "line 1, column 23: expected a number of rows" },
	{ "SELECT \377 FROM X", "byte 8 of the statement is not valid UTF-8" },
};

static int parse(const char *text, struct bytes *out, struct hdb_error *err)
{
	struct oql_budget budget = { .most_bytes = 1 << 28 };
	struct oql_arena arena = { .budget = &budget };
	struct oql_select *select;
	const int r = oql_parse((struct oql_str){ text, strlen(text) }, &arena, &select, err);

	if (r == HDB_OK) {
		oql_unparse_select(select, out);
		bytes_add(out, "", 1);
	}
	oql_arena_release(&arena);
	assert_int_equal(budget.used_bytes, 0);
	return r;
}

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct bytes out = { 0 };
		struct hdb_error err = { 0 };

		if (parse(good[i].text, &out, &err) != HDB_OK)
			fail_msg("%s: %s", good[i].text, err.message);
		if (good[i].printed || !strstr(good[i].text, " AS \""))
			assert_string_equal(out.data,
					    good[i].printed ? good[i].printed : good[i].text);
		bytes_release(&out);
	}
}

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hdb_error err = { 0 };

		assert_int_equal(
			oql_check((struct oql_str){ bad[i].text, strlen(bad[i].text) }, &err),
			HDB_EUSAGE);
		if (strncmp(err.message, bad[i].message, strlen(bad[i].message)) != 0)
			fail_msg("%s: \"%s\", expected \"%s\"", bad[i].text, err.message,
				 bad[i].message);
	}
}

/* Builds a statement: `head`, `count` times `part`, `tail`, then `count` times `close`. */
static int check_many(const char *head, const char *part, size_t count, const char *close)
{
	struct bytes text = { 0 };
	struct hdb_error err = { 0 };
	int r;

	bytes_string(&text, head);
	for (size_t i = 0; i < count; i++)
		bytes_string(&text, part);
	bytes_string(&text, "1");
	for (size_t i = 0; i < count; i++)
		bytes_string(&text, close);
	bytes_string(&text, *close == ']' ? " FROM X" : "");
	r = oql_check((struct oql_str){ text.data, text.size }, &err);
	assert_true(r == HDB_OK || err.message[0]);
	bytes_release(&text);
	return r;
}

/* Chains of AND may have any length. Nesting and chains of steps are limited. */
static void test_limits(void **state)
{
	static const char where[] = "SELECT * FROM X WHERE ";

	(void)state;
	assert_int_equal(check_many(where, "a AND ", 10000, ""), HDB_OK);
	assert_int_equal(check_many(where, "(", 50, ")"), HDB_OK);
	assert_int_equal(check_many(where, "(", 100000, ")"), HDB_ELIMIT);
	assert_int_equal(check_many(where, "-", 100000, ""), HDB_ELIMIT);
	assert_int_equal(check_many(where, "1+", 900, ""), HDB_OK);
	assert_int_equal(check_many(where, "1+", 10000, ""), HDB_ELIMIT);
	assert_int_equal(check_many(where, "1 = ", 10000, ""), HDB_ELIMIT);
	assert_int_equal(check_many(where, "f(", 10000, ")"), HDB_ELIMIT);
	assert_int_equal(check_many(where, "a IN (SELECT b FROM Y WHERE ", 10000, ")"), HDB_ELIMIT);
	assert_int_equal(check_many("SELECT * FROM OBJECTS (", "(", 10000, ")"), HDB_ELIMIT);
	assert_int_equal(check_many("SELECT ", "a[", 10000, "]"), HDB_ELIMIT);
	assert_int_equal(check_many("SELECT ", "a,", 10000, ""), HDB_ELIMIT);
	assert_int_equal(check_many(where, "                ", 100000, ""), HDB_ELIMIT);
}

static void test_doubles(void **state)
{
	static const struct {
		double value;
		bool is_float;
		const char *text;
	} rows[] = {
		{ 0, false, "0.0" },
		{ 1, false, "1.0" },
		{ -0.5, false, "-0.5" },
		{ 0.1, false, "0.1" },
		{ (double)0.1f, true, "0.1" },
		{ 1.0 / 3, false, "0.3333333333333333" },
		{ 1e7, false, "1.0E7" },
		{ 9999999, false, "9999999.0" },
		{ 0.001, false, "0.001" },
		{ 4.8828125E-4, false, "4.8828125E-4" },
		{ 1.5e300, false, "1.5E300" },
		{ 4.9e-324, false, "4.9E-324" },
		{ (double)1.4e-45f, true, "1.4E-45" },
		{ 123456.789, false, "123456.789" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes out = { 0 };

		oql_put_double(&out, rows[i].value, rows[i].is_float);
		bytes_add(&out, "", 1);
		assert_string_equal(out.data, rows[i].text);
		bytes_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_doubles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
