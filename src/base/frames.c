/*
 * base/frames.c - the byte source over frames. Inflated frames are kept in a cache, indexed by
 * position, which evicts the least recently used frame.
 */
#include "base/frames.h"

#include "base/bytes.h"
#include "base/scope.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Minimum number of cached frames: enough for a thread that alternates between several ranges. */
#define KEPT_MIN 32u
/* Number of hash buckets of cached frames by position, a power of two. */
#define BUCKETS 512u
/* Maximum size of a buffer that a view keeps. A larger buffer is freed together with its window. */
#define BUFFER_KEPT_MAX (4u << 20)

#define ZSTD_LEVEL 1

/* The memory that backs the window of a view. */
struct lent {
	bool is_buffer;
};

/* An inflated frame. */
struct frame {
	struct lent lent;
	bool is_loading; /* whether a thread is inflating the frame */
	bool is_failed;  /* inflating it failed */
	unsigned pins;   /* number of views and threads that use the frame */
	uint64_t start, size;
	struct frame *next;          /* next frame in its bucket */
	struct frame *older, *newer; /* neighbours in the list of unused frames */
	uint8_t data[BASE_FRAME_BYTES];
};

/* A buffer for a window that spans several frames. */
struct buffer {
	struct lent lent;
	uint64_t capacity;
	uint8_t data[];
};

struct frames_source {
	struct base_source src;
	struct base_frames from;
	pthread_mutex_t lock;  /* protects everything below */
	pthread_cond_t loaded; /* signalled when a thread has finished loading a frame */
	struct frame *buckets[BUCKETS];
	struct frame *oldest, *newest; /* unused frames, by time of last use */
	unsigned kept, kept_max;
	int failure; /* result code of the first failure */
	struct hdb_error error;
};

/* ---- cached frames; the lock is held ---- */

static struct frame **bucket_of(struct frames_source *f, uint64_t start)
{
	return &f->buckets[start / BASE_FRAME_BYTES % BUCKETS];
}

static struct frame *find_in(struct frame *frame, uint64_t offset)
{
	while (frame && (offset < frame->start || offset - frame->start >= frame->size))
		frame = frame->next;
	return frame;
}

/*
 * Returns the cached frame that contains the byte at `offset`. Such a frame starts at most
 * BASE_FRAME_BYTES before that byte.
 */
static struct frame *find_kept(struct frames_source *f, uint64_t offset)
{
	struct frame *frame = find_in(*bucket_of(f, offset), offset);

	if (!frame && offset >= BASE_FRAME_BYTES)
		frame = find_in(*bucket_of(f, offset - BASE_FRAME_BYTES), offset);
	else if (!frame)
		frame = find_in(*bucket_of(f, 0), offset);
	return frame;
}

static void leave_unused(struct frames_source *f, struct frame *frame)
{
	assert(!frame->older || frame->older->newer == frame);
	assert(!frame->newer || frame->newer->older == frame);
	*(frame->older ? &frame->older->newer : &f->oldest) = frame->newer;
	*(frame->newer ? &frame->newer->older : &f->newest) = frame->older;
	frame->older = frame->newer = NULL;
}

static void join_unused(struct frames_source *f, struct frame *frame)
{
	assert(!frame->older && !frame->newer);
	assert(frame->pins == 0);
	frame->older = f->newest;
	frame->newer = NULL;
	*(f->newest ? &f->newest->newer : &f->oldest) = frame;
	f->newest = frame;
}

static void leave_bucket(struct frames_source *f, struct frame *frame)
{
	struct frame **at = bucket_of(f, frame->start);

	while (*at != frame)
		at = &(*at)->next;
	*at = frame->next;
}

static void pin(struct frames_source *f, struct frame *frame)
{
	assert(!frame->is_failed || frame->pins);
	if (!frame->pins++)
		leave_unused(f, frame);
}

static void unpin(struct frames_source *f, struct frame *frame)
{
	assert(frame->pins > 0);
	if (--frame->pins)
		return;
	if (!frame->is_failed) {
		join_unused(f, frame);
		if (f->kept <= f->kept_max)
			return;
		frame = f->oldest;
		leave_unused(f, frame);
		leave_bucket(f, frame);
	}
	f->kept--;
	free(frame);
}

/*
 * Returns an empty frame to load into: the least recently used frame if the cache is full, and
 * otherwise a new frame.
 */
static struct frame *make_frame(struct frames_source *f)
{
	struct frame *frame = f->oldest;

