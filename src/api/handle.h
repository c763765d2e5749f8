/*
 * api/handle.h - what an open database is to the bodies of heapdb.h. Private to api.
 */
#ifndef API_HANDLE_H
#define API_HANDLE_H

#include "api/first_sizes.h"
#include "heapdb.h"

#include "analysis/session.h"
#include "derive/derive.h"
#include "heap/heap.h"

struct query;

struct hdb {
	struct base_work work;
	char *folder; /* of the database: scratch files go there */
	struct heap *heap;
	struct derive derive;
};

/* A query's rows are its running state. */
struct hdb_rows {
	struct query *query;
	struct hdb_row_filter filter; /* of args->filter, if there is one */
	struct session *before;       /* of args->before; owned */
	char **texts;                 /* by column: what hdb_rows_text gave last, or NULL; owned */
};

/* First in every body that needs pointers: HDB_EUSAGE where one is NULL, as heapdb.h says. */
#define API_NEEDS(pointers, err) \
	do { \
		if (!(pointers)) \
			return hdb_fail(err, HDB_EUSAGE, "%s: a pointer that it needs is NULL", \
					__func__); \
	} while (0)

/*
 * Structures of callers, whose header may be an earlier or a later one. `first` is the size that a
 * structure had in the first version of this soname (API_FIRST).
 */

/* HDB_EUSAGE unless the caller's structure is one of any version; NULL is HDB_OK. */
int api_check_struct(const void *theirs, size_t first, struct hdb_error *err);
/* The caller's structure in ours, which has `size` bytes: zeros for what theirs lacks. */
int api_read_struct(void *ours, size_t size, size_t first, const void *theirs,
		    struct hdb_error *err);
/* Ours in the caller's, as far as it goes; api_check_struct found it good. NULL: does nothing. */
void api_write_struct(void *theirs, size_t first, const void *ours, size_t size);

/* The same with the sizes of the structures' types. */
#define API_CHECK(theirs, err) TRY_ERRORS(api_check_struct(theirs, API_FIRST(theirs), err))
#define API_READ(ours, theirs, err) \
	TRY_ERRORS(api_read_struct(ours, sizeof(*(ours)), API_FIRST(ours), theirs, err))
#define API_WRITE(theirs, ours) api_write_struct(theirs, API_FIRST(theirs), ours, sizeof(*(ours)))

/* What analyses take. */
static inline struct session api_session(struct hdb *db)
{
	return (struct session){ db->heap, &db->derive, &db->work };
}

/* HDB_EUSAGE unless ix is an object's number. */
static inline int api_check_ix(const struct hdb *db, uint32_t ix, struct hdb_error *err)
{
	return ix < db->heap->object_count ?
		       HDB_OK :
		       hdb_fail(err, HDB_EUSAGE, "there is no object number %u", (unsigned)ix);
}

/* HDB_EUSAGE unless class_no is a class's number; reads the classes. */
static inline int api_check_class(struct hdb *db, uint32_t class_no, struct hdb_error *err)
{
	const int r = heap_load_classes(db->heap, err);

	if (r < 0 || class_no < db->heap->class_count)
		return r;
	return hdb_fail(err, HDB_EUSAGE, "there is no class number %u", (unsigned)class_no);
}

/*
 * The end of a function that read names or the mapped dump: its result, unless something could not
 * be read.
 */
static inline int api_end(const struct hdb *db, int r, struct hdb_error *err)
{
	const int failed = r < 0 ? r : heap_check(db->heap, err);

	return failed < 0 ? failed : r;
}

#endif
