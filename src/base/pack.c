/*
 * base/pack.c - encodes and decodes packed columns.
 *
 * Layout of a column: u32 size in bytes, u32 offset of each group from the column's start, the
 * groups, and 8 zero bytes, so that 8-byte loads stay inside the column. Layout of a group: u8
 * width, u8 number of exceptions, u8 width of exceptions, u8 bytes of the base, the base, the low
 * bits of all values, the positions of exceptions (u8 each), the high bits of exceptions.
 * Everything is little-endian.
 */
#include "base/pack.h"

#include "base/bytes.h"
#include "base/processor.h"

#include <assert.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define GROUP_HEADER 4
/* For functions that are compiled a second time for processors with longer vectors. */
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define PAD 8

static unsigned bit_length(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static uint64_t mask_of(unsigned width)
{
	return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static uint64_t bits_to_bytes(uint64_t bits)
{
	return (bits + 7) / 8;
}

/* Reads `width` bits, beginning at bit `bit` of p. Accesses up to 9 bytes from p[bit / 8] on. */
static inline uint64_t get_bits(const uint8_t *p, uint64_t bit, unsigned width)
{
	const unsigned shift = (unsigned)(bit & 7);
	uint64_t v;

	p += bit >> 3;
	v = load64(p) >> shift;
	if (shift + width > 64)
		v |= (uint64_t)p[8] << (64 - shift);
	return v & mask_of(width);
}

/* Packs fields of equal width one after another. */
static uint8_t *put_run(uint8_t *p, const uint64_t *values, unsigned n, uint64_t base,
			unsigned width)
{
	const uint64_t mask = mask_of(width);
	uint64_t word = 0;
	unsigned used = 0;

	for (unsigned i = 0; i < n; i++) {
		const uint64_t v = (values[i] - base) & mask;

		word |= v << used;
		used += width;
		if (used >= 64) {
			store64(p, word);
			p += 8;
			used -= 64;
			word = used ? v >> (width - used) : 0;
		}
	}
	for (; used; used = used > 8 ? used - 8 : 0) {
		*p++ = (uint8_t)word;
		word >>= 8;
	}
	return p;
}

/*
 * Counts the values by the bit length of their difference from the base. Adjacent values mostly
 * have the same length, so adjacent values are counted in different lanes: increments of a single
 * counter would have to wait for each other.
 */
static void count_lengths(const uint64_t *values, unsigned n, uint64_t base, uint8_t lanes[4][65])
{
	static_assert(PACK_GROUP / 4 <= UINT8_MAX, "a lane counts its values in a byte");
	for (unsigned i = 0; i < n; i++)
		lanes[i % 4][bit_length(values[i] - base)]++;
}

/*
 * Returns the width that makes the group smallest; values that need more bits become exceptions.
 * `max` is the bit length of the largest value minus the base.
 */
static unsigned best_width(const uint64_t *values, unsigned n, uint64_t base, unsigned max)
{
	uint8_t lanes[4][65] = { { 0 } };
	unsigned best = max, over = 0;
	uint64_t best_cost = (uint64_t)n * max;

	count_lengths(values, n, base, lanes);
	for (unsigned w = max; w-- > 0;) {
		uint64_t cost;

		for (unsigned k = 0; k < 4; k++)
			over += lanes[k][w + 1];
		cost = (uint64_t)n * w + (uint64_t)over * (8 + max - w);
		if (cost < best_cost) {
			best_cost = cost;
			best = w;
		}
		/*
		 * Narrower widths need not be tried: they have at least as many exceptions, and the
		 * exceptions alone already cost as much as the best width.
		 */
		if ((uint64_t)over * (8 + max) >= best_cost)
			break;
	}
	return best;
}

/*
 * Maximum number of bytes for writing a group: header, base, 64-bit values, positions, high bits,
 * and the bytes that may be written beyond the end.
 */
#define GROUP_MAX (GROUP_HEADER + 8 + PACK_GROUP * 8 + PACK_GROUP + PACK_GROUP * 8 + PAD)

/* Bit widths of the parts of a group. */
struct widths {
	uint64_t base;
	unsigned width; /* stored for every value */
	unsigned max;   /* bit width of the largest value minus the base */
};

/* Writes the positions of a group's exceptions. Returns their number. */
static unsigned put_positions(uint8_t *positions, const uint64_t *values, unsigned n, uint64_t base,
			      unsigned width)
{
	uint8_t *p = positions;

	for (unsigned i = 0; i < n; i++) {
		*p = (uint8_t)i;
		p += (values[i] - base) >> width != 0;
	}
	return (unsigned)(p - positions);
}

/*
 * Writes the high bits of a group's exceptions, after their positions. Returns the end of the
 * output.
 */
static uint8_t *put_high_bits(uint8_t *positions, unsigned count, const uint64_t *values,
			      const struct widths *w)
{
	uint64_t high[PACK_GROUP];

	for (unsigned i = 0; i < count; i++)
		high[i] = (values[positions[i]] - w->base) >> w->width;
	return put_run(positions + count, high, count, 0, w->max - w->width);
}

/* ---- values of 32 bits ---- */

/*
 * The encoder for groups that contain only values of up to 32 bits, as most groups do. It consists
 * of loops over whole groups, which compilers turn into vector code. Entries after the last value
 * are 0. Both encoders produce the same bytes.
 */

/*
 * Minimum number of values for this encoder. For fewer values, it would take as long as for a full
 * group.
 */
#define SMALL_MIN 16

/*
 * Returns whether all values fit in 32 bits. If so, v contains the group, padded with its first
 * value.
 */
static ALWAYS_INLINE bool take_small(const uint64_t *values, unsigned n, uint32_t *v)
{
	uint64_t any = 0;

	if (n == PACK_GROUP) {
		for (unsigned i = 0; i < PACK_GROUP; i++) {
			any |= values[i];
			v[i] = (uint32_t)values[i];
		}
		return any <= UINT32_MAX;
	}
	for (unsigned i = 0; i < n; i++) {
		any |= values[i];
		v[i] = (uint32_t)values[i];
	}
	for (unsigned i = n; i < PACK_GROUP; i++)
		v[i] = v[0];
	return any <= UINT32_MAX;
}

/* Subtracts the minimum from all values and returns it. Sets *any to the OR of the results. */
static ALWAYS_INLINE uint32_t take_base(uint32_t *v, unsigned n, uint32_t *any)
{
	uint32_t base = UINT32_MAX, bits = 0;

	for (unsigned i = 0; i < PACK_GROUP; i++)
		base = v[i] < base ? v[i] : base;
	for (unsigned i = 0; i < PACK_GROUP; i++) {
		v[i] -= base;
		bits |= v[i];
	}
	for (unsigned i = n; i < PACK_GROUP; i++)
		v[i] = 0;
	*any = bits;
	return base;
}

/*
 * Finds the bit lengths of all values from the exponents of floating-point numbers. The
 * second-highest bit is cleared to prevent rounding up to the next power of two. A value with the
 * highest bit set converts to a negative number.
 */
static ALWAYS_INLINE void take_lengths(const uint32_t *v, uint8_t *length)
{
	for (unsigned i = 0; i < PACK_GROUP; i++) {
		const float number = (float)(int32_t)(v[i] & ~(v[i] >> 1));
		uint32_t bits, exponent;

		memcpy(&bits, &number, sizeof bits);
		exponent = bits >> 23;
		exponent = exponent < 126 ? 126 : exponent;
		length[i] = (uint8_t)(exponent > 158 ? 32 : exponent - 126);
	}
}

/* Counts lengths greater than `width`. */
static ALWAYS_INLINE unsigned count_longer(const uint8_t *length, unsigned width)
{
	const uint8_t limit = (uint8_t)(width + 1);
	uint8_t over = 0;

	static_assert(PACK_GROUP <= UINT8_MAX, "values are counted in a byte");
	for (unsigned i = 0; i < PACK_GROUP; i++)
		over = (uint8_t)(over + (length[i] >= limit));
	return over;
}

/* Returns the same width as best_width, given the lengths. */
static ALWAYS_INLINE unsigned best_small_width(const uint8_t *length, unsigned n, unsigned max)
{
	unsigned best = max, best_cost = n * max;

	for (unsigned w = max; w-- > 0;) {
		const unsigned over = count_longer(length, w);
		const unsigned cost = n * w + over * (8 + max - w);

		if (cost < best_cost) {
			best_cost = cost;
			best = w;
		}
		if (over * (8 + max) >= best_cost)
			break;
	}
	return best;
}

/*
 * Packs the low `width` bits of n values. Adjacent values are joined into one field, and pairs of
 * these are joined again if they fit in 64 bits.
 */
static ALWAYS_INLINE uint8_t *put_small_run(uint8_t *p, const uint32_t *v, unsigned n,
					    unsigned width)
{
	const uint64_t mask = mask_of(width);
	uint64_t pair[PACK_GROUP / 2], four[PACK_GROUP / 4];

	for (unsigned i = 0; i < PACK_GROUP / 2; i++)
		pair[i] = (v[2 * i] & mask) | (v[2 * i + 1] & mask) << width;
	if (width > 16) {
		(void)put_run(p, pair, (n + 1) / 2, 0, 2 * width);
	} else {
		for (unsigned i = 0; i < PACK_GROUP / 4; i++)
			four[i] = pair[2 * i] | pair[2 * i + 1] << (2 * width);
		(void)put_run(p, four, (n + 3) / 4, 0, 4 * width);
	}
	return p + bits_to_bytes((uint64_t)n * width);
}

/* Returns a mask with a bit set for each of 64 lengths that is greater than `width`. */
static ALWAYS_INLINE uint64_t longer(const uint8_t *length, unsigned width)
{
	const uint64_t top = 0x8080808080808080, add = (top / 128) * (127 - width);
	uint64_t bits = 0;

	for (unsigned i = 0; i < 64; i += 8) {
		const uint64_t high = ((load64(length + i) + add) & top) >> 7;

		/* Gathers the lowest bit of each of eight bytes in the highest byte. */
		bits |= high * 0x0102040810204080 >> 56 << i;
	}
	return bits;
}

/*
 * Writes the positions and the high bits of the values with more than w->width bits. Returns the
 * end of the output, and sets *count to the number of these values. Writes up to 8 bytes beyond the
 * end.
 */
static ALWAYS_INLINE uint8_t *put_small_exceptions(uint8_t *p, const uint32_t *v,
						   const uint8_t *length, const struct widths *w,
						   unsigned *count)
{
	const uint64_t is_over[] = { longer(length, w->width), longer(length + 64, w->width) };
	const unsigned high_width = w->max - w->width;
	uint8_t *high = p + count_bits(is_over[0]) + count_bits(is_over[1]);
	uint64_t word = 0;
	unsigned used = 0;

	static_assert(PACK_GROUP == 128, "a bit a value in two words");
	*count = (unsigned)(high - p);
	for (unsigned half = 0; half < 2; half++) {
		for (uint64_t x = is_over[half]; x; x &= x - 1) {
			const unsigned i = 64 * half + (unsigned)__builtin_ctzll(x);

			*p++ = (uint8_t)i;
			word |= (uint64_t)(v[i] >> w->width) << used;
			store64(high, word);
			used += high_width;
			high += used / 8;
			word >>= used & ~7u;
			used %= 8;
		}
	}
	return high + (used != 0);
}

/* ---- a group ---- */

static struct widths widths_of(const uint64_t *values, unsigned n)
{
	struct widths w = { .base = values[0] };
	uint64_t most = values[0];

	for (unsigned i = 1; i < n; i++) {
		w.base = values[i] < w.base ? values[i] : w.base;
		most = values[i] > most ? values[i] : most;
	}
	w.max = bit_length(most - w.base);
	w.width = w.max ? best_width(values, n, w.base, w.max) : 0;
	return w;
}

/* Writes a group to h, which must have room for GROUP_MAX bytes. Returns the end of the output. */
static ALWAYS_INLINE uint8_t *encode_group_by(uint8_t *h, const uint64_t *values, unsigned n)
{
	uint32_t v[PACK_GROUP];
	uint8_t length[PACK_GROUP];
	uint8_t *p = h + GROUP_HEADER;
	const bool is_small = n >= SMALL_MIN && take_small(values, n, v);
	struct widths w;
	unsigned base_bytes, exceptions = 0;

	if (is_small) {
		uint32_t any;

		w.base = take_base(v, n, &any);
		w.max = w.width = bit_length(any);
		if (any) {
			take_lengths(v, length);
			w.width = best_small_width(length, n, w.max);
		}
	} else {
		w = widths_of(values, n);
	}
	base_bytes = (bit_length(w.base) + 7) / 8;
	for (unsigned i = 0; i < base_bytes; i++)
		*p++ = (uint8_t)(w.base >> (8 * i));
	if (w.width)
		p = is_small ? put_small_run(p, v, n, w.width) :
			       put_run(p, values, n, w.base, w.width);
	if (w.max > w.width) {
		if (is_small) {
			p = put_small_exceptions(p, v, length, &w, &exceptions);
		} else {
			exceptions = put_positions(p, values, n, w.base, w.width);
			p = put_high_bits(p, exceptions, values, &w);
		}
	}
	h[0] = (uint8_t)w.width;
	h[1] = (uint8_t)exceptions;
	h[2] = (uint8_t)(w.max - w.width);
	h[3] = (uint8_t)base_bytes;
	return p;
}

#ifdef __x86_64__
__attribute__((target("avx2,popcnt,bmi,bmi2"), flatten)) static uint8_t *encode_group_avx2(
	uint8_t *h, const uint64_t *values, unsigned n)
{
	return encode_group_by(h, values, n);
}
#endif

static uint8_t *encode_group(uint8_t *h, const uint64_t *values, unsigned n)
{
#ifdef __x86_64__
	if (processor_has_vectors())
		return encode_group_avx2(h, values, n);
#endif
	return encode_group_by(h, values, n);
}

int base_pack_begin(struct pack_writer *w, struct base_vec *out, uint32_t count,
		    struct hdb_error *err)
{
	const uint32_t groups = (count + PACK_GROUP - 1) / PACK_GROUP;

	TRY(base_vec_reserve(out, 4 + (size_t)groups * 4, 1, err));
	*w = (struct pack_writer){ .out = out, .start = out->count };
	out->count += 4 + (size_t)groups * 4;
	return HDB_OK;
}

int base_pack_put_group(struct pack_writer *w, const uint64_t *values, unsigned n,
			struct hdb_error *err)
{
	struct base_vec *out = w->out;
	uint8_t *h;

	assert(n > 0 && n <= PACK_GROUP);
	TRY(base_vec_reserve(out, GROUP_MAX, 1, err));
	store32((uint8_t *)out->data + w->start + 4 + (size_t)w->group++ * 4,
		(uint32_t)(out->count - w->start));
	h = (uint8_t *)out->data + out->count;
	out->count += (size_t)(encode_group(h, values, n) - h);
	return HDB_OK;
}

int base_pack_end(struct pack_writer *w, struct hdb_error *err)
{
	static const uint8_t pad[PAD];
	const int r = base_bytes_append(w->out, pad, PAD, err);

	TRY(r);
	store32((uint8_t *)w->out->data + w->start, (uint32_t)(w->out->count - w->start));
	return r;
}

int base_pack_encode(struct base_vec *out, const uint64_t *values, uint32_t count,
		     struct hdb_error *err)
{
	struct pack_writer w;

	TRY(base_pack_begin(&w, out, count, err));
	for (uint32_t first = 0; first < count; first += PACK_GROUP) {
		TRY(base_pack_put_group(&w, values + first,
					count - first < PACK_GROUP ? count - first : PACK_GROUP,
					err));
	}
	return base_pack_end(&w, err);
}

/* Returns the size of a group with this header, not counting the header. */
static uint64_t group_size(const uint8_t *h, unsigned n)
{
	return (uint64_t)h[3] + bits_to_bytes((uint64_t)n * h[0]) + h[1] +
	       bits_to_bytes((uint64_t)h[1] * h[2]);
}

static unsigned group_count(const struct pack_column *column, uint32_t g)
{
	const uint32_t first = g * PACK_GROUP;

	return column->count - first < PACK_GROUP ? column->count - first : PACK_GROUP;
}

static bool group_is_sound(const uint8_t *h, uint64_t room, unsigned n)
{
	const uint8_t *positions;

	if (room < GROUP_HEADER || h[0] > 64 || h[0] + h[2] > 64 || h[3] > 8 || h[1] > n)
		return false;
	/* Exceptions must have high bits. */
	if (h[1] && !h[2])
		return false;
	if (group_size(h, n) > room - GROUP_HEADER)
		return false;
	positions = h + GROUP_HEADER + h[3] + bits_to_bytes((uint64_t)n * h[0]);
	for (unsigned i = 0; i < h[1]; i++)
		if (positions[i] >= n)
			return false;
	return true;
}

int base_pack_open(struct pack_column *column, const uint8_t *data, uint64_t size, uint32_t count,
		   struct hdb_error *err)
{
	const uint32_t groups = (uint32_t)(((uint64_t)count + PACK_GROUP - 1) / PACK_GROUP);
	const uint64_t directory = 4 + (uint64_t)groups * 4;
	uint64_t column_size;

	*column = (struct pack_column){ .data = data, .count = count };
	if (size < directory + PAD)
		return hdb_fail(err, HDB_ECORRUPT,
				"packed column: %" PRIu64 " bytes, at least %" PRIu64 " expected",
				size, directory + PAD);
	column_size = load32(data);
	if (column_size < directory + PAD || column_size > size)
		return hdb_fail(err, HDB_ECORRUPT,
				"packed column: its header records %" PRIu64
				" bytes, but the block has %" PRIu64,
				column_size, size);
	for (uint32_t g = 0; g < groups; g++) {
		const uint32_t at = load32(data + 4 + (uint64_t)g * 4);

		if (at < directory || at > column_size - PAD ||
		    !group_is_sound(data + at, column_size - PAD - at, group_count(column, g)))
			return hdb_fail(err, HDB_ECORRUPT,
					"packed column: group %" PRIu32 " is damaged", g);
	}
	column->size = column_size;
	return HDB_OK;
}

static uint64_t group_base(const uint8_t *h)
{
	uint64_t base = 0;

	for (unsigned i = 0; i < h[3]; i++)
		base |= (uint64_t)h[GROUP_HEADER + i] << (8 * i);
	return base;
}

uint64_t base_pack_get(const struct pack_column *column, uint32_t i)
{
	const uint32_t g = i / PACK_GROUP;
	const unsigned at = i % PACK_GROUP;
	const uint8_t *h = column->data + load32(column->data + 4 + (uint64_t)g * 4);
	const unsigned n = group_count(column, g);
	const uint8_t *low = h + GROUP_HEADER + h[3];
	const uint8_t *positions = low + bits_to_bytes((uint64_t)n * h[0]);
	uint64_t v = h[0] ? get_bits(low, (uint64_t)at * h[0], h[0]) : 0;

	assert(i < column->count);
	for (unsigned e = 0; e < h[1]; e++)
		if (positions[e] == at)
			v |= get_bits(positions + h[1], (uint64_t)e * h[2], h[2]) << h[0];
	return v + group_base(h);
}

bool base_pack_is_zero(const struct pack_column *column)
{
	for (uint32_t g = 0; g * PACK_GROUP < column->count; g++) {
		const uint8_t *h = column->data + load32(column->data + 4 + (uint64_t)g * 4);

		if (h[0] || h[1] || h[3])
			return false;
	}
	return true;
}

/* Fixed-width fields of at most 57 bits, which hold the low bits of a group's values. */
struct fields {
	const uint8_t *at;
	const uint8_t *end; /* end of the readable bytes */
	uint64_t base;      /* added to all values */
	unsigned width, count;
};

#ifdef __x86_64__
/* Moves four consecutive fields into the four lanes of a vector. */
struct lanes {
	/* byte shuffle of the 16 bytes at `at`: each half receives the bytes of its two fields */
	__m256i bytes;
	__m256i shift;
	unsigned at[2];
};

__attribute__((target("avx2"))) static struct lanes lanes_of(unsigned first, unsigned width)
{
	const __m256i repeat = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8, 0,
						0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8);
	const __m256i next = _mm256_set1_epi64x(0x0706050403020100);
	const __m256i field = _mm256_setr_epi64x(first, first + 1, first + 2, first + 3);
	const __m256i bit = _mm256_mul_epu32(field, _mm256_set1_epi64x(width));
	const __m256i byte = _mm256_srli_epi64(bit, 3);
	const __m256i from = _mm256_sub_epi64(byte, _mm256_unpacklo_epi64(byte, byte));

	return (struct lanes){
		.bytes = _mm256_add_epi8(_mm256_shuffle_epi8(from, repeat), next),
		.shift = _mm256_and_si256(bit, _mm256_set1_epi64x(7)),
		.at = { first * width / 8, (first + 2) * width / 8 },
	};
}

__attribute__((target("avx2"))) static inline void unpack_four(const uint8_t *p,
							       const struct lanes *lanes,
							       __m256i mask, __m256i base,
							       uint64_t *out)
{
	const __m128i low = _mm_loadu_si128((const __m128i *)(p + lanes->at[0]));
	const __m128i high = _mm_loadu_si128((const __m128i *)(p + lanes->at[1]));
	const __m256i words = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), lanes->bytes);
	const __m256i value = _mm256_and_si256(_mm256_srlv_epi64(words, lanes->shift), mask);

	_mm256_storeu_si256((__m256i *)out, _mm256_add_epi64(value, base));
}

