/*
 * memory/memory_texts.c - reads the texts that a HotSpot VM prints about its memory:
 * VM.native_memory, VM.info and fatal error logs, System.map, System.native_heap_info. Supports the
 * formats of JDK 8 to 25. Unknown lines are skipped, and unknown categories are kept under their
 * names.
 */
#include "memory/memory_private.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First bytes that identify a text. */
#define HEAD_BYTES 4096u

/* ---- kinds ---- */

static bool has(const char *head, size_t size, const char *text)
{
	return memmem(head, size, text, strlen(text)) != NULL;
}

enum memory_kind memory_kind_of(const char *head, size_t size)
{
	static const struct {
		enum memory_kind kind;
		const char *text;
	} kinds[] = {
		{ MEMORY_NMT, "Native Memory Tracking:" },
		{ MEMORY_NMT, "racking is not enabled" },
		{ MEMORY_MALLOC, "<malloc version=" },
		{ MEMORY_MAP, "Memory mappings:" },
		{ MEMORY_VM_INFO, "# JRE version:" },
		{ MEMORY_VM_INFO, "# A fatal error has been detected by the Java Runtime" },
	};
	const char *line = memchr(head, '\n', size);

	size = size < HEAD_BYTES ? size : HEAD_BYTES;
	for (size_t i = 0; i < BASE_COUNT(kinds); i++)
		if (has(head, size, kinds[i].text))
			return kinds[i].kind;
	return line && smaps_is_mapping(head, (size_t)(line - head)) ? MEMORY_SMAPS :
								       MEMORY_UNKNOWN;
}

/* ---- lines ---- */

/* Terminates the line at *next with a zero and moves *next past it. Returns NULL at the end. */
static char *next_line(char **next, char *end)
{
	char *line = *next, *stop;

	if (line >= end)
		return NULL;
	stop = memchr(line, '\n', (size_t)(end - line));
	stop = stop ? stop : end;
	*stop = '\0';
	*next = stop + 1;
	return line;
}

/* Parses "1234", "12KB", "12K", "1.5 MB" or "1.5G" at *at, and moves *at past it. */
static uint64_t read_bytes(const char **at)
{
	char *end;
	double n = strtod(*at, &end);

	*at = end;
	end += *end == ' ' && end[1] && strchr("KMG", end[1]);
	n *= *end == 'K' ? 1024.0 : *end == 'M' ? 1048576.0 : *end == 'G' ? 1073741824.0 : 1.0;
	return n > 0 && n < 9e18 ? (uint64_t)n : 0;
}

/* Returns the number after `key`, or 0 if the line does not contain `key`. */
static uint64_t bytes_after(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	if (!at)
		return 0;
	at += strlen(key);
	return read_bytes(&at);
}

/* Finds the next "0x..." of a line from *at on. Returns false at the end. */
static bool next_address(const char **at, uint64_t *out)
{
	const char *p = strstr(*at, "0x");
	char *end;

	if (!p)
		return false;
	*out = strtoull(p, &end, 16);
	*at = end;
	return true;
}

/* Adds the range from the first to the last address of a list "0x..., 0x..., 0x...". */
static int add_listed(struct memory *m, struct memory_use use, const char *at,
		      struct hdb_error *err)
{
	const char *stop = at + strcspn(at, "])");
	uint64_t start = 0, end = 0, next;

	if (!next_address(&at, &start) || at > stop)
		return HDB_OK;
	while (next_address(&at, &next) && at <= stop)
		end = next > end ? next : end;
	return memory_add_range(m, use, start, end, err);
}

/* ---- VM.native_memory ---- */

enum memory_part memory_part_of_mapped(const char *name)
{
	static const struct {
		const char *name;
		enum memory_part part;
	} parts[] = {
		{ "Java Heap", MEMORY_HEAP },         { "Class", MEMORY_METASPACE },
		{ "Metaspace", MEMORY_METASPACE },    { "Thread", MEMORY_STACKS },
		{ "Thread Stack", MEMORY_STACKS },    { "Code", MEMORY_CODE },
		{ "Shared class space", MEMORY_CDS }, { "Other", MEMORY_DIRECT },
	};
	const size_t i = BASE_INDEX(parts, name);

