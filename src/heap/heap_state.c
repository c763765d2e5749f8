/*
 * heap/heap_state.c - determines facts that the reader of any answer should know: whether the dump
 * file has changed since the import, and which parts of the dump are missing.
 */
#include "base/fingerprint.h"
#include "base/scope.h"
#include "heap/heap.h"
#include "hprof/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Appends to an owned string, which may be NULL. */
static int append(char **text, struct hdb_error *err, const char *format, ...)
{
	const size_t used = *text ? strlen(*text) : 0;
	va_list args;
	char *grown;
	int size;

	va_start(args, format);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	grown = size < 0 ? NULL : realloc(*text, used + (size_t)size + 1);
	if (!grown)
		return hdb_fail_memory(err, "a string", used);
	*text = grown;
	va_start(args, format);
	(void)vsnprintf(grown + used, (size_t)size + 1, format, args);
	va_end(args);
	return HDB_OK;
}

/* ---- stale ---- */

static int append_other_size(struct heap *heap, const char *path, uint64_t is, uint64_t was,
			     struct hdb_error *err)
{
	return append(&heap->state.stale, err,
		      "%s is not the imported dump: its size is %" PRIu64
		      " bytes instead of %" PRIu64 "; the answer describes the imported dump",
		      path, is, was);
}

/*
 * Returns whether the error means that this user cannot access the dump. Any other error is a
 * system failure.
 */
static bool is_gone(int errno_value)
{
	return errno_value == ENOENT || errno_value == ENOTDIR || errno_value == EACCES ||
	       errno_value == ELOOP || errno_value == ENAMETOOLONG;
}

/*
 * Compares sampled bytes of a dump of the same size, even if its modification time is the same:
 * this takes only 0.05 ms, and a dump may be overwritten within one tick of the file system's
 * clock. A dump that cannot be read now is not reported as changed; queries that need its bytes
 * report the error.
 */
static int compare_dump(struct heap *heap, const char *path, int fd, struct hdb_error *err)
{
	const uint64_t size = store_meta_number(heap->store, "dump.bytes", 0);
	uint64_t fingerprint;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return hdb_fail_errno(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return HDB_OK;
	if ((uint64_t)st.st_size != size)
		return append_other_size(heap, path, (uint64_t)st.st_size, size, err);
	r = base_fingerprint_fd(fd, size, &fingerprint, err);
	if (r < 0)
		return r == HDB_ENOMEM ? r : HDB_OK;
	return fingerprint == store_meta_number(heap->store, "dump.fingerprint", 0) ?
		       HDB_OK :
		       append(&heap->state.stale, err,
			      "%s is not the imported dump: its contents have changed; the answer "
			      "describes the imported dump",
			      path);
}

/*
 * Looks for the dump next to the database, in case both were moved or copied. Accepts only the
 * imported dump, by size and sampled bytes (see compare_dump).
 */
static void find_beside(struct heap *heap)
{
	char *path = heap->state.beside_path;
	const uint64_t size = store_meta_number(heap->store, "dump.bytes", 0);
	const char *db = store_path(heap->store), *folder = strrchr(db, '/');
	const char *recorded = heap->state.imported_path, *name = strrchr(recorded, '/');
	BASE_CLOSED int fd = -1;
	uint64_t fingerprint;
	struct stat st;
	int size_used;

	size_used = snprintf(path, sizeof(heap->state.beside_path), "%.*s%s",
			     folder ? (int)(folder - db) + 1 : 0, db, name ? name + 1 : recorded);
	if (size_used > 0 && (size_t)size_used < sizeof(heap->state.beside_path))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != size ||
	    base_fingerprint_fd(fd, size, &fingerprint, NULL) < 0 ||
	    fingerprint != store_meta_number(heap->store, "dump.fingerprint", 0))
		path[0] = '\0';
}

/*
 * Checks whether the dump has changed. O_NONBLOCK is needed because the path may now name a
 * FIFO. A missing dump is not stale, because the database answers queries without it.
 */
static int find_stale(struct heap *heap, struct hdb_error *err)
{
	const char *path = heap_where_dump(heap);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r;

	if (fd < 0 && !is_gone(errno))
		return hdb_fail_errno(err, errno, "%s", path);
	if (fd < 0) {
		if (!heap->dump.path)
			find_beside(heap);
		return HDB_OK;
	}
	r = compare_dump(heap, path, fd, err);
	(void)close(fd);
	return r;
}

/*
 * Checks whether the compressed file was replaced, by its size. The dump itself is in the database
 * and cannot change.
 */
static int find_replaced(struct heap *heap, struct hdb_error *err)
{
	const uint64_t size = store_meta_number(heap->store, "dump.file_bytes", 0);
	const char *path = heap_where_dump(heap);
	struct stat st;

	if (!size || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size == size)
		return HDB_OK;
	return append_other_size(heap, path, (uint64_t)st.st_size, size, err);
}

