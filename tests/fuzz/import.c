/*
 * fuzz/import.c - a whole import of arbitrary bytes, then the derived tables and some answers from
 * them.
 */
#include "derive/derive.h"
#include "import/import.h"

#include "support/fuzz_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Larger inputs find no more problems than smaller inputs. */
#define SIZE_MAX_FUZZ 65536

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate_dump(data, size, max_size, seed);
}

static void ask(const char *path, struct base_work *work)
{
	struct hdb_error err = { 0 };
	struct derive derive;
	struct heap *heap;

	if (heap_open(path, NULL, work, &heap, &err) != HDB_OK)
		abort(); /* an imported database must open */
	derive_init(&derive, heap, work);
	if (derive_need(&derive, STORE_TOTALS, &err) != HDB_OK ||
	    derive_need(&derive, STORE_CHILDREN, &err) != HDB_OK) {
		(void)fprintf(stderr, "%s\n", err.message);
		abort();
	}
	for (uint32_t ix = 0; ix < heap->object_count; ix += 1 + heap->object_count / 50) {
		struct derive_retained_result local;
		uint64_t bytes, id, offset;

		if (derive_retained(&derive, ix, &bytes, &err) != HDB_OK ||
		    heap_id(heap, ix, &id, &err) != HDB_OK ||
		    heap_offset(heap, ix, &offset, &err) != HDB_OK)
			abort();
		if (derive_retained_local(&derive, (struct graph_members){ &ix, 1 }, NULL, &local,
					  &err) == HDB_OK &&
		    local.retained_bytes != bytes)
			abort();
	}
	derive_release(&derive);
	heap_close(heap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char dump[64], db[64], lock[80];
	const struct hdb_import_options opt = { .force = 1,
						.sizes = (enum hdb_size_model)(size % 3) };
	struct base_work work;
	FILE *f;

	if (size > SIZE_MAX_FUZZ)
		return 0;
	if (!dump[0]) {
		const char *dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

		(void)snprintf(dump, sizeof(dump), "%s/hdbfuzz%d.hprof", dir, (int)getpid());
		(void)snprintf(db, sizeof(db), "%s/hdbfuzz%d.heapdb", dir, (int)getpid());
		(void)snprintf(lock, sizeof(lock), "%s-lock", db);
	}
	f = fopen(dump, "wb");
	if (!f)
		return 0;
	(void)fwrite(data, 1, size, f);
	(void)fclose(f);
	base_work_init(&work, 0, 1, NULL);
	if (import_dump((struct import_paths){ .dump = dump, .database = db }, &opt, &work, NULL,
			NULL) == HDB_OK)
		ask(db, &work);
	(void)unlink(dump);
	(void)unlink(db);
	(void)unlink(lock);
	return 0;
}