	return i < BASE_COUNT(parts) ? parts[i].part : memory_part_of_blocks(name);
}

enum memory_part memory_part_of_blocks(const char *name)
{
	if (strcmp(name, "Other") == 0)
		return MEMORY_DIRECT;
	return strncmp(name, "GC", 2) == 0 || strcmp(name, "Card Table") == 0 ? MEMORY_GC :
										MEMORY_VM;
}

/*
 * Parses a category of NMT: "-                 Java Heap (reserved=262144KB, committed=262144KB)"
 */
static int add_category(struct memory *m, const char *line, struct hdb_error *err)
{
	const char *name = line + 1 + strspn(line + 1, " "), *end = strstr(name, " (reserved=");
	struct category category = { 0 };

	if (!end)
		return HDB_OK;
	snprintf(category.name, sizeof(category.name), "%.*s", (int)(end - name), name);
	if (strcmp(category.name, "Java Heap") == 0)
		m->figures.heap_reserved = bytes_after(line, "reserved=");
	return base_vec_push(&m->categories, &category, sizeof(category), err);
}

static void read_category_line(struct memory *m, const char *line)
{
	struct category *c = base_vec_at(&m->categories, struct category, m->categories.count - 1);
	const char *p = line + strspn(line, " ");

	if (strncmp(p, "(malloc=", 8) == 0)
		c->malloc += bytes_after(p, "(malloc=");
	else if (strncmp(p, "(arena=", 7) == 0)
		c->malloc += bytes_after(p, "(arena=");
	else if (strncmp(p, "(tracking overhead=", 19) == 0)
		c->malloc += bytes_after(p, "overhead=");
	else if (strncmp(p, "(mmap:", 6) == 0 || strncmp(p, "(stack:", 7) == 0)
		c->mapped += bytes_after(p, "committed=");
	else if (strncmp(p, "(classes #", 10) == 0)
		m->figures.classes = bytes_after(p, "#");
}

/* Parses a range of NMT: "[0x... - 0x...] reserved and committed 4096KB for Java Heap from" */
static int read_nmt_range(struct memory *m, char *line, struct hdb_error *err)
{
	char *name = strstr(line, " for "), *end;
	enum memory_part part;
	uint64_t from = 0, to = 0;
	const char *at = line;

	if (!name || !strstr(line, "] reserved"))
		return HDB_OK;
	name += 5;
	if ((end = strstr(name, " from")))
		*end = '\0';
	if (!next_address(&at, &from) || !next_address(&at, &to))
		return HDB_OK;
	m->nmt = MEMORY_NMT_DETAIL;
	part = memory_part_of_mapped(name);
	if (part != MEMORY_VM)
		name = part == MEMORY_METASPACE && strcmp(name, "Class") == 0 ? "class space" : "";
	return memory_add_range(m, memory_for(part, name), from, to, err);
}

static int read_nmt(struct memory *m, char *text, char *end, struct hdb_error *err)
{
	bool is_open = false, is_known = false;
	char *line;

	m->categories.count = 0;
	while ((line = next_line(&text, end))) {
		if (strstr(line, "racking is not enabled")) {
			/*
			 * either "Detail tracking is not enabled", or the same for NMT as a whole
			 */
			is_known = true;
			m->nmt = strncmp(line, "Detail", 6) == 0 ? m->nmt : MEMORY_NMT_OFF;
		} else if (line[0] == '-') {
			TRY(add_category(m, line, err));
			is_open = m->categories.count > 0;
		} else if (line[0] == '[') {
			is_open = false;
			TRY(read_nmt_range(m, line, err));
		} else if (is_open && line[0] == ' ') {
			read_category_line(m, line);
		}
	}
	if (m->categories.count && m->nmt != MEMORY_NMT_DETAIL)
		m->nmt = MEMORY_NMT_SUMMARY;
	return m->nmt || is_known ?
		       HDB_OK :
		       hdb_fail(err, HDB_EFORMAT,
				"expected the output of VM.native_memory, with a line for each "
				"category");
}

