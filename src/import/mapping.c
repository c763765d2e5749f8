/*
 * import/mapping.c - reads a mapping.txt and finds names in it.
 */
#include "import/mapping.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A field, a method, or the range of lines of a method. */
struct member {
	uint32_t class_no;
	uint32_t next; /* previous member in the file with the same hash, or NO_MEMBER */
	struct import_mapping_text line;
};
#define NO_MEMBER UINT32_MAX

/* A parsed member line. */
struct parsed {
	struct import_mapping_text name, obfuscated;
	bool is_method;
	bool has_range, has_source_range;
	long first, last;               /* lines in the dump */
	long source_first, source_last; /* lines in the source */
};

static struct import_mapping_text slice(const char *from, const char *to)
{
	return (struct import_mapping_text){ from, (size_t)(to - from) };
}

static bool same(const struct import_mapping_text *a, const char *text, size_t size)
{
	return a->size == size && memcmp(a->text, text, size) == 0;
}

/* Returns the first occurrence of `what` in the text, or NULL if there is none. */
static const char *find(const struct import_mapping_text *in, const char *what)
{
	return memmem(in->text, in->size, what, strlen(what));
}

static struct import_mapping_text trimmed(struct import_mapping_text t)
{
	while (t.size && isspace((unsigned char)t.text[0])) {
		t.text++;
		t.size--;
	}
	while (t.size && isspace((unsigned char)t.text[t.size - 1]))
		t.size--;
	return t;
}

/* ---- the file ---- */

static int read_text(struct import_mapping *m, FILE *f, const char *path, struct hdb_error *err)
{
	long size = -1;

	if (fseek(f, 0, SEEK_END) == 0)
		size = ftell(f);
	if (size < 0 || fseek(f, 0, SEEK_SET) != 0)
		return hdb_fail_errno(err, errno, "%s", path);
	if ((uint64_t)size > IMPORT_MAPPING_MAX_BYTES)
		return hdb_fail(err, HDB_ELIMIT, "%s: file too large: %ld bytes (limit %llu)", path,
				size, IMPORT_MAPPING_MAX_BYTES);
	TRY(BASE_ALLOC(m->text, (size_t)size, path, err));
	m->size = fread(m->text, 1, (size_t)size, f);
	return ferror(f) ? hdb_fail_errno(err, errno, "%s", path) : HDB_OK;
}

static int read_file(struct import_mapping *m, const char *path, struct hdb_error *err)
{
	FILE *f = fopen(path, "re");
	int r;

	if (!f && errno == ENOENT)
		return hdb_fail(err, HDB_EABSENT, "%s: no such mapping file", path);
	if (!f)
		return hdb_fail_errno(err, errno, "%s", path);
	r = read_text(m, f, path, err);
	(void)fclose(f);
	return r;
}

/* Cuts off the next line. Returns false at the end. */
static bool next_line(struct import_mapping_text *rest, struct import_mapping_text *line)
{
	const char *end;

	if (!rest->size)
		return false;
	end = memchr(rest->text, '\n', rest->size);
	*line = slice(rest->text, end ? end : rest->text + rest->size);
	rest->size -= line->size + (end != NULL);
	rest->text += line->size + (end != NULL);
	return true;
}

/* Parses a comment like: # {"id":"sourceFile","fileName":"Main.kt"} */
static void read_comment(struct import_mapping_class *class, const struct import_mapping_text *line)
{
	static const char key[] = "\"fileName\":\"";
	const char *at = find(line, key), *end;

	if (!class || !at || !find(line, "\"sourceFile\""))
		return;
	at += strlen(key);
	end = memchr(at, '"', (size_t)(line->text + line->size - at));
	if (end)
		class->source = slice(at, end);
}

static uint64_t hash_name(const char *name, size_t size)
{
	return XXH3_64bits_withSeed(name, size, base_hash_seed());
}

/* Parses a class line like: com.acme.Main -> a.b: */
static int add_class(struct import_mapping *m, const struct import_mapping_text *line,
		     struct hdb_error *err)
{
	const char *arrow = find(line, "->");
	struct import_mapping_class class = { 0 };

	if (!arrow || line->text[line->size - 1] != ':')
		return HDB_END;
	class.name = trimmed(slice(line->text, arrow));
	class.obfuscated = trimmed(slice(arrow + 2, line->text + line->size - 1));
	if (!class.name.size || !class.obfuscated.size)
		return HDB_END;
	class.body = slice(line->text + line->size, line->text + line->size);
	TRY(base_idmap_put(&m->by_name, hash_name(class.obfuscated.text, class.obfuscated.size),
			   (uint32_t)m->classes.count, err));
	TRY(base_idmap_put(&m->by_original, hash_name(class.name.text, class.name.size),
			   (uint32_t)m->classes.count, err));
	return base_vec_push(&m->classes, &class, sizeof(class), err);
}

