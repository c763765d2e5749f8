/*
 * androidfiles/meminfo_smaps.c - sums /proc/PID/smaps by memory category as Android does: by
 * mapping names, following android_os_Debug.cpp and libmeminfo of Android 5 to 16. Also reads
 * smaps_rollup, which has only totals. Graphics memory outside mappings (EGL and GL mtrack) does
 * not appear in these files.
 */
#include "androidfiles/androidfiles.h"

#include "base/scope.h"
#include "base/error.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	NATIVE_HEAP,
	DALVIK_HEAP,
	DALVIK_OTHER,
	STACK,
	CURSOR,
	ASHMEM,
	GFX_DEV,
	OTHER_DEV,
	SO,
	JAR,
	APK,
	TTF,
	DEX,
	OAT,
	ART,
	OTHER_MMAP,
	UNKNOWN,
	KINDS
};

/* Rows of a rollup: Pss_Anon, Pss_File, Pss_Shmem. */
enum { EXTRAS = 3 };
static const char *const extra_names[EXTRAS] = { "anonymous", "files", "shared memory" };

static const char *const kind_names[KINDS] = {
	"Native Heap", "Dalvik Heap", "Dalvik Other", "Stack",      "Cursor",    "Ashmem",
	"Gfx dev",     "Other dev",   ".so mmap",     ".jar mmap",  ".apk mmap", ".ttf mmap",
	".dex mmap",   ".oat mmap",   ".art mmap",    "Other mmap", "Unknown",
};

/* Subdivisions of categories, in the order of Android's Dalvik details. */
enum part {
	NO_PART,
	HEAP,
	LOS,
	ZYGOTE,
	NON_MOVING,
	LINEAR_ALLOC,
	GC,
	CODE_CACHE,
	COMPILER,
	REFERENCES,
	BOOT_ART,
	APP_ART,
	PARTS
};

static const char *const part_names[PARTS] = {
	"",
	".Heap",
	".LOS",
	".Zygote",
	".NonMoving",
	".LinearAlloc",
	".GC",
	".JITCache",
	".CompilerMetadata",
	".IndirectRef",
	".Boot art",
	".App art",
};

/* How a mapping name is matched. */
enum how { BEGINS, ENDS, HAS };

struct rule {
	enum how how;
	const char *text;
	enum kind kind;
	enum part part;
};

/* The first matching rule applies. */
static const struct rule rules[] = {
	{ BEGINS, "[heap]", NATIVE_HEAP, NO_PART },
	{ BEGINS, "[anon:libc_malloc", NATIVE_HEAP, NO_PART },
	{ BEGINS, "[anon:scudo:", NATIVE_HEAP, NO_PART },
	{ BEGINS, "[anon:GWP-ASan", NATIVE_HEAP, NO_PART },
	{ BEGINS, "[stack", STACK, NO_PART },
	{ BEGINS, "[anon:stack_and_tls:", STACK, NO_PART },
	{ BEGINS, "[anon:thread stack", STACK, NO_PART },
	{ ENDS, ".so", SO, NO_PART },
	{ ENDS, ".jar", JAR, NO_PART },
	{ ENDS, ".apk", APK, NO_PART },
	{ ENDS, ".ttf", TTF, NO_PART },
	{ HAS, ".dex", DEX, NO_PART },
	{ ENDS, ".odex", DEX, NO_PART },
	{ ENDS, ".vdex", DEX, NO_PART },
	{ ENDS, ".oat", OAT, NO_PART },
	/* The name also identifies the boot image. */
	{ ENDS, ".art", ART, APP_ART },
	{ ENDS, ".art]", ART, APP_ART },
	{ BEGINS, "/dev/kgsl-3d0", GFX_DEV, NO_PART },
	{ BEGINS, "/dev/ashmem/CursorWindow", CURSOR, NO_PART },
	{ BEGINS, "/dev/ashmem/libc malloc", NATIVE_HEAP, NO_PART },
	{ BEGINS, "/dev/ashmem/jit-zygote-cache", DALVIK_OTHER, CODE_CACHE },
	{ BEGINS, "/memfd:jit-cache", DALVIK_OTHER, CODE_CACHE },
	{ BEGINS, "/memfd:jit-zygote-cache", DALVIK_OTHER, CODE_CACHE },
	/* "*" stands for "/dev/ashmem/dalvik-" up to Android 9 and "[anon:dalvik-" since. */
	{ BEGINS, "*LinearAlloc", DALVIK_OTHER, LINEAR_ALLOC },
	{ BEGINS, "*alloc space", DALVIK_HEAP, HEAP },
	{ BEGINS, "*main space", DALVIK_HEAP, HEAP },
	{ BEGINS, "*large object space", DALVIK_HEAP, LOS },
	{ BEGINS, "*free list large object space", DALVIK_HEAP, LOS },
	{ BEGINS, "*non moving space", DALVIK_HEAP, NON_MOVING },
	{ BEGINS, "*zygote space", DALVIK_HEAP, ZYGOTE },
	{ BEGINS, "*indirect ref", DALVIK_OTHER, REFERENCES },
	{ BEGINS, "*jit-code-cache", DALVIK_OTHER, CODE_CACHE },
	{ BEGINS, "*data-code-cache", DALVIK_OTHER, CODE_CACHE },
	{ BEGINS, "*CompilerMetadata", DALVIK_OTHER, COMPILER },
	{ BEGINS, "*", DALVIK_OTHER, GC },
	{ BEGINS, "/dev/ashmem", ASHMEM, NO_PART },
	{ BEGINS, "/dev/", OTHER_DEV, NO_PART },
	{ BEGINS, "[anon:", UNKNOWN, NO_PART },
	{ BEGINS, "[anon_shmem:", UNKNOWN, NO_PART },
	{ HAS, "", OTHER_MMAP, NO_PART },
};

