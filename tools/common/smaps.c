/*
 * common/smaps.c - implements smaps.h.
 */
#include "common/smaps.h"

#include "base/table.h"

#include <ctype.h>
#include <string.h>

/* Skips a hexadecimal number. Returns NULL if there is no number or the number exceeds 64 bits. */
static const char *hex(const char *p, const char *end, uint64_t *out)
{
	const char *start = p;

	for (*out = 0; p < end && isxdigit((unsigned char)*p) && p - start < 16; p++)
		*out = *out << 4 | (uint64_t)(isdigit((unsigned char)*p) ?
						      *p - '0' :
						      tolower((unsigned char)*p) - 'a' + 10);
	return p == start ? NULL : p;
}

/* Parses "start-end access offset device inode name". The name may be missing or contain blanks. */
static bool read_head(const char *p, const char *end, struct smaps_mapping *m)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;

	p = hex(p, end, &m->start);
	if (!p || p == end || *p != '-')
		return false;
	p = hex(p + 1, end, &m->end);
	if (!p || p == end || *p != ' ')
		return false;
	/* skip the access rights, offset, device and inode */
	for (int i = 0; i < 4; i++) {
		while (p < end && *p == ' ')
			p++;
		if (p == end || (i == 0 && (!strchr("r-", *p) || end - p < 4)))
			return false;
		if (i == 0)
			m->access = p;
		if (i == 1)
			(void)hex(p, end, &m->offset);
		while (p < end && *p != ' ')
			p++;
	}
	while (p < end && isspace((unsigned char)*p))
		p++;
	m->name = p;
	m->name_size = (size_t)(end - p);
	m->is_rollup = m->name_size == 8 && memcmp(p, "[rollup]", 8) == 0;
	if (m->name_size > tail && memcmp(end - tail, deleted, tail) == 0)
		m->name_size -= tail;
	return true;
}

bool smaps_is_mapping(const char *line, size_t size)
{
	struct smaps_mapping m;

	return size && read_head(line, line + size, &m);
}

/* Parses "Private_Dirty: 12 kB". */
static void read_figure(const char *p, const char *end, struct smaps_mapping *m)
{
	static const struct {
		const char *key;
		enum smaps_figure figure;
	} keys[] = {
		{ "Rss:", SMAPS_RSS },
		{ "Pss:", SMAPS_PSS },
		{ "Shared_Clean:", SMAPS_SHARED_CLEAN },
		{ "Shared_Dirty:", SMAPS_SHARED_DIRTY },
		{ "Private_Clean:", SMAPS_PRIVATE_CLEAN },
		{ "Private_Dirty:", SMAPS_PRIVATE_DIRTY },
		{ "Anonymous:", SMAPS_ANONYMOUS },
		{ "Swap:", SMAPS_SWAP },
		{ "SwapPss:", SMAPS_SWAP_PSS },
		{ "Shared_Hugetlb:", SMAPS_HUGETLB },
		{ "Private_Hugetlb:", SMAPS_HUGETLB },
		{ "Pss_Anon:", SMAPS_PSS_ANON },
		{ "Pss_File:", SMAPS_PSS_FILE },
		{ "Pss_Shmem:", SMAPS_PSS_SHMEM },
	};

	for (size_t i = 0; i < BASE_COUNT(keys); i++) {
		const size_t length = strlen(keys[i].key);
		uint64_t n = 0;

		if ((size_t)(end - p) < length || memcmp(p, keys[i].key, length) != 0)
			continue;
		for (p += length; p < end; p++)
			if (isdigit((unsigned char)*p))
				n = n > UINT64_MAX / 20480 ? n : n * 10 + (uint64_t)(*p - '0');
		m->figures[keys[i].figure] += n * 1024;
		m->has |= 1u << keys[i].figure;
		return;
	}
}

bool smaps_next(struct smaps *s, struct smaps_mapping *m)
{
	bool found = false;

	while (s->next < s->end) {
		struct smaps_mapping head = { 0 };
		const char *line = s->next;
		const char *stop = memchr(line, '\n', (size_t)(s->end - line)), *end;

		end = stop = stop ? stop : s->end;
		while (end > line && isspace((unsigned char)end[-1]))
			end--;
		/*
		 * Keys begin with a capital letter and are never a hexadecimal number followed by a
		 * dash.
		 */
		if (read_head(line, end, &head)) {
			if (found)
				return true;
			*m = head;
			found = true;
		} else if (found) {
			read_figure(line, end, m);
		}
		s->next = stop + (stop < s->end);
	}
	return found;
}