	if (frame && f->kept >= f->kept_max) {
		leave_unused(f, frame);
		leave_bucket(f, frame);
	} else {
		frame = malloc(sizeof(*frame));
		f->kept += frame != NULL;
	}
	return frame;
}

/* ---- inflating ---- */

/* Records the first failure, which check() returns. The lock must be held. */
static int note_failure(struct frames_source *f, int result, const struct hdb_error *err)
{
	if (!f->failure && err) {
		f->error = *err;
		f->failure = result;
	}
	return result;
}

/* Inflates a frame into `out`. The lock is held on entry and return, but released in between. */
static int inflate_to(struct frames_source *f, const struct base_frame *found, uint8_t *out,
		      struct hdb_error *err)
{
	struct hdb_error why;
	int r;

	(void)pthread_mutex_unlock(&f->lock);
	r = base_frame_unpack(found, out, &why);
	(void)pthread_mutex_lock(&f->lock);
	if (r == HDB_OK)
		return HDB_OK;
	return hdb_fail(err, r,
			"%s: cannot decompress the block of the stored dump at offset %" PRIu64
			" (%" PRIu64 " bytes): %s",
			f->src.path, found->start, found->size, why.message);
}

/*
 * Finds the frame that should contain `offset`, and verifies that it does. The lock must be held.
 */
static int find_frame(struct frames_source *f, uint64_t offset, struct base_frame *out,
		      struct hdb_error *err)
{
	const int r = f->from.find(f->from.ctx, offset, out, err);

	if (r != HDB_OK)
		return r < 0 ? r :
			       hdb_fail(err, HDB_ECORRUPT,
					"%s: the stored dump has no data for offset %" PRIu64,
					f->src.path, offset);
	if (!out->size || out->size > BASE_FRAME_BYTES || offset < out->start ||
	    offset - out->start >= out->size || out->start > f->src.size ||
	    out->size > f->src.size - out->start)
		return hdb_fail(err, HDB_ECORRUPT,
				"%s: the stored block for offset %" PRIu64
				" of the dump has an invalid size or position",
				f->src.path, offset);
	return HDB_OK;
}

/* Loads a frame that is not cached. The lock is held on entry and return. */
static int load(struct frames_source *f, const struct base_frame *found, struct frame **out,
		struct hdb_error *err)
{
	struct frame *frame = make_frame(f);
	int r;

	assert(found->size > 0);
	assert(found->size <= BASE_FRAME_BYTES);
	if (!frame)
		return hdb_fail_memory(err, "contents of the dump", sizeof(*frame));
	memset(frame, 0, offsetof(struct frame, data));
	frame->is_loading = true;
	frame->pins = 1;
	frame->start = found->start;
	frame->size = found->size;
	frame->next = *bucket_of(f, frame->start);
	*bucket_of(f, frame->start) = frame;
	r = inflate_to(f, found, frame->data, err);
	frame->is_loading = false;
	(void)pthread_cond_broadcast(&f->loaded);
	if (r < 0) {
		(void)note_failure(f, r, err);
		leave_bucket(f, frame);
		frame->is_failed = true;
		unpin(f, frame);
		return r;
	}
	*out = frame;
	return HDB_OK;
}

/* Pins the frame that contains `offset`. The lock is held on entry and return. */
static int get_frame(struct frames_source *f, uint64_t offset, struct frame **out,
		     struct hdb_error *err)
{
	struct frame *frame = find_kept(f, offset);
	struct base_frame found;

	if (!frame) {
		TRY(find_frame(f, offset, &found, err));
		return load(f, &found, out, err);
	}
	pin(f, frame);
	while (frame->is_loading)
		(void)pthread_cond_wait(&f->loaded, &f->lock);
	if (frame->is_failed) {
		unpin(f, frame);
		if (err)
			*err = f->error;
		return f->failure ? f->failure : HDB_ECORRUPT;
	}
	*out = frame;
	return HDB_OK;
}

/* ---- windows ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The bytes that have not been copied from frames yet. */
struct wanted {
	uint64_t offset;
	uint64_t size;
	uint8_t *out;
};

static void copied(struct wanted *wanted, uint64_t size)
{
	assert(size <= wanted->size);
	wanted->offset += size;
	wanted->size -= size;
	wanted->out += size;
}

/*
 * Copies the first of the remaining bytes, up to the end of one frame. A frame that is needed
 * completely is decompressed directly into the destination. The lock is held on entry and return.
 */