struct mapping {
	uint64_t start, end;
	const char *name;
	size_t name_size;
	enum kind kind;
	enum part part;
	uint64_t figures[ANDROID_FIGURES];
	unsigned has;
};

struct sums {
	struct android_memory *out;
	struct android_memory_row kinds[KINDS], parts[PARTS], total;
	struct android_memory_row extra[EXTRAS]; /* rows of a rollup */
	struct mapping before, now;
	uint64_t mappings;
	bool is_open, is_rollup;
};

/* ---- lines ---- */

/* Parses a hexadecimal number; NULL if there is none or it exceeds 64 bits. */
static const char *hex(const char *p, const char *end, uint64_t *out)
{
	const char *start = p;

	for (*out = 0; p < end && isxdigit((unsigned char)*p) && p - start < 16; p++)
		*out = *out << 4 | (uint64_t)(isdigit((unsigned char)*p) ?
						      *p - '0' :
						      tolower((unsigned char)*p) - 'a' + 10);
	return p == start ? NULL : p;
}

/* Parses "start-end perms offset device inode name". The name may be missing or contain blanks. */
static bool read_mapping(const char *p, size_t size, struct mapping *m)
{
	const char *end = p + size;

	p = hex(p, end, &m->start);
	if (!p || p == end || *p != '-')
		return false;
	p = hex(p + 1, end, &m->end);
	if (!p || p == end || *p != ' ')
		return false;
	/* Skip permissions, offset, device and inode. */
	for (int i = 0; i < 4; i++) {
		while (p < end && *p == ' ')
			p++;
		if (p == end || (i == 0 && !strchr("r-", *p)))
			return false;
		while (p < end && *p != ' ')
			p++;
	}
	while (p < end && isspace((unsigned char)*p))
		p++;
	m->name = p;
	m->name_size = (size_t)(end - p);
	return true;
}

bool android_is_mapping(const char *line, size_t size)
{
	struct mapping mapping = { 0 };

	return size && read_mapping(line, size, &mapping);
}

/* ---- kinds ---- */

static bool has_text(const char *name, size_t size, const char *text)
{
	return !*text || memmem(name, size, text, strlen(text)) != NULL;
}

static bool begins(const char *name, size_t size, const char *text)
{
	return size >= strlen(text) && memcmp(name, text, strlen(text)) == 0;
}

static bool fits(const struct rule *rule, const char *name, size_t size)
{
	static const char *const dalvik[] = { "/dev/ashmem/dalvik-", "[anon:dalvik-" };
	const size_t length = strlen(rule->text);

	if (rule->how == ENDS)
		return size > length && memcmp(name + size - length, rule->text, length) == 0;
	if (rule->how == HAS)
		return has_text(name, size, rule->text);
	if (rule->text[0] != '*')
		return begins(name, size, rule->text);
	for (size_t i = 0; i < 2; i++)
		if (begins(name, size, dalvik[i]))
			return begins(name + strlen(dalvik[i]), size - strlen(dalvik[i]),
				      rule->text + 1);
	return false;
}

