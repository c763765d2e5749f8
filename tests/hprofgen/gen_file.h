/*
 * gen_file.h - buffered writing of an HPROF file: big-endian bytes, top-level records, heap dump
 * segments of about one megabyte. Independent of classes and shapes.
 *
 * Errors are sticky: after a failed write nothing more is written, and gen_file_close reports it.
 */
#ifndef HPROFGEN_GEN_FILE_H
#define HPROFGEN_GEN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Basic types as the format numbers them. */
enum gen_type { GEN_OBJECT = 2, GEN_INT = 10 };

/* Top-level records. */
enum gen_tag {
	GEN_UTF8 = 0x01,
	GEN_LOAD_CLASS = 0x02,
	GEN_TRACE = 0x05,
	GEN_HEAP_SEGMENT = 0x1c,
	GEN_HEAP_END = 0x2c
};

/* Records inside a heap dump segment. */
enum gen_sub {
	GEN_ROOT_JNI_GLOBAL = 0x01,
	GEN_ROOT_STICKY = 0x05,
	GEN_CLASS_DUMP = 0x20,
	GEN_INSTANCE = 0x21,
	GEN_OBJECT_ARRAY = 0x22
};

/* Maximum size of a heap record for gen_file_heap. Longer records are streamed. */
#define GEN_RECORD_MAX (512u << 10)

struct gen_file {
	int fd;
	int error;        /* errno of the first failure, else 0 */
	unsigned id_size; /* 4 or 8 */
	uint8_t *buf;     /* owned */
	size_t used;      /* bytes of buf */
	size_t segment;   /* offset in buf of the open segment's header; SIZE_MAX: none is open */
	uint64_t written; /* bytes that have left the buffer */
};

/* Creates the file and writes its header: 0, or -1 with errno set. */
int gen_file_open(struct gen_file *f, const char *path, unsigned id_size);

/*
 * Writes the remaining data and closes the file. Returns 0, or -1 with errno set by the first
 * failure.
 */
int gen_file_close(struct gen_file *f);

/*
 * Room for `size` bytes (at most GEN_RECORD_MAX) outside of segments, or in a streamed record;
 * the caller fills all of it. Borrowed until the next call.
 */
uint8_t *gen_file_reserve(struct gen_file *f, size_t size);

/* Begins a top-level record and returns room for its whole body. */
uint8_t *gen_file_record(struct gen_file *f, enum gen_tag tag, size_t size);

/* Room for one heap record of `size` bytes; opens and closes segments as needed. */
uint8_t *gen_file_heap(struct gen_file *f, size_t size);

/*
 * Begins a segment of its own for one heap record of any size: its body then goes through
 * gen_file_reserve, `size` bytes in all.
 */
void gen_file_heap_stream(struct gen_file *f, uint32_t size);

static inline uint8_t *gen_u1(uint8_t *p, unsigned v)
{
	*p = (uint8_t)v;
	return p + 1;
}

static inline uint8_t *gen_u2(uint8_t *p, unsigned v)
{
	const uint16_t big = __builtin_bswap16((uint16_t)v);

	memcpy(p, &big, sizeof(big));
	return p + sizeof(big);
}

static inline uint8_t *gen_u4(uint8_t *p, uint32_t v)
{
	const uint32_t big = __builtin_bswap32(v);

	memcpy(p, &big, sizeof(big));
	return p + sizeof(big);
}

static inline uint8_t *gen_u8(uint8_t *p, uint64_t v)
{
	const uint64_t big = __builtin_bswap64(v);

	memcpy(p, &big, sizeof(big));
	return p + sizeof(big);
}

static inline uint8_t *gen_bytes(uint8_t *p, const void *data, size_t size)
{
	memcpy(p, data, size);
	return p + size;
}

static inline uint8_t *gen_id(const struct gen_file *f, uint8_t *p, uint64_t id)
{
	return f->id_size == 8 ? gen_u8(p, id) : gen_u4(p, (uint32_t)id);
}

/* A 64-bit hash of two numbers. Every random choice is gen_hash(seed, what). */
static inline uint64_t gen_hash(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* A number below `n`, from 64 random bits. */
static inline uint64_t gen_below(uint64_t random, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)random * n) >> 64);
}

#endif