/* ---- VM.info ---- */

/* Reads lines of the section "Heap:" in the formats of all collectors, and of the metaspace. */
static int read_heap_line(struct memory *m, const char *line, struct hdb_error *err)
{
	const char *at = strchr(line, '[');
	const bool is_space = strstr(line, " total ") || strncmp(line, " ZHeap ", 7) == 0;

	if (strncmp(line + strspn(line, " "), "Metaspace  ", 11) == 0) {
		m->figures.metaspace_used = bytes_after(line, "used ");
		m->figures.metaspace_committed = bytes_after(line, "committed ");
	} else if (is_space && strstr(line, "used ")) {
		m->figures.heap_used += bytes_after(line, "used ");
		if (at)
			return add_listed(m, memory_for(MEMORY_HEAP, NULL), at, err);
	} else if (strstr(line, " soft max, ")) {
		m->figures.heap_used = bytes_after(line, " committed, "); /* format of Shenandoah */
	}
	return HDB_OK;
}

/* Reads a line of VM.info that describes a range. */
static int read_range_line(struct memory *m, const char *line, struct hdb_error *err)
{
	static const struct {
		const char *begin;
		struct memory_use use;
	} lines[] = {
		{ "CDS archive(s) mapped at:", { MEMORY_CDS, NULL } },
		{ "Compressed class space mapped at:", { MEMORY_METASPACE, "class space" } },
		{ "Card table byte_map:", { MEMORY_GC, "card table" } },
		{ " Prev Bits:", { MEMORY_GC, "marking bits" } },
		{ " Next Bits:", { MEMORY_GC, "marking bits" } },
		{ " Bits:", { MEMORY_GC, "marking bits" } },
		{ " bounds [", { MEMORY_CODE, NULL } },
	};
	const char *at = line;
	uint64_t start;

	for (size_t i = 0; i < BASE_COUNT(lines); i++)
		if (strncmp(line, lines[i].begin, strlen(lines[i].begin)) == 0)
			return add_listed(m, lines[i].use, line, err);
	if (strncmp(line, "Heap address:", 13) == 0 && next_address(&at, &start))
		return memory_add_range(m, memory_for(MEMORY_HEAP, NULL), start,
					start + bytes_after(line, "size: "), err);
	at = strstr(line, "stack(0x");
	return at ? add_listed(m, memory_for(MEMORY_STACKS, NULL), at, err) : HDB_OK;
}

static int read_vm_info(struct memory *m, char *text, char *end, struct hdb_error *err)
{
	bool is_heap = false;
	uint64_t code_all = 0;
	char *line;

	m->figures.heap_used = m->figures.code_used = 0;
	while ((line = next_line(&text, end))) {
		/* the mappings follow, then the environment, and a summary of NMT */
		if (strncmp(line, "Dynamic libraries:", 18) == 0)
			break;
		if (line[0] && line[0] != ' ')
			is_heap = strcmp(line, "Heap:") == 0 || strncmp(line, "Metaspace", 9) == 0;
		if (is_heap)
			TRY(read_heap_line(m, line, err));
		if (strncmp(line, "CodeHeap '", 10) == 0)
			m->figures.code_used += bytes_after(line, " used=");
		else if (strncmp(line, "CodeCache: size=", 16) == 0)
			code_all = bytes_after(line, " used=");
		TRY(read_range_line(m, line, err));
	}
	if (!m->figures.code_used)
		m->figures.code_used = code_all;
	m->has_vm_info = true;
	return HDB_OK;
}

/* ---- System.map ---- */