/*
 * Unpacks eight fields at a time, so that each step starts at a whole byte. Returns the number of
 * fields unpacked.
 */
__attribute__((target("avx2"))) static unsigned unpack_avx2(const struct fields *in, uint64_t *out)
{
	const struct lanes first = lanes_of(0, in->width), second = lanes_of(4, in->width);
	const __m256i mask = _mm256_set1_epi64x((long long)mask_of(in->width));
	const __m256i base = _mm256_set1_epi64x((long long)in->base);
	const unsigned reach = second.at[1] + (unsigned)sizeof(__m128i);
	const uint8_t *p = in->at;
	unsigned done = 0;

	for (; in->count - done >= 8 && (size_t)(in->end - p) >= reach; done += 8, p += in->width) {
		unpack_four(p, &first, mask, base, out + done);
		unpack_four(p, &second, mask, base, out + done + 4);
	}
	return done;
}
#endif

static void unpack(const struct fields *in, uint64_t *out)
{
	const uint64_t mask = mask_of(in->width);
	unsigned done = 0;

#ifdef __x86_64__
	if (processor_has_vectors())
		done = unpack_avx2(in, out);
#endif
	for (uint64_t bit = (uint64_t)done * in->width; done < in->count; done++, bit += in->width)
		out[done] = in->base + ((load64(in->at + bit / 8) >> bit % 8) & mask);
}

