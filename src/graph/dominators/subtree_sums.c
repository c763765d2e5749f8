/*
 * graph/dominators/subtree_sums.c - sums up a tree: a node's sum goes to its parent when its
 * children's have come.
 *
 * Parents lie anywhere. In memory, each zone of places is one thread's in a round, which keeps what
 * goes to another zone for that one's next round: no thread waits for what another one writes.
 * (Added wherever they belong, by atomic operations, sums take two threads longer than rounds take
 * one.) In a file, what goes to another range goes into that range's bucket, and ranges are worked
 * off one after the other: an array that does not fit in memory is gone through in order, some
 * times.
 */
#include "graph/dominators/subtree_sums_private.h"

#include "base/pipeline.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of buckets that are being filled, at most; and of them in the budget. */
#define CHUNKS_BYTES ((uint64_t)16 << 20)

static uint32_t range_count(const struct graph_subtree_sums *s)
{
	return (s->inner.count >> RANGE_BITS) + 1;
}

int graph_subtree_sums_init(struct graph_subtree_sums *sums, uint32_t node_count,
			    struct base_work *work, struct hdb_error *err)
{
	*sums = (struct graph_subtree_sums){ .work = work };
	return base_ranks_init(&sums->inner, node_count, work, "sums of sizes", err);
}

void graph_subtree_sums_release(struct graph_subtree_sums *sums)
{
	if (!sums->work)
		return;
	base_buckets_release(&sums->sizes);
	subtree_sums_end_adding(sums);
	for (uint32_t i = 0; sums->part_big && i < range_count(sums); i++)
		base_big_free(sums->work, &sums->part_big[i]);
	base_big_free(sums->work, &sums->file);
	free(sums->part_big);
	free(sums->part);
	base_ranks_release(&sums->inner);
	*sums = (struct graph_subtree_sums){ 0 };
}

void graph_subtree_sums_mark(struct graph_subtree_sums *sums, uint32_t first,
			     const uint32_t *parent, uint32_t count)
{
	struct base_ranks_near near;

	for (uint32_t start = 0; start < count; start += BASE_NEAR_NODES) {
		const uint32_t left = count - start;
		const uint32_t end = left < BASE_NEAR_NODES ? count : start + BASE_NEAR_NODES;

		base_near_begin(&near, &sums->inner, first + start);
		for (uint32_t i = start; i < end; i++)
			base_near_put(&near, parent[i],
				      parent[i] != GRAPH_NONE && parent[i] != first + i);
		base_near_end(&near);
	}
}

void graph_subtree_sums_rank(struct graph_subtree_sums *sums)
{
	base_ranks_rank(&sums->inner);
}

/* Zeros for the sums of a range. */
static int start_range(void *ctx, unsigned slot, uint64_t range, struct hdb_error *err)
{
	struct graph_subtree_sums *s = ctx;
	const uint64_t left = (uint64_t)s->inner.count + 1 - (range << RANGE_BITS);
	const int rc =
		base_big_alloc(s->work, &s->part_big[range],
			       (left < RANGE_PLACES ? left : RANGE_PLACES) * sizeof(**s->part),
			       "sums of sizes", err);

	(void)slot;
	s->part[range] = s->part_big[range].data;
	return rc;
}

/* All of them in a file. */
static int start_file(struct graph_subtree_sums *s, struct hdb_error *err)
{
	struct graph_subtree_sum *sum;
	const int rc =
		base_big_alloc(s->work, &s->file, ((uint64_t)s->inner.count + 1) * sizeof(*sum),
			       "sums of sizes", err);

	if (rc != HDB_OK)
		return rc;
	sum = s->file.data;
	for (uint32_t i = 0; i < range_count(s); i++)
		s->part[i] = sum + ((size_t)i << RANGE_BITS);
	/* Where nothing can be written it is in memory all the same. */
	if (!is_in_file(s))
		return HDB_OK;
	return base_buckets_init(&s->sizes,
				 &(struct base_buckets_plan){ .bucket_count = range_count(s),
							      .chunks_bytes = CHUNKS_BYTES,
							      .kept_bytes = 0,
							      .what = "sums of sizes" },
				 s->work, err);
}

