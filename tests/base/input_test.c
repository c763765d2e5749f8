/*
 * input_test.c - tests base/input.c and frames.c: data compressed in many ways is read back
 * unchanged, in order and in parts; truncated or damaged data gives its intact parts; windows of
 * frames have the right bytes.
 */
#include "base/frames.h"
#include "base/input.h"
#include "base/vec.h"
#include "support/temp.h"

#include <fcntl.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#define DATA_BYTES (5u * 1000 * 1000 + 7)
#define BLOCK (1u << 20)

static uint8_t *data;       /* data that is compressed */
static struct base_vec zip; /* bytes of the compressed file */
static struct base_vec got; /* data that was read back */
static char path[512];

static void put_zip(const void *p, size_t size)
{
	assert_int_equal(base_vec_reserve(&zip, size, 1, NULL), HDB_OK);
	memcpy((uint8_t *)zip.data + zip.count, p, size);
	zip.count += size;
}

/* One member of gzip; the comment may be NULL. */
static void put_member(const uint8_t *p, size_t size, const char *comment)
{
	gz_header head = { .comment = (Bytef *)(uintptr_t)comment };
	const size_t room = size + size / 100 + 1000;
	uint8_t *out = malloc(room);
	z_stream z = { 0 };

	assert_non_null(out);
	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	if (comment)
		assert_int_equal(deflateSetHeader(&z, &head), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)p;
	z.avail_in = (uInt)size;
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	put_zip(out, room - z.avail_out);
	(void)deflateEnd(&z);
	free(out);
}

/* One zstd frame. Streamed frames do not record their size. */
static void put_frame(const uint8_t *p, size_t size, bool is_streamed)
{
	const size_t room = ZSTD_compressBound(size);
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	void *out = malloc(room);

	assert_true(packer && out);
	(void)ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, 1);
	(void)ZSTD_CCtx_setParameter(packer, ZSTD_c_contentSizeFlag, !is_streamed);
	(void)ZSTD_CCtx_setParameter(packer, ZSTD_c_checksumFlag, is_streamed);
	put_zip(out, ZSTD_compress2(packer, out, room, p, size));
	(void)ZSTD_freeCCtx(packer);
	free(out);
}

#define STREAMED "streamed"

/* Comment of the first gzip member, or STREAMED for zstd frames. */
static void put_parts(size_t part, bool is_gzip, const char *comment)
{
	zip.count = 0;
	for (size_t at = 0; at < DATA_BYTES; at += part) {
		const size_t size = DATA_BYTES - at < part ? DATA_BYTES - at : part;

		if (is_gzip)
			put_member(data + at, size, at ? NULL : comment);
		else
			put_frame(data + at, size, comment != NULL);
	}
}

static void write_file(size_t size)
{
	const int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, zip.data, size), size);
	(void)close(fd);
}

/* Reads the whole input. A piece that does not inflate is read again in order. */
static size_t read_all(const char *name, const struct base_damage **damage)
{
	static struct base_damage kept;
	static unsigned turn;
	struct base_piece piece = { 0 };
	const uint8_t *first;
	uint64_t size;
	struct base_input *in;
	struct hdb_error err;
	size_t count;
	int r;

	got.count = 0;
	assert_int_equal(base_input_open(name, NULL, &in, &err), HDB_OK);
	/* Every other time, the first bytes are examined before reading. */
	if (turn++ % 2) {
		assert_int_equal(base_input_peek(in, &first, &size, &err), HDB_OK);
		assert_true(!size || !memcmp(first, data, size < 1000 ? size : 1000));
	}
	for (;;) {
		r = base_input_take(in, &piece, &err);
		if (r == HDB_END)
			break;
		assert_int_equal(r, HDB_OK);
		r = base_piece_inflate(in, &piece, &err);
		if (r == HDB_EFORMAT) {
			base_input_again(in, &piece, got.count);
			continue;
		}
		assert_int_equal(r, HDB_OK);
		assert_int_equal(base_vec_reserve(&got, piece.size, 1, NULL), HDB_OK);
		memcpy((uint8_t *)got.data + got.count, piece.data, piece.size);
		got.count += piece.size;
	}
	if (base_input_damage(in, &count) && count) {
		kept = *base_input_damage(in, &count);
		*damage = &kept;
	}
	base_piece_release(&piece);
	base_input_close(in);
	return count;
}

