/* rewrite/renames.c - reads a file of renames, looks up classes, and writes renamed strings. */
#include "rewrite/renames.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Maximum size of a name. A longer string cannot be a name. */
#define NAME_MAX_BYTES 65535u

static const char *text_at(const struct rewrite_renames *n, size_t at)
{
	assert(at < n->texts.count);
	return base_vec_at(&n->texts, char, at);
}

/* ---- the file ---- */

static int add_text(struct rewrite_renames *n, const char *text, size_t size, size_t *at,
		    struct hdb_error *err)
{
	assert(text || !size);
	*at = n->texts.count;
	for (size_t i = 0; i < size; i++) {
		const char c = text[i] == '/' ? '.' : text[i];

		TRY(base_bytes_append(&n->texts, &c, 1, err));
	}
	return base_bytes_append(&n->texts, "", 1, err);
}

static bool is_package(const char *name, size_t size)
{
	return size > 2 && memcmp(name + size - 2, ".*", 2) == 0;
}

/* A name in a line of the file. */
struct name {
	const char *text; /* not terminated */
	size_t size;
};

static int add_rename(struct rewrite_renames *n, struct name from, struct name to,
		      struct hdb_error *err)
{
	struct rewrite_rename one = { .is_package = is_package(from.text, from.size) };

	if (one.is_package) {
		from.size--;
		to.size--;
	}
	TRY(add_text(n, from.text, from.size, &one.from, err));
	TRY(add_text(n, to.text, to.size, &one.to, err));
	if (!one.is_package)
		TRY(base_idmap_put(&n->exact, XXH3_64bits(text_at(n, one.from), from.size),
				   (uint32_t)n->lines.count, err));
	return base_vec_push(&n->lines, &one, sizeof(one), err);
}

/* Skips leading blanks, and moves *end before trailing ones. Returns the first byte. */
static const char *trim(const char *p, const char **end)
{
	while (p < *end && strchr(" \t\r\n", *p))
		p++;
	while (*end > p && strchr(" \t\r\n", (*end)[-1]))
		--*end;
	return p;
}

static int read_line(struct rewrite_renames *n, char *line, struct hdb_error *err)
{
	char *hash = strchr(line, '#');
	const char *end = hash ? hash : line + strlen(line), *from = trim(line, &end);
	const char *arrow, *from_end, *to;

	if (from == end)
		return HDB_OK;
	arrow = strstr(from, "->");
	if (!arrow || arrow + 2 >= end)
		return HDB_END;
	from_end = arrow;
	from = trim(from, &from_end);
	to = trim(arrow + 2, &end);
	if (from == from_end || to == end ||
	    is_package(from, (size_t)(from_end - from)) != is_package(to, (size_t)(end - to)))
		return HDB_END;
	return add_rename(n, (struct name){ from, (size_t)(from_end - from) },
			  (struct name){ to, (size_t)(end - to) }, err);
}

int rewrite_renames_read(struct rewrite_renames *n, const char *path, struct hdb_error *err)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	unsigned no = 0;
	int r = HDB_OK;

	if (!f)
		return hdb_fail_open(err, errno, path);
	errno = 0;
	while (getline(&line, &room, f) >= 0) {
		no++;
		if ((r = read_line(n, line, err)) != HDB_OK)
			break;
	}
	if (r == HDB_END)
		r = hdb_fail(err, HDB_EFORMAT, "%s: line %u is invalid: expected \"OLD -> NEW\"",
			     path, no);
	else if (r == HDB_OK && ferror(f))
		r = hdb_fail_errno(err, errno, "%s", path);
	free(line);
	(void)fclose(f);
	return r;
}

void rewrite_renames_release(struct rewrite_renames *n)
{
	base_vec_release(&n->texts);
	base_vec_release(&n->lines);
	base_vec_release(&n->name);
	base_idmap_release(&n->exact);
}

/* ---- search ---- */

static const struct rewrite_rename *find_exact(const struct rewrite_renames *n, const char *name,
					       size_t size)
{
	const uint32_t no = base_idmap_get(&n->exact, XXH3_64bits(name, size));
	const struct rewrite_rename *one;

	if (no == BASE_IDMAP_NONE)
		return NULL;
	one = base_vec_at(&n->lines, struct rewrite_rename, no);
	return strlen(text_at(n, one->from)) == size &&
			       memcmp(text_at(n, one->from), name, size) == 0 ?
		       one :
		       NULL;
}

