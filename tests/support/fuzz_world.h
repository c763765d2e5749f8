/*
 * support/fuzz_world.h - the small database that fuzz targets change or query, created once per
 * process.
 */
#ifndef SUPPORT_FUZZ_WORLD_H
#define SUPPORT_FUZZ_WORLD_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_world {
	char dump_path[256], db_path[256];
	uint8_t *image; /* the database file with all tables */
	size_t image_size;
};

/* Returns the world. Stops the process if the world cannot be created. */
struct fuzz_world *fuzz_world(void);

/* Writes an image as the database file. */
void fuzz_world_write(const uint8_t *image, size_t size);

/* A value in a database: its position in the image of the file. */
struct fuzz_value {
	size_t key_at, key_size;
	size_t at, size;
};

/* Lists at most `room` values of an image in key order. Returns their number. */
size_t fuzz_find_values(const uint8_t *image, size_t size, struct fuzz_value *out, size_t room);

/* Lists all values in key order. *count is their number. */
const struct fuzz_value *fuzz_world_values(size_t *count);

/* Updates a value's checksum after a change. */
void fuzz_world_seal(uint8_t *image, const struct fuzz_value *value);

#endif
