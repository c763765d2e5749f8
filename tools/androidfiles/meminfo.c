/*
 * androidfiles/meminfo.c - parses the output of `dumpsys meminfo` since Android 5: a process's
 * table with few or all (-a) columns, with or without details (-d) and summary (-s), several
 * processes, --checkin, and the list of all processes; also /proc/meminfo.
 *
 * Columns vary between versions. The two heading lines identify them, and the numbers of a row are
 * assigned to them from the left. Unknown lines are skipped.
 */
#include "androidfiles/androidfiles.h"

#include "base/error.h"
#include "common/smaps.h"
#include "base/base_text.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Maximum number of words examined in a line. */
#define WORDS_MAX 32
/* Maximum number of rows. The output for all processes of a device has a few thousand rows. */
#define ROWS_MAX 1000000u
#define NAME_MAX_BYTES 256

struct word {
	const char *text;
	size_t size;
};

struct line {
	struct word words[WORDS_MAX];
	unsigned count;
	const char *text; /* without leading and trailing blanks */
	size_t size;
};

struct reading {
	struct android_memory *out;
	const char *at, *end;
	uint64_t line_no;
	uint64_t pid;
	char process[NAME_MAX_BYTES];
	int section; /* enum android_section, or -1 if lines are skipped */
	enum android_figure columns[WORDS_MAX];
	unsigned column_count;
	enum android_figure list_figure; /* figure shown by the list of processes */
};

/* ---- rows ---- */

static size_t add_text(struct android_memory *m, const char *text)
{
	const size_t place = m->texts.size;

	bytes_add(&m->texts, text, strlen(text) + 1);
	return place;
}

int android_memory_add(struct android_memory *m, const struct android_memory_row *row,
		       const char *process, const char *name, struct hdb_error *err)
{
	struct android_memory_row *rows;
	struct android_memory_row copy = *row;

	if (m->count >= ROWS_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many rows (limit %u)", ROWS_MAX);
	TRY(base_vec_reserve(&m->vec, 1, sizeof(*row), err));
	rows = m->rows;
	if (!m->count)
		add_text(m, "");
	/* the rows of a process are consecutive, so a comparison with the last process is enough */
	if (m->count && strcmp(m->texts.data + rows[m->count - 1].process, process) == 0)
		copy.process = rows[m->count - 1].process;
	else
		copy.process = add_text(m, process);
	copy.name = add_text(m, name[0] ? name : "?");
	if (m->texts.failed)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for names");
	assert(copy.name < m->texts.size);
	assert(copy.process < m->texts.size);
	rows[m->count++] = copy;
	return HDB_OK;
}

const struct android_memory_row *android_memory_find(const struct android_memory *m,
						     enum android_section section, const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->rows[i].section == section &&
		    strcmp(m->texts.data + m->rows[i].name, name) == 0)
			return &m->rows[i];
	return NULL;
}

void android_memory_release(struct android_memory *m)
{
	base_vec_release(&m->vec);
	bytes_release(&m->texts);
	*m = (struct android_memory){ 0 };
}

/* Converts kilobytes to bytes. The result saturates. */
static uint64_t kilobytes(uint64_t n)
{
	return n > UINT64_MAX / 1024 ? UINT64_MAX : n * 1024;
}

/* ---- lines and words ---- */

static bool next_line(struct reading *r, struct line *line)
{
	const char *end, *p;

	if (r->at == r->end)
		return false;
	end = memchr(r->at, '\n', (size_t)(r->end - r->at));
	if (!end)
		end = r->end;
	line->text = r->at;
	line->size = (size_t)(end - r->at);
	r->at = end == r->end ? end : end + 1;
	r->line_no++;
	while (line->size && isspace((unsigned char)line->text[line->size - 1]))
		line->size--;
	while (line->size && isspace((unsigned char)line->text[0])) {
		line->text++;
		line->size--;
	}
	line->count = 0;
	for (p = line->text, end = line->text + line->size; p < end && line->count < WORDS_MAX;) {
		const char *start = p;

		while (p < end && !isspace((unsigned char)*p))
			p++;
		line->words[line->count++] = (struct word){ start, (size_t)(p - start) };
		while (p < end && isspace((unsigned char)*p))
			p++;
	}
	return true;
}

