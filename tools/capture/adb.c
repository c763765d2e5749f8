/*
 * capture/adb.c - implements adb.h.
 */
#include "capture/adb.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void adb_words(const struct capture_options *options, const char *const *words, const char **argv)
{
	size_t n = 0;

	argv[n++] = "adb";
	if (options->serial) {
		argv[n++] = "-s";
		argv[n++] = options->serial;
	}
	while (*words && n + 1 < ADB_WORDS_MAX)
		argv[n++] = *words++;
	argv[n] = NULL;
}

int adb_run(const struct capture_options *options, const char *const *words, uint64_t timeout_ms,
	    struct child_output *out, struct hdb_error *err)
{
	const char *argv[ADB_WORDS_MAX];

	adb_words(options, words, argv);
	return child_run(argv, options, timeout_ms, out, err);
}

/*
 * Picks the most informative line: the first line that mentions an error, otherwise the last line.
 */
static void error_line(const char *text, char *out, size_t size)
{
	static const char *const words[] = { "xception", "rror", "nknown", "not " };

	out[0] = '\0';
	for (const char *line = text; *line; line += strspn(line, "\r\n")) {
		const size_t n = strcspn(line, "\r\n");

		snprintf(out, size, "%.*s", (int)n, line);
		for (size_t i = 0; i < BASE_COUNT(words); i++) {
			if (strstr(out, words[i]))
				return;
		}
		line += n;
	}
}

int adb_failed(const char *what, const struct child_output *out, struct hdb_error *err)
{
	char line[512];

	error_line(out->text, line, sizeof(line));
	return hdb_fail(err, HDB_EIO, "%s: %s", what, line[0] ? line : "failed");
}

/*
 * Returns whether the text can be a process name. The device's shell parses the text, so only
 * characters that need no quoting are accepted.
 */
static bool is_process_name(const char *name)
{
	const size_t size = strlen(name);

	for (size_t i = 0; i < size; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("._:-", name[i]))
			return false;
	}
	return size > 0 && name[0] != '-' && size < 256;
}

int adb_begin(const struct capture_options *options, const char *process, struct hdb_error *err)
{
	const char *const state[] = { "get-state", NULL };
	struct child_output out;

	if (!is_process_name(process))
		return hdb_fail(err, HDB_EUSAGE, "\"%s\" is not a process name", process);
	TRY(adb_run(options, state, capture_timeout_ms(options), &out, err));
	return out.code == 0 ? HDB_OK : adb_failed("adb", &out, err);
}