static int read_line(struct import_mapping *m, const struct import_mapping_text *raw,
		     struct hdb_error *err)
{
	const struct import_mapping_text line = trimmed(*raw);
	struct import_mapping_class *class =
		m->classes.count ? base_vec_at(&m->classes, struct import_mapping_class,
					       m->classes.count - 1) :
				   NULL;

	if (!line.size)
		return HDB_OK;
	if (line.text[0] == '#')
		read_comment(class, &line);
	else if (!isspace((unsigned char)raw->text[0]))
		return add_class(m, &line, err);
	else if (!class)
		return HDB_END;
	if (class)
		class->body.size = (size_t)(raw->text + raw->size - class->body.text);
	return HDB_OK;
}

int import_mapping_read(struct import_mapping *m, const char *path, struct hdb_error *err)
{
	struct import_mapping_text rest, line;
	unsigned no = 0;
	int r;

	*m = (struct import_mapping){ 0 };
	TRY(read_file(m, path, err));
	rest = slice(m->text, m->text + m->size);
	while (next_line(&rest, &line)) {
		no++;
		r = read_line(m, &line, err);
		if (r == HDB_END)
			return hdb_fail(err, HDB_EFORMAT,
					"%s: line %u is not a class mapping: expected \"NAME -> "
					"NAME:\"",
					path, no);
		TRY_ERRORS(r);
	}
	return HDB_OK;
}

void import_mapping_release(struct import_mapping *m)
{
	free(m->text);
	base_vec_release(&m->classes);
	base_vec_release(&m->members);
	base_idmap_release(&m->by_name);
	base_idmap_release(&m->by_original);
	base_idmap_release(&m->by_member);
	*m = (struct import_mapping){ 0 };
}

/* ---- classes ---- */

uint32_t import_mapping_find(const struct import_mapping *m, const char *name, size_t size)
{
	const uint32_t no = base_idmap_get(&m->by_name, hash_name(name, size));

	return no != BASE_IDMAP_NONE && same(&import_mapping_class(m, no)->obfuscated, name, size) ?
		       no :
		       BASE_IDMAP_NONE;
}

const struct import_mapping_class *import_mapping_original(const struct import_mapping *m,
							   const struct import_mapping_text *name)
{
	const uint32_t no = base_idmap_get(&m->by_original, hash_name(name->text, name->size));

	return no != BASE_IDMAP_NONE &&
			       same(&import_mapping_class(m, no)->name, name->text, name->size) ?
		       import_mapping_class(m, no) :
		       NULL;
}

/* ---- members ---- */

/*
 * Parses and removes "12:34:" or "12:" at the beginning of *t. Returns how many line numbers were
 * parsed.
 */
static unsigned read_range(struct import_mapping_text *t, long *first, long *last)
{
	long numbers[2] = { 0 };
	unsigned count = 0;
	size_t at = 0;

	while (count < 2) {
		long n = 0;
		size_t digit = at;

		for (; digit < t->size && isdigit((unsigned char)t->text[digit]); digit++)
			if (n < INT32_MAX)
				n = 10 * n + (t->text[digit] - '0');
		if (digit == at)
			break;
		numbers[count++] = n < INT32_MAX ? n : INT32_MAX;
		at = digit;
		if (at >= t->size || t->text[at] != ':')
			break;
		at++;
	}
	t->text += at;
	t->size -= at;
	*first = numbers[0];
	*last = count == 2 ? numbers[1] : numbers[0];
	return count;
}

/*
 * Parses a member line like one of these:
 * int count -> a
 * 1:5:void run(int):10:14 -> a
 */
static bool parse_member(const struct import_mapping_text *line, struct parsed *out)
{
	struct import_mapping_text t = trimmed(*line);
	const char *arrow = find(&t, "->"), *open, *close, *space;

	*out = (struct parsed){ 0 };
	if (!arrow || !t.size || t.text[0] == '#')
		return false;
	out->obfuscated = trimmed(slice(arrow + 2, t.text + t.size));
	t = trimmed(slice(t.text, arrow));
	out->has_range = read_range(&t, &out->first, &out->last) == 2;
	space = memchr(t.text, ' ', t.size);
	if (!space)
		return false;
	t = trimmed(slice(space, t.text + t.size));
	open = memchr(t.text, '(', t.size);
	out->is_method = open != NULL;
	out->name = open ? slice(t.text, open) : t;
	close = open ? memchr(open, ')', (size_t)(t.text + t.size - open)) : NULL;
	if (close && close + 1 < t.text + t.size && close[1] == ':') {
		t = slice(close + 2, t.text + t.size);
		out->has_source_range = read_range(&t, &out->source_first, &out->source_last) > 0;
	}
	return out->name.size && out->obfuscated.size;
}

