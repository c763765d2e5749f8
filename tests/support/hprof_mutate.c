/*
 * support/hprof_mutate.c - changes HPROF files along their grammar, see fuzz_target.h.
 */
#include "base/bytes.h"
#include "hprof/reader.h"
#include "support/fuzz_target.h"
#include "support/temp.h"

#define HEAD 9 /* tag, time, length */
#define PIECES_MAX 512

/* A record or sub-record. */
struct piece {
	size_t at, size;
};

struct mutation {
	uint8_t *data;
	size_t size, max_size;
	uint64_t seed;
	unsigned id_size;
};

static size_t below(struct mutation *m, size_t n)
{
	return n ? (size_t)(test_random(&m->seed) % n) : 0;
}

/* Numbers that lie at the edges of what lengths and IDs can be. */
static uint64_t edge(struct mutation *m)
{
	static const uint64_t edges[] = {
		0,       1,          2,          3,          0x7f,       0x80,
		0xff,    0x100,      0x7fff,     0xffff,     0x10000,    0x10200,
		0x20020, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff7, 0xffffffffffffffff,
	};

	return edges[below(m, sizeof(edges) / sizeof(edges[0]))];
}

static void put_be(uint8_t *p, uint64_t v, unsigned size)
{
	while (size--) {
		p[size] = (uint8_t)v;
		v >>= 8;
	}
}

/* The records of the file; 31 is the header's size. */
static size_t find_records(const struct mutation *m, struct piece *out)
{
	size_t count = 0, at = 31;

	while (count < PIECES_MAX && at < m->size && m->size - at >= HEAD) {
		const uint64_t body = be32(m->data + at + 5);

		out[count].at = at;
		out[count].size = body > m->size - at - HEAD ? m->size - at : HEAD + (size_t)body;
		at += out[count++].size;
	}
	return count;
}

/* The sub-records of a heap record. */
static size_t find_subs(const struct mutation *m, const struct piece *record, struct piece *out)
{
	struct base_source *source;
	struct hprof_file file;
	struct base_view view = { 0 };
	uint64_t at = record->at + HEAD;
	const uint64_t end = record->at + record->size;
	struct hprof_sub sub;
	size_t count = 0;

	if (base_memory_open(m->data, m->size, &source, NULL) != HDB_OK)
		return 0;
	view.src = source;
	if (hprof_open(source, &file, NULL) == HDB_OK)
		while (count < PIECES_MAX && at < end &&
		       hprof_sub_read_in(&file, &view, (struct hprof_range){ at, end }, &sub,
					 NULL) == HDB_OK &&
		       sub.end > at && sub.end <= end) {
			out[count++] = (struct piece){ (size_t)at, (size_t)(sub.end - at) };
			at = sub.end;
		}
	base_source_close(source);
	return count;
}

/* Takes `gone` bytes away at `at` and puts `fresh` ones there (NULL: zeros). */
static bool splice_bytes(struct mutation *m, size_t at, size_t gone, const uint8_t *fresh,
			 size_t size)
{
	uint8_t copy[4096];

	if (size > sizeof(copy) || m->size - gone + size > m->max_size)
		return false;
	if (fresh)
		memcpy(copy, fresh, size);
	else
		memset(copy, 0, size);
	memmove(m->data + at + size, m->data + at + gone, m->size - at - gone);
	memcpy(m->data + at, copy, size);
	m->size = m->size - gone + size;
	return true;
}

/* Changes a piece; `grown` says by how many bytes the file became longer. */
static void change_piece(struct mutation *m, const struct piece *pieces, size_t count, long *grown)
{
	const struct piece p = pieces[below(m, count)], q = pieces[below(m, count)];
	const size_t before = m->size;

	switch (below(m, 6)) {
	case 0: /* gone */
		(void)splice_bytes(m, p.at, p.size, NULL, 0);
		break;
	case 1: /* twice, or elsewhere */
		(void)splice_bytes(m, q.at, 0, m->data + p.at, p.size);
		break;
	case 2: /* in another's place */
		if (p.at != q.at)
			(void)splice_bytes(m, q.at, q.size, m->data + p.at, p.size);
		break;
	case 3: /* cut in its middle */
		if (p.size > 1) {
			const size_t keep = 1 + below(m, p.size - 1);

			(void)splice_bytes(m, p.at + keep, p.size - keep, NULL, 0);
		}
		break;
	case 4: /* a number at the edge */
		if (p.size > m->id_size) {
			const unsigned width = (unsigned[]){ 1, 2, 4, m->id_size }[below(m, 4)];

			put_be(m->data + p.at + below(m, p.size - width + 1), edge(m), width);
		}
		break;
	default: /* another tag */
		m->data[p.at] = (uint8_t)(below(m, 2) ? below(m, 0x30) : below(m, 256));
		break;
	}
	*grown = (long)m->size - (long)before;
}

static void change_record(struct mutation *m)
{
	static struct piece records[PIECES_MAX], subs[PIECES_MAX];
	const size_t count = find_records(m, records);
	const struct piece *record;
	size_t sub_count;
	long grown;

	if (!count)
		return;
	record = &records[below(m, count)];
	sub_count = m->data[record->at] == HPROF_HEAP_DUMP ||
				    m->data[record->at] == HPROF_HEAP_DUMP_SEGMENT ?
			    find_subs(m, record, subs) :
			    0;
	if (!sub_count || below(m, 4) == 0) {
		change_piece(m, records, count, &grown);
		return;
	}
	change_piece(m, subs, sub_count, &grown);
	/* Mostly the record's length is mended, so that the change is seen. */
	if (below(m, 8) && record->at + HEAD <= m->size)
		put_be(m->data + record->at + 5, (uint64_t)((long)record->size - HEAD + grown), 4);
}

size_t hprof_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	struct mutation m = {
		.data = data, .size = size, .max_size = max_size, .seed = seed * 2654435761u + 1ull
	};
	size_t rounds;

	if (size < 31 + HEAD)
		return size;
	m.id_size = be32(data + 19) == 4 ? 4 : 8;
	rounds = 1 + below(&m, 4);
	for (size_t i = 0; i < rounds; i++) {
		if (below(&m, 16))
			change_record(&m);
		else if (m.size)
			m.data[below(&m, m.size)] ^= (uint8_t)(1u << below(&m, 8));
	}
	return m.size;
}
