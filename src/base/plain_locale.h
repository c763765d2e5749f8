/*
 * base/plain_locale.h - makes number formats and letter cases independent of the locale that the
 * calling program has set.
 *
 * If the program has called setlocale, snprintf and strtod may use a decimal comma, and in Turkish
 * i and I are different letters. Answers, some of which are stored in databases, would then depend
 * on the locale.
 */
#ifndef BASE_PLAIN_LOCALE_H
#define BASE_PLAIN_LOCALE_H

#include "base/scope.h"

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/* The C locale of a thread, and the locale that it replaced. Zeros if no switch was needed. */
struct base_plain_locale {
	locale_t plain, before;
};

/* Switches this thread to the C locale, unless its locale has the same numbers and letters. */
struct base_plain_locale base_plain_locale_begin(void);
void base_plain_locale_end(const struct base_plain_locale *locale);

/* The rest of the block is executed in the C locale. The variable is used only by its cleanup. */
#define BASE_PLAIN_LOCALE \
	__attribute__((unused)) BASE_SCOPED(base_plain_locale_end) \
		const struct base_plain_locale base_locale = base_plain_locale_begin()

#endif
