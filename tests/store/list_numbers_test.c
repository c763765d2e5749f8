/*
 * store/list_numbers_test.c - lists whose numbers are written and read many at once are those that
 * are written and read one by one, damaged ones, too.
 */
#include "store/list_numbers.h"

#include "store/lists_put.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define NUMBERS 5000
#define LISTS 16384u
#define ENTRIES 200000u

static uint64_t seed = 7;

/* A number of up to `bits` bits, of which most have few. */
static uint32_t draw(unsigned bits)
{
	const unsigned n = (unsigned)(test_random(&seed) % (bits + 1));

	return (uint32_t)(test_random(&seed) & (((uint64_t)1 << n) - 1));
}

static void numbers(void **state)
{
	static uint32_t number[NUMBERS], back[NUMBERS + STORE_NUMBERS_AT_ONCE];
	static uint8_t one[NUMBERS * STORE_ENTRY_PAD];
	static uint8_t many[NUMBERS * STORE_ENTRY_MAX + STORE_NUMBERS_PAD];

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		const unsigned count =
			round < 100 ? round : (unsigned)(test_random(&seed) % NUMBERS);
		const unsigned bits = round % 4 == 0 ? 32 : round % 4 == 1 ? 28 : 9;
		uint8_t *end = one, *many_end;
		const uint8_t *p = one;
		unsigned n = 0;

		for (unsigned i = 0; i < count; i++) {
			number[i] = draw(bits);
			end = store_put_entry(end, number[i]);
		}
		many_end = store_numbers_put(many, number, number + count);
		assert_int_equal(many_end - many, end - one);
		assert_memory_equal(many, one, (size_t)(end - one));
		/* What is not read at once is read one by one, as their user does. */
		while (n < count) {
			uint64_t v = 0;
			unsigned more = 0;

			if (store_numbers_are_fast())
				more = store_numbers_get(&p, end, back, NUMBERS - n);
			assert_true(more <= count - n);
			assert_memory_equal(back, number + n, more * sizeof(*back));
			n += more;
			if (more)
				continue;
			p = get_varint(p, end, &v);
			assert_non_null(p);
			assert_int_equal(v, number[n++]);
		}
		assert_ptr_equal(p, end);
	}
}

/* ---- lists ---- */

/* What a block gives. */
struct decoded {
	uint64_t lengths[LISTS];
	struct base_vec target;
	int result;
};

static struct decoded whole, parts[2];

/* A block of lists; returns how many it has. */
static uint32_t make_block(struct base_vec *bytes, uint32_t first_ix, uint32_t ix_count)
{
	static uint32_t target[2 * STORE_LIST_BIG];
	const uint32_t most = draw(3) ? 8 : 200, count = 1 + (uint32_t)(test_random(&seed) % LISTS);
	struct store_lists_writer w;
	uint32_t used = 0, i;

	bytes->count = 0;
	assert_int_equal(store_lists_open(&w, bytes, first_ix, count, NULL), HDB_OK);
	for (i = 0; i < count; i++) {
		const uint64_t odd = test_random(&seed) % 200;
		uint64_t n = test_random(&seed) % (odd < 190 ? 4 : most);

		if (odd == 199)
			n = STORE_LIST_BIG + draw(20);
		if (odd == 198)
			n = STORE_LIST_BIG - draw(2);
		if (used > ENTRIES)
			n = 0;
		for (uint32_t e = 0; e < n && e < 2 * STORE_LIST_BIG; e++)
			target[e] = draw(1) ? (uint32_t)(test_random(&seed) % ix_count) :
					      (first_ix + draw(12)) % ix_count;
		used += n > STORE_LIST_BIG ? 0 : (uint32_t)n;
		assert_int_equal(store_lists_add(&w, target, n, NULL), HDB_OK);
	}
	return count;
}

/* Decodes all groups of a block, of each the lists of `mask`. */
static void decode(struct decoded *out, const struct store_block *block, uint32_t ix_count,
		   uint32_t mask)
{
	const struct store_lists_of of = { NULL, STORE_REFERENCES, ix_count };
	struct store_lists_out lists = { .target = &out->target };

	out->target.count = 0;
	out->result = HDB_OK;
	for (uint32_t g = 0; g * STORE_LIST_GROUP < block->item_count; g++) {
		const struct store_lists_group group = { g, mask };

		lists.lengths = out->lengths + (size_t)g * STORE_LIST_GROUP;
		out->result = store_lists_decode_group(&of, block, group, &lists, NULL);
		if (out->result != HDB_OK)
			return;
	}
}

