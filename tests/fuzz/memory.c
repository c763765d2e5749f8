/*
 * fuzz/memory.c - texts about a process's memory from arbitrary bytes, separated by zeros. Whatever
 * they contain, the parts of the account add up to RSS, and details do not exceed their part.
 */
#include "memory/memory.h"

#include "support/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

/* For texts without mappings. */
static const char mappings[] = "f0000000-f8000000 rw-p 00000000 00:00 0\nRss: 40960 kB\n"
			       "7f0010000000-7f0014000000 rw-p 00000000 00:00 0\nRss: 33792 kB\n"
			       "7f0070000000-7f0070004000 ---p 00000000 00:00 0\nRss: 0 kB\n"
			       "7f0070004000-7f0070100000 rw-p 00000000 00:00 0\nRss: 96 kB\n";

/* Reads half of the requested bytes. */
static bool half(void *ctx, uint64_t start, uint64_t end, uint64_t *bytes)
{
	(void)ctx;
	*bytes = (end - start) / 2;
	return true;
}

/* The input is also the memory of the process. */
struct input {
	const uint8_t *data;
	size_t size;
};

static size_t read_input(void *ctx, uint64_t at, void *out, size_t size)
{
	const struct input *input = ctx;

	at &= 0xfffffff;
	if (at >= input->size)
		return 0;
	size = size < input->size - at ? size : (size_t)(input->size - at);
	memcpy(out, input->data + at, size);
	return size;
}

static void add(struct memory *memory, const char *text, size_t size)
{
	char *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (memory_kind_of(copy, size) != MEMORY_UNKNOWN)
		(void)memory_add(memory, memory_kind_of(copy, size), copy, size, NULL);
	free(copy);
}

static void check(const struct memory *memory)
{
	uint64_t parts = 0, left[MEMORY_PARTS] = { 0 };

	for (size_t i = 0; i < memory->row_count; i++) {
		const struct memory_row *row = &memory->rows[i];

		if (row->estimated > row->resident)
			abort();
		if (!row->detail[0]) {
			parts += row->resident;
			left[row->part] = row->resident;
		} else if (row->resident > left[row->part]) {
			abort();
		} else {
			left[row->part] -= row->resident;
		}
	}
	if (parts != memory->rss)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = text + size;
	struct memory memory = { .rows = NULL };
	struct input input = { data, size };

	while (text < end) {
		const size_t length = strnlen(text, (size_t)(end - text));

		add(&memory, text, length);
		text += length + (text + length < end);
	}
	if (!memory.mappings.count)
		add(&memory, mappings, sizeof(mappings) - 1);
	(void)memory_add_buffer(&memory, memory_for(MEMORY_DIRECT, "direct buffers"),
				0x7f0012000010, 1 << 24, NULL);
	(void)memory_add_buffer(&memory, memory_for(MEMORY_DIRECT, "Netty"), 0x555600000010, 100,
				NULL);
	if (!memory.has_malloc)
		(void)memory_add_arenas(&memory, read_input, &input, NULL);
	if (memory_account(&memory, size % 2 ? half : NULL, NULL, NULL) == HDB_OK)
		check(&memory);
	memory_release(&memory);
	return 0;
}
