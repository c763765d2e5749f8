/*
 * signature_test.c - names of classes without numbers added by a VM or a code generator.
 */
#include "queries/leaks/leak_signature.h"

// cmocka wants these first
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const struct {
	const char *name, *stable;
} names[] = {
	{ "com.acme.Cache", "com.acme.Cache" },
	{ "com.acme.Cache2", "com.acme.Cache2" },
	{ "com.acme.Cache$Entry[]", "com.acme.Cache$Entry[]" },
	{ "com.acme.Cache$12", "com.acme.Cache$" },
	{ "com.acme.Cache$1Local", "com.acme.Cache$Local" },
	{ "com.acme.Cache$$Lambda$14/0x00000008000c0a40", "com.acme.Cache$$Lambda" },
	{ "com.acme.Cache$$Lambda/0x00007f3c8c0a4000", "com.acme.Cache$$Lambda" },
	{ "com.acme.Cache$$Lambda+0x00007f3c8c0a4000[]", "com.acme.Cache$$Lambda[]" },
	{ "com.acme.Hidden/0x0000000800c0", "com.acme.Hidden" },
	{ "jdk.proxy2.$Proxy17", "jdk.proxy2.$Proxy" },
	{ "com.acme.Dao$$EnhancerBySpringCGLIB$$1f3e9a", "com.acme.Dao$$EnhancerBySpringCGLIB$$" },
	{ "jdk.internal.reflect.GeneratedMethodAccessor31",
	  "jdk.internal.reflect.GeneratedMethodAccessor" },
	{ "com.acme.$ProxyFactory", "com.acme.$ProxyFactory" },
	{ "a.b", "a.b" },
	{ "$1", "$" },
	{ "/0x", "/0x" },
	{ "A+0", "A+0" },
	{ "", "" },
};

static void test_names(void **state)
{
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		leak_stable_name(names[i].name, text, sizeof(text));
		assert_string_equal(text, names[i].stable);
		/* Stable names do not change. */
		leak_stable_name(names[i].stable, text, sizeof(text));
		assert_string_equal(text, names[i].stable);
	}
}

static void test_room(void **state)
{
	char text[5] = "....";

	(void)state;
	leak_stable_name("com.acme.Cache", text, sizeof(text));
	assert_string_equal(text, "com.");
	leak_stable_name("com.acme.Cache", text, 1);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
