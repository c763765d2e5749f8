/* support/json_check.h - checks that bytes are one JSON text (RFC 8259) in well-formed UTF-8. */
#ifndef SUPPORT_JSON_CHECK_H
#define SUPPORT_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

bool json_is_valid(const char *text, size_t size);

/* Whether bytes are well-formed UTF-8 without control characters other than line ends and tabs. */
bool text_is_clean(const char *text, size_t size);

/* Whether bytes are well-formed UTF-8. */
bool text_is_utf8(const char *text, size_t size);

#endif