static void classify(struct sums *s, struct mapping *m)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;

	if (m->name_size > tail && memcmp(m->name + m->name_size - tail, deleted, tail) == 0)
		m->name_size -= tail;
	m->kind = UNKNOWN;
	m->part = NO_PART;
	if (!m->name_size) {
		/*
		 * An anonymous mapping that follows a library's is its zero-initialised data
		 * (.bss).
		 */
		if (s->mappings && m->start == s->before.end && s->before.kind == SO)
			m->kind = SO;
		return;
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!fits(&rules[i], m->name, m->name_size))
			continue;
		m->kind = rules[i].kind;
		m->part = rules[i].part;
		break;
	}
	if (m->part == APP_ART &&
	    (has_text(m->name, m->name_size, "@boot") || has_text(m->name, m->name_size, "/boot")))
		m->part = BOOT_ART;
}

/* ---- sums ---- */

static void add(struct android_memory_row *row, const struct mapping *m)
{
	for (int i = 0; i < ANDROID_FIGURES; i++)
		row->figures[i] = row->figures[i] > UINT64_MAX - m->figures[i] ?
					  UINT64_MAX :
					  row->figures[i] + m->figures[i];
	row->has |= m->has;
}

static void end_mapping(struct sums *s)
{
	if (!s->is_open)
		return;
	add(&s->kinds[s->now.kind], &s->now);
	add(&s->parts[s->now.part], &s->now);
	add(&s->total, &s->now);
	s->before = s->now;
	s->mappings++;
	s->is_open = false;
}

/* Parses "Private_Dirty: 12 kB". */
static void read_figure(struct sums *s, const char *p, size_t size)
{
	static const struct {
		const char *key;
		int figure; /* negative: -1 - index in extra */
	} keys[] = {
		{ "Pss:", ANDROID_PSS },
		{ "Private_Dirty:", ANDROID_PRIVATE_DIRTY },
		{ "Private_Clean:", ANDROID_PRIVATE_CLEAN },
		{ "Shared_Dirty:", ANDROID_SHARED_DIRTY },
		{ "Shared_Clean:", ANDROID_SHARED_CLEAN },
		{ "Swap:", ANDROID_SWAP },
		{ "SwapPss:", ANDROID_SWAP_PSS },
		{ "Rss:", ANDROID_RSS },
		{ "Pss_Anon:", -1 },
		{ "Pss_File:", -2 },
		{ "Pss_Shmem:", -3 },
	};
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const size_t length = strlen(keys[i].key);
		struct android_memory_row *row =
			&s->extra[keys[i].figure < 0 ? -1 - keys[i].figure : 0];

		if (!begins(p, size, keys[i].key))
			continue;
		for (size_t k = length; k < size; k++)
			if (isdigit((unsigned char)p[k]))
				n = n > UINT64_MAX / 20480 ? n : n * 10 + (uint64_t)(p[k] - '0');
		if (keys[i].figure >= 0) {
			s->now.figures[keys[i].figure] = n * 1024;
			s->now.has |= 1u << keys[i].figure;
		} else {
			row->figures[ANDROID_PSS] = n * 1024;
			row->has = 1u << ANDROID_PSS;
		}
		return;
	}
}

static void read_line(struct sums *s, const char *p, size_t size)
{
	struct mapping next = { 0 };

	while (size && isspace((unsigned char)p[size - 1]))
		size--;
	/*
	 * Keys begin with a capital letter and are never a hexadecimal number followed by a dash.
	 */
	if (!read_mapping(p, size, &next)) {
		if (s->is_open)
			read_figure(s, p, size);
		return;
	}
	end_mapping(s);
	s->is_rollup |= begins(next.name, next.name_size, "[rollup]");
	classify(s, &next);
	s->now = next;
	s->is_open = true;
}

/* ---- rows ---- */

static uint64_t figure(const struct sums *s, enum kind kind, enum android_figure what)
{
	return s->kinds[kind].figures[what];
}

static uint64_t private_of(const struct sums *s, enum kind kind)
{
	const uint64_t dirty = figure(s, kind, ANDROID_PRIVATE_DIRTY);
	const uint64_t clean = figure(s, kind, ANDROID_PRIVATE_CLEAN);

	return dirty > UINT64_MAX - clean ? UINT64_MAX : dirty + clean;
}