/* Adds the high bits of a group's exceptions. May read eight bytes beyond the column. */
static void add_exceptions(const uint8_t *h, const uint8_t *positions, uint64_t *out)
{
	const unsigned width = h[0], count = h[1], high = h[2];
	const uint8_t *p = positions + count;
	const uint64_t mask = mask_of(high);

	if (high > 57) {
		for (unsigned e = 0; e < count; e++)
			out[positions[e]] += get_bits(p, (uint64_t)e * high, high) << width;
		return;
	}
	for (unsigned e = 0, bit = 0; e < count; e++, bit += high)
		out[positions[e]] += ((load64(p + bit / 8) >> bit % 8) & mask) << width;
}

unsigned base_pack_group(const struct pack_column *column, uint32_t g, uint64_t *out)
{
	const uint8_t *h = column->data + load32(column->data + 4 + (uint64_t)g * 4);
	const unsigned n = group_count(column, g);
	const unsigned width = h[0];
	const uint64_t base = group_base(h);
	const uint8_t *low = h + GROUP_HEADER + h[3];
	const uint8_t *positions = low + bits_to_bytes((uint64_t)n * width);

	if (width == 0) {
		for (unsigned i = 0; i < n; i++)
			out[i] = base;
	} else if (width <= 57) {
		unpack(&(struct fields){ low, column->data + column->size, base, width, n }, out);
	} else {
		for (unsigned i = 0; i < n; i++)
			out[i] = base + get_bits(low, (uint64_t)i * width, width);
	}
	add_exceptions(h, positions, out);
	return n;
}
