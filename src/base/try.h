/*
 * base/try.h - passing a result code on. The tools may include it, for it is macros alone.
 */
#ifndef BASE_TRY_H
#define BASE_TRY_H

#include "heapdb.h"

/*
 * Calls a function that returns a result code, and returns the code from the function around it
 * unless it is HDB_OK. TRY_ERRORS does so for errors alone: HDB_END and HDB_NOTFOUND are ignored.
 * TRY_FOUND returns HDB_OK for these two: without what it looks for the function has nothing to do.
 * What must be released first is declared with BASE_SCOPED (base/scope.h), or `goto out` instead.
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
