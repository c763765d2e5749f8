/*
 * tests/fuzz/replay.c - runs a fuzz target on files, once each.
 *
 * `make test` links every tests/fuzz/NAME.c with this main and gives it tests/corpus/NAME/, so
 * that inputs that once broke a parser are tried on every machine, with or without clang.
 */
#include "support/fuzz_target.h"

#include <stdio.h>
#include <stdlib.h>

/* Reads the file whole into *out (owned: free). Returns its size, or -1 after a message. */
static long read_file(const char *path, uint8_t **out)
{
	FILE *f = fopen(path, "rb");
	long size = -1;

	*out = NULL;
	if (!f || fseek(f, 0, SEEK_END) != 0)
		goto out;
	size = ftell(f);
	if (size < 0 || fseek(f, 0, SEEK_SET) != 0) {
		size = -1;
		goto out;
	}
	*out = malloc(size > 0 ? (size_t)size : 1);
	if (!*out || fread(*out, 1, (size_t)size, f) != (size_t)size)
		size = -1;
out:
	if (size < 0)
		perror(path);
	if (f)
		fclose(f);
	return size;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		uint8_t *data;
		long size = read_file(argv[i], &data);

		if (size < 0) {
			free(data);
			return 1;
		}
		LLVMFuzzerTestOneInput(data, (size_t)size);
		free(data);
	}
	printf("%d inputs replayed\n", argc - 1);
	return 0;
}
