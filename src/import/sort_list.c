/*
 * import/sort_list.c - sorts what one object refers to: up to 32 indices.
 *
 * Nobody can foretell the order of what an object refers to, so nothing here decides a branch but
 * how many there are: bitonic networks over vectors of eight, in the form in which all comparisons
 * go upwards (the second half is reversed before two halves are merged).
 */
#include "import/sort_list.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <string.h>

#define AVX2 static inline __attribute__((always_inline, target("avx2")))

/*
 * Of each pair the less goes to the lower place. The partner of place i is i ^ 1, i ^ 2, i ^ 3 or
 * i ^ 7 (shuffled), or i ^ 4; `high` has a bit for each place that is the pair's higher one.
 */
#define ORDER(v, partner, high) \
	_mm256_blend_epi32(_mm256_min_epu32(v, partner), _mm256_max_epu32(v, partner), high)

AVX2 __m256i swap_halves(__m256i v)
{
	return _mm256_permute2x128_si256(v, v, 1);
}

/* The last first. */
AVX2 __m256i reversed(__m256i v)
{
	return _mm256_shuffle_epi32(swap_halves(v), 0x1b);
}

/* Sorts eight that rise and then fall. */
AVX2 __m256i merge(__m256i v)
{
	v = ORDER(v, swap_halves(v), 0xf0);
	v = ORDER(v, _mm256_shuffle_epi32(v, 0x4e), 0xcc);
	return ORDER(v, _mm256_shuffle_epi32(v, 0xb1), 0xaa);
}

AVX2 __m256i sort(__m256i v)
{
	v = ORDER(v, _mm256_shuffle_epi32(v, 0xb1), 0xaa);
	v = ORDER(v, _mm256_shuffle_epi32(v, 0x1b), 0xcc);
	v = ORDER(v, _mm256_shuffle_epi32(v, 0xb1), 0xaa);
	v = ORDER(v, reversed(v), 0xf0);
	v = ORDER(v, _mm256_shuffle_epi32(v, 0x4e), 0xcc);
	return ORDER(v, _mm256_shuffle_epi32(v, 0xb1), 0xaa);
}

/* Merges two that are sorted: *a gets the lower half, *b the higher one. */
AVX2 void merge_two(__m256i *a, __m256i *b)
{
	const __m256i back = reversed(*b);

	*b = merge(_mm256_max_epu32(*a, back));
	*a = merge(_mm256_min_epu32(*a, back));
}

/* Sorts two that together rise and then fall. */
AVX2 void merge_long(__m256i *a, __m256i *b)
{
	const __m256i first = *a;

	*a = merge(_mm256_min_epu32(first, *b));
	*b = merge(_mm256_max_epu32(first, *b));
}

/* Eight of v from `at` on; the highest number stands for those that are not among the n. */
AVX2 __m256i load(const uint32_t *v, unsigned at, unsigned n)
{
	const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	const __m256i last = _mm256_set1_epi32((int)n - (int)at - 1);
	__m256i x;

	memcpy(&x, v + at, sizeof(x));
	return _mm256_or_si256(x, _mm256_cmpgt_epi32(places, last));
}

/* Whether two neighbours among the first n of what is sorted are the same. */
AVX2 bool has_same(const __m256i *x, unsigned n)
{
	const __m256i up = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 7);
	unsigned is_same = 0;

	for (unsigned k = 0; 8 * k + 1 < n; k++) {
		const unsigned pairs = n - 1 - 8 * k;
		__m256i next = _mm256_permutevar8x32_epi32(x[k], up);

		if (pairs > 7)
			next = _mm256_blend_epi32(
				next, _mm256_broadcastd_epi32(_mm256_castsi256_si128(x[k + 1])),
				0x80);
		is_same |= (unsigned)_mm256_movemask_ps(
				   _mm256_castsi256_ps(_mm256_cmpeq_epi32(x[k], next))) &
			   (pairs > 7 ? 0xff : (1u << pairs) - 1);
	}
	return is_same != 0;
}

__attribute__((target("avx2"))) bool import_sort_avx2(uint32_t *v, unsigned n)
{
	__m256i x[4] = { load(v, 0, n) };

	x[0] = sort(x[0]);
	if (n > 8) {
		x[1] = sort(load(v, 8, n));
		merge_two(&x[0], &x[1]);
	}
	if (n > 16) {
		__m256i low, high;

		x[2] = sort(load(v, 16, n));
		x[3] = sort(load(v, 24, n));
		merge_two(&x[2], &x[3]);
		low = reversed(x[3]);
		high = reversed(x[2]);
		x[2] = _mm256_max_epu32(x[0], low);
		x[3] = _mm256_max_epu32(x[1], high);
		x[0] = _mm256_min_epu32(x[0], low);
		x[1] = _mm256_min_epu32(x[1], high);
		merge_long(&x[0], &x[1]);
		merge_long(&x[2], &x[3]);
	}
	memcpy(v, x, n * sizeof(*v));
	return has_same(x, n);
}

#endif
