/*
 * capture/perfdata.c - implements perfdata.h.
 */
#include "capture/perfdata.h"

#include "base/table.h"

#include <string.h>

/* Offsets in the header (jdk: perfMemory.hpp, PerfDataPrologue) and in an entry (PerfDataEntry). */
#define HEAD_SIZE 32
#define HEAD_BYTE_ORDER 4
#define HEAD_MAJOR 5
#define HEAD_USED 8
#define HEAD_ENTRY_OFFSET 24
#define HEAD_ENTRY_COUNT 28
#define ENTRY_SIZE 20
#define ENTRY_NAME 4
#define ENTRY_VECTOR 8
#define ENTRY_TYPE 12
#define ENTRY_VALUE 16

/* Maximum length of a name. */
#define NAME_MAX_SIZE 256

static const uint8_t magic[4] = { 0xca, 0xfe, 0xc0, 0xc0 };

static uint64_t number_at(const struct perfdata *p, size_t offset, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++) {
		const unsigned place = p->is_big_endian ? i : bytes - 1 - i;

		value = value << 8 | p->data[offset + place];
	}
	return value;
}

static uint32_t u32_at(const struct perfdata *p, size_t offset)
{
	return (uint32_t)number_at(p, offset, 4);
}

bool perfdata_begin(struct perfdata *p, const void *data, size_t size)
{
	size_t used;

	*p = (struct perfdata){ .data = data, .size = size };
	if (size < HEAD_SIZE || memcmp(data, magic, sizeof(magic)) != 0)
		return false;
	if (p->data[HEAD_BYTE_ORDER] > 1 || p->data[HEAD_MAJOR] != 2)
		return false;
	p->is_big_endian = p->data[HEAD_BYTE_ORDER] == 0;
	used = u32_at(p, HEAD_USED);
	if (used >= HEAD_SIZE && used < size)
		p->size = used;
	p->next = u32_at(p, HEAD_ENTRY_OFFSET);
	p->left = u32_at(p, HEAD_ENTRY_COUNT);
	return p->next >= HEAD_SIZE;
}

/*
 * Reads the entry of `size` bytes at `at`. Returns false if the entry is damaged or of an unused
 * type.
 */
static bool read_entry(const struct perfdata *p, size_t at, size_t size, struct perfdata_entry *e)
{
	const size_t name = u32_at(p, at + ENTRY_NAME), value = u32_at(p, at + ENTRY_VALUE);
	size_t room = u32_at(p, at + ENTRY_VECTOR);
	const uint8_t type = p->data[at + ENTRY_TYPE];

	if (name < ENTRY_SIZE || name >= size || value < ENTRY_SIZE || value >= size)
		return false;
	*e = (struct perfdata_entry){ .name = (const char *)p->data + at + name };
	e->name_size = strnlen(e->name, size - name);
	if (e->name_size == 0 || e->name_size == size - name || e->name_size > NAME_MAX_SIZE)
		return false;
	if (type == 'J' && room == 0 && size - value >= 8) {
		e->number = (int64_t)number_at(p, at + value, 8);
		return true;
	}
	if (type != 'B' || room == 0)
		return false;
	if (room > size - value)
		room = size - value;
	e->is_text = true;
	e->text = (const char *)p->data + at + value;
	e->text_size = strnlen(e->text, room);
	return true;
}

bool perfdata_next(struct perfdata *p, struct perfdata_entry *entry)
{
	/* an entry has at least ENTRY_SIZE bytes, so the loop ends */
	while (p->left > 0 && p->next <= p->size && p->size - p->next >= ENTRY_SIZE) {
		const size_t at = p->next, size = u32_at(p, at);

		if (size < ENTRY_SIZE || size > p->size - at)
			return false;
		p->next += size;
		p->left--;
		if (read_entry(p, at, size, entry))
			return true;
	}
	return false;
}

static bool is_named(const struct perfdata_entry *e, const char *name)
{
	return strlen(name) == e->name_size && memcmp(e->name, name, e->name_size) == 0;
}

static void copy_text(const struct perfdata_entry *e, char *out, size_t size)
{
	const size_t n = e->text_size < size ? e->text_size : size - 1;

	memcpy(out, e->text, n);
	out[n] = '\0';
}

/* Skips digits. Returns NULL if the text does not begin with a digit. */
static const char *after_digits(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > start ? p : NULL;
}

