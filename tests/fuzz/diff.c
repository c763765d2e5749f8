/*
 * fuzz/diff.c - compares the small valid database with an import of arbitrary bytes, as the earlier
 * or the later database, with all options, and evaluates conditions.
 *
 * Input: u8 with the kind, the options and the order of the comparison (0x20 and 0x40 select one
 * order only), then the dump.
 */
#include "heapdb.h"

#include "support/fuzz_target.h"
#include "support/fuzz_world.h"
#include "support/hostile.h"
#include "support/temp.h"

/* Larger inputs find no more problems than smaller inputs. */
#define SIZE_MAX_FUZZ 65536

/*
 * Mutates the first byte and, along the grammar, the dump. One time in four, mutates all as bytes.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	if (size < 2 || (seed % 4 == 0 && LLVMFuzzerMutate))
		return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : size;
	if (seed / 4 % 4 == 0)
		data[0] = (uint8_t)(seed >> 16);
	return 1 + hprof_mutate(data + 1, size - 1, max_size - 1, seed);
}

static void compare(struct hdb *before, struct hdb *after, const struct hdb_option *options,
		    size_t option_count)
{
	struct hdb *const olds[] = { before };
	const struct hdb_query_args args = {
		.options = options,
		.option_count = option_count,
		.before = olds,
		.before_count = 1,
	};
	struct hdb_error err = { 0 };
	struct hdb_rows *rows = NULL;
	int r = hdb_query(after, "diff", &args, &rows, &err);

	if (r == HDB_OK)
		while ((r = hdb_rows_next(rows, &err)) == HDB_OK)
			;
	/*
	 * Both databases are valid, so the only possible failure is a limit, such as on the levels
	 * of a tree.
	 */
	if (r < 0 && r != HDB_ELIMIT && r != HDB_EUSAGE) {
		(void)fprintf(stderr, "%s\n", err.message);
		abort();
	}
	hdb_rows_close(rows);
}

static void compare_all(const char *path, const char *dump_path, unsigned by)
{
	static const char *const kinds[] = { "class", "superclass", "package", "loader", "object",
					     "path",  "dominator",  "suspect", "growth", "owner" };
	const struct fuzz_world *world = fuzz_world();
	const struct hdb_open_options now = { .dump_path = dump_path, .threads = 1 };
	const struct hdb_open_options then = { .dump_path = world->dump_path, .threads = 1 };
	const struct hdb_option options[] = {
		{ "by", kinds[by % 10] },
		{ by & 8 ? "trust-ids" : "min", by & 8 ? NULL : "0" },
		{ "fail-if", "growth(retained(*)) > 10%" },
		{ "fail-if", "growth(count(Node)) < -1K" },
	};
	struct hdb *good = NULL, *strange = NULL;

	if (hdb_open(world->db_path, &then, &good, NULL) != HDB_OK ||
	    hdb_open(path, &now, &strange, NULL) != HDB_OK)
		abort(); /* an imported database must open */
	if (!(by & 32))
		compare(good, strange, options, by & 16 ? 4 : 2);
	if (!(by & 64))
		compare(strange, good, options, by & 16 ? 4 : 2);
	hdb_close(strange);
	hdb_close(good);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	char dump[256], db[256];
	FILE *f;

	if (size < 2 || size > SIZE_MAX_FUZZ)
		return 0;
	hostile_path(dump, sizeof(dump), "diff.hprof");
	hostile_path(db, sizeof(db), "diff.heapdb");
	f = fopen(dump, "wb");
	if (!f)
		return 0;
	(void)fwrite(data + 1, 1, size - 1, f);
	(void)fclose(f);
	if (hdb_import(dump, db, &opt, NULL, NULL) == HDB_OK)
		compare_all(db, dump, data[0]);
	(void)unlink(dump);
	temp_remove_db(db);
	return 0;
}
