/*
 * androidfiles/meminfo_smaps.c - sums /proc/PID/smaps by memory category as Android does: by
 * mapping names, following android_os_Debug.cpp and libmeminfo of Android 5 to 16. Also reads
 * smaps_rollup, which has only totals. Graphics memory outside mappings (EGL and GL mtrack) does
 * not appear in these files.
 */
#include "androidfiles/androidfiles.h"

#include "base/scope.h"
#include "base/error.h"
#include "common/smaps.h"

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

/* Number of extra rows of smaps_rollup: Pss_Anon, Pss_File, Pss_Shmem. */
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

/* Ways to match a mapping name. */
enum how { BEGINS, ENDS, HAS };

struct rule {
	enum how how;
	const char *text;
	enum kind kind;
	enum part part;
};

#define MAPPING(...) \
	{ \
		__VA_ARGS__ \
	}
static const struct rule rules[] = {
#include <androidfiles/meminfo_smaps.rows.h>
};

struct sums {
	struct android_memory *out;
	struct android_memory_row kinds[KINDS], parts[PARTS], total;
	struct android_memory_row extra[EXTRAS]; /* extra rows of smaps_rollup */
	uint64_t before_end;                     /* end of the previous mapping */
	enum kind before;                        /* kind of the previous mapping */
	bool is_rollup;
};

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

static void classify(const struct sums *s, const struct smaps_mapping *m, enum kind *kind,
		     enum part *part)
{
	*kind = UNKNOWN;
	*part = NO_PART;
	if (!m->name_size) {
		/*
		 * an anonymous mapping after a mapping of a library is the library's zero-
		 * initialised data (.bss)
		 */
		if (m->start == s->before_end && s->before == SO)
			*kind = SO;
		return;
	}
	for (size_t i = 0; i < BASE_COUNT(rules); i++) {
		if (!fits(&rules[i], m->name, m->name_size))
			continue;
		*kind = rules[i].kind;
		*part = rules[i].part;
		break;
	}
	if (*part == APP_ART &&
	    (has_text(m->name, m->name_size, "@boot") || has_text(m->name, m->name_size, "/boot")))
		*part = BOOT_ART;
}

/* ---- sums ---- */

static void add(struct android_memory_row *row, const struct smaps_mapping *m)
{
	static const struct {
		enum smaps_figure from;
		enum android_figure to;
	} figures[] = {
		{ SMAPS_PSS, ANDROID_PSS },
		{ SMAPS_PRIVATE_DIRTY, ANDROID_PRIVATE_DIRTY },
		{ SMAPS_PRIVATE_CLEAN, ANDROID_PRIVATE_CLEAN },
		{ SMAPS_SHARED_DIRTY, ANDROID_SHARED_DIRTY },
		{ SMAPS_SHARED_CLEAN, ANDROID_SHARED_CLEAN },
		{ SMAPS_SWAP, ANDROID_SWAP },
		{ SMAPS_SWAP_PSS, ANDROID_SWAP_PSS },
		{ SMAPS_RSS, ANDROID_RSS },
	};

	for (size_t i = 0; i < BASE_COUNT(figures); i++) {
		const uint64_t bytes = m->figures[figures[i].from];
		uint64_t *sum = &row->figures[figures[i].to];

		*sum = *sum > UINT64_MAX - bytes ? UINT64_MAX : *sum + bytes;
		if (m->has >> figures[i].from & 1)
			row->has |= 1u << figures[i].to;
	}
}

static void take(struct sums *s, const struct smaps_mapping *m)
{
	enum kind kind;
	enum part part;

	classify(s, m, &kind, &part);
	add(&s->kinds[kind], m);
	add(&s->parts[part], m);
	add(&s->total, m);
	s->before = kind;
	s->before_end = m->end;
	s->is_rollup |= m->is_rollup;
	for (int i = 0; i < EXTRAS; i++) {
		if (!(m->has >> (SMAPS_PSS_ANON + i) & 1))
			continue;
		s->extra[i].figures[ANDROID_PSS] = m->figures[SMAPS_PSS_ANON + i];
		s->extra[i].has = 1u << ANDROID_PSS;
	}
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

/* Computes the summary of Debug.MemoryInfo from the sums. */
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

/* Adds rows for all categories of smaps, or for the few that a rollup contains. */
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
	/* as in dumpsys, the total includes memory that is swapped out */
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
	struct smaps text = { data, data + size };
	struct smaps_mapping mapping;

	if (!s)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for sums");
	s->out = out;
	while (smaps_next(&text, &mapping))
		take(s, &mapping);
	out->form = s->is_rollup ? "smaps_rollup" : "smaps";
	return s->total.has ? give_rows(s, err) :
			      hdb_fail(err, HDB_EFORMAT,
				       "mappings without sizes: expected /proc/PID/smaps, not "
				       "/proc/PID/maps");
}
