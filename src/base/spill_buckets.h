/*
 * base/spill_buckets.h - records distributed to buckets; each bucket is read back in the order of
 * insertion.
 *
 * It is used for tables that are filled in random order and do not fit in memory: the entries for
 * one part of the table go to one bucket, and the buckets are then processed in memory one by one.
 * A record has one or two numbers that are close to the numbers of the previous record in its
 * bucket and are stored as differences, and up to two other numbers. All are varints; a record
 * takes 3 to 6 bytes. A bucket is a chain of chunks. Chunks stay in memory until the budget is
 * exhausted. Later chunks are written to a scratch file as a whole. The contents are trusted,
 * because the same process wrote them.
 */
#ifndef BASE_SPILL_BUCKETS_H
#define BASE_SPILL_BUCKETS_H

#include "base/bytes.h"
#include "base/spill.h"
#include "base/vec.h"

/* Maximum number of numbers in a record. */
#define BASE_BUCKET_FIELDS 4u

/*
 * Minimum size of a chunk in bytes, which is the smallest amount that a disk reads at once. Larger
 * chunks make reading faster.
 */
#define GRAPH_CHUNK_MIN 4096u
#define GRAPH_CHUNK_MAX 65536u

struct base_bucket {
	uint8_t *chunk; /* the chunk being filled */
	/* number of bytes used in the chunk; larger than every limit if the bucket has no chunk */
	uint32_t used;
	uint32_t slot;        /* its slot */
	uint32_t first, last; /* slots of full chunks, or GRAPH_NO_SLOT */
	/* values of the most recently added record that are stored as differences */
	uint64_t before[2];
	uint64_t count; /* records */
};

#define GRAPH_NO_SLOT UINT32_MAX

/* The place of a chunk. */
struct base_bucket_slot {
	uint8_t *data;  /* NULL means the chunk is in the file */
	uint64_t place; /* number of the chunk in the file, or of its slab if it is in memory */
	uint32_t used;  /* bytes */
	uint32_t next;  /* slot of the next chunk of the bucket, or of the next free chunk */
};

struct base_bucket_slab {
	struct base_big big;
	uint32_t live; /* number of chunks in use */
};

struct base_buckets {
	struct base_work *work;
	const char *what;
	struct base_bucket *bucket;
	uint32_t bucket_count;
	uint32_t chunk_bytes;
	/* a chunk with at most this number of used bytes has room for another record */
	uint32_t full;
	uint64_t kept_bytes;   /* part of the budget that is reserved for other structures */
	struct base_vec slots; /* struct base_bucket_slot */
	struct base_vec slabs; /* struct base_bucket_slab */
	bool has_small_slabs;
	uint32_t free_slot;   /* first free slot in memory */
	uint32_t free_place;  /* first free slot in the file */
	uint64_t place_count; /* number of slots in the file */
	struct base_spill spill;
};

/* The number of buckets and their memory limits. */
struct base_buckets_plan {
	uint32_t bucket_count;
	/* memory for one chunk per bucket, which limits the size of a chunk */
	uint64_t chunks_bytes;
	uint64_t kept_bytes; /* part of the budget that is reserved for other structures */
	const char *what;    /* for messages; borrowed while the buckets exist */
};

/*
 * Initialises empty buckets. `work` is borrowed. *buckets must contain zeros. The caller must
 * release the buckets even after a failure.
 */
int base_buckets_init(struct base_buckets *buckets, const struct base_buckets_plan *plan,
		      struct base_work *work, struct hdb_error *err);
void base_buckets_release(struct base_buckets *buckets);

/* Gives a bucket a chunk that has room. Only for base_buckets_add. */
int base_buckets_turn(struct base_buckets *buckets, struct base_bucket *bucket,
		      struct hdb_error *err);

/*
 * The layout of a record: `deltas` (at most 2) numbers that are stored as differences from the
 * previous record, followed by `plains` other numbers. Both are constants in each call, so that the
 * compiler unrolls the loops.
 */
