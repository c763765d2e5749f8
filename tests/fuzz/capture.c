/*
 * fuzz/capture.c - data that running programs publish about themselves, as arbitrary bytes:
 * hsperfdata files, replies of the attach protocol, control groups.
 */
#include "capture/perfdata.h"
#include "capture/process.h"
#include "capture/reply.h"
#include "support/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

/* Each entry is inside the file, and there are no more entries than fit. */
static void fuzz_entries(const uint8_t *data, size_t size)
{
	struct perfdata_entry e;
	struct perfdata p;
	size_t count = 0;

	if (!perfdata_begin(&p, data, size))
		return;
	while (perfdata_next(&p, &e)) {
		const uint8_t *name = (const uint8_t *)e.name, *text = (const uint8_t *)e.text;

		if (name < data || (size_t)(name - data) + e.name_size > size)
			abort();
		if (e.is_text && (text < data || (size_t)(text - data) + e.text_size > size))
			abort();
		if (++count > size / 20)
			abort();
	}
}

static void fuzz_texts(const uint8_t *data, size_t size)
{
	struct reply reply = { 0 };
	char line[64];

	bytes_add(&reply.bytes, data, size);
	bytes_add(&reply.bytes, "", 1);
	if (attach_parse_reply(&reply)) {
		(void)attach_parse_version(&reply);
		attach_last_line(&reply, line, sizeof(line));
		if (strlen(line) >= sizeof(line))
			abort();
	}
	process_parse_cgroup(reply.bytes.data, line, sizeof(line));
	if (strlen(line) > 12)
		abort();
	reply_release(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_summary summary;

	fuzz_entries(data, size);
	(void)perfdata_summarize(data, size, &summary);
	fuzz_texts(data, size);
	return 0;
}
