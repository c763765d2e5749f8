/*
 * base/debug.h - what only builds for finding mistakes do.
 *
 * The checks of structures (`<thing>_check`) walk all of them. Tests call them; the code itself
 * does, by BASE_CHECK, where a structure is whole, in builds with AddressSanitizer alone.
 */
#ifndef BASE_DEBUG_H
#define BASE_DEBUG_H

#include <stdbool.h>

#if defined(__SANITIZE_ADDRESS__)
#define BASE_IS_DEBUG true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BASE_IS_DEBUG true
#endif
#endif
#ifndef BASE_IS_DEBUG
#define BASE_IS_DEBUG false
#endif

/* Runs a check in such a build; it is compiled in all of them. */
#define BASE_CHECK(check) \
	do { \
		if (BASE_IS_DEBUG) \
			(check); \
	} while (0)

#endif