int graph_subtree_sums_begin(struct graph_subtree_sums *sums, struct hdb_error *err)
{
	const uint64_t size = ((uint64_t)sums->inner.count + 1) * sizeof(**sums->part);
	int rc;

	sums->part = calloc(range_count(sums), sizeof(*sums->part));
	sums->part_big = calloc(range_count(sums), sizeof(*sums->part_big));
	if (!sums->part || !sums->part_big)
		return hdb_fail_memory(err, "sums of sizes",
				       range_count(sums) * sizeof(*sums->part_big));
	if (size > base_work_room(sums->work))
		rc = start_file(sums, err);
	else
		rc = base_pipeline_each(range_count(sums), sums->work->threads, sums, start_range,
					err);
	return rc == HDB_OK ? subtree_sums_begin_adding(sums, err) : rc;
}

/* Has the sums of a range read, if there is one. */
static void ask_for(const struct graph_subtree_sums *s, uint32_t range)
{
	const uint64_t size = sizeof(**s->part) << RANGE_BITS;

	base_big_soon(&s->file, range * size, size);
}

/* Adds up the sizes of one range of places. */
static int add_range(void *ctx, unsigned slot, uint64_t range, struct hdb_error *err)
{
	struct graph_subtree_sums *s = ctx;
	struct base_bucket_reader reader;
	uint64_t v[BASE_BUCKET_FIELDS];
	int rc = base_bucket_begin(&s->sizes, (uint32_t)range, &reader, err);

	(void)slot;
	if (rc != HDB_OK)
		return rc;
	ask_for(s, (uint32_t)range + s->work->threads);
	while ((rc = base_bucket_next(&reader, BASE_RECORD(1, 2), v, err)) == HDB_OK)
		add_alone(sum_of(s, (uint32_t)v[0]), v[1], (uint32_t)v[2]);
	base_bucket_end(&reader);
	return rc == HDB_END ? HDB_OK : rc;
}

static int add_up(struct graph_subtree_sums *s, struct hdb_error *err)
{
	const int rc =
		base_pipeline_each(s->sizes.bucket_count, s->work->threads, s, add_range, err);

	base_buckets_release(&s->sizes);
	return rc;
}

/*
 * Adds a sum to a node, and, when it is the last that the node waits for, the node's to its parent,
 * and so on. No other thread looks at any. How many nodes were completed.
 */
static uint32_t climb(struct graph_subtree_sums *s, uint32_t x, uint64_t below)
{
	uint32_t count = 0;

	while (x != GRAPH_NONE && !base_is_cancelled(s->work)) {
		struct graph_subtree_sum *sum = sum_of(s, x);

		add_alone(sum, below, GRAPH_NONE);
		if (sum->waiting)
			break;
		sum->waiting = GRAPH_NONE;
		count++;
		x = sum->up;
		below = sum->below;
	}
	return count;
}

/* A sum on its way to a node; GRAPH_NONE: to none. */
struct letter {
	uint64_t below;
	uint32_t to;
};

/*
 * A node whose sum is complete adds it to its parent, which may be complete then; and so on, among
 * places that differ in the lower `bits` alone. Counts nodes; the sum that goes elsewhere at last.
 */
static inline struct letter complete(struct graph_subtree_sums *s, uint32_t x, unsigned bits,
				     uint32_t *done_count)
{
	struct graph_subtree_sum *sum = sum_of(s, x);

	for (;;) {
		const struct letter letter = { .below = sum->below, .to = sum->up };

		sum->waiting = GRAPH_NONE;
		++*done_count;
		if (letter.to == GRAPH_NONE || letter.to >> bits != x >> bits)
			return letter;
		x = letter.to;
		sum = sum_of(s, x);
		add_alone(sum, letter.below, GRAPH_NONE);
		if (sum->waiting)
			return (struct letter){ .to = GRAPH_NONE };
	}
}

/* ---- in memory: zone by zone, on all threads ---- */

/*
 * Zones of ranges, at most, of which each is one thread's in a round; and the bytes of what they
 * send each other, about.
 */
