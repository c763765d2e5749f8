/*
 * revisions_test.c - a table whose contents change must get another revision. Hashes of all base
 * and derived tables of some dumps are compared with tests/data/table_revisions.tsv. The test fails
 * if contents differ under the same revision (store/tables.c), because existing databases would
 * then be read with outdated contents.
 *
 * HEAPDB_WRITE_REVISIONS=1 rewrites the file after revisions were raised or the dump was replaced.
 */
#include "derive/build.h"
#include "base/fingerprint.h"
#include "import/import.h"
#include "support/hostile.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <xxhash.h>

#define LINES_MAX 2048
#define FILE_NAME "tests/data/table_revisions.tsv"

/* A row: a table of a dump, as recorded in the file or as found by the test. */
struct line {
	char dump[40], table[40];
	unsigned revision;
	uint64_t hash;
	uint64_t dump_hash; /* hash of the dump's bytes */
};

struct lines {
	struct line at[LINES_MAX];
	size_t count;
};

static struct lines known, found;

static void read_known(const char *path)
{
	FILE *in = fopen(path, "r");
	struct line *line = known.at;
	char text[256];

	assert_non_null(in);
	while (fgets(text, sizeof(text), in)) {
		assert_true(known.count < LINES_MAX);
		if (sscanf(text, "%39[^\t]\t%39[^\t]\t%u\t%" SCNx64 "\t%" SCNx64, line->dump,
			   line->table, &line->revision, &line->hash, &line->dump_hash) == 5)
			line = &known.at[++known.count];
	}
	(void)fclose(in);
}

static const struct line *known_line(const struct line *line)
{
	for (size_t i = 0; i < known.count; i++)
		if (strcmp(known.at[i].dump, line->dump) == 0 &&
		    strcmp(known.at[i].table, line->table) == 0)
			return &known.at[i];
	return NULL;
}

/* ---- found rows ---- */

static uint64_t hash_table(struct store *store, unsigned table)
{
	XXH3_state_t *state = XXH3_createState();
	struct store_block block;
	struct hdb_error err;
	uint64_t key = 0, hash;
	int r;

	assert_non_null(state);
	(void)XXH3_64bits_reset(state);
	while ((r = store_block_after(store, table, key, &block, &err)) == HDB_OK) {
		(void)XXH3_64bits_update(state, &block.key, sizeof(block.key));
		(void)XXH3_64bits_update(state, &block.item_count, sizeof(block.item_count));
		(void)XXH3_64bits_update(state, block.data, block.size);
		key = block.key + 1;
	}
	assert_int_equal(r, HDB_NOTFOUND);
	hash = XXH3_64bits_digest(state);
	(void)XXH3_freeState(state);
	return hash;
}

static uint64_t hash_file(const char *path)
{
	struct base_source *source = NULL;
	struct hdb_error err;
	uint64_t hash;

	assert_int_equal(base_map_open(path, BASE_RANDOM, &source, &err), HDB_OK);
	assert_int_equal(base_fingerprint(source, &hash, &err), HDB_OK);
	base_source_close(source);
	return hash;
}

static void need(struct derive *derive, enum store_table table)
{
	struct hdb_error err = { 0 };

	if (derive_need(derive, table, &err) < 0)
		fail_msg("%s: %s", store_table_name(derive_table(derive, table)), err.message);
}

static void build_all(struct derive *derive)
{
	static const enum store_table tables[] = {
		STORE_REACH,     STORE_DOMINATORS, STORE_RETAINED,        STORE_CHILDREN,
		STORE_TOTALS,    STORE_WHOLE,      STORE_RETAINED_NATIVE, STORE_RETAINED_HEAPS,
		STORE_TOP_LEVEL, STORE_DEPTH,
	};
	struct hdb_error err = { 0 };

	need(derive, STORE_REFERRERS);
	need(derive, STORE_REACH_STRONG);
	need(derive, STORE_NATIVE);
	for (unsigned v = 0; v < DERIVE_VIEWS; v++) {
		struct derive *view = derive;

		if (v)
			assert_int_equal(derive_get_view(derive, v, &view, &err), HDB_OK);
		for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
			need(view, tables[t]);
	}
}

/* Imports the dump, builds all tables, and records their hashes. */
static void look(const char *name, const char *path, enum hdb_size_model sizes)
{
	const struct hdb_import_options options = { .force = 1, .sizes = sizes };
	const char *db_path = temp_path("revisions.heapdb");
	struct derive derive;
	struct base_work work;
	struct heap *heap = NULL;
	struct hdb_error err = { 0 };
	const uint64_t dump_hash = hash_file(path);

	base_work_init(&work, 0, 2, NULL);
	if (import_dump((struct import_paths){ .dump = path, .database = db_path }, &options, &work,
			NULL, &err) != HDB_OK ||
	    heap_open(db_path, NULL, &work, &heap, &err) != HDB_OK)
		fail_msg("%s: %s", name, err.message);
	derive_init(&derive, heap, &work);
	assert_int_equal(heap_load_classes(heap, &err), HDB_OK);
	build_all(&derive);
	assert_int_equal(store_refresh(heap->store, &err), HDB_OK);
	for (unsigned t = STORE_META + 1; t < STORE_ANSWERS; t++) {
		struct line *line = &found.at[found.count];
		struct store_table_info info;

		/* Descriptions of problems may be reworded. */
		if (!store_table_name(t) || t == STORE_PROBLEMS ||
		    store_table_info(heap->store, t, &info, &err) != HDB_OK)
			continue;
		assert_true(found.count < LINES_MAX);
		(void)snprintf(line->dump, sizeof(line->dump), "%s", name);
		(void)snprintf(line->table, sizeof(line->table), "%s", store_table_name(t));
		line->revision = info.revision;
		line->hash = hash_table(heap->store, t);
		line->dump_hash = dump_hash;
		found.count++;
	}
	derive_release(&derive);
	heap_close(heap);
	base_work_release(&work);
	temp_remove_db(db_path);
}

