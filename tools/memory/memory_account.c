/*
 * memory/memory_account.c - implements memory.h. First, each mapping is cut into ranges with a
 * single use. The rest of a mapping belongs to the part of that mapping. Then the memory of malloc,
 * which has no ranges, is divided by claims: the amounts that the VM, the heap and malloc itself
 * report as allocated.
 *
 * Invariant: whatever the texts contain, the parts add up to RSS, because each step only moves
 * bytes.
 */
#include "memory/memory_private.h"

#include "base/base_text.h"
#include "base/error.h"
#include "base/sort.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define PAGE_BYTES 4096u
#define HEAP_ALIGNMENT (UINT64_C(1) << 20)

const char *memory_part_name(enum memory_part part)
{
	static const char *const names[MEMORY_PARTS] = {
		[MEMORY_HEAP] = "Java heap",      [MEMORY_DIRECT] = "direct memory",
		[MEMORY_METASPACE] = "metaspace", [MEMORY_STACKS] = "thread stacks",
		[MEMORY_CODE] = "code cache",     [MEMORY_GC] = "GC structures",
		[MEMORY_VM] = "VM structures",    [MEMORY_CDS] = "CDS archive",
		[MEMORY_LIBRARIES] = "libraries", [MEMORY_FILES] = "mapped files",
		[MEMORY_USED_MALLOC] = "malloc",  [MEMORY_FREE_MALLOC] = "free in malloc",
		[MEMORY_REST] = "not explained",
	};

	return names[part];
}

void memory_release(struct memory *m)
{
	base_vec_release(&m->row_vec);
	base_vec_release(&m->mappings);
	base_vec_release(&m->ranges);
	base_vec_release(&m->categories);
	base_vec_release(&m->buffers);
}

/* ---- ranges ---- */

static int add_to(struct base_vec *list, struct memory_use use, uint64_t start, uint64_t end,
		  struct hdb_error *err)
{
	struct range range = { .start = start, .end = end, .part = use.part };

	if (start >= end)
		return HDB_OK;
	snprintf(range.detail, sizeof(range.detail), "%s", use.detail ? use.detail : "");
	return base_vec_push(list, &range, sizeof(range), err);
}

int memory_add_range(struct memory *m, struct memory_use use, uint64_t start, uint64_t end,
		     struct hdb_error *err)
{
	return add_to(&m->ranges, use, start, end, err);
}

int memory_add_buffer(struct memory *m, struct memory_use use, uint64_t address, uint64_t bytes,
		      struct hdb_error *err)
{
	return add_to(&m->buffers, use, address, address + bytes, err);
}

BASE_ORDER(compare_ranges, struct range, BASE_UP(start), BASE_DOWN(end))

/* Computes the number of bytes that the VM has mapped and committed, by part. */
static void sum_mapped(const struct memory *m, uint64_t mapped[MEMORY_PARTS])
{
	memset(mapped, 0, MEMORY_PARTS * sizeof(*mapped));
	for (size_t i = 0; i < m->categories.count; i++) {
		const struct category *c = base_vec_at(&m->categories, struct category, i);

		mapped[memory_part_of_mapped(c->name)] += c->mapped;
	}
	if (!m->categories.count)
		mapped[MEMORY_METASPACE] = m->figures.metaspace_committed;
}

/*
 * Drops the ranges of a part if their total exceeds the size of the part. System.map names whole
 * mappings, and the kernel merges adjacent mappings, so a mapping may contain more than its name
 * says.
 */
static void drop_merged(struct memory *m)
{
	uint64_t mapped[MEMORY_PARTS], named[MEMORY_PARTS] = { 0 };
	size_t kept = 0;

	sum_mapped(m, mapped);
	for (size_t i = 0; i < m->ranges.count; i++) {
		const struct range *range = base_vec_at(&m->ranges, struct range, i);

		if (range->is_mapping)
			named[range->part] += range->end - range->start;
	}
	for (size_t i = 0; i < m->ranges.count; i++) {
		const struct range range = *base_vec_at(&m->ranges, struct range, i);

		if (!range.is_mapping || range.part == MEMORY_STACKS ||
		    named[range.part] <= mapped[range.part])
			*base_vec_at(&m->ranges, struct range, kept++) = range;
	}
	m->ranges.count = kept;
}

