/*
 * base/unpack.c - inflates a dump, on all threads if it consists of parts, and packs it into
 * frames. Pieces are taken in order, and frames are passed on in order.
 */
#include "base/unpack.h"

#include "base/pipeline.h"
#include "base/search.h"
#include "base/spill.h"
#include "base/thread.h"
#include "base/vec.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

/*
 * Maximum size to which data may inflate if it is more than RATIO_MAX times as large as the file.
 * Heaps inflate to 3 to 10 times their size. gzip packs zeros 1,030 times smaller (976 times in
 * members of 1 MiB), and zstd 32,000 times.
 */
#define BOMB_BYTES (8ull << 30)
#define RATIO_MAX 500u

struct packed {
	uint32_t size;        /* inflated size of the frame */
	uint32_t packed_size; /* size of the frame in slot.bytes */
};

struct slot {
	struct base_piece piece;
	struct base_vec frames; /* struct packed */
	struct base_vec bytes;  /* the frames, one after another */
	bool is_damaged;        /* whether the piece could not be inflated */
	BASE_NO_SHARING;
};

struct unpack {
	const struct base_unpack *to;
	struct base_input *input;
	struct slot *slots;
	unsigned slot_count;
	uint64_t size; /* size of the dump so far in bytes */
	/* Ensures that threads take pieces in order. */
	pthread_mutex_t lock; /* protects `turn` */
	pthread_cond_t turned;
	uint64_t turn;
	/* the first piece to be inflated sequentially, like everything after it, or NULL if none */
	struct slot *damaged;
	atomic_bool is_stopping;
};

/* ---- a piece, on any thread ---- */

/* Takes piece number `item` when it is its turn. */
static int take(struct unpack *u, struct slot *slot, uint64_t item, struct hdb_error *err)
{
	int r = HDB_END;

	(void)pthread_mutex_lock(&u->lock);
	while (u->turn != item)
		(void)pthread_cond_wait(&u->turned, &u->lock);
	if (!u->is_stopping)
		r = base_input_take(u->input, &slot->piece, err);
	u->turn++;
	(void)pthread_cond_broadcast(&u->turned);
	(void)pthread_mutex_unlock(&u->lock);
	return r;
}

static int pack(struct slot *slot, struct hdb_error *err)
{
	const struct base_piece *piece = &slot->piece;

	for (uint64_t at = 0; at < piece->size;) {
		const uint64_t left = piece->size - at;
		const size_t size = left < BASE_FRAME_BYTES ? left : BASE_FRAME_BYTES;
		struct packed frame = { .size = (uint32_t)size };
		size_t packed_size;

		TRY(base_vec_reserve(&slot->bytes, BASE_FRAME_PACKED_MAX, 1, err));
		TRY(base_frame_pack(piece->data + at, size,
				    (uint8_t *)slot->bytes.data + slot->bytes.count, &packed_size,
				    err));
		slot->bytes.count += packed_size;
		frame.packed_size = (uint32_t)packed_size;
		TRY(base_vec_push(&slot->frames, &frame, sizeof(frame), err));
		at += size;
	}
	return HDB_OK;
}

static int produce(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct unpack *u = ctx;
	struct slot *slot = &u->slots[slot_no];
	int r = take(u, slot, item, err);

	slot->frames.count = slot->bytes.count = 0;
	slot->is_damaged = false;
	TRY(r);
	r = base_piece_inflate(u->input, &slot->piece, err);
	if (r == HDB_EFORMAT) {
		slot->is_damaged = true;
		return HDB_OK;
	}
	TRY(r);
	return pack(slot, err);
}

/* ---- writing, in order ---- */

static int check_ratio(const struct unpack *u, struct hdb_error *err)
{
	if (base_input_packing(u->input) == BASE_PLAIN || u->size < BOMB_BYTES ||
	    u->size / RATIO_MAX < base_input_taken(u->input))
		return HDB_OK;
	return hdb_fail(err, HDB_ELIMIT,
			"%s: decompressed size is implausibly large (more than %u times the "
			"file size); decompress the file first if it is a heap dump",
			base_input_name(u->input), RATIO_MAX);
}

static int consume(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct unpack *u = ctx;
	struct slot *slot = &u->slots[slot_no];
	struct base_frame out;
	uint64_t at = 0;

	(void)item;
	if (u->damaged)
		return HDB_OK; /* the bytes will be read again */
	if (slot->is_damaged) {
		u->damaged = slot;
		u->is_stopping = true;
		return HDB_OK;
	}
	if (!u->size && slot->piece.size && u->to->begin)
		TRY(u->to->begin(u->to->ctx, slot->piece.data, slot->piece.size, err));
	for (size_t i = 0; i < slot->frames.count; i++) {
		const struct packed *frame = base_vec_at(&slot->frames, struct packed, i);

		out.start = u->size;
		out.size = frame->size;
		out.packed = (const uint8_t *)slot->bytes.data + at;
		out.packed_size = frame->packed_size;
		TRY(u->to->put(u->to->ctx, &out, err));
		at += frame->packed_size;
		u->size += frame->size;
	}
	TRY(check_ratio(u, err));
	return base_step(u->to->work,
			 base_input_size(u->input) ? base_input_taken(u->input) : u->size, err);
}

