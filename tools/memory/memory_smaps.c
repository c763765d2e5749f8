/*
 * memory/memory_smaps.c - reads the mappings of a process, and classifies them by name and adjacent
 * mappings.
 */
#include "memory/memory_private.h"

#include "base/error.h"

#include <string.h>

/* Arenas of glibc's malloc begin at multiples of this size, which is also their maximum size. */
#define ARENA_BYTES (UINT64_C(64) << 20)
/* Maximum size of the inaccessible pages below a stack: glibc's, or HotSpot's zones. */
#define GUARD_MAX 32768u
/*
 * Maximum size of the zero-initialised data after a library. A larger mapping was merged with other
 * memory.
 */
#define BSS_MAX (UINT64_C(4) << 20)
/* Minimum size of a stack. */
#define STACK_MIN 65536u

static bool is_in(const struct smaps_mapping *s, const char *text)
{
	return memmem(s->name, s->name_size, text, strlen(text)) != NULL;
}

static bool ends(const struct smaps_mapping *s, const char *text)
{
	const size_t size = strlen(text);

	return s->name_size >= size && memcmp(s->name + s->name_size - size, text, size) == 0;
}

/* Sets the part of a mapping with a name. */
static void name_part(const struct smaps_mapping *s, struct mapping *m)
{
	static const struct {
		const char *text;
		enum memory_part part;
	} names[] = {
		{ ".jsa", MEMORY_CDS },
		{ "memfd:java_heap", MEMORY_HEAP }, /* heap of ZGC */
		{ "[heap]", MEMORY_REST },
		{ "[stack]", MEMORY_STACKS },
		/* names set by the tunable glibc.mem.decorate_maps */
		{ "pthread stack", MEMORY_STACKS },
		{ "[anon", MEMORY_REST },
		{ "[v", MEMORY_LIBRARIES }, /* [vdso], [vvar], [vsyscall] */
		{ ".so.", MEMORY_LIBRARIES },
	};

	m->part = ends(s, ".so") || s->access[2] == 'x' ? MEMORY_LIBRARIES : MEMORY_FILES;
	for (size_t i = 0; i < BASE_COUNT(names); i++)
		if (is_in(s, names[i].text)) {
			m->part = names[i].part;
			break;
		}
	m->is_arena = is_in(s, "[heap]") || is_in(s, "malloc");
}

/* Sets the part of an anonymous mapping according to the mapping before it. */
static void place_part(struct mapping *m, const struct mapping *before, bool is_code)
{
	const bool is_next = before && before->end == m->start;
	const uint64_t size = m->end - m->start;

	m->part = MEMORY_REST;
	if (is_code)
		m->part = MEMORY_CODE;
	else if (!m->is_accessible)
		m->is_guard = size <= GUARD_MAX;
	else if (!is_next || m->start % ARENA_BYTES == 0)
		return; /* an arena may follow any mapping */
	else if (before->is_guard && before->is_anonymous && size >= STACK_MIN)
		m->part = MEMORY_STACKS;
	else if (before->part == MEMORY_LIBRARIES && before->is_accessible &&
		 !before->is_anonymous && size <= BSS_MAX)
		m->part = MEMORY_LIBRARIES; /* zero-initialised data (.bss) */
}

struct reader {
	struct memory *memory;
	const char *name; /* name of the previous mapping */
	size_t name_size;
	size_t first; /* first mapping of its file */
	bool has_rss;
};

/* Classifies a mapping by its file: all mappings of a program file are libraries. */
static void join_file(struct reader *r, const struct smaps_mapping *s, struct mapping *m)
{
	struct base_vec *all = &r->memory->mappings;
	const bool is_same = s->name_size && s->name_size == r->name_size &&
			     memcmp(s->name, r->name, s->name_size) == 0;

	if (!is_same)
		r->first = all->count;
	for (size_t i = r->first; m->part == MEMORY_LIBRARIES && i < all->count; i++)
		if (base_vec_at(all, struct mapping, i)->part == MEMORY_FILES)
			base_vec_at(all, struct mapping, i)->part = MEMORY_LIBRARIES;
	if (is_same && m->part == MEMORY_FILES)
		m->part = base_vec_at(all, struct mapping, r->first)->part;
	m->is_file = !is_same && s->name_size && s->name[0] != '[';
	r->name = s->name;
	r->name_size = s->name_size;
}

static uint64_t at_most(uint64_t bytes, uint64_t size)
{
	return bytes < size ? bytes : size;
}

static int take(struct reader *r, const struct smaps_mapping *s, struct hdb_error *err)
{
	struct base_vec *all = &r->memory->mappings;
	struct mapping *before =
		all->count ? base_vec_at(all, struct mapping, all->count - 1) : NULL;
	const uint64_t size = s->end > s->start ? s->end - s->start : 0;
	/* limited to the size of the mapping, so that sums do not overflow */
	struct mapping m = {
		.start = s->start,
		.end = s->start + size,
		.rss = at_most(s->figures[SMAPS_RSS], size),
		.shared = at_most(s->figures[SMAPS_SHARED_CLEAN], size) +
			  at_most(s->figures[SMAPS_SHARED_DIRTY], size),
		.swap = at_most(s->figures[SMAPS_SWAP], size),
		.is_accessible = memcmp(s->access, "---", 3) != 0,
		.is_anonymous = !s->name_size,
	};

	/* the kernel lists mappings in order, so an unsorted list does not come from smaps */
	if (before && m.start < before->end)
		return hdb_fail(
			err, HDB_EFORMAT,
			"the mapping at 0x%llx overlaps the previous mapping, which ends at 0x%llx",
			(unsigned long long)m.start, (unsigned long long)before->end);
	if (s->name_size)
		name_part(s, &m);
	else
		place_part(&m, before, s->access[2] == 'x');
	/* the rest of an arena is reserved and inaccessible */
	if (before && m.is_anonymous && !m.is_accessible && before->is_anonymous &&
	    before->is_accessible && before->end == m.start && before->start % ARENA_BYTES == 0 &&
	    m.end == before->start + ARENA_BYTES)
		before->is_arena = true;
	join_file(r, s, &m);
	r->has_rss |= s->has >> SMAPS_RSS & 1;
	r->memory->rss += m.rss;
	r->memory->swap += m.swap;
	r->memory->hugetlb += s->figures[SMAPS_HUGETLB];
	return base_vec_push(all, &m, sizeof(m), err);
}

int memory_read_smaps(struct memory *memory, const char *text, size_t size, struct hdb_error *err)
{
	struct reader reader = { .memory = memory };
	struct smaps smaps = { text, text + size };
	struct smaps_mapping mapping;

	if (memory->mappings.count)
		return hdb_fail(err, HDB_EUSAGE, "expected the smaps of one process, found two");
	while (smaps_next(&smaps, &mapping))
		TRY(take(&reader, &mapping, err));
	if (mapping.is_rollup)
		return hdb_fail(err, HDB_EFORMAT,
				"smaps_rollup contains only totals: expected /proc/PID/smaps");
	return reader.has_rss ? HDB_OK :
				hdb_fail(err, HDB_EFORMAT,
					 "mappings without sizes: expected /proc/PID/smaps, not "
					 "/proc/PID/maps");
}