/*
 * Finds the heap if its address is unknown. Assumes that the heap is the first range that begins at
 * a multiple of 1 MiB and has the reserved size of the heap.
 */
static int find_heap(struct memory *m, struct hdb_error *err)
{
	for (size_t i = 0; i < m->ranges.count; i++)
		if (base_vec_at(&m->ranges, struct range, i)->part == MEMORY_HEAP)
			return HDB_OK;
	for (size_t i = 0; i < m->mappings.count; i++) {
		const struct mapping *first = base_vec_at(&m->mappings, struct mapping, i);
		const uint64_t end = first->start + m->figures.heap_reserved;
		const struct mapping *last = first;

		if (first->start % HEAP_ALIGNMENT || !first->is_anonymous)
			continue;
		for (size_t k = i + 1;
		     last->end < end && k < m->mappings.count &&
		     base_vec_at(&m->mappings, struct mapping, k)->start == last->end;
		     k++)
			last = base_vec_at(&m->mappings, struct mapping, k);
		if (last->end == end)
			return memory_add_range(m, memory_for(MEMORY_HEAP, NULL), first->start, end,
						err);
	}
	return HDB_OK;
}

/* Counts the buffers in mappings. Both lists are sorted by address. */
static uint64_t count_buffers(const struct memory *m)
{
	uint64_t count = 0;

	for (size_t i = 0, k = 0; i < m->buffers.count; i++) {
		const uint64_t address = base_vec_at(&m->buffers, struct range, i)->start;

		while (k < m->mappings.count &&
		       base_vec_at(&m->mappings, struct mapping, k)->end <= address)
			k++;
		count += k < m->mappings.count &&
			 base_vec_at(&m->mappings, struct mapping, k)->start <= address;
	}
	return count;
}

/*
 * Sorts the ranges, and cuts overlapping ranges. The range that starts first stays whole. Of
 * several ranges that start at the same address, the longest stays whole.
 */
static void flatten(struct base_vec *ranges)
{
	uint64_t end = 0;
	size_t kept = 0;

	base_vec_sort(ranges, sizeof(struct range), compare_ranges);
	for (size_t i = 0; i < ranges->count; i++) {
		struct range range = *base_vec_at(ranges, struct range, i);

		range.start = range.start > end ? range.start : end;
		if (range.start >= range.end)
			continue;
		end = range.end;
		*base_vec_at(ranges, struct range, kept++) = range;
	}
	ranges->count = kept;
}

/* ---- rows ---- */

struct sums {
	uint64_t resident, estimated, shared, swap, committed, count;
};

static void add_sums(struct memory_row *row, const struct sums *sums)
{
	row->resident += sums->resident;
	row->estimated += sums->estimated;
	row->shared += sums->shared;
	row->swap += sums->swap;
	row->committed = row->committed > UINT64_MAX - sums->committed ?
				 UINT64_MAX :
				 row->committed + sums->committed;
	row->count += sums->count;
}

static struct memory_row *row_of(struct memory *m, enum memory_part part, const char *detail)
{
	for (size_t i = 0; i < m->row_count; i++)
		if (m->rows[i].part == part && strcmp(m->rows[i].detail, detail) == 0)
			return &m->rows[i];
	return NULL;
}

/* Adds the sums to a part and, if there is a detail, also to the detail. */
static int add(struct memory *m, struct memory_use use, const struct sums *sums,
	       struct hdb_error *err)
{
	const char *const details[] = { "", use.detail ? use.detail : "" };