/* Returns whether the name matches the pattern, in which # stands for digits. */
static bool matches(const struct perfdata_entry *e, const char *pattern)
{
	const char *p = e->name, *end = p + e->name_size;

	for (; *pattern && p; pattern++) {
		if (*pattern == '#')
			p = after_digits(p, end);
		else
			p = p < end && *p == *pattern ? p + 1 : NULL;
	}
	return p == end;
}

/* Adds a number to a sum. Negative and excessive values are caused by damage, and are ignored. */
static void add(uint64_t *sum, int64_t number)
{
	if (number > 0 && (uint64_t)number <= INT64_MAX - *sum)
		*sum += (uint64_t)number;
}

/* Raw figures from which the summary is computed. */
struct raw {
	uint64_t max_sum, max_most; /* maximum sizes of generations */
	uint64_t gc_ticks, pause_ticks, ticks_per_s;
	bool is_split; /* whether each generation has its own part of the heap */
};

/* Adds the number of a counter to each sum to which the counter contributes. */
static void take_number(const struct perfdata_entry *e, struct raw *raw,
			struct perfdata_summary *out)
{
	const struct {
		const char *name;
		uint64_t *sum;
	} counters[] = {
		{ "sun.gc.generation.#.space.#.used", &out->heap_used },
		{ "sun.gc.generation.#.space.#.capacity", &out->heap_committed },
		{ "sun.gc.generation.#.maxCapacity", &raw->max_sum },
		{ "sun.gc.collector.#.time", &raw->gc_ticks },
		{ "sun.gc.collector.#.invocations", &out->gc_count },
		{ "sun.rt.safepoints", &out->pauses },
		{ "sun.rt.safepointTime", &raw->pause_ticks },
		{ "sun.os.hrt.frequency", &raw->ticks_per_s },
		{ "sun.gc.metaspace.used", &out->metaspace_used },
		{ "sun.gc.metaspace.capacity", &out->metaspace_committed },
		{ "java.threads.live", &out->threads },
		{ "java.cls.loadedClasses", &out->classes_loaded },
		{ "java.cls.sharedLoadedClasses", &out->classes_loaded },
		{ "java.cls.unloadedClasses", &out->classes_unloaded },
		{ "java.cls.sharedUnloadedClasses", &out->classes_unloaded },
	};

	for (size_t i = 0; i < BASE_COUNT(counters); i++) {
		if (!matches(e, counters[i].name))
			continue;
		add(counters[i].sum, e->number);
		out->has_heap = out->has_heap || counters[i].sum == &out->heap_used;
		if (counters[i].sum == &raw->max_sum && e->number > 0 &&
		    (uint64_t)e->number > raw->max_most)
			raw->max_most = (uint64_t)e->number;
	}
}

static void take_text(const struct perfdata_entry *e, struct raw *raw, struct perfdata_summary *out)
{
	if (is_named(e, "sun.rt.javaCommand"))
		copy_text(e, out->command, sizeof(out->command));
	else if (is_named(e, "java.property.java.version"))
		copy_text(e, out->version, sizeof(out->version));
	else if (is_named(e, "java.property.java.vm.version") && !out->version[0])
		copy_text(e, out->version, sizeof(out->version));
	else if (is_named(e, "java.rt.vmArgs"))
		copy_text(e, out->vm_args, sizeof(out->vm_args));
	else if (is_named(e, "sun.rt.jvmCapabilities"))
		out->cannot_attach = e->text_size > 0 && e->text[0] == '0';
	else if (is_named(e, "sun.gc.policy.name")) /* "Copy:MSC", "ParScav:MSC" */
		raw->is_split = memmem(e->text, e->text_size, ":MSC", 4) != NULL;
}

static uint64_t us_of(uint64_t ticks, uint64_t ticks_per_s)
{
	return ticks_per_s ? (uint64_t)((double)ticks / (double)ticks_per_s * 1e6) : 0;
}

bool perfdata_summarize(const void *data, size_t size, struct perfdata_summary *out)
{
	struct perfdata_entry entry;
	struct raw raw = { 0 };
	struct perfdata p;

	memset(out, 0, sizeof(*out));
	if (!perfdata_begin(&p, data, size))
		return false;
	while (perfdata_next(&p, &entry)) {
		if (entry.is_text)
			take_text(&entry, &raw, out);
		else
			take_number(&entry, &raw, out);
	}
	/* in G1 and ZGC, each generation may take the whole heap */
	out->heap_max = raw.is_split ? raw.max_sum : raw.max_most;
	out->gc_us = us_of(raw.gc_ticks, raw.ticks_per_s);
	out->pause_us = us_of(raw.pause_ticks, raw.ticks_per_s);
	return true;
}