static bool is_word(const struct word *word, const char *text)
{
	return word->size == strlen(text) && memcmp(word->text, text, word->size) == 0;
}

static bool begins(const struct line *line, const char *text)
{
	return line->size >= strlen(text) && memcmp(line->text, text, strlen(text)) == 0;
}

/* Parses a number, with or without thousands separators, or in parentheses: "(123)". */
static bool number_of(const struct word *word, uint64_t *out)
{
	const char *p = word->text, *end = word->text + word->size;
	uint64_t n = 0;
	bool any = false;

	if (p < end && *p == '(' && end[-1] == ')') {
		p++;
		end--;
	}
	for (; p < end; p++) {
		if (*p == ',' && any)
			continue;
		if (!isdigit((unsigned char)*p))
			return false;
		n = n > (UINT64_MAX - 9) / 10 ? UINT64_MAX / 2 : n * 10 + (uint64_t)(*p - '0');
		any = true;
	}
	*out = n;
	return any;
}

/* Joins words [0, count) into a name, without a trailing colon. */
static void name_of(const struct line *line, unsigned from, unsigned count, char *buf)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned i = from; i < from + count && used < NAME_MAX_BYTES; i++)
		used += (size_t)snprintf(
			buf + used, NAME_MAX_BYTES - used, "%s%.*s", i > from ? " " : "",
			(int)(line->words[i].size < NAME_MAX_BYTES ? line->words[i].size :
								     NAME_MAX_BYTES),
			line->words[i].text);
	used = strlen(buf);
	if (used && buf[used - 1] == ':')
		buf[used - 1] = '\0';
}

/* ---- the table ---- */

/* Identifies a column by the two words of its heading. */
static bool figure_of(const struct word *above, const struct word *below, enum android_figure *out)
{
	static const struct {
		const char *above, *below;
		enum android_figure figure;
	} known[] = {
		{ "Pss", "Total", ANDROID_PSS },
		{ "Pss", "Clean", ANDROID_PSS_CLEAN },
		{ "Shared", "Dirty", ANDROID_SHARED_DIRTY },
		{ "Private", "Dirty", ANDROID_PRIVATE_DIRTY },
		{ "Shared", "Clean", ANDROID_SHARED_CLEAN },
		{ "Private", "Clean", ANDROID_PRIVATE_CLEAN },
		{ "Swap", "Dirty", ANDROID_SWAP },
		{ "Swapped", "Dirty", ANDROID_SWAP },
		{ "SwapPss", "Dirty", ANDROID_SWAP_PSS },
		{ "Rss", "Total", ANDROID_RSS },
		{ "Heap", "Size", ANDROID_HEAP_SIZE },
		{ "Heap", "Alloc", ANDROID_HEAP_ALLOC },
		{ "Heap", "Free", ANDROID_HEAP_FREE },
	};

	for (size_t i = 0; i < BASE_COUNT(known); i++) {
		if (!is_word(above, known[i].above) || !is_word(below, known[i].below))
			continue;
		*out = known[i].figure;
		return true;
	}
	return false;
}

/* Reads the two heading lines. Returns false if the second does not match the first. */
static bool read_headings(struct reading *r, const struct line *above, const struct line *below)
{
	if (!above->count || above->count != below->count)
		return false;
	for (unsigned i = 0; i < above->count; i++)
		if (!figure_of(&above->words[i], &below->words[i], &r->columns[i]))
			return false;
	r->column_count = above->count;
	return true;
}