static int copy_some(struct frames_source *f, struct wanted *wanted, struct hdb_error *err)
{
	struct base_frame found;
	struct frame *frame;
	uint64_t at, n;
	int r;

	if (!find_kept(f, wanted->offset)) {
		TRY(find_frame(f, wanted->offset, &found, err));
		if (found.start == wanted->offset && found.size <= wanted->size) {
			r = inflate_to(f, &found, wanted->out, err);
			copied(wanted, found.size);
			return r;
		}
	}
	TRY_ERRORS(get_frame(f, wanted->offset, &frame, err));
	at = wanted->offset - frame->start;
	n = least(frame->size - at, wanted->size);
	memcpy(wanted->out, frame->data + at, n);
	copied(wanted, n);
	unpin(f, frame);
	return HDB_OK;
}

static void unlend_locked(struct frames_source *f, struct base_view *view)
{
	struct lent *lent = view->lent;

	view->lent = NULL;
	view->data = NULL;
	view->start = view->end = 0;
	if (lent && lent->is_buffer)
		free(lent);
	else if (lent)
		unpin(f, (struct frame *)lent);
}

static void frames_unlend(struct base_view *view)
{
	struct frames_source *f = (struct frames_source *)view->src;

	(void)pthread_mutex_lock(&f->lock);
	unlend_locked(f, view);
	(void)pthread_mutex_unlock(&f->lock);
}

/*
 * Returns the view's buffer if it is long enough and not too long to keep, and otherwise a new
 * buffer.
 */
static struct buffer *take_buffer(struct frames_source *f, struct base_view *view, uint64_t size)
{
	struct lent *lent = view->lent;
	struct buffer *buffer = NULL;

	if (lent && lent->is_buffer) {
		buffer = (struct buffer *)lent;
		view->lent = NULL;
		if (buffer->capacity < size || buffer->capacity > BUFFER_KEPT_MAX) {
			free(buffer);
			buffer = NULL;
		}
	}
	unlend_locked(f, view);
	if (!buffer) {
		buffer = malloc(sizeof(*buffer) + size);
		if (buffer)
			*buffer = (struct buffer){ .lent.is_buffer = true, .capacity = size };
	}
	return buffer;
}

/* Assembles a window from several frames. The lock is held on entry and return. */
static int fill_buffer(struct frames_source *f, struct base_view *view, uint64_t offset,
		       uint64_t size, struct hdb_error *err)
{
	struct wanted wanted = { .offset = offset, .size = size };
	struct buffer *buffer;

	if (size > BASE_FRAMES_WINDOW_MAX)
		return hdb_fail(err, HDB_ELIMIT,
				"%s: %" PRIu64 " bytes requested at once at offset %" PRIu64
				"; the limit is %llu for a dump stored in the database",
				f->src.path, size, offset, BASE_FRAMES_WINDOW_MAX);
	buffer = take_buffer(f, view, size);
	if (!buffer)
		return hdb_fail_memory(err, "contents of the dump", size);
	wanted.out = buffer->data;
	while (wanted.size) {
		const int r = copy_some(f, &wanted, err);

		if (r < 0) {
			free(buffer);
			return r;
		}
	}
	view->lent = buffer;
	view->data = buffer->data;
	view->start = offset;
	view->end = offset + size;
	return HDB_OK;
}

/*
 * Sets the window at `offset` to a frame that contains the whole window, or to a buffer. The lock
 * must be held.
 */
static int lend_window(struct frames_source *f, struct base_view *view, uint64_t offset,
		       uint64_t size, struct hdb_error *why)
{
	struct frame *frame = NULL;

	if (size <= BASE_FRAME_BYTES)
		TRY(get_frame(f, offset, &frame, why));
	if (!frame)
		return fill_buffer(f, view, offset, size, why);
	if (size > frame->size - (offset - frame->start)) {
		unpin(f, frame);
		return fill_buffer(f, view, offset, size, why);
	}
	unlend_locked(f, view);
	view->lent = frame;
	view->data = frame->data;
	view->start = frame->start;
	view->end = frame->start + frame->size;
	return HDB_OK;
}

static int frames_window(struct base_view *view, uint64_t offset, uint64_t size,
			 struct hdb_error *err)
{
	struct frames_source *f = (struct frames_source *)view->src;
	struct hdb_error why = { 0 };
	int r;

