/*
 * common/descriptor.c - implements descriptor.h. The JVM specification, 4.3.2, defines the type
 * characters.
 */
#include "common/descriptor.h"

#include "base/table.h"

#include <stdio.h>
#include <string.h>

size_t descriptor_name(const char *text, char *out, size_t size)
{
	static const char letters[] = "BCDFIJSZ";
	static const char *const names[] = { "byte", "char", "double", "float",
					     "int",  "long", "short",  "boolean" };
	const size_t dimensions = strspn(text, "[");
	const char *base = text + dimensions;
	const char *letter = dimensions && base[0] && !base[1] ? strchr(letters, base[0]) : NULL;
	size_t length = strlen(base);

	if (letter)
		(void)snprintf(out, size, "%s", names[letter - letters]);
	else if (length >= 2 && base[0] == 'L' && base[length - 1] == ';')
		(void)snprintf(out, size, "%.*s", (int)length - 2, base + 1);
	else
		(void)snprintf(out, size, "%s", base);
	length = strlen(out);
	for (size_t i = 0; i < dimensions && length + 2 < size; i++, length += 2)
		memcpy(out + length, "[]", sizeof("[]"));
	return length;
}

bool descriptor_is_of_jdk(const char *name, size_t size)
{
	static const char *const packages[] = { "java.", "javax.", "jdk.", "sun.", "com.sun." };

	for (size_t i = 0; i < BASE_COUNT(packages); i++) {
		const size_t length = strlen(packages[i]);

		if (size > length && memcmp(name, packages[i], length) == 0)
			return true;
	}
	return false;
}
