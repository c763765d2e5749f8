/* api/handle.h - the handle types behind heapdb.h. Private to api. */
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
	char *folder; /* directory of the database, used for scratch files; owned */
	struct heap *heap;
	struct derive derive;
};

/* An answer, whose query creates rows one by one. */
struct hdb_rows {
	struct query *query;
	struct hdb_row_filter filter; /* copy of args->filter, if given */
	struct session *before;       /* one per args->before; owned */
	/* indexed by column: the last string returned by hdb_rows_text, or NULL; owned */
	char **texts;
};

/*
 * Returns HDB_EUSAGE from the calling function if a pointer is NULL, as heapdb.h specifies. Every
 * function that takes pointers begins with this.
 */
#define API_NEEDS(pointers, err) \
	do { \
		if (!(pointers)) \
			return hdb_fail(err, HDB_EUSAGE, "%s: a required pointer is NULL", \
					__func__); \
	} while (0)

/*
 * Structures of callers that may have been compiled with an older or newer header. `first` is the
 * size of the structure in the first version of this soname (API_FIRST).
 */

/*
 * Returns HDB_EUSAGE if no version of the structure has this size. Returns HDB_OK if the pointer is
 * NULL.
 */
int api_check_struct(const void *theirs, size_t first, struct hdb_error *err);
/*
 * Copies the caller's structure into ours, which has `size` bytes. Members missing from the
 * caller's version become 0.
 */
int api_read_struct(void *ours, size_t size, size_t first, const void *theirs,
		    struct hdb_error *err);
/*
 * Copies our structure into the caller's, up to the caller's size, which api_check_struct must have
 * checked. `theirs` may be NULL.
 */
void api_write_struct(void *theirs, size_t first, const void *ours, size_t size);

/* Like api_check_struct, with sizes derived from the types. */
#define API_CHECK(theirs, err) TRY_ERRORS(api_check_struct(theirs, API_FIRST(theirs), err))
#define API_READ(ours, theirs, err) \
	TRY_ERRORS(api_read_struct(ours, sizeof(*(ours)), API_FIRST(ours), theirs, err))
#define API_WRITE(theirs, ours) api_write_struct(theirs, API_FIRST(theirs), ours, sizeof(*(ours)))

/* Returns the session that analyses expect. */
static inline struct session api_session(struct hdb *db)
{
	return (struct session){ .heap = db->heap, .derive = &db->derive, .work = &db->work };
}

/* Returns HDB_EUSAGE unless ix is the number of an object. */
static inline int api_check_ix(const struct hdb *db, uint32_t ix, struct hdb_error *err)
{
	return ix < db->heap->object_count ?
		       HDB_OK :
		       hdb_fail(err, HDB_EUSAGE, "object number out of range: %u", (unsigned)ix);
}

/* Returns HDB_EUSAGE unless class_no is the number of a class. Loads the classes. */
static inline int api_check_class(struct hdb *db, uint32_t class_no, struct hdb_error *err)
{
	const int r = heap_load_classes(db->heap, err);

	if (r < 0 || class_no < db->heap->class_count)
		return r;
	return hdb_fail(err, HDB_EUSAGE, "class number out of range: %u", (unsigned)class_no);
}

/*
 * Returns r, or the first error in reading names or the mapped dump. Functions that read these end
 * with this.
 */
static inline int api_end(const struct hdb *db, int r, struct hdb_error *err)
{
	const int failed = r < 0 ? r : heap_check(db->heap, err);

	return failed < 0 ? failed : r;
}

/*
 * Reads a field of an instance. Returns HDB_NOTFOUND if the class does not have the field, or if
 * the instance is truncated, which the import already reported.
 */
struct heap_instance;
int api_field_value(struct hdb *db, const struct heap_instance *instance,
		    const struct hdb_field *field, struct hdb_basic *out, struct hdb_error *err);

#endif
