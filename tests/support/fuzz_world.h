/*
 * support/fuzz_world.h - the small database that fuzz targets change or ask, made once a process.
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

/* The world; stops the process if it cannot be made. */
struct fuzz_world *fuzz_world(void);

/* Writes an image as the database file. */
void fuzz_world_write(const uint8_t *image, size_t size);

/* A value of a database: where it is in the image of its file. */
struct fuzz_value {
	size_t key_at, key_size;
	size_t at, size;
};

/* The values of an image in order of key, `room` at most; how many. */
size_t fuzz_find_values(const uint8_t *image, size_t size, struct fuzz_value *out, size_t room);

/* All values in order of key; *count of them. */
const struct fuzz_value *fuzz_world_values(size_t *count);

/* Makes a value's checksum right again after a change. */
void fuzz_world_seal(uint8_t *image, const struct fuzz_value *value);

#endif
