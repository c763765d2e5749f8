/*
 * fuzz/contents.c - packed stretches of a dump: arbitrary bytes unpack or are refused, and are
 * packed and come back as they were.
 */
#include "hprof/frame_code.h"

#include "support/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

/* Larger inputs find nothing that smaller ones do not. */
#define SIZE_MAX_FUZZ 65536u

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	/* Dumps and packed stretches are both here: the first byte says which. */
	if (size && data[0] == 'J')
		return fuzz_mutate_dump(data, size, max_size, seed);
	return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void *packer, *unpacker;
	static uint8_t *packed, *out;
	struct base_frame frame = { .packed = data, .packed_size = size };
	struct base_packed made = { 0 };

	if (!packer) {
		packed = malloc(hprof_codec.packed_max());
		out = malloc(BASE_FRAME_BYTES);
		if (!packed || !out || hprof_codec.new_packer(&packer, NULL) < 0 ||
		    hprof_codec.new_unpacker(&unpacker, NULL) < 0)
			abort();
	}
	if (!size || size > SIZE_MAX_FUZZ)
		return 0;
	/* Sizes that a block may claim; the last bytes choose. */
	frame.size = size < 3 ? 1 : 1 + ((size_t)data[size - 1] << 8 | data[size - 2]) * 4;
	(void)hprof_codec.unpack(unpacker, &frame, out, NULL);
	frame.size = BASE_FRAME_BYTES;
	(void)hprof_codec.unpack(unpacker, &frame, out, NULL);

	made.bytes = packed;
	if (hprof_codec.pack(packer, data, size, &made, NULL) < 0 ||
	    made.size > hprof_codec.packed_max())
		abort();
	frame = (struct base_frame){ .size = size, .packed = packed, .packed_size = made.size };
	if (hprof_codec.unpack(unpacker, &frame, out, NULL) < 0 || memcmp(out, data, size) != 0)
		abort();
	return 0;
}
