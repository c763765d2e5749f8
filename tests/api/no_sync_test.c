/*
 * no_sync_test.c - with no_sync, neither an import nor a query that builds tables waits for the
 * disk; without it, both do.
 */
#include "heapdb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static unsigned waits;

/* These functions replace the system's, also for LMDB. */
HDB_API int fdatasync(int fd)
{
	waits++;
	return (int)syscall(SYS_fdatasync, fd);
}

HDB_API int fsync(int fd)
{
	waits++;
	return (int)syscall(SYS_fsync, fd);
}

/*
 * Imports the sample dump, and runs a query that needs dominators. Counts how often each of them
 * waited for the disk.
 */
static void ask(int no_sync, unsigned *importing, unsigned *building)
{
	const struct hdb_import_options import = { .struct_size = sizeof(import),
						   .no_sync = no_sync,
						   .force = 1 };
	const struct hdb_open_options open = { .struct_size = sizeof(open), .no_sync = no_sync };
	const char *folder = getenv("TMPDIR");
	struct hdb_rows *rows = NULL;
	struct hdb *db = NULL;
	char path[512];

	assert_non_null(folder);
	(void)snprintf(path, sizeof(path), "%s/no_sync.heapdb", folder);
	waits = 0;
	assert_int_equal(hdb_import(getenv("DUMP"), path, &import, NULL, NULL), HDB_OK);
	*importing = waits;
	waits = 0;
	assert_int_equal(hdb_open(path, &open, &db, NULL), HDB_OK);
	assert_int_equal(hdb_query(db, "histogram", NULL, &rows, NULL), HDB_OK);
	assert_int_equal(hdb_rows_next(rows, NULL), HDB_OK);
	hdb_rows_close(rows);
	hdb_close(db);
	*building = waits;
}

static void test_no_sync(void **state)
{
	unsigned importing, building;

	(void)state;
	ask(0, &importing, &building);
	assert_true(importing > 0 && building > 0);
	ask(1, &importing, &building);
	assert_int_equal(importing, 0);
	assert_int_equal(building, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_no_sync) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