	for (size_t i = 0; i < (details[1][0] ? 2 : 1); i++) {
		struct memory_row *row = row_of(m, use.part, details[i]);

		if (!row) {
			const struct memory_row empty = { .part = use.part };

			TRY(base_vec_push(&m->row_vec, &empty, sizeof(empty), err));
			row = &m->rows[m->row_count - 1];
			snprintf(row->detail, sizeof(row->detail), "%s", details[i]);
		}
		add_sums(row, sums);
	}
	return HDB_OK;
}

/* ---- mappings ---- */

struct account {
	struct memory *memory;
	memory_pages pages;
	void *ctx;
	size_t range, buffer; /* next range and buffer by address */
	struct sums pool;     /* memory without addresses, mainly malloc's */
	uint64_t arenas;      /* bytes of `pool` that are resident in malloc's arenas */
	uint64_t arenas_size;
	uint64_t located[MEMORY_PARTS]; /* accessible bytes of parts whose addresses are known */
	uint64_t buffer_bytes;          /* capacity of buffers in anonymous memory */
};

/* A mapping that is being divided. */
struct division {
	const struct mapping *mapping;
	struct sums left;
};

static uint64_t share(uint64_t bytes, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((double)bytes * ((double)part / (double)whole)) : 0;
}

/*
 * Returns the resident bytes of a block of this size that do not fit in the rest of the committed
 * memory.
 */
static uint64_t beyond(const struct sums *left, uint64_t size)
{
	const uint64_t others = left->committed > size ? left->committed - size : 0;

	return left->resident > others ? left->resident - others : 0;
}

/* Assigns [start, end) of the mapping: a block of malloc, or memory of the VM. */
static struct sums take_range(struct account *a, struct division *d, uint64_t start, uint64_t end,
			      bool is_block)
{
	const struct mapping *m = d->mapping;
	const uint64_t size = m->end - m->start;
	struct sums out = { .committed = m->is_accessible ? end - start : 0 };

	if (end - start == size)
		out.resident = m->rss;
	else if (!m->rss || m->rss >= size)
		out.resident = m->rss ? end - start : 0;
	else if (!a->pages || !a->pages(a->ctx, start, end, &out.resident)) {
		/*
		 * Blocks are in use and therefore mostly resident, whereas the VM maps tables
		 * before it uses them. The range gets the bytes that do not fit elsewhere in the
		 * mapping.
		 */
		out.resident = is_block ? end - start : beyond(&d->left, out.committed);
		out.estimated = out.resident;
	}
	out.resident = out.resident < d->left.resident ? out.resident : d->left.resident;
	out.estimated = out.estimated < out.resident ? out.estimated : out.resident;
	out.shared = share(m->shared, out.resident, m->rss);
	out.swap = share(m->swap, end - start, size);
	d->left.resident -= out.resident;
	d->left.shared -= out.shared < d->left.shared ? out.shared : d->left.shared;
	d->left.swap -= out.swap < d->left.swap ? out.swap : d->left.swap;
	d->left.committed -= out.committed;
	return out;
}

/* Assigns buffers within [start, end), which no range of the VM covers. */
static int take_buffers(struct account *a, struct division *d, uint64_t start, uint64_t end,
			struct hdb_error *err)
{
	struct base_vec *buffers = &a->memory->buffers;