/* Parses a line of System.map: "0x...-0x... vsize prot rss hugetlb pgsz notes info file" */
static int read_map_line(struct memory *m, char *line, struct hdb_error *err)
{
	static const struct {
		const char *word;
		struct memory_use use;
	} words[] = {
		{ "JAVAHEAP", { MEMORY_HEAP, NULL } },
		{ "CDS", { MEMORY_CDS, NULL } },
		{ "CLASS", { MEMORY_METASPACE, "class space" } },
		{ "META", { MEMORY_METASPACE, NULL } },
		{ "CODE", { MEMORY_CODE, NULL } },
		{ "GC", { MEMORY_GC, NULL } },
		{ "CARDTBL", { MEMORY_GC, "card table" } },
		{ "INTERN", { MEMORY_VM, "Internal" } },
		{ "POLL", { MEMORY_VM, "Safepoint" } },
		{ "STACK", { MEMORY_STACKS, NULL } },
	};
	const char *at = line;
	uint64_t start, end;
	char *word, *rest = NULL;

	if (line[0] != '0' || !next_address(&at, &start) || !next_address(&at, &end) ||
	    start >= end)
		return HDB_OK;
	word = strtok_r(line, " ", &rest);
	for (int i = 0; word && i < 7; i++) {
		word = strtok_r(NULL, " ", &rest);
		if (i == 1 && word && strncmp(word, "---", 3) == 0)
			return HDB_OK;
	}
	/*
	 * if several uses are listed, separated by commas, the mapping's name and adjacent mappings
	 * decide
	 */
	for (size_t i = 0; word && i < BASE_COUNT(words); i++)
		if (strcmp(word, words[i].word) == 0 ||
		    (words[i].use.part == MEMORY_STACKS && strncmp(word, "STACK", 5) == 0)) {
			TRY(memory_add_range(m, words[i].use, start, end, err));
			base_vec_at(&m->ranges, struct range, m->ranges.count - 1)->is_mapping =
				true;
			m->has_map = true;
			return HDB_OK;
		}
	return HDB_OK;
}

static int read_map(struct memory *m, char *text, char *end, struct hdb_error *err)
{
	char *line;

	while ((line = next_line(&text, end)))
		TRY(read_map_line(m, line, err));
	return HDB_OK;
}

/* ---- System.native_heap_info ---- */

/* Reads the output of malloc_info. The sums after the last </heap> are for all arenas. */
static int read_malloc(struct memory *m, char *text, char *end, struct hdb_error *err)
{
	char *line;

	while ((line = next_line(&text, end))) {
		const uint64_t size = bytes_after(line, " size=\"");

		if (strncmp(line, "<heap nr=", 9) == 0) {
			m->malloc_free = m->malloc_mapped = m->malloc_arenas = 0;
		} else if (strncmp(line, "<total type=\"fast\"", 18) == 0 ||
			   strncmp(line, "<total type=\"rest\"", 18) == 0) {
			m->malloc_free += size;
		} else if (strncmp(line, "<total type=\"mmap\"", 18) == 0) {
			m->malloc_mapped = size;
		} else if (strncmp(line, "<system type=\"current\"", 22) == 0) {
			m->malloc_arenas = size;
		} else if (strncmp(line, "</heap>", 7) == 0) {
			m->malloc_free = 0;
		}
	}
	m->has_malloc = m->malloc_arenas > 0;
	return m->has_malloc ? HDB_OK :
			       hdb_fail(err, HDB_EFORMAT,
					"expected the output of malloc_info(3), including the "
					"element <system type=\"current\">");
}

int memory_add(struct memory *m, enum memory_kind kind, char *text, size_t size,
	       struct hdb_error *err)
{
	switch (kind) {
	case MEMORY_SMAPS:
		return memory_read_smaps(m, text, size, err);
	case MEMORY_NMT:
		return read_nmt(m, text, text + size, err);
	case MEMORY_VM_INFO:
		return read_vm_info(m, text, text + size, err);
	case MEMORY_MAP:
		return read_map(m, text, text + size, err);
	case MEMORY_MALLOC:
		return read_malloc(m, text, text + size, err);
	case MEMORY_UNKNOWN:
		break;
	}
	return HDB_EBUG;
}