#define ZONES_MAX 64u
#define MAIL_BYTES (8u << 20)

/* Fewer sums than this climb wherever it leads: on a long path each round would take one a step. */
#define MAIL_FEW 4096u

struct zone {
	uint32_t next, end;  /* places that were not looked at */
	uint32_t done_count; /* nodes */
	uint32_t sent_count; /* letters of this round */
	BASE_APART;
};

struct post {
	struct graph_subtree_sums *sums;
	unsigned zone_bits;
	uint32_t zone_count;
	struct zone zone[ZONES_MAX];
	struct base_vec *mail[2]; /* struct letter, [from][to]: of this round and of the next */
	unsigned turn;
	uint64_t counted; /* bytes of it, as the budget knows them */
};

static struct base_vec *mail_of(const struct post *p, unsigned turn, uint32_t from, uint32_t to)
{
	return &p->mail[turn][from * p->zone_count + to];
}

/* Completes a node of a zone, and sends what goes to another one. */
static int finish_in_zone(struct post *p, uint32_t zone, uint32_t x, struct hdb_error *err)
{
	const struct letter letter = complete(p->sums, x, p->zone_bits, &p->zone[zone].done_count);

	if (letter.to == GRAPH_NONE)
		return HDB_OK;
	p->zone[zone].sent_count++;
	return base_vec_push(mail_of(p, p->turn ^ 1, zone, letter.to >> p->zone_bits), &letter,
			     sizeof letter, err);
}

/* What was sent to a zone. */
static int receive_in_zone(struct post *p, uint32_t zone, struct hdb_error *err)
{
	struct graph_subtree_sums *s = p->sums;
	int rc;

	for (uint32_t from = 0; from < p->zone_count; from++) {
		struct base_vec *mail = mail_of(p, p->turn, from, zone);
		const struct letter *letter = mail->data;

		for (size_t i = 0; i < mail->count; i++) {
			struct graph_subtree_sum *sum = sum_of(s, letter[i].to);

			add_alone(sum, letter[i].below, GRAPH_NONE);
			if (sum->waiting == 0 &&
			    (rc = finish_in_zone(p, zone, letter[i].to, err)) != HDB_OK)
				return rc;
		}
		mail->count = 0;
	}
	return HDB_OK;
}

/* Then the zone's own, as long as there is room for what they send. */
static int work_in_zone(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct post *p = ctx;
	const uint32_t no = (uint32_t)item;
	struct zone *zone = &p->zone[no];
	const uint32_t most = MAIL_BYTES / sizeof(struct letter) / p->zone_count;
	int rc;

	(void)slot;
	zone->sent_count = 0;
	if ((rc = receive_in_zone(p, no, err)) != HDB_OK)
		return rc;
	for (; zone->next < zone->end && zone->sent_count < most; zone->next++)
		if (sum_of(p->sums, zone->next)->waiting == 0 &&
		    (rc = finish_in_zone(p, no, zone->next, err)) != HDB_OK)
			return rc;
	return base_is_cancelled(p->sums->work) ? hdb_fail(err, HDB_EINTR, "interrupted") : HDB_OK;
}

/* Zones of as many ranges that there are not too many. */
static int start_post(struct post *p, struct hdb_error *err)
{
	const uint32_t count = p->sums->inner.count;

	p->zone_bits = RANGE_BITS;
	while (count >> p->zone_bits >= ZONES_MAX)
		p->zone_bits++;
	p->zone_count = (count >> p->zone_bits) + 1;
	for (uint32_t z = 0; z < p->zone_count; z++) {
		const uint64_t end = (uint64_t)(z + 1) << p->zone_bits;

		p->zone[z] = (struct zone){ .next = z << p->zone_bits,
					    .end = end < count ? (uint32_t)end : count };
	}
	for (unsigned i = 0; i < 2; i++) {
		p->mail[i] = calloc((size_t)p->zone_count * p->zone_count, sizeof **p->mail);
		if (!p->mail[i])
			return hdb_fail_memory(err, "sums of sizes", sizeof **p->mail);
	}
	return HDB_OK;
}