static void decode_whole(struct decoded *out, const struct store_block *block, uint32_t ix_count)
{
	const struct store_lists_of of = { NULL, STORE_REFERENCES, ix_count };
	struct store_lists_out lists = { .lengths = out->lengths, .target = &out->target };

	out->target.count = 0;
	out->result = store_lists_decode(&of, block, &lists, NULL);
}

/*
 * Where half of a block does not decode, all does not; else both give what all gives.
 * Lists of a part of a group are read one by one.
 */
static void compare(const struct store_block *block, uint32_t ix_count)
{
	const uint32_t mask[2] = { 0x55555555, 0xaaaaaaaa };
	size_t at[2] = { 0, 0 }, all = 0;

	for (unsigned part = 0; part < 2; part++)
		decode(&parts[part], block, ix_count, mask[part]);
	if (whole.result != HDB_OK) {
		assert_true(parts[0].result != HDB_OK || parts[1].result != HDB_OK);
		return;
	}
	for (unsigned part = 0; part < 2; part++) {
		assert_int_equal(parts[part].result, HDB_OK);
		assert_memory_equal(parts[part].lengths, whole.lengths,
				    block->item_count * sizeof(uint64_t));
	}
	for (uint32_t i = 0; i < block->item_count; i++) {
		const uint64_t n = whole.lengths[i] & STORE_LIST_IS_BIG ? 0 : whole.lengths[i];
		const struct decoded *part = &parts[i & 1];

		assert_true(all + n <= whole.target.count);
		assert_memory_equal(base_vec_at(&part->target, uint32_t, at[i & 1]),
				    base_vec_at(&whole.target, uint32_t, all),
				    n * sizeof(uint32_t));
		at[i & 1] += n;
		all += n;
	}
	assert_int_equal(all, whole.target.count);
}

static void lists(void **state)
{
	static const uint32_t ix_counts[] = { LISTS, 1u << 22, 1u << 31, UINT32_MAX };
	struct base_vec bytes = { 0 };
	unsigned damaged = 0;

	(void)state;
	for (unsigned round = 0; round < 48; round++) {
		const uint32_t ix_count = ix_counts[round % 4];
		const uint32_t first_ix =
			draw(1) ? 0 : (ix_count / LISTS - 1) * LISTS; /* the last block */
		struct store_block block = { .key = first_ix };

		block.item_count = make_block(&bytes, first_ix, ix_count);
		block.data = bytes.data;
		block.size = bytes.count;
		decode_whole(&whole, &block, ix_count);
		assert_int_equal(whole.result, HDB_OK);
		compare(&block, ix_count);
		decode(&whole, &block, ix_count, UINT32_MAX);
		assert_int_equal(whole.result, HDB_OK);
		compare(&block, ix_count);
		/* Lists only: where groups begin is believed by those who read one group. */
		for (unsigned k = 0; k < 20; k++) {
			const size_t heads =
				(block.item_count + STORE_LIST_GROUP - 1) / STORE_LIST_GROUP * 4;
			uint8_t *at = (uint8_t *)bytes.data + heads +
				      test_random(&seed) % (bytes.count - heads);
			const uint8_t before = *at;
			uint32_t fewer;

			*at = (uint8_t)(draw(1) ? test_random(&seed) : *at ^ 1u << draw(3) % 8);
			decode(&whole, &block, ix_count, UINT32_MAX);
			compare(&block, ix_count);
			damaged += whole.result != HDB_OK;
			*at = before;
			/* Cut, and with less than there is. */
			block.size = heads + test_random(&seed) % (bytes.count - heads);
			decode(&whole, &block, ix_count, UINT32_MAX);
			compare(&block, ix_count);
			block.size = bytes.count;
			fewer = 1 + first_ix + draw(14);
			decode(&whole, &block, fewer, UINT32_MAX);
			compare(&block, fewer);
		}
	}
	assert_true(damaged > 20);
	base_vec_release(&bytes);
	base_vec_release(&whole.target);
	base_vec_release(&parts[0].target);
	base_vec_release(&parts[1].target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