/* Reads "Dalvik Heap 123 45 ...". Numbers are assigned to columns from the left. */
static int read_row(struct reading *r, const struct line *line, struct hdb_error *err)
{
	struct android_memory_row row = { .section = (enum android_section)r->section,
					  .pid = r->pid };
	char name[NAME_MAX_BYTES];
	unsigned first = line->count;
	uint64_t n;

	while (first && number_of(&line->words[first - 1], &n))
		first--;
	if (!first || first == line->count)
		return HDB_OK;
	for (unsigned i = first; i < line->count && i - first < r->column_count; i++) {
		(void)number_of(&line->words[i], &n);
		row.figures[r->columns[i - first]] = kilobytes(n);
		row.has |= 1u << r->columns[i - first];
	}
	name_of(line, 0, first, name);
	return android_memory_add(r->out, &row, r->process, name, err);
}

/* ---- the other parts ---- */

/*
 * Reads "Java Heap: 7700 [8000]", "TOTAL PSS: 1 TOTAL RSS: 2 TOTAL SWAP PSS: 3" or "TOTAL: 1 ...".
 */
static int read_summary(struct reading *r, const struct line *line, struct hdb_error *err)
{
	struct android_memory_row row = { .section = ANDROID_SUMMARY, .pid = r->pid };
	char name[NAME_MAX_BYTES] = "";
	unsigned from = 0, numbers = 0;
	bool is_total = false;

	for (unsigned i = 0; i < line->count; i++) {
		enum android_figure figure = numbers ? ANDROID_RSS : ANDROID_PSS;
		uint64_t n;

		if (!number_of(&line->words[i], &n))
			continue;
		if (i > from)
			name_of(line, from, i - from, name);
		if (strncmp(name, "TOTAL", 5) == 0) {
			is_total = true;
			figure = strstr(name, "SWAP PSS") ? ANDROID_SWAP_PSS :
				 strstr(name, "SWAP")     ? ANDROID_SWAP :
				 strstr(name, "RSS")      ? ANDROID_RSS :
							    ANDROID_PSS;
		}
		if (numbers < 3) {
			row.figures[figure] = kilobytes(n);
			row.has |= 1u << figure;
		}
		numbers++;
		from = i + 1;
	}
	if (!numbers || !name[0])
		return HDB_OK;
	return android_memory_add(r->out, &row, r->process, is_total ? "TOTAL" : name, err);
}

/* Reads pairs such as "Views: 789 ViewRootImpl: 1". The pairs for SQL are in kilobytes. */
static int read_objects(struct reading *r, const struct line *line, struct hdb_error *err)
{
	const enum android_figure figure = r->section == ANDROID_SQL ? ANDROID_SIZE : ANDROID_COUNT;
	unsigned from = 0;

	for (unsigned i = 0; i < line->count; i++) {
		struct android_memory_row row = { .section = (enum android_section)r->section,
						  .pid = r->pid,
						  .has = 1u << figure };
		char name[NAME_MAX_BYTES];

		if (!number_of(&line->words[i], &row.figures[figure]))
			continue;
		if (figure == ANDROID_SIZE)
			row.figures[figure] = kilobytes(row.figures[figure]);
		assert(from <= i);
		name_of(line, from, i - from, name);
		from = i + 1;
		if (name[0])
			TRY(android_memory_add(r->out, &row, r->process, name, err));
	}
	return HDB_OK;
}

/* Adds a row with one figure, given in kilobytes. */
static int add_size(struct reading *r, const char *name, uint64_t size, struct hdb_error *err)
{
	struct android_memory_row row = { .section = (enum android_section)r->section,
					  .pid = r->pid,
					  .has = 1u << ANDROID_SIZE };

	row.figures[ANDROID_SIZE] = kilobytes(size);
	return android_memory_add(r->out, &row, r->process, name, err);
}

/* Returns whether the word consists of digits, optionally separated by slashes. */
static bool is_counts(const struct word *word)
{
	for (size_t i = 0; i < word->size; i++)
		if (!isdigit((unsigned char)word->text[i]) && word->text[i] != '/')
			return false;
	return true;
}

