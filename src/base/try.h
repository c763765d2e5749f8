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
 * TRY_ERRORS returns only errors, and ignores HDB_END and HDB_NOTFOUND. TRY_ERRORS implies that the
 * callee may return these two codes. If the callee never does, tests/lint/try.py requires TRY.
 * TRY_FOUND returns HDB_OK for these two codes, for functions that have nothing to do if an object
 * is not found. Variables that must be released are declared with BASE_SCOPED (base/scope.h).
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