static void check_whole(void)
{
	const struct base_damage *damage;

	write_file(zip.count);
	assert_int_equal(read_all(path, &damage), 0);
	assert_int_equal(got.count, DATA_BYTES);
	assert_memory_equal(got.data, data, DATA_BYTES);
}

static const struct {
	const char *name;
	size_t part;
	bool is_gzip;
	const char *comment;
} ways[] = {
	{ "one member", DATA_BYTES, true, NULL },
	{ "members", 300000, true, NULL },
	{ "small members", 3000, true, NULL },
	{ "the JDK's", BLOCK, true, "HPROF BLOCKSIZE=1048576" },
	{ "the JDK's, small", 10000, true, "HPROF BLOCKSIZE=10000" },
	{ "a comment that is wrong", 300000, true, "HPROF BLOCKSIZE=1000" },
	{ "a comment without sense", 300000, true, "HPROF BLOCKSIZE=99999999999999999999" },
	{ "one frame", DATA_BYTES, false, NULL },
	{ "frames", BLOCK, false, NULL },
	{ "small frames", 3000, false, NULL },
	{ "one streamed frame", DATA_BYTES, false, STREAMED },
	{ "streamed frames", BLOCK, false, STREAMED },
	{ "small streamed frames", 3000, false, STREAMED },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void test_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < WAYS; i++) {
		put_parts(ways[i].part, ways[i].is_gzip, ways[i].comment);
		check_whole();
	}
	/* Not compressed. */
	zip.count = 0;
	put_zip(data, DATA_BYTES);
	check_whole();
	/* A skippable frame at the start, as pzstd writes it, and a seek table at the end. */
	zip.count = 0;
	put_zip("\x50\x2a\x4d\x18\x04\0\0\0abcd", 12);
	put_frame(data, DATA_BYTES / 2, false);
	put_frame(data + DATA_BYTES / 2, DATA_BYTES - DATA_BYTES / 2, true);
	put_zip("\x5e\x2a\x4d\x18\x04\0\0\0abcd", 12);
	check_whole();
	/* Zeros after the end, as on tapes. */
	put_parts(300000, true, NULL);
	put_zip("\0\0\0\0\0\0\0", 7);
	check_whole();
}

static void put_u4(uint32_t value)
{
	const uint8_t bytes[] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
				  (uint8_t)(value >> 24) };

	put_zip(bytes, sizeof(bytes));
}

/*
 * The seek table of zstd's seekable format follows the frames. Frames record where they end, so a
 * wrong table makes no difference.
 */
static void test_seekable(void **state)
{
	static const struct {
		uint32_t count;      /* wrong number of frames */
		uint32_t more_bytes; /* wrong inflated size of a frame */
		uint8_t flags;
		uint32_t magic;
	} tables[] = {
		{ 5, 0, 0, 0x8f92eab1 },
		{ 5, 0, 0x80, 0x8f92eab1 }, /* the flag for checksums, which are missing */
		{ 5, 0, 0x7f, 0x8f92eab1 }, /* reserved bits */
		{ UINT32_MAX, 0, 0, 0x8f92eab1 },
		{ 0, 0, 0, 0x8f92eab1 },
		{ 5, UINT32_MAX, 0, 0x8f92eab1 },
		{ 5, 1, 0, 0x8f92eab1 },
		{ 5, 0, 0, 0x12345678 },
	};
	const struct base_damage *damage = NULL;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(tables) / sizeof(tables[0]); i++) {
		put_parts(BLOCK, false, i % 2 ? STREAMED : NULL);
		put_u4(0x184d2a5e);
		put_u4(5 * 8 + 9);
		for (unsigned k = 0; k < 5; k++) {
			put_u4(1000 + tables[i / 2].more_bytes);
			put_u4(BLOCK + tables[i / 2].more_bytes);
		}
		put_u4(tables[i / 2].count);
		put_zip(&tables[i / 2].flags, 1);
		put_u4(tables[i / 2].magic);
		check_whole();
		/* A truncated table: all data is returned, and the truncation is reported. */
		write_file(zip.count - 3);
		assert_true(read_all(path, &damage) > 0);
		assert_int_equal(got.count, DATA_BYTES);
		assert_memory_equal(got.data, data, DATA_BYTES);
	}
}