/*
 * Reads "4 20 24 1/18/2 /data/x.db": page size, database size and lookaside in kilobytes; hits,
 * misses and size of the cache, with slashes before Android 14; name.
 */
static int read_database(struct reading *r, const struct line *line, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES];
	unsigned first = 2;
	uint64_t page, size;

	if (line->count < 3 || !number_of(&line->words[0], &page) ||
	    !number_of(&line->words[1], &size))
		return HDB_OK;
	while (first + 1 < line->count && is_counts(&line->words[first]))
		first++;
	name_of(line, first, line->count - first, name);
	return add_size(r, name, size, err);
}

/*
 * Reads "zip:/data/app/base.apk:/resources.arsc: 12K" or "MemFree: 12345 kB". Other lines are
 * skipped.
 */
static int read_size(struct reading *r, const struct line *line, struct hdb_error *err)
{
	const bool has_unit = is_word(&line->words[line->count - 1], "kB");
	const unsigned count = line->count - has_unit;
	char name[NAME_MAX_BYTES];
	struct word size;
	uint64_t n;

	if (count < 2)
		return HDB_OK;
	size = line->words[count - 1];
	if (!has_unit && size.text[--size.size] != 'K')
		return HDB_OK;
	if (!number_of(&size, &n))
		return HDB_OK;
	name_of(line, 0, count - 1, name);
	return add_size(r, name, n, err);
}

/*
 * Reads "135,623K: com.acme (pid 12 / activities)", or in older versions "135623 kB: com.acme (pid
 * 12)".
 */
static int read_process(struct reading *r, const struct line *line, struct hdb_error *err)
{
	struct android_memory_row row = { .section = ANDROID_PROCESS };
	struct word size = line->count ? line->words[0] : (struct word){ "", 0 };
	char process[NAME_MAX_BYTES];
	unsigned name = 1;
	uint64_t n;

	if (line->count > 2 && is_word(&line->words[1], "kB:")) {
		name = 2;
	} else {
		if (size.size < 3 || memcmp(size.text + size.size - 2, "K:", 2) != 0)
			return HDB_OK;
		size.size -= 2;
	}
	if (!number_of(&size, &n) || line->count <= name)
		return HDB_OK;
	row.figures[r->list_figure] = kilobytes(n);
	row.has = 1u << r->list_figure;
	for (unsigned i = name; i + 1 < line->count; i++) {
		struct word pid = line->words[i + 1];

		if (!is_word(&line->words[i], "(pid"))
			continue;
		if (pid.size && pid.text[pid.size - 1] == ')')
			pid.size--;
		(void)number_of(&pid, &row.pid);
		name_of(line, name, i - name, process);
		return android_memory_add(r->out, &row, process, "TOTAL", err);
	}
	return HDB_OK;
}

/* ---- --checkin ---- */

struct fields {
	const char *at, *end;
};

/* Returns the next comma-separated field. */
static bool next_field(struct fields *f, struct word *out)
{
	const char *comma;

	if (f->at >= f->end)
		return false;
	comma = memchr(f->at, ',', (size_t)(f->end - f->at));
	*out = (struct word){ f->at, (size_t)((comma ? comma : f->end) - f->at) };
	f->at = comma ? comma + 1 : f->end;
	return true;
}

/* Stores a number in a figure; "N/A" leaves it unknown. */
static bool take_figure(struct fields *f, struct android_memory_row *row,
			enum android_figure figure)
{
	struct fields before = *f;
	struct word word;
	uint64_t n;

	if (!next_field(f, &word))
		return false;
	if (number_of(&word, &n)) {
		row->figures[figure] = kilobytes(n);
		row->has |= 1u << figure;
		return true;
	}
	if (is_word(&word, "N/A"))
		return true;
	*f = before;
	return false;
}

/*
 * Reads "4,PID,NAME,", followed by native, Dalvik, other and total of each of: heap size,
 * allocated, free, Pss, clean Pss, shared dirty, shared clean, private dirty, private clean, swap,
 * and from version 4 on SwapPss. Then, for each category, its name and the same figures except the
 * heap figures.
 */