/* ---- incomplete ---- */

static int find_incomplete(struct heap *heap, struct hdb_error *err)
{
	struct heap_state *state = &heap->state;
	char **why = &state->incomplete;
	const uint64_t lacks = store_meta_number(heap->store, "incomplete", 0);
	char cut[256];

	state->missing_bytes = store_meta_number(heap->store, "incomplete.missing_bytes", 0);
	state->skipped_bytes = store_meta_number(heap->store, "incomplete.skipped_bytes", 0);
	state->roots_seen = store_meta_number(heap->store, "roots", 0);
	/*
	 * In a truncated dump, a missing object may have referred to any object. A heap graph has
	 * its roots in separate packets; if it has roots despite missing packets, objects that are
	 * not reachable from them are garbage.
	 */
	state->takes_orphans =
		lacks & ~(uint64_t)STORE_LACKS_PACKETS || (lacks && !state->roots_seen);
	store_meta_text(heap->store, "incomplete.cut", cut, sizeof(cut));
	state->is_cut = lacks & STORE_LACKS_END;
	state->is_damaged = lacks & (STORE_LACKS_END | STORE_LACKS_BYTES | STORE_LACKS_PACKETS);
	if (state->is_cut)
		TRY(append(why, err, "%s", *cut ? cut : "the dump is truncated"));
	if (lacks & STORE_LACKS_PACKETS)
		TRY(append(why, err,
			   "%sthe trace lacks packets of the heap graph, such as the last "
			   "packet (continued: false)",
			   *why ? "; " : ""));
	/* Damage to a compressed file is reported as truncation, without skipped bytes. */
	if (lacks & STORE_LACKS_BYTES && (state->skipped_bytes || !*why))
		TRY(append(why, err,
			   "%s%" PRIu64 " bytes of the dump could not be read and were skipped",
			   *why ? "; " : "", state->skipped_bytes));
	if (lacks & STORE_LACKS_ELEMENTS)
		TRY(append(why, err,
			   "%sthe dump was stripped, as KOOM does: primitive arrays have no "
			   "elements, so strings are empty, and objects of the zygote and image "
			   "heaps may be missing",
			   *why ? "; " : ""));
	if (lacks & STORE_LACKS_ROOTS || (lacks && !state->roots_seen))
		TRY(append(why, err, "%s%s", *why ? "; " : "",
			   heap->is_phd ?
				   "portable heap dumps do not record field names, values or GC "
				   "roots (see heapdb info)" :
				   "the dump records no GC roots"));
	if (state->takes_orphans && !(heap->is_phd && lacks == STORE_LACKS_ROOTS))
		TRY(append(why, err,
			   "; objects that no other object references count as GC roots, because "
			   "their holders may be missing"));
	return HDB_OK;
}

/* ---- redacted ---- */

static const char *redacted_text(uint64_t redaction)
{
	switch (redaction) {
	case HPROF_IS_WHOLE:
		return NULL;
	case HPROF_IS_HASHED:
		return "the dump was redacted: strings and byte arrays are keyed hashes (equal "
		       "contents have equal hashes), and most other values were removed; "
		       "answers do not show the program's values";
	case HPROF_IS_STRIPPED:
		return "contents of arrays were removed to make the dump smaller; answers do "
		       "not show the program's strings and array contents";
	case HPROF_IS_FILLED:
		return "the dump was redacted: all byte and char arrays contain one repeated "
		       "value; answers do not show the program's strings and array contents";
	default:
		return "the dump was redacted: strings, array contents and most primitive "
		       "values were removed; answers do not show the program's values";
	}
}

/*
 * Fills in the state when a heap is opened. Must not read tables, because heap_open_meta also opens
 * databases of other revisions.
 */
int heap_find_state(struct heap *heap, struct hdb_error *err)
{
	struct heap_state *state = &heap->state;
	const uint64_t redaction = store_meta_number(heap->store, "dump.is_redacted", 0);

	store_meta_text(heap->store, "dump.path", state->imported_path,
			sizeof(state->imported_path));
	store_meta_text(heap->store, "import.layout", state->layout, sizeof(state->layout));
	store_meta_text(heap->store, "import.mapping", state->mapping_path,
			sizeof(state->mapping_path));
	state->snapshot = (unsigned)store_meta_number(heap->store, "dump.snapshot", 1);
	state->redacted = redacted_text(redaction);
	state->lacks_values = redaction == HPROF_IS_REDACTED || redaction == HPROF_IS_HASHED;
	state->is_strict = store_meta_number(heap->store, "import.strict", 0) != 0;
	TRY(heap_keeps_dump(heap) ? find_replaced(heap, err) : find_stale(heap, err));
	return find_incomplete(heap, err);
}

void heap_release_state(struct heap *heap)
{
	free(heap->state.stale);
	free(heap->state.incomplete);
}
