/* heap/platform_classes.c - recognises platform classes, which an application cannot change. */
#include "heap/platform_classes.h"

#include "base/table.h"

#include <string.h>

enum kind { IS_PLATFORM, IS_LIBRARY, IS_VALUE };

/* Names of classes and prefixes of names, each with its final zero. */
#define ROW(kind, size, name) \
	{ \
		kind, size, name \
	}
#define PLATFORM(prefix) ROW(IS_PLATFORM, sizeof(prefix) - 1, prefix)
#define LIBRARY(prefix) ROW(IS_LIBRARY, sizeof(prefix) - 1, prefix)
#define VALUE(name) ROW(IS_VALUE, sizeof(name), name)
#define VALUES(prefix) ROW(IS_VALUE, sizeof(prefix) - 1, prefix)
static const struct {
	enum kind kind;
	size_t size;
	const char *name;
} classes[] = {
#include <heap/platform_classes.rows.h>
};

static const char *const primitive_names[] = {
	"boolean", "byte", "char", "short", "int", "long", "float", "double",
};

/* Returns whether the class is an array of a primitive type with any number of dimensions. */
static bool is_primitive_name(const char *class_name)
{
	const size_t size = strcspn(class_name, "[");

	for (size_t i = 0; i < BASE_COUNT(primitive_names); i++)
		if (strlen(primitive_names[i]) == size &&
		    strncmp(class_name, primitive_names[i], size) == 0)
			return true;
	return false;
}

bool heap_is_number_array(const char *class_name)
{
	return is_primitive_name(class_name) &&
	       strcmp(class_name + strcspn(class_name, "["), "[]") == 0;
}

bool heap_is_anonymous_class(const char *class_name)
{
	const char *inner = strrchr(class_name, '$');

	return inner && inner[1] && !inner[1 + strspn(inner + 1, "0123456789")];
}

static bool is_of(const char *class_name, enum kind kind)
{
	for (size_t i = 0; i < BASE_COUNT(classes); i++)
		if (classes[i].kind == kind &&
		    strncmp(class_name, classes[i].name, classes[i].size) == 0)
			return true;
	return false;
}

bool heap_is_platform_class(const char *class_name)
{
	return is_primitive_name(class_name) || is_of(class_name, IS_PLATFORM);
}

bool heap_is_library_class(const char *class_name)
{
	return is_of(class_name, IS_LIBRARY);
}

bool heap_is_own_class(const char *class_name)
{
	return !heap_is_platform_class(class_name) && !strstr(class_name, "$$Lambda");
}

bool heap_is_application_class(const char *class_name)
{
	return heap_is_own_class(class_name) && !heap_is_library_class(class_name);
}

bool heap_is_value_class(const char *class_name)
{
	const size_t size = strlen(class_name);

	/*
	 * An array belongs to the object that refers to it. Exception: if the element class belongs
	 * to the application, it identifies the owner.
	 */
	if (size > 2 && strcmp(class_name + size - 2, "[]") == 0)
		return heap_is_platform_class(class_name);
	return is_of(class_name, IS_VALUE);
}
