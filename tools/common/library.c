/*
 * common/library.c - implements library.h.
 */
#include "common/library.h"
#include "base/error.h"

#include <dlfcn.h>
#include <string.h>

int library_load(const char *file, const struct library_function *functions, size_t count,
		 struct hdb_error *err)
{
	void *const library = dlopen(file, RTLD_NOW);

	if (!library)
		return hdb_fail(err, HDB_EIO, "missing library: %s", dlerror());
	for (size_t i = 0; i < count; i++) {
		void *const function = dlsym(library, functions[i].name);

		if (!function)
			return hdb_fail(err, HDB_EIO, "library too old: %s", dlerror());
		memcpy(functions[i].place, &function, sizeof(function));
	}
	return HDB_OK;
}
