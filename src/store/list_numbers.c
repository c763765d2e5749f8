/*
 * store/list_numbers.c - varints of 32 bits, many at once; see list_numbers.h.
 */
#include "store/list_numbers.h"

#include "base/processor.h"
#include "store/lists_put.h"

#include <assert.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

static uint8_t *put_plain(uint8_t *p, const uint32_t *numbers, const uint32_t *end)
{
	for (; numbers < end; numbers++)
		p = store_put_entry(p, *numbers);
	return p;
}

#ifdef __x86_64__
/* With the instruction that moves bits apart. */
__attribute__((target("bmi,bmi2"))) static uint8_t *put_bmi2(uint8_t *p, const uint32_t *numbers,
							     const uint32_t *end)
{
	for (; numbers < end; numbers++) {
		const uint64_t v = __builtin_ia32_pdep_di(*numbers, 0x0f7f7f7f7f);
		const unsigned more_bits = (63 - (unsigned)__builtin_clzll(v | 1)) & ~7u;

		store64(p, v | __builtin_ia32_bzhi_di(0x80808080u, more_bits));
		p += more_bits / 8 + 1;
	}
	return p;
}

/* Sixteen numbers below 2^28 at once: each has four bytes, of which those that count are kept. */
PROCESSOR_BYTES static uint8_t *put_avx512(uint8_t *p, const uint32_t *numbers, const uint32_t *end)
{
	/* Bits of a pair of numbers from which each byte takes seven. */
	const __m512i from = _mm512_set1_epi64(0x352e2720150e0700);
	const uint64_t ones = 0x1111111111111111;

	for (; numbers < end; numbers += 16) {
		const unsigned n = end - numbers < 16 ? (unsigned)(end - numbers) : 16;
		const __mmask16 lanes = (__mmask16)((1u << n) - 1);
		const __m512i number = _mm512_maskz_loadu_epi32(lanes, numbers);
		__m512i bytes = _mm512_multishift_epi64_epi8(from, number);
		uint64_t is_set, goes_on, counts;

		if (_mm512_test_epi32_mask(number, _mm512_set1_epi32((int)0xf0000000))) {
			p = put_bmi2(p, numbers, numbers + n);
			continue;
		}
		bytes = _mm512_and_si512(bytes, _mm512_set1_epi8(0x7f));
		is_set = _mm512_test_epi8_mask(bytes, bytes);
		/* Behind a byte comes another one if a higher one is not zero. */
		goes_on =
			(is_set >> 1 & 7 * ones) | (is_set >> 2 & 3 * ones) | (is_set >> 3 & ones);
		counts = (goes_on << 1 | ones) & _bzhi_u64(UINT64_MAX, 4 * n);
		bytes = _mm512_mask_add_epi8(bytes, goes_on, bytes, _mm512_set1_epi8((char)0x80));
		_mm512_storeu_si512(p, _mm512_maskz_compress_epi8(counts, bytes));
		p += _mm_popcnt_u64(counts);
	}
	return p;
}
#endif

uint8_t *store_numbers_put(uint8_t *p, const uint32_t *numbers, const uint32_t *end)
{
	assert(numbers <= end);
#ifdef __x86_64__
	if (processor_moves_bytes())
		return put_avx512(p, numbers, end);
	if (processor_moves_bits())
		return put_bmi2(p, numbers, end);
#endif
	return put_plain(p, numbers, end);
}

/* ---- reading ---- */

bool store_numbers_are_fast(void)
{
#ifdef __x86_64__
	return processor_moves_bytes();
#else
	return false;
#endif
}

#ifdef __x86_64__
/* What is read at once: so many varints of four bytes fill a vector. */
#define VECTOR_BYTES 64u

/*
 * Reads the next numbers from a vector of bytes, of which `ends` has those that end a varint;
 * *is_long is the numbers that have more than four bytes, which mean nothing.
 */