static void end_post(struct post *p)
{
	for (unsigned i = 0; i < 2; i++) {
		for (uint32_t k = 0; p->mail[i] && k < p->zone_count * p->zone_count; k++)
			base_vec_release(&p->mail[i][k]);
		free(p->mail[i]);
	}
	base_work_count(p->sums->work, &p->counted, 0);
}

/* A round over all zones; *left: places that were not looked at, *sent: letters. */
static int post_round(struct post *p, uint64_t *left, uint64_t *sent, struct hdb_error *err)
{
	const uint32_t pairs = p->zone_count * p->zone_count;
	uint64_t letters = 0;
	const int rc =
		base_pipeline_each(p->zone_count, p->sums->work->threads, p, work_in_zone, err);

	*left = *sent = 0;
	for (uint32_t z = 0; z < p->zone_count; z++) {
		*left += p->zone[z].end - p->zone[z].next;
		*sent += p->zone[z].sent_count;
	}
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t k = 0; k < pairs; k++)
			letters += p->mail[i][k].capacity;
	base_work_count(p->sums->work, &p->counted, letters * sizeof(struct letter));
	p->turn ^= 1;
	return rc;
}

static int climb_up(struct graph_subtree_sums *s, uint32_t *done_count, struct hdb_error *err)
{
	struct post post = { .sums = s };
	uint64_t left = 1, sent = 0;
	int rc = start_post(&post, err);

	while (rc == HDB_OK && (left || sent >= MAIL_FEW))
		rc = post_round(&post, &left, &sent, err);
	for (uint32_t z = 0; z < post.zone_count; z++)
		*done_count += post.zone[z].done_count;
	for (uint32_t k = 0; rc == HDB_OK && k < post.zone_count * post.zone_count; k++) {
		const struct base_vec *mail = &post.mail[post.turn][k];
		const struct letter *letter = mail->data;

		for (size_t i = 0; i < mail->count; i++)
			*done_count += climb(s, letter[i].to, letter[i].below);
	}
	end_post(&post);
	if (rc == HDB_OK && base_is_cancelled(s->work))
		return hdb_fail(err, HDB_EINTR, "interrupted");
	return rc;
}

/* ---- in a file: range by range ---- */

/* Sums on their way to nodes of another range. */
struct sending {
	struct base_buckets buckets[2]; /* by range: of this round and of the next */
	unsigned turn;
	uint64_t next_count; /* in spill buckets of the next round */
	bool is_last;        /* few are left */
	uint32_t done_count; /* nodes */
};

/*
 * Completes a node of a range, and sends what goes to another one; what this round has passed gets
 * it in the next.
 */
static int finish(struct graph_subtree_sums *s, struct sending *out, uint32_t x,
		  struct hdb_error *err)
{
	const struct letter letter = complete(s, x, RANGE_BITS, &out->done_count);
	const uint64_t record[] = { letter.to, letter.below };
	const uint32_t range = letter.to >> RANGE_BITS;
	const bool is_next = range < x >> RANGE_BITS;

	if (letter.to == GRAPH_NONE)
		return HDB_OK;
	out->next_count += is_next;
	return base_buckets_add(&out->buckets[out->turn ^ is_next], range, BASE_RECORD(1, 1),
				record, err);
}

/* What was sent to a range. */
static int receive(struct graph_subtree_sums *s, struct sending *out, uint32_t range,
		   struct hdb_error *err)
{
	struct base_buckets *buckets = &out->buckets[out->turn];
	struct base_bucket_reader reader;
	uint64_t v[BASE_BUCKET_FIELDS];
	int rc;

	if (!buckets->bucket[range].count)
		return HDB_OK;
	if ((rc = base_bucket_begin(buckets, range, &reader, err)) != HDB_OK)
		return rc;
	while ((rc = base_bucket_next(&reader, BASE_RECORD(1, 1), v, err)) == HDB_OK) {
		const uint32_t x = (uint32_t)v[0];

		if (out->is_last) {
			out->done_count += climb(s, x, v[1]);
			continue;
		}
		add_alone(sum_of(s, x), v[1], GRAPH_NONE);
		if (sum_of(s, x)->waiting == 0 && (rc = finish(s, out, x, err)) != HDB_OK)
			break;
	}
	base_bucket_end(&reader);
	base_bucket_drop(buckets, range);
	return rc == HDB_END ? HDB_OK : rc;
}