	if (offset == f->src.size) {
		/* At the end of the source, the window is empty. */
		base_view_release(view);
		view->data = (const uint8_t *)"";
		view->start = view->end = offset;
		return HDB_OK;
	}
	(void)pthread_mutex_lock(&f->lock);
	r = lend_window(f, view, offset, size, &why);
	if (r < 0) {
		(void)note_failure(f, r, &why);
		unlend_locked(f, view);
		if (err)
			*err = why;
	}
	(void)pthread_mutex_unlock(&f->lock);
	return r;
}

static int frames_failed(struct base_source *src, struct hdb_error *err)
{
	struct frames_source *f = (struct frames_source *)src;
	int r;

	(void)pthread_mutex_lock(&f->lock);
	r = f->failure;
	if (r && err)
		*err = f->error;
	(void)pthread_mutex_unlock(&f->lock);
	return r;
}

static void frames_close(struct base_source *src)
{
	struct frames_source *f = (struct frames_source *)src;

	for (unsigned i = 0; i < BUCKETS; i++) {
		while (f->buckets[i]) {
			struct frame *frame = f->buckets[i];

			f->buckets[i] = frame->next;
			free(frame);
		}
	}
	(void)pthread_mutex_destroy(&f->lock);
	(void)pthread_cond_destroy(&f->loaded);
	if (f->from.close)
		f->from.close(f->from.ctx);
	free(f);
}

int base_frames_open(const struct base_frames *from, struct base_source **out,
		     struct hdb_error *err)
{
	const uint64_t kept = from->cache_bytes / BASE_FRAME_BYTES;
	struct frames_source *f;

	TRY(BASE_ALLOC(f, 1, "contents of the dump", err));
	f->from = *from;
	f->kept_max = kept < KEPT_MIN ? KEPT_MIN : kept > UINT32_MAX ? UINT32_MAX : (unsigned)kept;
	(void)pthread_mutex_init(&f->lock, NULL);
	(void)pthread_cond_init(&f->loaded, NULL);
	f->src = (struct base_source){
		.size = from->size,
		.path = from->path,
		.window = frames_window,
		.unlend = frames_unlend,
		.check = frames_failed,
		.failed = frames_failed,
		.close = frames_close,
	};
	*out = &f->src;
	return HDB_OK;
}

/* ---- frames of zstd ---- */

int base_frame_pack(const uint8_t *data, size_t size, uint8_t *out, size_t *packed_size,
		    struct hdb_error *err)
{
	*packed_size = ZSTD_compress(out, BASE_FRAME_PACKED_MAX, data, size, ZSTD_LEVEL);
	if (ZSTD_isError(*packed_size))
		return hdb_fail(err, HDB_ENOMEM, "cannot compress %zu bytes: %s", size,
				ZSTD_getErrorName(*packed_size));
	return HDB_OK;
}

int base_frame_unpack(const struct base_frame *frame, uint8_t *out, struct hdb_error *err)
{
	const size_t n = ZSTD_decompress(out, frame->size, frame->packed, frame->packed_size);

	if (n == frame->size)
		return HDB_OK;
	return hdb_fail(err, HDB_ECORRUPT, "%s",
			ZSTD_isError(n) ? ZSTD_getErrorName(n) : "data ends too early");
}

/* Checks the frames of one bucket. Counts the frames, and the unused frames among them. */
static void check_bucket(struct frames_source *f, unsigned no, unsigned *kept, unsigned *unused)
{
	for (const struct frame *frame = f->buckets[no]; frame; frame = frame->next) {
		assert(bucket_of(f, frame->start) == &f->buckets[no]);
		assert(frame->size > 0);
		assert(frame->size <= BASE_FRAME_BYTES);
		assert(!frame->is_failed);
		assert(frame->pins > 0 || !frame->is_loading);
		*kept += 1;
		*unused += frame->pins == 0;
	}
}

void base_frames_check(struct base_source *source)
{
	struct frames_source *f = (struct frames_source *)source;
	unsigned kept = 0, unused = 0, listed = 0;

	(void)pthread_mutex_lock(&f->lock);
	for (unsigned no = 0; no < BUCKETS; no++)
		check_bucket(f, no, &kept, &unused);
	/*
	 * A frame that failed to load is not in any bucket, although other threads may still be
	 * waiting for it.
	 */
	assert(kept <= f->kept);
	assert(!f->oldest == !f->newest);
	for (const struct frame *frame = f->oldest; frame; frame = frame->newer) {
		assert(frame->pins == 0);
		assert(frame->newer ? frame->newer->older == frame : f->newest == frame);
		listed++;
	}
	assert(listed == unused);
	(void)pthread_mutex_unlock(&f->lock);
}