	while (a->buffer < buffers->count &&
	       base_vec_at(buffers, struct range, a->buffer)->end <= start)
		a->buffer++;
	for (size_t i = a->buffer; i < buffers->count; i++) {
		const struct range *b = base_vec_at(buffers, struct range, i);
		/* Counts whole pages. Pages shared by several ranges are estimated later. */
		const uint64_t from = (b->start + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
		const uint64_t to = b->end / PAGE_BYTES * PAGE_BYTES;
		struct sums sums;

		if (b->start >= end)
			break;
		if (b->start < start || b->end > end)
			continue;
		sums = from < to ? take_range(a, d, from, to, true) : (struct sums){ 0 };
		sums.count = 1;
		if (d->mapping->is_anonymous || d->mapping->is_arena) {
			/* the pages at the edges, at most two */
			const uint64_t edges = b->end - b->start - (from < to ? to - from : 0);
			const uint64_t got = edges < d->left.resident ? edges : d->left.resident;

			a->buffer_bytes += b->end - b->start;
			sums.resident += got;
			sums.estimated += got;
			sums.committed += edges;
			d->left.resident -= got;
			d->left.committed -= edges < d->left.committed ? edges : d->left.committed;
		}
		TRY(add(a->memory, memory_for(b->part, b->detail), &sums, err));
	}
	return HDB_OK;
}

/* Adds the rest of a mapping to the part of that mapping. */
static int take_rest(struct account *a, const struct division *d, struct hdb_error *err)
{
	const struct mapping *m = d->mapping;
	struct sums sums = d->left;

	if (m->part == MEMORY_REST) {
		a->pool.resident += sums.resident;
		a->pool.shared += sums.shared;
		a->pool.swap += sums.swap;
		a->pool.committed += sums.committed;
		a->arenas += m->is_arena ? sums.resident : 0;
		a->arenas_size += m->is_arena ? sums.committed : 0;
		return HDB_OK;
	}
	sums.count = m->part == MEMORY_STACKS && m->is_accessible           ? 1 :
		     m->part == MEMORY_LIBRARIES || m->part == MEMORY_FILES ? m->is_file :
									      0;
	/* all sums are 0 for a mapping that its ranges cover completely, and for a guard page */
	return sums.resident || sums.committed || sums.count ?
		       add(a->memory, memory_for(m->part, NULL), &sums, err) :
		       HDB_OK;
}

static int divide(struct account *a, const struct mapping *m, struct hdb_error *err)
{
	const struct base_vec *ranges = &a->memory->ranges;
	struct division d = { m, { .resident = m->rss, .shared = m->shared, .swap = m->swap } };
	uint64_t at = m->start;

	d.left.committed = m->is_accessible ? m->end - m->start : 0;
	while (a->range < ranges->count &&
	       base_vec_at(ranges, struct range, a->range)->end <= m->start)
		a->range++;
	for (size_t i = a->range; i < ranges->count; i++) {
		const struct range *range = base_vec_at(ranges, struct range, i);
		const uint64_t start = range->start > at ? range->start : at;
		const uint64_t end = range->end < m->end ? range->end : m->end;
		struct sums sums;

		if (range->start >= m->end)
			break;
		TRY(take_buffers(a, &d, at, start, err));
		sums = take_range(a, &d, start, end, false);
		/* Adds pages that were not counted, if the mapping contains nothing else. */
		if (end - start == m->end - m->start)
			d.left = (struct sums){ 0 };
		sums.count = range->part == MEMORY_STACKS && m->is_accessible && end == range->end;
		TRY(add(a->memory, memory_for(range->part, range->detail), &sums, err));
		at = end;
	}
	TRY(take_buffers(a, &d, at, m->end, err));
	if (at < m->end || d.left.resident)
		TRY(take_rest(a, &d, err));
	return HDB_OK;
}

/* ---- claims on the memory of malloc ---- */

/* Moves allocated bytes from the pool to a part, but no more than the pool contains. */
static int claim(struct account *a, struct memory_use use, uint64_t allocated, uint64_t resident,
		 struct hdb_error *err)
{
	struct sums *pool = &a->pool;
	struct sums sums = { .committed = allocated };