/* Finds the longest matching package. There are few packages, so a linear search suffices. */
static const struct rewrite_rename *find_package(const struct rewrite_renames *n, const char *name,
						 size_t size)
{
	const struct rewrite_rename *best = NULL;
	size_t best_size = 0;

	for (size_t i = 0; i < n->lines.count; i++) {
		const struct rewrite_rename *one = base_vec_at(&n->lines, struct rewrite_rename, i);
		const size_t length = strlen(text_at(n, one->from));

		if (one->is_package && length > best_size && length < size &&
		    memcmp(text_at(n, one->from), name, length) == 0) {
			best = one;
			best_size = length;
		}
	}
	return best;
}

/*
 * Finds the rename for a class (with dots): the rename of the class itself or, if there is none, of
 * an enclosing class or of its package. Sets *used to the number of bytes of `name` that the rename
 * replaces.
 */
static const struct rewrite_rename *find_class(const struct rewrite_renames *n, const char *name,
					       size_t size, size_t *used)
{
	const struct rewrite_rename *one;

	for (size_t end = size; end; end--) {
		if (end < size && name[end] != '$')
			continue;
		one = find_exact(n, name, end);
		if (one) {
			*used = end;
			return one;
		}
	}
	one = find_package(n, name, size);
	*used = one ? strlen(text_at(n, one->from)) : 0;
	return one;
}

/* ---- writing the new text ---- */

/* Appends the new name of a class, with slashes or dots as in the old name. */
static int put_class(struct rewrite_renames *n, const char *name, size_t size, bool *changed,
		     struct hdb_error *err)
{
	const bool has_slashes = memchr(name, '/', size) != NULL;
	char *dots = malloc(size + 1);
	const struct rewrite_rename *one;
	size_t used, start = n->name.count;

	if (!dots)
		return hdb_fail_memory(err, "a name", size);
	for (size_t i = 0; i < size; i++)
		dots[i] = (char)(name[i] == '/' ? '.' : name[i]);
	one = find_class(n, dots, size, &used);
	free(dots);
	if (one) {
		const char *to = text_at(n, one->to);

		*changed = true;
		TRY(base_bytes_append(&n->name, to, strlen(to), err));
		for (size_t i = start; has_slashes && i < n->name.count; i++)
			if (*base_vec_at(&n->name, char, i) == '.')
				*base_vec_at(&n->name, char, i) = '/';
	}
	return base_bytes_append(&n->name, name + used, size - used, err);
}

/*
 * Appends a signature such as "[Lcom/acme/Foo;" or "(ILcom/acme/Foo;)V" with its classes renamed.
 */
static int put_signature(struct rewrite_renames *n, const char *text, size_t size, bool *changed,
			 struct hdb_error *err)
{
	size_t i = 0;

	while (i < size) {
		const char *end;
		size_t start;

		if (text[i] != 'L') {
			TRY(base_bytes_append(&n->name, text + i++, 1, err));
			continue;
		}
		start = ++i;
		end = memchr(text + i, ';', size - i);
		i = end ? (size_t)(end - text) : size;
		TRY(base_bytes_append(&n->name, "L", 1, err));
		TRY(put_class(n, text + start, i - start, changed, err));
	}
	return HDB_OK;
}

/* Writes the new text to n->name. Sets *changed if it differs from the old text. */
static int rename_text(struct rewrite_renames *n, const char *text, size_t size, bool *changed,
		       struct hdb_error *err)
{
	size_t bare = size;

	*changed = false;
	n->name.count = 0;
	if (size && (text[0] == '[' || text[0] == '('))
		return put_signature(n, text, size, changed, err);
	/* In Android dumps, the name of an array class ends in "[]". */
	while (bare > 2 && memcmp(text + bare - 2, "[]", 2) == 0)
		bare -= 2;
	if (bare > 2 && text[0] == 'L' && text[bare - 1] == ';')
		return put_signature(n, text, size, changed, err);
	TRY(put_class(n, text, bare, changed, err));
	return base_bytes_append(&n->name, text + bare, size - bare, err);
}

int rewrite_renames_record(struct rewrite_renames *n, struct rewriter *w,
			   const struct hprof_record *rec, uint64_t *changed, struct hdb_error *err)
{
	struct hprof_utf8 utf8;
	bool is_other = false;

	if (rec->tag != HPROF_UTF8 || !n->lines.count || rec->body_size > NAME_MAX_BYTES)
		return rewriter_keep_record(w, rec, err);
	TRY(hprof_read_utf8(&w->file, &w->view, rec, &utf8, err));
	TRY(rename_text(n, (const char *)utf8.text, utf8.text_size, &is_other, err));
	if (!is_other)
		return rewriter_keep_record(w, rec, err);
	++*changed;
	TRY(rewriter_record(w, rec, w->id_size + n->name.count, err));
	TRY(rewriter_put_id(w, utf8.string_id, err));
	return rewriter_put(w, n->name.data, n->name.count, err);
}