static int add_summary(const struct sums *s, const char *name, uint64_t bytes,
		       struct hdb_error *err)
{
	struct android_memory_row row = { .section = ANDROID_SUMMARY, .has = 1u << ANDROID_PSS };

	row.figures[ANDROID_PSS] = bytes;
	return android_memory_add(s->out, &row, "", name, err);
}

/* Computes the summary of Debug.MemoryInfo, as far as these files allow. */
static int summarize(const struct sums *s, struct hdb_error *err)
{
	const uint64_t java = figure(s, DALVIK_HEAP, ANDROID_PRIVATE_DIRTY) + private_of(s, ART);
	const uint64_t native = figure(s, NATIVE_HEAP, ANDROID_PRIVATE_DIRTY);
	const uint64_t code = private_of(s, SO) + private_of(s, JAR) + private_of(s, APK) +
			      private_of(s, TTF) + private_of(s, DEX) + private_of(s, OAT) +
			      s->parts[CODE_CACHE].figures[ANDROID_PRIVATE_DIRTY] +
			      s->parts[CODE_CACHE].figures[ANDROID_PRIVATE_CLEAN];
	const uint64_t stack = figure(s, STACK, ANDROID_PRIVATE_DIRTY);
	const uint64_t graphics = private_of(s, GFX_DEV);
	const uint64_t private =
		s->total.figures[ANDROID_PRIVATE_DIRTY] + s->total.figures[ANDROID_PRIVATE_CLEAN];
	const uint64_t named = java + native + code + stack + graphics;
	const uint64_t pss = s->total.figures[ANDROID_PSS];

	TRY(add_summary(s, "Java Heap", java, err));
	TRY(add_summary(s, "Native Heap", native, err));
	TRY(add_summary(s, "Code", code, err));
	TRY(add_summary(s, "Stack", stack, err));
	TRY(add_summary(s, "Graphics", graphics, err));
	TRY(add_summary(s, "Private Other", private > named ? private - named : 0, err));
	TRY(add_summary(s, "System", pss > private ? pss - private : 0, err));
	return add_summary(s, "TOTAL", pss, err);
}

/* Adds rows for all categories of smaps, or for the few of a rollup. */
static int give_kinds(struct sums *s, struct hdb_error *err)
{
	for (int i = 0; i < KINDS && !s->is_rollup; i++)
		if (s->kinds[i].has)
			TRY(android_memory_add(s->out, &s->kinds[i], "", kind_names[i], err));
	for (int i = 0; i < EXTRAS && s->is_rollup; i++)
		if (s->extra[i].has)
			TRY(android_memory_add(s->out, &s->extra[i], "", extra_names[i], err));
	return HDB_OK;
}

static int give_parts(struct sums *s, struct hdb_error *err)
{
	for (int i = NO_PART + 1; i < PARTS; i++) {
		s->parts[i].section = ANDROID_DETAILS;
		if (s->parts[i].has)
			TRY(android_memory_add(s->out, &s->parts[i], "", part_names[i], err));
	}
	return HDB_OK;
}

static int give_rows(struct sums *s, struct hdb_error *err)
{
	uint64_t *pss = &s->total.figures[ANDROID_PSS];
	const uint64_t swap = s->total.figures[ANDROID_SWAP_PSS];

	TRY(give_kinds(s, err));
	/* Like dumpsys, the total includes swapped-out memory. */
	if (s->total.has >> ANDROID_PSS & 1)
		*pss = *pss > UINT64_MAX - swap ? UINT64_MAX : *pss + swap;
	TRY(android_memory_add(s->out, &s->total, "", "TOTAL", err));
	if (s->is_rollup)
		return HDB_OK;
	TRY(give_parts(s, err));
	return summarize(s, err);
}

int android_smaps_read(const char *data, size_t size, struct android_memory *out,
		       struct hdb_error *err)
{
	BASE_FREED struct sums *s = calloc(1, sizeof(*s));
	const char *end = data + size;

	if (!s)
		return hdb_fail(err, HDB_ENOMEM, "no memory for sums");
	s->out = out;
	for (const char *p = data, *stop; p < end; p = stop + (stop < end)) {
		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		read_line(s, p, (size_t)(stop - p));
	}
	end_mapping(s);
	out->form = s->is_rollup ? "smaps_rollup" : "smaps";
	return s->total.has ? give_rows(s, err) :
			      hdb_fail(err, HDB_EFORMAT,
				       "mappings without sizes: expected /proc/PID/smaps, not "
				       "/proc/PID/maps");
}