/* The same data through a pipe. */
static void test_pipe(void **state)
{
	const struct base_damage *damage;
	char name[64];
	int ends[2];

	if (access("/proc/self/fd", R_OK) != 0)
		skip();
	(void)state;
	for (size_t i = 0; i <= WAYS; i++) {
		pid_t child;

		if (i < WAYS) {
			put_parts(ways[i].part, ways[i].is_gzip, ways[i].comment);
		} else {
			zip.count = 0;
			put_zip(data, DATA_BYTES);
		}
		assert_int_equal(pipe(ends), 0);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			const uint8_t *p = zip.data;
			ssize_t n = 1;

			(void)close(ends[0]);
			for (size_t left = zip.count; left && n > 0; left -= (size_t)n, p += n)
				n = write(ends[1], p, left < 70001 ? left : 70001);
			_exit(n > 0 ? 0 : 1);
		}
		(void)close(ends[1]);
		(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
		assert_int_equal(read_all(name, &damage), 0);
		(void)close(ends[0]);
		(void)waitpid(child, NULL, 0);
		assert_int_equal(got.count, DATA_BYTES);
		assert_memory_equal(got.data, data, DATA_BYTES);
	}
}

/*
 * If the file is cut anywhere, the result is a prefix of the data, with nearly all of the data
 * before the cut.
 */
static void test_cut(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (size_t i = 0; i < WAYS; i++) {
		put_parts(ways[i].part, ways[i].is_gzip, ways[i].comment);
		for (unsigned k = 0; k < 6; k++) {
			const size_t at = 20 + test_random(&seed) % (zip.count - 25);
			const struct base_damage *damage = NULL;
			uint64_t least;

			write_file(at);
			(void)read_all(path, &damage);
			assert_true(got.count < DATA_BYTES);
			assert_memory_equal(got.data, data, got.count);
			/* zstd returns blocks of 128 KiB. gzip returns all bytes before the cut. */
			least = (uint64_t)DATA_BYTES * at / zip.count;
			if (got.count + 400000 < least)
				fail_msg("%s cut at %zu: %zu of %zu bytes", ways[i].name, at,
					 got.count, (size_t)least);
		}
	}
}

/* If a byte is wrong, only the part that contains it is lost. */
static void test_flip(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (size_t i = 0; i < WAYS; i++) {
		const bool has_parts = ways[i].part < DATA_BYTES;

		for (unsigned k = 0; k < 6; k++) {
			const struct base_damage *damage = NULL;
			size_t at, count;

			put_parts(ways[i].part, ways[i].is_gzip, ways[i].comment);
			/*
			 * The wrong byte is not in the first part, which may contain only the
			 * header.
			 */
			at = zip.count / 2 + test_random(&seed) % (zip.count / 4);
			((uint8_t *)zip.data)[at] ^= 0x40;
			write_file(zip.count);
			count = read_all(path, &damage);
			/* The changed byte of a header may be irrelevant, such as the time. */
			if (!count) {
				assert_int_equal(got.count, DATA_BYTES);
				continue;
			}
			assert_non_null(strstr(damage->message, "is damaged at byte"));
			if (has_parts && ways[i].is_gzip &&
			    got.count + 2 * ways[i].part + 300000 < DATA_BYTES)
				fail_msg("%s, byte %zu: %zu bytes are left", ways[i].name, at,
					 got.count);
		}
	}
}

static void test_refused(void **state)
{
	struct base_input *in;
	struct hdb_error err;

	(void)state;
	assert_int_equal(base_input_open("/nowhere/x", NULL, &in, &err), HDB_EABSENT);
	assert_int_equal(base_input_open("/", NULL, &in, &err), HDB_EFORMAT);
	zip.count = 0;
	write_file(0);
	assert_int_equal(base_input_open(path, NULL, &in, &err), HDB_EFORMAT);
	assert_int_equal(base_input_open("/dev/null", NULL, &in, &err), HDB_EFORMAT);
}

/* ---- frames ---- */

struct packed {
	struct base_frame *frames;
	size_t count;
	unsigned found;
};