PROCESSOR_BYTES static inline __m512i get_vector(__m512i bytes, uint64_t ends, __mmask16 *is_long)
{
	const __m512i place = _mm512_set_epi64(
		0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
		0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
	/* For each number four times, which of the sixteen it is. */
	const __m512i which = _mm512_set_epi64(
		0x0f0f0f0f0e0e0e0e, 0x0d0d0d0d0c0c0c0c, 0x0b0b0b0b0a0a0a0a, 0x0909090908080808,
		0x0707070706060606, 0x0505050504040404, 0x0303030302020202, 0x0101010100000000);
	/* Where each number has its last byte, and its first one. */
	const __m128i last = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(ends, place));
	const __m128i first = _mm_bslli_si128(_mm_add_epi8(last, _mm_set1_epi8(1)), 1);
	const __m512i more = _mm512_cvtepu8_epi32(_mm_sub_epi8(last, first));
	const __m512i spread = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(first), which);
	const __m512i from = _mm512_add_epi8(spread, _mm512_set1_epi32(0x03020100));
	/* 8 times the bytes that are another number's. */
	const __m512i shift = _mm512_slli_epi32(_mm512_sub_epi32(_mm512_set1_epi32(3), more), 3);
	const __m512i keep = _mm512_srlv_epi32(_mm512_set1_epi32(0x7f7f7f7f), shift);
	const __m512i parts = _mm512_and_si512(_mm512_permutexvar_epi8(from, bytes), keep);
	const __m512i pairs = _mm512_maddubs_epi16(_mm512_set1_epi16((short)0x8001), parts);

	*is_long = _mm512_cmpgt_epu32_mask(more, _mm512_set1_epi32(3));
	return _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x40000001));
}

PROCESSOR_BYTES unsigned store_numbers_get(const uint8_t **at, const uint8_t *end, uint32_t *out,
					   unsigned room)
{
	const uint8_t *p = *at;
	unsigned count = 0, taken = STORE_NUMBERS_AT_ONCE;

	while (taken == STORE_NUMBERS_AT_ONCE && room - count >= STORE_NUMBERS_AT_ONCE &&
	       end - p >= VECTOR_BYTES) {
		const __m512i bytes = _mm512_loadu_si512(p);
		uint64_t ends = ~(uint64_t)_mm512_movepi8_mask(bytes);
		__mmask16 is_long;

		_mm512_storeu_si512(out + count, get_vector(bytes, ends, &is_long));
		/* Fewer end in the vector only if one is long. */
		if (is_long || _mm_popcnt_u64(ends) < STORE_NUMBERS_AT_ONCE) {
			const unsigned all = (unsigned)_mm_popcnt_u64(ends);

			taken = (unsigned)__builtin_ctz(is_long | 1u << STORE_NUMBERS_AT_ONCE);
			taken = taken < all ? taken : all;
			if (!taken)
				break;
		}
		ends = _pdep_u64((uint64_t)1 << (taken - 1), ends);
		p += __builtin_ctzll(ends) + 1;
		count += taken;
	}
	*at = p;
	return count;
}

/* Numbers of which it is found at once which are lengths: a vector of bytes has their places. */
#define WINDOW 64u

/* Of each number of a window the place of the next length if it is one itself. */
PROCESSOR_BYTES static inline __m512i places_after(const uint32_t *numbers)
{
	const __m512i behind = _mm512_set_epi64(
		0x403f3e3d3c3b3a39, 0x3837363534333231, 0x302f2e2d2c2b2a29, 0x2827262524232221,
		0x201f1e1d1c1b1a19, 0x1817161514131211, 0x100f0e0d0c0b0a09, 0x0807060504030201);
	__m128i entries[4];

	for (unsigned i = 0; i < 4; i++) {
		const __m512i number = _mm512_loadu_si512(numbers + 16 * i);
		/* A big list has none here. */
		const __mmask16 is_small = _mm512_testn_epi32_mask(number, _mm512_set1_epi32(1));

		entries[i] = _mm512_cvtusepi32_epi8(_mm512_maskz_srli_epi32(is_small, number, 1));
	}
	return _mm512_adds_epu8(
		behind,
		_mm512_inserti64x4(_mm512_castsi256_si512(_mm256_set_m128i(entries[1], entries[0])),
				   _mm256_set_m128i(entries[3], entries[2]), 1));
}