struct base_record_shape {
	unsigned deltas, plains;
};
#define BASE_RECORD(deltas, plains) ((struct base_record_shape){ deltas, plains })

/* Adds a record to a bucket. */
static inline int base_buckets_add(struct base_buckets *buckets, uint32_t bucket_no,
				   struct base_record_shape shape, const uint64_t *v,
				   struct hdb_error *err)
{
	struct base_bucket *bucket = &buckets->bucket[bucket_no];
	uint8_t *at;

	if (__builtin_expect(bucket->used > buckets->full, 0)) {
		const int rc = base_buckets_turn(buckets, bucket, err);
		if (rc < 0)
			return rc;
	}
	at = bucket->chunk + bucket->used;
	for (unsigned i = 0; i < shape.deltas; i++) {
		at = put_varint(at, zigzag((int64_t)(v[i] - bucket->before[i])));
		bucket->before[i] = v[i];
	}
	for (unsigned i = shape.deltas; i < shape.deltas + shape.plains; i++)
		at = put_varint(at, v[i]);
	bucket->used = (uint32_t)(at - bucket->chunk);
	bucket->count++;
	return HDB_OK;
}

/* Reads a bucket from its first record on. Thread-safe while no records are added to any bucket. */
struct base_bucket_reader {
	const struct base_buckets *buckets;
	const struct base_bucket *bucket;
	const uint8_t *at, *end;
	uint8_t *buffer;      /* a chunk from the file */
	uint32_t next;        /* slot */
	uint32_t ahead;       /* first slot that has not been prefetched yet */
	uint32_t ahead_count; /* number of chunks from `next` to `ahead` */
	/* whether the chunk being read is the one that is still being filled */
	bool is_at_last;
	uint64_t before[2];
};

/*
 * Begins to read a bucket. The buckets must not change until base_bucket_end, which accepts a
 * zeroed reader.
 */
int base_bucket_begin(const struct base_buckets *buckets, uint32_t bucket_no,
		      struct base_bucket_reader *reader, struct hdb_error *err);
void base_bucket_end(struct base_bucket_reader *reader);

/* Moves to the next chunk. Returns HDB_OK or HDB_END. Only for base_bucket_next. */
int base_bucket_more(struct base_bucket_reader *reader, struct hdb_error *err);

/* Reads a varint that is known to be complete. */
static inline const uint8_t *base_bucket_varint(const uint8_t *p, uint64_t *v)
{
	uint64_t r = *p++;
	unsigned shift = 7;

	if (r >= 0x80) {
		r &= 0x7f;
		for (; *p >= 0x80 && shift < 63; shift += 7)
			r |= (uint64_t)(*p++ & 0x7f) << shift;
		r |= (uint64_t)*p++ << shift;
	}
	*v = r;
	return p;
}

/*
 * Reads the next record into v. The layout must be the one passed to base_buckets_add. Returns
 * HDB_OK or HDB_END.
 */
static inline int base_bucket_next(struct base_bucket_reader *reader,
				   struct base_record_shape shape, uint64_t *v,
				   struct hdb_error *err)
{
	const uint8_t *at;

	if (reader->at == reader->end) {
		const int rc = base_bucket_more(reader, err);
		if (rc != HDB_OK)
			return rc;
	}
	at = reader->at;
	for (unsigned i = 0; i < shape.deltas; i++) {
		at = base_bucket_varint(at, &v[i]);
		v[i] = reader->before[i] + (uint64_t)unzigzag(v[i]);
		reader->before[i] = v[i];
	}
	for (unsigned i = shape.deltas; i < shape.deltas + shape.plains; i++)
		at = base_bucket_varint(at, &v[i]);
	reader->at = at;
	return HDB_OK;
}

/* Empties a bucket after it has been read. Its memory is reused. */
void base_bucket_drop(struct base_buckets *buckets, uint32_t bucket_no);

#endif