/* The nodes of a range that wait for nothing. */
static int finish_range(struct graph_subtree_sums *s, struct sending *out, uint32_t range,
			struct hdb_error *err)
{
	const uint32_t first = range << RANGE_BITS, left = s->inner.count - first;
	const uint32_t count = left < RANGE_PLACES ? left : RANGE_PLACES;
	int rc;

	for (uint32_t x = first; x < first + count; x++)
		if (sum_of(s, x)->waiting == 0 && (rc = finish(s, out, x, err)) != HDB_OK)
			return rc;
	return HDB_OK;
}

/* One round over the ranges; the first has nothing to receive yet. */
static int send_round(struct graph_subtree_sums *s, struct sending *out, bool is_first,
		      struct hdb_error *err)
{
	const uint32_t ranges = range_count(s);
	int rc;

	out->next_count = 0;
	for (uint32_t range = 0; range < ranges; range++) {
		if (is_first || out->buckets[out->turn].bucket[range].count)
			ask_for(s, is_first ? range + 1 : range);
		if ((rc = receive(s, out, range, err)) != HDB_OK)
			return rc;
		if (is_first && (rc = finish_range(s, out, range, err)) != HDB_OK)
			return rc;
		if ((rc = base_step(s->work, out->done_count, err)) != HDB_OK)
			return rc;
	}
	return HDB_OK;
}

/*
 * Rounds over the ranges, until nothing is sent. When it is fewer sums than there are ranges, these
 * climb wherever it leads: on a long path that goes to and fro each round would take one a step.
 */
static int send_up(struct graph_subtree_sums *s, uint32_t *done_count, struct hdb_error *err)
{
	const uint32_t ranges = range_count(s);
	struct sending out = { .turn = 0 };
	int rc;

	for (unsigned i = 0; i < 2; i++) {
		rc = base_buckets_init(
			&out.buckets[i],
			&(struct base_buckets_plan){ .bucket_count = ranges,
						     .chunks_bytes = CHUNKS_BYTES / 2,
						     .kept_bytes = 0,
						     .what = "sums of sizes" },
			s->work, err);
		if (rc != HDB_OK)
			goto out;
	}
	if ((rc = send_round(s, &out, true, err)) != HDB_OK)
		goto out;
	while (out.next_count) {
		out.turn ^= 1;
		out.is_last = out.next_count < ranges;
		if ((rc = send_round(s, &out, false, err)) != HDB_OK)
			goto out;
	}
out:
	for (unsigned i = 0; i < 2; i++)
		if (out.buckets[i].work)
			base_buckets_release(&out.buckets[i]);
	*done_count = out.done_count;
	return rc;
}

int graph_subtree_sums_up(struct graph_subtree_sums *sums, struct hdb_error *err)
{
	uint32_t done_count = 0;
	int rc;

	subtree_sums_end_adding(sums);
	base_stage(sums->work, "retained sizes", sums->inner.count, "objects");
	if (!is_in_file(sums)) {
		rc = climb_up(sums, &done_count, err);
	} else {
		if ((rc = add_up(sums, err)) != HDB_OK)
			return rc;
		rc = send_up(sums, &done_count, err);
	}
	if (rc == HDB_OK && done_count != sums->inner.count)
		return hdb_fail(err, HDB_ECORRUPT, "dominators are no tree");
	return rc;
}

void graph_subtree_sums_below(const struct graph_subtree_sums *sums, uint32_t first,
			      uint64_t *below, uint32_t count)
{
	uint32_t rank = base_ranks_before(&sums->inner, first);

	ask_for(sums, (rank >> RANGE_BITS) + 1);
	for (uint32_t i = 0; i < count; i++)
		below[i] =
			base_ranks_has(&sums->inner, first + i) ? sum_of(sums, rank++)->below : 0;
}
