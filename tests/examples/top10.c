/*
 * examples/top10.c - prints the ten biggest objects of a heap database, by retained size.
 *
 *   cc top10.c $(pkg-config --cflags --libs heapdb) && ./a.out dump.heapdb
 */
#include <heapdb.h>

#include <inttypes.h>
#include <stdio.h>

static void print_row(struct hdb *db, uint64_t id, uint64_t retained_bytes)
{
	struct hdb_object_info object = { .struct_size = sizeof(object) };
	struct hdb_error err;

	if (hdb_object(db, id, &object, &err) == HDB_OK)
		printf("0x%" PRIx64 " %" PRIu64 " %" PRIu64 " %s\n", id, object.shallow_bytes,
		       retained_bytes, object.class_name);
	else
		printf("0x%" PRIx64 " %s\n", id, err.message);
}

int main(int argc, char **argv)
{
	const struct hdb_query_args args = { .struct_size = sizeof(args), .limit = 10 };
	struct hdb *db = NULL;
	struct hdb_rows *rows = NULL;
	struct hdb_error err;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: top10 DATABASE\n");
		return 2;
	}
	rc = hdb_open(argv[1], NULL, &db, &err);
	if (rc == HDB_OK)
		rc = hdb_query(db, "top", &args, &rows, &err);
	while (rc == HDB_OK && (rc = hdb_rows_next(rows, &err)) == HDB_OK)
		print_row(db, hdb_rows_u64(rows, hdb_rows_find_column(rows, "id")),
			  hdb_rows_u64(rows, hdb_rows_find_column(rows, "retained")));
	hdb_rows_close(rows);
	hdb_close(db);
	if (rc < 0)
		fprintf(stderr, "top10: %s\n", err.message);
	return rc < 0;
}
