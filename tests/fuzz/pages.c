/*
 * fuzz/pages.c - changes LMDB's pages. The walk must return entries inside the file, in order, and
 * end.
 *
 * Input: changes of 3 bytes: u16 offset (in the first 64 KB), u8 new value.
 */
#include "base/bytes.h"
#include "store/pages.h"
#include "support/fuzz_target.h"
#include "support/fuzz_world.h"

#include <stdlib.h>

/* Greater than the number of entries in a file of this size. */
#define STEPS_MAX 100000

static void expect_inside(const uint8_t *image, size_t size, const uint8_t *p, uint64_t n)
{
	if (p < image || p > image + size || n > (uint64_t)(image + size - p))
		abort();
}

static void walk(struct pages *pages, const uint8_t *image, size_t size)
{
	struct pages_place place = { .tree = &pages->main };
	unsigned long steps = 0;
	int r = store_pages_seek(pages, (struct pages_key){ "", 0 }, &place, NULL);

	while (r == HDB_OK) {
		expect_inside(image, size, place.key, place.key_size);
		expect_inside(image, size, place.value, place.value_size);
		if (++steps > STEPS_MAX)
			break;
		r = store_pages_next(pages, &place, NULL);
	}
	for (unsigned table = 0; table < 80; table++) {
		const uint8_t key[10] = { 0, (uint8_t)table, 0, 0, 0, 0, 0, 1 };

		if (store_pages_seek(pages, (struct pages_key){ key, sizeof(key) }, &place, NULL) >=
			    0 &&
		    store_pages_previous(pages, &place, NULL) == HDB_OK)
			expect_inside(image, size, place.value, place.value_size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_world *world = fuzz_world();
	uint8_t *image = malloc(world->image_size);
	struct pages pages = { 0 };

	if (!image)
		return 0;
	memcpy(image, world->image, world->image_size);
	for (size_t i = 0; i + 3 <= size; i += 3)
		image[load16(data + i) % world->image_size] = data[i + 2];
	for (uint64_t id = 0; id < 64; id++) {
		if (store_pages_open(&pages,
				     &(struct pages_file){ image, world->image_size, "image" }, id,
				     NULL) == HDB_OK) {
			walk(&pages, image, world->image_size);
			/* A file that passes the complete check can be walked completely. */
			if (store_pages_check_all(&pages, NULL) == HDB_OK)
				walk(&pages, image, world->image_size);
		}
		store_pages_close(&pages);
	}
	free(image);
	return 0;
}
