/*
 * fuzz/database.c - changes values of a valid database and updates their checksums, so that every
 * decoder gets arbitrary bytes with a right checksum. Then runs all queries. Any result is right
 * except a crash, a hang or a sanitizer's report.
 *
 * Input: u8 part of the questions (0: all, and the check), then changes of at least 4 bytes: u8
 * value to change, u8 position in it (from its start or end), u8 number of bytes, the bytes.
 */
#include "support/fuzz_target.h"
#include "support/fuzz_world.h"
#include "support/hostile.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of changes at once. More changes find nothing new. */
#define CHANGES_MAX 16
/* A value begins with its checksum, which is not changed. */
#define CHECKSUM_SIZE 8

/* Makes the change that `data` describes. Returns the number of bytes consumed, or 0 at the end. */
static size_t change(uint8_t *image, const struct fuzz_value *values, size_t count,
		     const uint8_t *data, size_t size)
{
	const struct fuzz_value *value;
	size_t n, at;

	if (size < 4)
		return 0;
	value = &values[data[0] % count];
	n = data[2] % 16 + 1;
	if (n > size - 3)
		n = size - 3;
	at = CHECKSUM_SIZE + data[1];
	if (data[2] & 0x80)
		at = value->size > data[1] ? value->size - data[1] : CHECKSUM_SIZE;
	if (at < CHECKSUM_SIZE)
		at = CHECKSUM_SIZE;
	for (size_t i = 0; i < n && at + i < value->size; i++)
		image[value->at + at + i] = data[3 + i];
	fuzz_world_seal(image, value);
	return 3 + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_world *world = fuzz_world();
	uint8_t *image = malloc(world->image_size);
	const struct fuzz_value *values;
	struct hdb_error err;
	unsigned part;
	uint64_t hash;
	size_t count;

	values = fuzz_world_values(&count);
	if (!image || !size) {
		free(image);
		return 0;
	}
	part = data[0] % (HOSTILE_PARTS + 2);
	data++;
	size--;
	memcpy(image, world->image, world->image_size);
	for (unsigned i = 0; i < CHANGES_MAX; i++) {
		const size_t used = change(image, values, count, data, size);

		if (!used)
			break;
		data += used;
		size -= used;
	}
	fuzz_world_write(image, world->image_size);
	if (part <= HOSTILE_PARTS)
		(void)hostile_answers_part(world->db_path, world->dump_path, part, &hash, &err);
	if (!part || part > HOSTILE_PARTS)
		(void)hostile_check(world->db_path, world->dump_path, &err);
	free(image);
	return 0;
}