static int copy_all(struct unpack *u, struct hdb_error *err)
{
	const struct base_pipeline pipeline = {
		.item_count = UINT64_MAX,
		.threads = u->to->work->threads,
		.slot_count = u->slot_count,
		.ctx = u,
		.produce = produce,
		.consume = consume,
	};
	int r;

	do {
		u->turn = 0;
		u->damaged = NULL;
		u->is_stopping = false;
		r = base_pipeline_run(&pipeline, err);
		if (u->damaged)
			base_input_again(u->input, &u->damaged->piece, u->size);
	} while (r == HDB_OK && u->damaged);
	return r;
}

static void release(struct unpack *u)
{
	for (unsigned i = 0; u->slots && i < u->slot_count; i++) {
		base_piece_release(&u->slots[i].piece);
		base_vec_release(&u->slots[i].frames);
		base_vec_release(&u->slots[i].bytes);
	}
	free(u->slots);
	(void)pthread_mutex_destroy(&u->lock);
	(void)pthread_cond_destroy(&u->turned);
}

int base_unpack_run(const struct base_unpack *unpack, uint64_t *size, struct hdb_error *err)
{
	BASE_SCOPED(release)
	struct unpack u = {
		.to = unpack,
		.input = unpack->input,
		.slot_count = 3 * unpack->work->threads,
	};

	base_stage(unpack->work,
		   base_input_packing(unpack->input) == BASE_PLAIN ? "copying" : "inflating",
		   base_input_size(unpack->input), "bytes");
	(void)pthread_mutex_init(&u.lock, NULL);
	(void)pthread_cond_init(&u.turned, NULL);
	TRY(BASE_ALLOC(u.slots, u.slot_count, "frames", err));
	TRY(copy_all(&u, err));
	*size = u.size;
	return HDB_OK;
}

/* ---- into a scratch file ---- */

struct place {
	uint64_t start, file_offset;
	uint32_t size, packed_size;
};

struct scratch {
	struct base_spill spill;
	uint64_t bytes;         /* size of the file */
	struct base_vec places; /* struct place, in order */
	uint8_t *map;
};

static int put_scratch(void *ctx, const struct base_frame *frame, struct hdb_error *err)
{
	struct scratch *s = ctx;
	const struct place place = {
		.start = frame->start,
		.file_offset = s->bytes,
		.size = (uint32_t)frame->size,
		.packed_size = (uint32_t)frame->packed_size,
	};

	TRY(base_spill_write(&s->spill, s->bytes, frame->packed, frame->packed_size, err));
	s->bytes += frame->packed_size;
	return base_vec_push(&s->places, &place, sizeof(place), err);
}

static int find_scratch(void *ctx, uint64_t offset, struct base_frame *out, struct hdb_error *err)
{
	const struct scratch *s = ctx;
	const struct place *places = s->places.data, *place;
	struct base_search search = base_search_in(s->places.count);

	(void)err;
	while (base_search_next(&search))
		base_search_step(&search, places[search.mid].start <= offset);
	if (!search.low)
		return HDB_NOTFOUND;
	place = &places[search.low - 1];
	out->start = place->start;
	out->size = place->size;
	out->packed = s->map + place->file_offset;
	out->packed_size = place->packed_size;
	return HDB_OK;
}

static void close_scratch(void *ctx)
{
	struct scratch *s = ctx;

	if (s->map)
		(void)munmap(s->map, s->bytes);
	base_spill_close(&s->spill);
	base_vec_release(&s->places);
	free(s);
}

static void close_at(struct scratch **s)
{
	if (*s)
		close_scratch(*s);
}

int base_unpack_open(struct base_input *input, struct base_work *work, struct base_source **out,
		     struct hdb_error *err)
{
	BASE_SCOPED(close_at) struct scratch *s = NULL;
	struct base_unpack unpack = { .input = input, .work = work, .put = put_scratch };
	struct base_frames frames = {
		.path = base_input_name(input),
		.find = find_scratch,
		.close = close_scratch,
	};
	void *map;

	if (base_input_is_file(input) && base_input_packing(input) == BASE_PLAIN)
		return base_map_open(base_input_name(input), BASE_SEQUENTIAL, out, err);
	TRY(BASE_ALLOC(s, 1, "a scratch file", err));
	s->spill.work = work;
	frames.ctx = unpack.ctx = s;
	TRY(base_unpack_run(&unpack, &frames.size, err));
	if (!s->bytes)
		return hdb_fail(err, HDB_EFORMAT, "%s: cannot decompress any data",
				base_input_name(input));
	map = mmap(NULL, s->bytes, PROT_READ, MAP_PRIVATE, s->spill.fd, 0);
	if (map == MAP_FAILED)
		return hdb_fail_errno(err, errno, "cannot map a temporary file");
	s->map = map;
	TRY(base_frames_open(&frames, out, err));
	s = NULL;
	return HDB_OK;
}