/* The bits whose numbers are the bytes of a vector; those from 64 on are none. */
PROCESSOR_BYTES static inline uint64_t bits_at(__m512i places)
{
	const __m512i one = _mm512_set1_epi64(1);
	__m512i bits = _mm512_setzero_si512();

	for (unsigned i = 0; i < 8; i++) {
		bits = _mm512_or_si512(
			bits, _mm512_sllv_epi64(
				      one, _mm512_cvtepu8_epi64(_mm512_castsi512_si128(places))));
		places = _mm512_alignr_epi64(places, places, 1);
	}
	return (uint64_t)_mm512_reduce_or_epi64(bits);
}

/*
 * Which numbers of a window are lengths, a bit for each, if that at place `at` is one. Of all it is
 * known at once where the first, second, fourth, eighth ... length behind them is, so that no list
 * waits for the one before it (pointer jumping: Wyllie, "The Complexity of Parallel Computations",
 * 1979).
 */
PROCESSOR_BYTES static inline uint64_t find_lengths(const uint32_t *numbers, unsigned at)
{
	const __m512i none = _mm512_set1_epi8((char)WINDOW);
	__m512i after = places_after(numbers);
	__m512i places = _mm512_mask_set1_epi8(none, 1, (char)at);

	for (unsigned found = 1; found < WINDOW; found *= 2) {
		const __m512i more = _mm512_mask_permutexvar_epi8(
			none, _mm512_cmplt_epu8_mask(places, none), places, after);

		places = _mm512_mask_expand_epi8(places, UINT64_MAX << found, more);
		after = _mm512_mask_permutexvar_epi8(after, _mm512_cmplt_epu8_mask(after, none),
						     after, after);
	}
	return bits_at(places);
}

/* Writes the lengths of the lists whose lengths are, of sixteen numbers, those of `heads`. */
PROCESSOR_BYTES static inline uint64_t *put_lengths(uint64_t *out, __m512i number, unsigned heads)
{
	const __m512i head = _mm512_maskz_compress_epi32((__mmask16)heads, number);
	const unsigned n = (unsigned)_mm_popcnt_u32(heads), all = _bzhi_u32(0xffff, n);
	/* The lowest bit becomes the highest one. */
	const __m512i low =
		_mm512_ror_epi64(_mm512_cvtepu32_epi64(_mm512_castsi512_si256(head)), 1);
	const __m512i high =
		_mm512_ror_epi64(_mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(head, 1)), 1);

	static_assert(STORE_LIST_IS_BIG >> 63 == 1, "the length of a big list");
	_mm512_mask_storeu_epi64(out, (__mmask8)all, low);
	_mm512_mask_storeu_epi64(out + 8, (__mmask8)(all >> 8), high);
	return out + n;
}

/*
 * The sums of entries' differences from the length before them on, of sixteen numbers: at lengths,
 * which have bits in `heads`, `ix` and its followers stand instead.
 */