/*
 * Hashes a member. The class number is part of the hash, so members of all classes share one map.
 */
static uint64_t hash_member(uint32_t class_no, bool is_method, const char *name, size_t size)
{
	return XXH3_64bits_withSeed(name, size,
				    base_hash_seed() + 2 * ((uint64_t)class_no + 1) + is_method);
}

int import_mapping_use(struct import_mapping *m, uint32_t no, struct hdb_error *err)
{
	struct import_mapping_class *class =
		base_vec_at(&m->classes, struct import_mapping_class, no);
	struct import_mapping_text rest = class->body, line;
	struct parsed p;
	int r;

	if (class->is_used)
		return HDB_OK;
	class->is_used = true;
	while (next_line(&rest, &line)) {
		struct member member = { .class_no = no, .next = NO_MEMBER, .line = line };
		uint64_t hash;

		if (!parse_member(&line, &p) || m->members.count >= NO_MEMBER - 1)
			continue;
		hash = hash_member(no, p.is_method, p.obfuscated.text, p.obfuscated.size);
		member.next = base_idmap_get(&m->by_member, hash);
		if (member.next == BASE_IDMAP_NONE)
			member.next = NO_MEMBER;
		if ((r = base_idmap_put(&m->by_member, hash, (uint32_t)m->members.count, err)) <
			    0 ||
		    (r = base_vec_push(&m->members, &member, sizeof(member), err)) < 0)
			return r;
	}
	return HDB_OK;
}

static const struct member *first_member(const struct import_mapping *m, uint32_t no,
					 bool is_method, const char *name, size_t size)
{
	const uint32_t at = base_idmap_get(&m->by_member, hash_member(no, is_method, name, size));

	return at == BASE_IDMAP_NONE ? NULL : base_vec_at(&m->members, struct member, at);
}

static const struct member *next_member(const struct import_mapping *m, const struct member *member)
{
	return member->next == NO_MEMBER ? NULL :
					   base_vec_at(&m->members, struct member, member->next);
}

bool import_mapping_field(const struct import_mapping *m, uint32_t no, const char *name,
			  size_t size, struct import_mapping_text *out)
{
	struct parsed p;

	for (const struct member *at = first_member(m, no, false, name, size); at;
	     at = next_member(m, at)) {
		if (at->class_no != no || !parse_member(&at->line, &p) || p.is_method ||
		    !same(&p.obfuscated, name, size))
			continue;
		*out = p.name;
		return true;
	}
	return false;
}

/* Fills in the frame that a member line describes, if the line of code belongs to the method. */
static void make_frame(const struct parsed *p, int32_t line, struct import_mapping_frame *out)
{
	const char *dot = memrchr(p->name.text, '.', p->name.size);

	*out = (struct import_mapping_frame){ .method = p->name, .line = line };
	if (dot) {
		out->class_name = slice(p->name.text, dot);
		out->method = slice(dot + 1, p->name.text + p->name.size);
	}
	if (!p->has_source_range)
		return;
	/*
	 * If both ranges have the same length, their lines correspond one to one. Otherwise, the
	 * first line of the source range is used.
	 */
	out->line = (int32_t)p->source_first;
	if (p->has_range && line >= 1 && p->source_last - p->source_first == p->last - p->first)
		out->line = (int32_t)(p->source_first + (line - p->first));
}

size_t import_mapping_method(const struct import_mapping *m, uint32_t no,
			     const struct import_mapping_text *name, int32_t line,
			     struct import_mapping_frame *out)
{
	struct parsed p, chosen = { 0 };
	size_t count = 0;

	/*
	 * Visits the members from last to first. Chooses members whose range contains the line, and
	 * members without a range.
	 */
	for (const struct member *at = first_member(m, no, true, name->text, name->size); at;
	     at = next_member(m, at)) {
		bool fits;

		if (at->class_no != no || !parse_member(&at->line, &p) || !p.is_method ||
		    !same(&p.obfuscated, name->text, name->size))
			continue;
		fits = !p.has_range || line < 1 || (p.first <= line && line <= p.last);
		if (!fits || (count && (p.has_range != chosen.has_range ||
					p.first != chosen.first || p.last != chosen.last)))
			continue;
		/*
		 * Methods of the same name without line ranges are alternatives and do not call
		 * each other, so only the first method in the file is used.
		 */
		if (!p.has_range)
			count = 0;
		chosen = p;
		if (count < IMPORT_MAPPING_INLINED)
			make_frame(&p, line, &out[count++]);
	}
	/*
	 * Moves the innermost call to the front, because the members were visited in reverse order.
	 */
	for (size_t a = 0, b = count; a + 1 < b; a++) {
		const struct import_mapping_frame swap = out[a];

		out[a] = out[--b];
		out[b] = swap;
	}
	return count;
}
