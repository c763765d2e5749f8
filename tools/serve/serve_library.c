/* serve/serve_library.c - see serve_library.h. */
#include "serve/serve_library.h"
#include "heapdb.h"

#ifdef HTTP_LIBRARY

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The name of the file, which the Makefile gives without quotes. */
#define QUOTED(name) QUOTED_AS_IT_STANDS(name)
#define QUOTED_AS_IT_STANDS(name) #name

struct serve_library serve_library;

static int fail(struct hdb_error *err)
{
	snprintf(err->message, sizeof(err->message), "cannot serve: %s", dlerror());
	return err->code = HDB_EIO;
}

int serve_library_load(struct hdb_error *err)
{
	static const struct {
		const char *name;
		void *place;
	} functions[] = {
#define X(name) { #name, &(name) },
		SERVE_LIBRARY_FUNCTIONS(X)
#undef X
	};
	void *const library = dlopen(QUOTED(HTTP_LIBRARY), RTLD_NOW);

	if (!library)
		return fail(err);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *const function = dlsym(library, functions[i].name);

		if (!function)
			return fail(err);
		memcpy(functions[i].place, &function, sizeof(function));
	}
	return HDB_OK;
}

#else

int serve_library_load(struct hdb_error *err)
{
	(void)err;
	return HDB_OK;
}

#endif