	if (!allocated)
		return HDB_OK;
	sums.resident = resident < pool->resident ? resident : pool->resident;
	sums.estimated = sums.resident;
	pool->resident -= sums.resident;
	pool->committed -= allocated < pool->committed ? allocated : pool->committed;
	return add(a->memory, use, &sums, err);
}

/*
 * Claims the memory that the VM allocated with malloc, by category. The largest blocks come last.
 */
static int claim_blocks(struct account *a, uint64_t *all, struct hdb_error *err)
{
	const struct base_vec *categories = &a->memory->categories;
	uint64_t other = 0;

	for (size_t i = 0; i < categories->count; i++) {
		const struct category *c = base_vec_at(categories, struct category, i);
		const enum memory_part part = memory_part_of_blocks(c->name);

		*all += c->malloc;
		if (part == MEMORY_DIRECT)
			other += c->malloc;
		else
			TRY(claim(a, memory_for(part, c->name), c->malloc, c->malloc, err));
	}
	/*
	 * Claims memory allocated for Java code: direct buffers, segments, Unsafe. The heap dump
	 * may already have reported some of this memory.
	 */
	other -= a->buffer_bytes < other ? a->buffer_bytes : other;
	return claim(a, memory_for(MEMORY_DIRECT, a->buffer_bytes ? "without an object" : NULL),
		     other, other, err);
}

/* Claims the memory that the VM mapped at unknown addresses. */
static int claim_mapped(struct account *a, bool is_metaspace, struct hdb_error *err)
{
	uint64_t mapped[MEMORY_PARTS];

	sum_mapped(a->memory, mapped);
	for (enum memory_part part = 0; part < MEMORY_PARTS; part++) {
		const uint64_t known = a->located[part];
		const uint64_t bytes = mapped[part] > known ? mapped[part] - known : 0;
		uint64_t resident = bytes;

		if ((part == MEMORY_METASPACE) != is_metaspace || (part == MEMORY_CDS && known))
			continue;
		/*
		 * tables are mapped before they are used, so the tables get the bytes that blocks
		 * cannot fill
		 */
		if (part == MEMORY_GC || part == MEMORY_VM || part == MEMORY_DIRECT)
			resident = beyond(&a->pool, bytes);
		TRY(claim(a, memory_for(part, NULL), bytes, resident, err));
	}
	return HDB_OK;
}

/* Claims the blocks that code other than the VM has allocated, and free blocks. */
static int claim_malloc(struct account *a, uint64_t vm, struct hdb_error *err)
{
	const struct memory *m = a->memory;
	const uint64_t used =
		m->malloc_arenas -
		(m->malloc_free < m->malloc_arenas ? m->malloc_free : m->malloc_arenas);
	const uint64_t all = used + m->malloc_mapped;
	uint64_t known = vm > a->buffer_bytes ? vm : a->buffer_bytes;
	uint64_t free_resident = m->malloc_free;

	/* claim the memory in the arenas that were found, used blocks first */
	if (a->arenas_size / 10 * 11 >= m->malloc_arenas) {
		const uint64_t most = a->arenas > used ? a->arenas - used : 0;

		free_resident = free_resident < most ? free_resident : most;
	}
	known = known < all ? known : all;
	TRY(claim(a, memory_for(MEMORY_USED_MALLOC, NULL), all - known, all - known, err));
	return claim(a, memory_for(MEMORY_FREE_MALLOC, NULL), m->malloc_free, free_resident, err);
}

/*
 * Adds the memory that was not claimed. If the malloc blocks are unknown, the malloc arenas get a
 * row of their own.
 */
static int add_pool(struct account *a, struct hdb_error *err)
{
	const struct memory *m = a->memory;
	const char *detail = NULL;
	struct sums *pool = &a->pool;

	if (m->categories.count && !m->has_malloc)
		detail = "libraries, free blocks";
	else if (m->has_malloc && !m->malloc_mapped)
		detail = "large blocks of malloc, other mappings";
	else if (!m->has_malloc && a->arenas) {
		const struct sums arenas = {
			.resident = a->arenas < pool->resident ? a->arenas : pool->resident,
			.committed =
				a->arenas_size < pool->committed ? a->arenas_size : pool->committed,
		};

		TRY(add(a->memory, memory_for(MEMORY_REST, "malloc arenas"), &arenas, err));
		pool->resident -= arenas.resident;
		pool->committed -= arenas.committed;
		detail = "other mappings";
	}
	return pool->resident || pool->committed ?
		       add(a->memory, memory_for(MEMORY_REST, detail), pool, err) :
		       HDB_OK;
}

static int claim_all(struct account *a, struct hdb_error *err)
{
	struct memory *m = a->memory;
	uint64_t vm = 0;

	for (size_t i = 0; i < m->row_count; i++)
		if (!m->rows[i].detail[0])
			a->located[m->rows[i].part] = m->rows[i].committed;
	/*
	 * the metaspace comes first: for the other categories, nothing is known except their malloc
	 * blocks
	 */
	TRY(claim_mapped(a, true, err));
	TRY(claim_blocks(a, &vm, err));
	if (m->has_malloc)
		TRY(claim_malloc(a, vm, err));
	TRY(claim_mapped(a, false, err));
	return add_pool(a, err);
}

/* ---- the account ---- */

BASE_ORDER(compare_rows, struct memory_row, BASE_UP(part),
	   BASE_FALSE_FIRST(x->detail[0] != 0, y->detail[0] != 0), BASE_DOWN(resident),
	   BASE_BY_TEXT(detail))

/* Sorts parts by size, with the unexplained rest last. The details of a part follow the part. */
static int order(struct memory *m, struct hdb_error *err)
{
	struct base_vec out = { 0 };
	bool is_done[MEMORY_PARTS] = { false };
	const size_t count = m->row_count;
	int rc = HDB_OK;

	base_vec_sort(&m->row_vec, sizeof(*m->rows), compare_rows);
	while (rc == HDB_OK && out.count < count) {
		const struct memory_row *best = NULL;

		for (size_t i = 0; i < count; i++)
			if (!m->rows[i].detail[0] && !is_done[m->rows[i].part] &&
			    (!best || (m->rows[i].part != MEMORY_REST &&
				       m->rows[i].resident > best->resident)))
				best = &m->rows[i];
		assert(best);
		is_done[best->part] = true;
		for (size_t i = (size_t)(best - m->rows);
		     rc == HDB_OK && i < count && m->rows[i].part == best->part; i++)
			rc = base_vec_push(&out, &m->rows[i], sizeof(*m->rows), err);
	}
	base_vec_release(&m->row_vec);
	m->row_vec = out;
	return rc;
}

static void set_figure(struct memory *m, struct memory_use use, uint64_t used, uint64_t count)
{
	struct memory_row *row = row_of(m, use.part, use.detail);

	if (!row)
		return;
	row->used = used;
	row->count = count ? count : row->count;
}

int memory_account(struct memory *m, memory_pages pages, void *ctx, struct hdb_error *err)
{
	struct account a = { .memory = m, .pages = pages, .ctx = ctx };

	if (!m->mappings.count)
		return hdb_fail(err, HDB_EUSAGE, "/proc/PID/smaps of the process is required");
	if (m->figures.heap_reserved)
		TRY(find_heap(m, err));
	drop_merged(m);
	flatten(&m->ranges);
	flatten(&m->buffers);
	m->buffer_count = count_buffers(m);
	for (size_t i = 0; i < m->mappings.count; i++)
		TRY(divide(&a, base_vec_at(&m->mappings, struct mapping, i), err));
	TRY(claim_all(&a, err));
	set_figure(m, memory_for(MEMORY_HEAP, ""), m->figures.heap_used, 0);
	set_figure(m, memory_for(MEMORY_METASPACE, ""), m->figures.metaspace_used,
		   m->figures.classes);
	set_figure(m, memory_for(MEMORY_CODE, ""), m->figures.code_used, 0);
	set_figure(m, memory_for(MEMORY_DIRECT, "Netty"), m->figures.netty_pinned, 0);
	return order(m, err);
}
