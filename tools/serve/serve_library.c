/* serve/serve_library.c - see serve_library.h. */
#include "serve/serve_library.h"
#include "base/table.h"
#include "common/library.h"

#ifdef HTTP_LIBRARY

struct serve_library serve_library;

int serve_library_load(struct hdb_error *err)
{
	static const struct library_function functions[] = {
#define X(name) { #name, &(name) },
		SERVE_LIBRARY_FUNCTIONS(X)
#undef X
	};

	return library_load(LIBRARY_QUOTED(HTTP_LIBRARY), functions, BASE_COUNT(functions), err);
}

#else

int serve_library_load(struct hdb_error *err)
{
	(void)err;
	return HDB_OK;
}

#endif