static void look_at_made(const char *name, enum hostile_dump kind)
{
	const char *path = temp_path("revisions.hprof");
	struct hw w;

	hostile_dump(&w, kind, 300);
	assert_int_equal(hw_save(&w, path), 0);
	hw_release(&w);
	look(name, path, HDB_SIZES_VM);
	(void)unlink(path);
}

/* A dump without its end, so that objects count as roots. */
static void look_at_part(const char *sample)
{
	const char *path = temp_path("cut.hprof");
	char command[2048];

	(void)snprintf(command, sizeof(command), "head -c -20000 '%s' > '%s'", sample, path);
	assert_int_equal(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	look("sample, cut", path, HDB_SIZES_VM);
	(void)unlink(path);
}

/* A dump that may be missing on other machines. */
static void look_at_packed(const char *name, const char *packed)
{
	const char *path = temp_path("packed.hprof");
	char command[2048];

	if (access(packed, R_OK) != 0)
		return;
	(void)snprintf(command, sizeof(command), "zstd -dqf -o '%s' '%s'", path, packed);
	assert_int_equal(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
	look(name, path, HDB_SIZES_VM);
	(void)unlink(path);
}

/* ---- expected rows ---- */

static unsigned compare(void)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < found.count; i++) {
		const struct line *is = &found.at[i], *was = known_line(is);

		if (was && was->revision == is->revision && was->hash == is->hash)
			continue;
		if (was && was->revision == is->revision && was->dump_hash == is->dump_hash) {
			wrong++;
			print_message("%s of %s: another content than before, with the same "
				      "revision %u: raise it in src/store/tables.c\n",
				      is->table, is->dump, is->revision);
		} else if (!getenv("HEAPDB_WRITE_REVISIONS")) { /* NOLINT(concurrency-mt-unsafe) */
			wrong++;
			print_message("%s of %s: not in " FILE_NAME " as it is: write it with "
				      "HEAPDB_WRITE_REVISIONS=1 make test T=revisions\n",
				      is->table, is->dump);
		}
	}
	return wrong;
}

static void write_found(const char *path)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	(void)fputs("# dump, table, revision, hash of its content, hash of the dump: "
		    "tests/derive/revisions_test.c writes and reads it\n",
		    out);
	for (size_t i = 0; i < found.count; i++)
		(void)fprintf(out, "%s\t%s\t%u\t%016" PRIx64 "\t%016" PRIx64 "\n", found.at[i].dump,
			      found.at[i].table, found.at[i].revision, found.at[i].hash,
			      found.at[i].dump_hash);
	/* Keeps rows of dumps that are missing here. */
	for (size_t i = 0; i < known.count; i++) {
		bool is_here = false;

		for (size_t k = 0; k < found.count; k++)
			is_here = is_here || strcmp(found.at[k].dump, known.at[i].dump) == 0;
		if (!is_here)
			(void)fprintf(out, "%s\t%s\t%u\t%016" PRIx64 "\t%016" PRIx64 "\n",
				      known.at[i].dump, known.at[i].table, known.at[i].revision,
				      known.at[i].hash, known.at[i].dump_hash);
	}
	assert_int_equal(fclose(out), 0);
}

static void test_revisions(void **state)
{
	const char *root = getenv("HDB_ROOT"); /* NOLINT(concurrency-mt-unsafe) */
	const char *sample = getenv("DUMP");   /* NOLINT(concurrency-mt-unsafe) */
	char path[1024];
	unsigned wrong;

	(void)state;
	if (!root || !sample)
		skip();
	(void)snprintf(path, sizeof(path), "%s/" FILE_NAME, root);
	read_known(path);
	look("sample", sample, HDB_SIZES_VM);
	look("sample, as MAT", sample, HDB_SIZES_MAT);
	look_at_part(sample);
	look_at_made("every record", HOSTILE_JAVA8);
	look_at_made("every record, 4 bytes", HOSTILE_JAVA4);
	look_at_made("every record, Android", HOSTILE_ANDROID);
	(void)snprintf(path, sizeof(path), "%s/../shared/android/test-dump.hprof.zst", root);
	look_at_packed("Android", path);
	wrong = compare();
	if (getenv("HEAPDB_WRITE_REVISIONS") && !wrong) { /* NOLINT(concurrency-mt-unsafe) */
		(void)snprintf(path, sizeof(path), "%s/" FILE_NAME, root);
		write_found(path);
	}
	assert_int_equal(wrong, 0);
	assert_true(found.count > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_revisions) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