static int find(void *ctx, uint64_t offset, struct base_frame *out, struct hdb_error *err)
{
	struct packed *p = ctx;

	(void)err;
	p->found++;
	for (size_t i = 0; i < p->count; i++)
		if (offset - p->frames[i].start < p->frames[i].size) {
			out->start = p->frames[i].start;
			out->size = p->frames[i].size;
			out->packed = p->frames[i].packed;
			out->packed_size = p->frames[i].packed_size;
			return HDB_OK;
		}
	return HDB_NOTFOUND;
}

/* Creates frames of many sizes for the first `size` bytes of the data. */
static void pack_frames(struct packed *p, size_t size, uint64_t *seed)
{
	uint8_t *out = malloc(BASE_FRAME_PACKED_MAX);

	assert_non_null(out);
	p->frames = calloc(2000, sizeof(*p->frames));
	assert_non_null(p->frames);
	for (size_t at = 0; at < size;) {
		struct base_frame *f = &p->frames[p->count++];
		size_t n = 1 + test_random(seed) % BASE_FRAME_BYTES;
		size_t packed_size;
		uint8_t *copy;

		n = p->count % 5 == 0 ? n % 50 + 1 : n;
		n = n < size - at ? n : size - at;
		assert_int_equal(base_frame_pack(data + at, n, out, &packed_size, NULL), HDB_OK);
		copy = malloc(packed_size);
		assert_non_null(copy);
		memcpy(copy, out, packed_size);
		*f = (struct base_frame){
			.start = at, .size = n, .packed = copy, .packed_size = packed_size
		};
		at += n;
	}
	free(out);
}

static void free_frames(struct packed *p)
{
	for (size_t i = 0; i < p->count; i++)
		free((void *)(uintptr_t)p->frames[i].packed);
	free(p->frames);
}

static void test_frames(void **state)
{
	struct packed p = { 0 };
	struct base_frames from = {
		.size = 4000000,
		.path = "frames",
		.ctx = &p,
		.find = find,
	};
	struct base_view views[5] = { 0 };
	struct base_source *source;
	uint64_t seed = 3;

	(void)state;
	pack_frames(&p, from.size, &seed);
	assert_int_equal(base_frames_open(&from, &source, NULL), HDB_OK);
	for (unsigned i = 0; i < 20000; i++) {
		struct base_view *view = &views[test_random(&seed) % 5];
		const uint64_t at = test_random(&seed) % from.size;
		uint64_t n = test_random(&seed) % (i % 50 ? 3000 : 1500000);
		const uint8_t *got_at;

		view->src = source;
		n = n < from.size - at ? n : from.size - at;
		got_at = base_view_at(view, at, n, NULL);
		assert_non_null(got_at);
		assert_memory_equal(got_at, data + at, n);
		assert_true(view->start <= at && view->end >= at + n);
		assert_memory_equal(view->data, data + view->start, view->end - view->start);
		if (i % 200 == 0)
			base_frames_check(source);
	}
	for (unsigned i = 0; i < 5; i++)
		base_view_release(&views[i]);
	assert_null(base_view_at(&views[0], from.size - 1, 2, NULL));
	assert_int_equal(source->check(source, NULL), HDB_OK);
	/* After a frame fails to inflate, the source keeps failing. */
	((uint8_t *)(uintptr_t)p.frames[1].packed)[0] ^= 0xff;
	base_source_close(source);
	assert_int_equal(base_frames_open(&from, &source, NULL), HDB_OK);
	views[0] = (struct base_view){ .src = source };
	assert_non_null(base_view_at(&views[0], 0, 1, NULL));
	assert_null(base_view_at(&views[0], p.frames[1].start, 1, NULL));
	base_frames_check(source);
	assert_int_equal(source->check(source, NULL), HDB_ECORRUPT);
	base_view_release(&views[0]);
	base_source_close(source);
	free_frames(&p);
}

static int setup(void **state)
{
	uint64_t seed = 1;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s", temp_path("input.gz"));
	data = malloc(DATA_BYTES);
	if (!data)
		return -1;
	for (size_t i = 0; i < DATA_BYTES; i++)
		data[i] = i % 16 < 5 ? (uint8_t)test_random(&seed) : (uint8_t)(i / 1000);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)unlink(path);
	base_vec_release(&zip);
	base_vec_release(&got);
	free(data);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),    cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_seekable), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flip),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
