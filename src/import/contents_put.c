/*
 * import/contents_put.c - copies a dump into the database.
 *
 * A compressed dump, or a dump from a pipe, cannot be read again at arbitrary offsets. Its bytes
 * are therefore first stored in compressed frames in the `contents` table. All later passes of the
 * import, and all readers of the database, read the dump from there.
 */
#include "import/context.h"

#include "base/unpack.h"

/* Maximum size of the cache of decompressed frames, in bytes and as a share of the budget. */
#define CACHE_BYTES_MAX (256u << 20)
#define CACHE_PART 8u

struct keeping {
	struct import *im;
	struct base_input *input;
	uint64_t size; /* size of the decompressed dump */
};

/* Checks the header, so that a file that is not a dump is rejected before it is copied. */
static int check_header(void *ctx, const uint8_t *data, uint64_t size, struct hdb_error *err)
{
	const struct keeping *k = ctx;
	struct base_source *head;
	struct hprof_file file;
	struct hdb_error why;
	int r;

	TRY(base_memory_open(data, size, &head, err));
	r = hprof_open(head, &file, &why);
	base_source_close(head);
	if (r < 0)
		return hdb_fail(err, r, "%s: %s", base_input_name(k->input), why.message);
	return HDB_OK;
}

/* Stores a frame. The key is the frame's offset in the decompressed dump. */
static int put_frame(void *ctx, const struct base_frame *frame, struct hdb_error *err)
{
	const struct keeping *k = ctx;

	return store_put(k->im->writer, STORE_CONTENTS,
			 &(struct store_block){ .key = frame->start,
						.item_count = (uint32_t)frame->size,
						.data = frame->packed,
						.size = frame->packed_size },
			 err);
}

/* Reports damage in the compressed file as problems of the dump. */
static int report_damage(struct keeping *k, struct hdb_error *err)
{
	size_t count;
	const struct base_damage *damage = base_input_damage(k->input, &count);

	if (count && k->im->opt->strict)
		return hdb_fail(err, HDB_EFORMAT, "%s: %s", base_input_name(k->input),
				damage->message);
	if (!k->size)
		return hdb_fail(err, HDB_EFORMAT, "%s: cannot decompress any data%s%s",
				base_input_name(k->input), count ? ": " : "",
				count ? damage->message : "");
	for (size_t i = 0; i < count; i++) {
		TRY(import_problem(k->im,
				   &(struct import_trouble){ .kind = HPROF_PROBLEM_COMPRESSION,
							     .offset = damage[i].offset },
				   err, "%s", damage[i].message));
	}
	if (count)
		k->im->damage.incomplete |= STORE_LACKS_BYTES;
	return HDB_OK;
}

/* ---- reading the copy ---- */

/*
 * Finds the frame that contains an offset. The table has not been published yet, so the frame is
 * read through the writer.
 */
static int find(void *ctx, uint64_t offset, struct base_frame *out, struct hdb_error *err)
{
	const struct import *im = ctx;
	struct store_found found = { .copy = out->copy, .copy_size = sizeof(out->copy) };

	TRY(store_put_find(im->writer, STORE_CONTENTS, offset, &found, err));
	store_block_frame(&found.block, out);
	return HDB_OK;
}

static int open_contents(struct keeping *k, struct hdb_error *err)
{
	const uint64_t part = k->im->work->memory_bytes / CACHE_PART;
	const struct base_frames frames = {
		.size = k->size,
		.path = base_input_name(k->input),
		.cache_bytes = part < CACHE_BYTES_MAX ? part : CACHE_BYTES_MAX,
		.ctx = k->im,
		.find = find,
	};

	return base_frames_open(&frames, &k->im->source, err);
}

int import_unpack(struct import *im, struct base_input *input, struct hdb_error *err)
{
	struct keeping k = { .im = im, .input = input };
	const struct base_unpack unpack = {
		.input = input,
		.work = im->work,
		.ctx = &k,
		.begin = check_header,
		.put = put_frame,
	};

	TRY(base_unpack_run(&unpack, &k.size, err));
	TRY(report_damage(&k, err));
	TRY(store_put_table(im->writer, STORE_CONTENTS, k.size, err));
	TRY(store_put_settle(im->writer, err));
	/*
	 * A database that contains its dump should be small, so the other tables are compressed
	 * too.
	 */
	TRY(store_pack_tables(im->writer, err));
	return open_contents(&k, err);
}