PROCESSOR_BYTES static inline __m512i sum_up(__m512i number, unsigned heads, uint32_t ix)
{
	const __m512i lanes =
		_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	const __m512i zero = _mm512_setzero_si512();
	const __m512i sign = _mm512_sub_epi32(zero, _mm512_and_si512(number, _mm512_set1_epi32(1)));
	__m512i v = _mm512_xor_si512(_mm512_srli_epi32(number, 1), sign);
	/* Lanes that what lies before them has no part in. */
	unsigned apart = heads;

	v = _mm512_mask_expand_epi32(v, (__mmask16)heads,
				     _mm512_add_epi32(lanes, _mm512_set1_epi32((int)ix)));
	v = _mm512_mask_add_epi32(v, (__mmask16)~apart, v, _mm512_alignr_epi32(v, zero, 15));
	apart |= apart << 1;
	v = _mm512_mask_add_epi32(v, (__mmask16)~apart, v, _mm512_alignr_epi32(v, zero, 14));
	apart |= apart << 2;
	v = _mm512_mask_add_epi32(v, (__mmask16)~apart, v, _mm512_alignr_epi32(v, zero, 12));
	apart |= apart << 4;
	return _mm512_mask_add_epi32(v, (__mmask16)~apart, v, _mm512_alignr_epi32(v, zero, 8));
}

/* Takes the first `count` numbers of a window, of which `heads` are lengths. */
PROCESSOR_BYTES static inline bool take_window(struct store_numbers_lists *lists,
					       const uint32_t *numbers, unsigned count,
					       uint64_t heads)
{
	const __m512i end = _mm512_set1_epi32((int)lists->ix_count);
	__m512i last = _mm512_set1_epi32((int)lists->last);
	uint64_t *lengths = lists->lengths;
	uint32_t *out = lists->out, ix = lists->next_ix;
	unsigned is_bad = 0;

	for (unsigned i = 0; i < count; i += 16, heads >>= 16) {
		const unsigned n = count - i < 16 ? count - i : 16;
		const __m512i number = _mm512_loadu_si512(numbers + i);
		const unsigned here = (unsigned)heads & 0xffff;
		const unsigned entries = ~here & _bzhi_u32(0xffff, n);
		/* Entries of the list that began before. */
		const unsigned before = (here - 1) & ~here;
		__m512i v = sum_up(number, here, ix);

		lengths = put_lengths(lengths, number, here);
		v = _mm512_mask_add_epi32(v, (__mmask16)before, v, last);
		is_bad |= _mm512_mask_cmpge_epu32_mask((__mmask16)entries, v, end);
		_mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)entries, v));
		out += _mm_popcnt_u32(entries);
		ix += (uint32_t)_mm_popcnt_u32(here);
		last = _mm512_permutexvar_epi32(_mm512_set1_epi32((int)n - 1), v);
	}
	lists->last = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(last));
	lists->lengths = lengths;
	lists->out = out;
	lists->next_ix = ix;
	return !is_bad;
}

PROCESSOR_BYTES bool store_numbers_take(struct store_numbers_lists *lists, const uint32_t *numbers,
					unsigned count)
{
	uint64_t next = lists->left; /* place of the next length */
	bool is_sound = true;

	for (unsigned first = 0; first < count && is_sound; first += WINDOW) {
		const unsigned n = count - first < WINDOW ? count - first : WINDOW;
		const uint32_t *const window = numbers + first;
		uint64_t heads = 0;

		if (next < n) {
			const uint32_t left = lists->end_ix - lists->next_ix;

			heads = _bzhi_u64(find_lengths(window, (unsigned)next), n);
			if (left < WINDOW)
				heads = _pdep_u64(_bzhi_u64(UINT64_MAX, left), heads);
		}
		if (heads) {
			const unsigned at = 63 - (unsigned)__builtin_clzll(heads);

			next = at + 1 + (window[at] & 1 ? 0 : window[at] >> 1);
		}
		is_sound = take_window(lists, window, next < n ? (unsigned)next : n, heads);
		/* Only behind the last list is anything left. */
		if (next < n) {
			next = 0;
			break;
		}
		next -= n;
	}
	lists->left = next;
	return is_sound;
}
#else
unsigned store_numbers_get(const uint8_t **at, const uint8_t *end, uint32_t *out, unsigned room)
{
	(void)at, (void)end, (void)out, (void)room;
	return 0;
}

bool store_numbers_take(struct store_numbers_lists *lists, const uint32_t *numbers, unsigned count)
{
	(void)lists, (void)numbers, (void)count;
	return false;
}
#endif
