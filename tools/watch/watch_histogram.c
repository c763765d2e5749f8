/*
 * watch/watch_histogram.c - reads a class histogram of a JVM.
 */
#include "watch/watcher.h"

#include <stdlib.h>

/*
 * Parses "   1:   5032   1032344  [B (java.base@17.0.1)" or "Total   6000  2000000". Returns false
 * for other lines.
 */
static bool parse_line(char *line, struct series_record *out)
{
	char *at;
	struct series_class c;

	(void)strtoull(line, &at, 10);
	if (strncmp(line, "Total ", 6) == 0) {
		out->objects = strtoull(line + 6, &at, 10);
		out->bytes = strtoull(at, NULL, 10);
		return true;
	}
	if (at == line || *at != ':')
		return false;
	c.objects = strtoull(at + 1, &at, 10);
	c.bytes = strtoull(at, &at, 10);
	c.name = at + strspn(at, " ");
	c.name_size = strcspn(c.name, " ");
	if (c.name_size && out->class_count < SERIES_CLASSES_MAX)
		out->classes[out->class_count++] = c;
	return true;
}

void watch_histogram(char *text, struct series_class *classes, struct series_record *out)
{
	out->classes = classes;
	out->class_count = 0;
	out->objects = out->bytes = 0;
	for (char *line = text; *line;) {
		const size_t size = strcspn(line, "\n");
		const bool has_more = line[size];

		line[size] = '\0';
		(void)parse_line(line, out);
		line += size + has_more;
	}
}