static int read_checkin(struct reading *r, const struct line *line, struct hdb_error *err)
{
	static const enum android_figure order[] = {
		ANDROID_HEAP_SIZE,    ANDROID_HEAP_ALLOC,    ANDROID_HEAP_FREE,
		ANDROID_PSS,          ANDROID_PSS_CLEAN,     ANDROID_SHARED_DIRTY,
		ANDROID_SHARED_CLEAN, ANDROID_PRIVATE_DIRTY, ANDROID_PRIVATE_CLEAN,
		ANDROID_SWAP,         ANDROID_SWAP_PSS,
	};
	static const char *const names[] = { "Native Heap", "Dalvik Heap", "Unknown", "TOTAL" };
	struct fields f = { line->text, line->text + line->size };
	struct android_memory_row rows[4];
	struct word word;
	char name[NAME_MAX_BYTES];

	memset(rows, 0, sizeof(rows));
	(void)next_field(&f, &word);
	if (!next_field(&f, &word) || !number_of(&word, &r->pid) || !next_field(&f, &word))
		return HDB_OK;
	(void)snprintf(r->process, sizeof(r->process), "%.*s", (int)(word.size & 255), word.text);
	for (size_t k = 0; k < BASE_COUNT(order); k++) {
		const struct fields before = f;

		for (size_t i = 0; i < 4; i++)
			if (!take_figure(&f, &rows[i], order[k]))
				/* version 3 has no SwapPss, so this field is already a name */
				f = before;
	}
	/* the rest of "other" is the memory that is not in a named category */
	for (size_t i = 0; i < 4; i++) {
		rows[i].pid = r->pid;
		if (i == 2)
			continue;
		TRY(android_memory_add(r->out, &rows[i], r->process, names[i], err));
	}
	while (next_field(&f, &word) && word.size) {
		struct android_memory_row row = { .pid = r->pid };

		(void)snprintf(name, sizeof(name), "%.*s", (int)(word.size & 255), word.text);
		for (size_t k = 3; k < BASE_COUNT(order); k++)
			if (!take_figure(&f, &row, order[k]))
				break;
		for (size_t k = 3; k < BASE_COUNT(order); k++)
			rows[2].figures[order[k]] -=
				row.figures[order[k]] < rows[2].figures[order[k]] ?
					row.figures[order[k]] :
					rows[2].figures[order[k]];
		TRY(android_memory_add(r->out, &row, r->process, name, err));
	}
	return android_memory_add(r->out, &rows[2], r->process, names[2], err);
}

static bool is_checkin(const struct line *line)
{
	const struct word version = { line->text, 1 };
	struct fields f = { line->text, line->text + line->size };
	struct word word;
	uint64_t n;

	return line->size > 4 && number_of(&version, &n) && line->text[1] == ',' &&
	       next_field(&f, &word) && next_field(&f, &word) && number_of(&word, &n) &&
	       next_field(&f, &word) && word.size && !number_of(&word, &n);
}

/* ---- all lines ---- */

/* Reads the heading "** MEMINFO in pid 12 [com.acme] **". */
static void read_process_line(struct reading *r, const struct line *line)
{
	struct word name;

	r->pid = 0;
	r->process[0] = '\0';
	r->section = -1;
	if (line->count < 6)
		return;
	(void)number_of(&line->words[4], &r->pid);
	name = line->words[5];
	if (name.size > 2 && name.text[0] == '[' && name.text[name.size - 1] == ']')
		(void)snprintf(r->process, sizeof(r->process), "%.*s",
			       (int)(name.size - 2 < 255 ? name.size - 2 : 255), name.text + 1);
}

