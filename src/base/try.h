/*
 * base/try.h - macros that return result codes to the caller. Tools may include this header,
 * because it contains only macros.
 */
#ifndef BASE_TRY_H
#define BASE_TRY_H

#include "heapdb.h"

/*
 * TRY calls a function that returns a result code, and returns the code from the surrounding
 * function unless it is HDB_OK.
 *
 * TRY_ERRORS returns only errors; HDB_END and HDB_NOTFOUND are ignored. It states that the callee
 * may return them; if the callee never does, tests/lint/try.py demands TRY. TRY_FOUND returns
 * HDB_OK for these two codes, for a function that has nothing to do if an object is not found.
 * Declare what has to be released with BASE_SCOPED (base/scope.h).
 */
#define TRY(call) \
	do { \
		const int try_result_ = (call); \
		if (try_result_ != HDB_OK) \
			return try_result_; \
	} while (0)
#define TRY_ERRORS(call) \
	do { \
		const int try_result_ = (call); \
		if (try_result_ < 0) \
			return try_result_; \
	} while (0)
#define TRY_FOUND(call) \
	do { \
		const int try_result_ = (call); \
		if (try_result_ != HDB_OK) \
			return try_result_ < 0 ? try_result_ : HDB_OK; \
	} while (0)

#endif
