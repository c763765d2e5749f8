/*
 * base/source.h - a byte source, which returns windows (pointer and length) of a file at an offset.
 *
 * One kind of source maps the file; another inflates frames on demand (base/frames.h). Readers work
 * with both kinds. A window belongs to a view, and stays valid until the view requests another one
 * or is released. Each thread has its own views.
 */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include "base/error.h"
#include "base/prefetch.h"

#include <stdbool.h>

struct base_view;

struct base_source {
	uint64_t size;    /* bytes of content */
	const char *path; /* for messages; borrowed */
	/*
	 * Gives the view a window with at least `size` bytes at `offset`. The caller must have
	 * checked that they exist. Sets the view's data, start and end. On failure the view does
	 * not change.
	 */
	int (*window)(struct base_view *view, uint64_t offset, uint64_t size,
		      struct hdb_error *err);
	/* Releases the memory behind a window of the view. NULL if there is nothing to release. */
	void (*unlend)(struct base_view *view);
	/*
	 * Returns HDB_EIO, with an offset in the message, if a read has failed since the source was
	 * opened (SIGBUS on a map) or would fail now. Takes a system call.
	 */
	int (*check)(struct base_source *src, struct hdb_error *err);
	/*
	 * Reports earlier failures without a system call, so that it can be called for every
	 * object. If NULL, `check` is used.
	 */
	int (*failed)(struct base_source *src, struct hdb_error *err);
	/*
	 * Hint: the bytes from `offset` on will be read soon. The source may limit their number.
	 * May be NULL.
	 */
	void (*want)(struct base_source *src, uint64_t offset, uint64_t size);
	/*
	 * Hint: most pages of [offset, offset + size), for which `want` was called before, are
	 * being read now. May be NULL.
	 */
	void (*touch)(struct base_source *src, uint64_t offset, uint64_t size);
	/* Hint: the bytes from `offset` on are not needed soon. May be NULL. */
	void (*drop)(struct base_source *src, uint64_t offset, uint64_t size);
	void (*close)(struct base_source *src);
};

/*
 * A reader's position in a source, one window at a time. The caller must initialise it with zeros,
 * set src, and call base_view_release before the source is closed.
 */
struct base_view {
	struct base_source *src;
	const uint8_t *data; /* bytes of the window, borrowed */
	uint64_t start;      /* offset of the window in the source */
	uint64_t end;        /* offset after the last byte of the window */
	void *lent;          /* used by the source: the memory that backs the window */
};

/* Releases the window, if any. The view can be used again afterwards. */
static inline void base_view_release(struct base_view *view)
{
	if (view->src && view->src->unlend && view->lent)
		view->src->unlend(view);
	view->data = NULL;
	view->lent = NULL;
	view->start = view->end = 0;
}

/* Declares a view of a source, which is released at the end of the block. */
#define BASE_VIEW(name, source) \
	__attribute__((cleanup(base_view_release))) struct base_view name = { .src = (source) }

/*
 * Makes the window contain [offset, offset + size). Fails with HDB_ETRUNC if the source ends before
 * the end of this range.
 */
int base_view_fill(struct base_view *view, uint64_t offset, uint64_t size, struct hdb_error *err);

/*
 * Returns a pointer to `size` bytes at `offset`, or NULL with err set (HDB_ETRUNC past the end of
 * the source). The bytes are borrowed until the next call on this view.
 */
static inline const uint8_t *base_view_at(struct base_view *view, uint64_t offset, uint64_t size,
					  struct hdb_error *err)
{
	if (offset < view->start || offset > view->end || size > view->end - offset) {
		if (base_view_fill(view, offset, size, err) < 0)
			return NULL;
	}
	return view->data + (offset - view->start);
}

/* Prefetches the byte at `offset` if the window contains it. */
static inline void base_view_prefetch(const struct base_view *view, uint64_t offset)
{
	if (offset >= view->start && offset < view->end)
		prefetch_read(view->data + (offset - view->start));
}

/* The expected access pattern of a source, which is a hint for read-ahead. */
enum base_access { BASE_SEQUENTIAL, BASE_RANDOM };

/*
 * Maps the regular file `path` read-only as a source. The caller must close *out with
 * base_source_close. Fails with HDB_EIO if the file is missing or not readable, and with
 * HDB_EFORMAT if it is a directory or empty. A page that cannot be read later (the file shrank, the
 * disk failed) reads as zeros, and makes check() fail with its offset; for this,
 * base_sigbus_install must have been called.
 */
int base_map_open(const char *path, enum base_access access, struct base_source **out,
		  struct hdb_error *err);

/* Opens a source over bytes in memory, which are borrowed. For tests and fuzzing. */
int base_memory_open(const void *data, uint64_t size, struct base_source **out,
		     struct hdb_error *err);

/* Returns HDB_EIO if reading has failed so far; see `failed`. */
static inline int base_source_failed(struct base_source *src, struct hdb_error *err)
{
	return src->failed ? src->failed(src, err) : src->check(src, err);
}

/* Closes a source of any kind. `src` may be NULL. */
void base_source_close(struct base_source *src);

/*
 * Installs the SIGBUS handler, unless it is already installed. The handler turns a failing page of
 * a mapped region into zeros and records the fault. Other faults are passed to the previous
 * handler.
 */
void base_sigbus_install(void);

/*
 * Registers a mapped region with the handler. On a fault, *fault is set to 1 + the offset in the
 * region.
 */
int base_sigbus_add(const void *start, uint64_t size, _Atomic(uint64_t) *fault,
		    struct hdb_error *err);
/* Removes the region that begins at `start` from the handler. Must be called before unmapping. */
void base_sigbus_remove(const void *start);

#endif