/* Returns whether the line begins a section. */
static bool begins_part(struct reading *r, const struct line *line)
{
	if (begins(line, "** MEMINFO in pid ")) {
		read_process_line(r, line);
	} else if (begins(line, "Uptime:") && line->count > 1) {
		if (!r->out->uptime_ms)
			(void)number_of(&line->words[1], &r->out->uptime_ms);
	} else if (begins(line, "Dalvik Details")) {
		r->section = ANDROID_DETAILS;
	} else if (begins(line, "App Summary")) {
		r->section = ANDROID_SUMMARY;
	} else if (line->size == 7 && begins(line, "Objects")) {
		r->section = ANDROID_OBJECTS;
	} else if (begins(line, "Total PSS by process") || begins(line, "Total RSS by process")) {
		r->section = ANDROID_PROCESS;
		r->list_figure = line->text[6] == 'P' ? ANDROID_PSS : ANDROID_RSS;
	} else if (line->size == 3 && begins(line, "SQL")) {
		r->section = ANDROID_SQL;
	} else if (begins(line, "DATABASES") || begins(line, "PER CONNECTION STATS")) {
		r->section = ANDROID_DATABASES;
	} else if (begins(line, "Asset Allocations")) {
		r->section = ANDROID_ASSETS;
	} else if (begins(line, "Total ") || begins(line, "POOL STATS") ||
		   begins(line, "Native Allocations") || begins(line, "Unreachable memory")) {
		r->section = -1;
	} else {
		return false;
	}
	return true;
}

/* Reads a line of a section, or of the --checkin format. */
static int read_line(struct reading *r, const struct line *line, struct hdb_error *err)
{
	assert(line->count > 0);
	if (r->section == ANDROID_MEMORY || r->section == ANDROID_DETAILS)
		return read_row(r, line, err);
	if (r->section == ANDROID_SUMMARY)
		return read_summary(r, line, err);
	if (r->section == ANDROID_OBJECTS || r->section == ANDROID_SQL)
		return read_objects(r, line, err);
	if (r->section == ANDROID_PROCESS)
		return read_process(r, line, err);
	if (r->section == ANDROID_DATABASES)
		return read_database(r, line, err);
	if (r->section == ANDROID_ASSETS || r->section == ANDROID_SYSTEM)
		return read_size(r, line, err);
	return is_checkin(line) ? read_checkin(r, line, err) : HDB_OK;
}

static int read_text(struct reading *r, struct hdb_error *err)
{
	struct line line, below;

	while (next_line(r, &line)) {
		if (!line.count || begins_part(r, &line))
			continue;
		if (is_word(&line.words[0], "Pss") || is_word(&line.words[0], "Shared")) {
			const struct reading before = *r;

			if (next_line(r, &below) && read_headings(r, &line, &below)) {
				r->section = ANDROID_MEMORY;
				continue;
			}
			r->at = before.at;
			r->line_no = before.line_no;
		}
		TRY(read_line(r, &line, err));
	}
	return HDB_OK;
}

int android_memory_read(const char *data, size_t size, struct android_memory *out,
			struct hdb_error *err)
{
	struct reading r = { .out = out, .at = data, .end = data + size, .section = -1 };
	struct line line = { .count = 0 };

	*out = (struct android_memory){ .form = "dumpsys meminfo" };
	if (size > ANDROID_FILE_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too large (limit %u bytes)", ANDROID_FILE_MAX);
	while (next_line(&r, &line))
		if (line.count)
			break;
	if (line.count && smaps_is_mapping(line.text, line.size))
		return android_smaps_read(data, size, out, err);
	if (line.count && is_word(&line.words[0], "MemTotal:")) {
		r.section = ANDROID_SYSTEM;
		out->form = "/proc/meminfo";
	}
	r.at = data;
	r.line_no = 0;
	TRY(read_text(&r, err));
	if (!out->count)
		return hdb_fail(
			err, HDB_EFORMAT,
			"expected the output of `dumpsys meminfo`, /proc/meminfo, "
			"/proc/PID/smaps or smaps_rollup, but found no memory rows in %" PRIu64
			" lines",
			r.line_no);
	return HDB_OK;
}
