/*
 * fuzz/jfr.c - Flight Recorder recordings of arbitrary bytes. Reads all fields that heapdb uses,
 * twice with the same result.
 */
#include "jfr/jfr.h"

#include "support/fuzz_target.h"

#include <stdlib.h>

/* Larger inputs find no more problems than smaller inputs. */
#define SIZE_MAX_FUZZ 16384

/* Data that was read, for the comparison. */
struct sum {
	uint64_t events, bytes;
	int64_t numbers;
	int code;
};

static void look(struct jfr *jfr, const struct jfr_value *event, struct sum *sum)
{
	static const char *const paths[] = {
		"startTime",
		"object.type",
		"objectClass",
		"weight",
		"objectAge",
		"arrayElements",
		"eventThread.javaName",
		"heapSpace.start",
		"root.description",
		"stackTrace.frames",
		"user",
		"when",
		"stackTrace",
	};
	struct bytes text = { 0 };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct jfr_value value, item;

		if (jfr_find(jfr, event, paths[i], &value) != HDB_OK)
			continue;
		(void)jfr_text(jfr, &value, &text);
		(void)jfr_class(jfr, &value, &text);
		(void)jfr_frame(jfr, &value, &text);
		sum->numbers ^= jfr_integer(jfr, &value) ^ jfr_time(jfr, &value) ^
				(jfr_real(jfr, &value) > 1.0f);
		for (int n = 0; n < JFR_FRAMES_MAX && jfr_item(jfr, &value, &item); n++)
			(void)jfr_frame(jfr, &item, &text);
	}
	for (size_t i = 0; i < text.size;) {
		uint32_t character;
		const size_t taken = utf8_decode(text.data + i, text.size - i, &character);

		if (taken == 0)
			abort();
		i += taken;
	}
	sum->bytes += text.size;
	bytes_release(&text);
}

static struct sum read_all(struct jfr *jfr)
{
	struct sum sum = { 0 };
	struct jfr_value event;
	enum jfr_kind kind;

	jfr_rewind(jfr);
	while ((sum.code = jfr_next(jfr, &kind, &event, NULL)) == HDB_OK) {
		sum.events++;
		look(jfr, &event, &sum);
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jfr *jfr;

	if (size <= SIZE_MAX_FUZZ && jfr_open(data, size, NULL, &jfr, NULL) == HDB_OK) {
		const struct sum first = read_all(jfr), again = read_all(jfr);

		if (first.code == HDB_END &&
		    (again.code != first.code || again.events != first.events ||
		     again.bytes != first.bytes || again.numbers != first.numbers))
			abort();
	}
	if (size <= SIZE_MAX_FUZZ)
		jfr_close(jfr);
	return 0;
}
