/* base/plain_locale.c - see plain_locale.h. */
#include "base/plain_locale.h"

#include <ctype.h>
#include <langinfo.h>
#include <string.h>

struct base_plain_locale base_plain_locale_begin(void)
{
	struct base_plain_locale locale = { 0 };

	if (strcmp(nl_langinfo(RADIXCHAR), ".") == 0 && toupper('i') == 'I' && tolower('I') == 'i')
		return locale;
	locale.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (locale.plain)
		locale.before = uselocale(locale.plain);
	return locale;
}

void base_plain_locale_end(const struct base_plain_locale *locale)
{
	if (!locale->plain)
		return;
	(void)uselocale(locale->before);
	freelocale(locale->plain);
}
