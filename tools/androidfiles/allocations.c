/*
 * androidfiles/allocations.c - reads recordings of Android's allocation tracker, as saved by ddmlib
 * and Android Studio (files .alloc). They have a header, an entry for each allocation with its call
 * stack, and tables of class, method and file names. All numbers are big-endian.
 *
 *     header: u1 its length, u1 length of an entry's head, u1 of a frame, u2 entries, u4 offset of
 *             the names, u2 classes, u2 methods, u2 files
 *     entry:  u4 bytes, u2 thread, u2 class, u1 frames; then the frames, innermost first
 *     frame:  u2 class, u2 method, u2 file, u2 line (-1: not known, -2: native)
 *     name:   u4 length in UTF-16 units, the units
 *
 * Lengths may exceed those of the documented fields; the rest is then skipped. Old Android versions
 * write 0 for 65,536 entries, so the reader then continues up to the names.
 */
#include "androidfiles/androidfiles.h"

#include "base/bytes.h"
#include "common/descriptor.h"
#include "base/error.h"
#include "base/scope.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 15u
#define ENTRY_BYTES 9u
#define FRAME_BYTES 8u
/* Maximum length of a name, in bytes of UTF-8. Longer names are truncated. */
#define NAME_MAX_BYTES 4096u
#define FRAME_TEXT_BYTES 512

enum { CLASSES, METHODS, FILES };

struct android_allocation {
	uint32_t bytes, first_frame;
	uint16_t thread, class_no;
	uint8_t depth;
};

struct android_frame {
	uint16_t class_no, method, file;
	int16_t line;
};

/* The part of the file that has not been read. */
struct cursor {
	const uint8_t *data;
	size_t at, size;
	struct hdb_error *err;
};

static int too_short(struct cursor *c, const char *what)
{
	return hdb_fail(c->err, HDB_ETRUNC, "the file ends inside %s at offset %zu", what, c->at);
}

/* Returns the next `n` bytes, or NULL if fewer remain. */
static const uint8_t *take(struct cursor *c, size_t n)
{
	if (n > c->size - c->at)
		return NULL;
	c->at += n;
	return c->data + c->at - n;
}

/* ---- names ---- */

/*
 * Converts "Ljava/lang/Object;" and "[I" to "java.lang.Object" and "int[]". Other names stay
 * unchanged.
 */
static void dotted(char *text, size_t size)
{
	char name[2 * NAME_MAX_BYTES + 16];
	const size_t length = strlen(text);
	const bool has_slashes =
		length && text[strspn(text, "[")] == 'L' && text[length - 1] == ';';

	(void)descriptor_name(text, name, sizeof(name));
	for (char *p = name; has_slashes && *p; p++)
		*p = *p == '/' ? '.' : *p;
	(void)snprintf(text, size, "%s", name);
}

static int read_name(struct cursor *c, bool is_class, char **out)
{
	const uint8_t *head = take(c, 4), *p;
	const uint32_t units = head ? be32(head) : 0;
	char text[2 * NAME_MAX_BYTES + 16];
	size_t used = 0;

	*out = NULL;
	if (!head || units > (c->size - c->at) / 2)
		return too_short(c, "a name");
	p = take(c, (size_t)units * 2);
	for (uint32_t i = 0; i < units && used < NAME_MAX_BYTES; i++) {
		uint32_t ch = be16(p + (size_t)i * 2);

		if (ch >= 0xd800 && ch < 0xdc00 && i + 1 < units &&
		    (be16(p + (size_t)i * 2 + 2) & 0xfc00) == 0xdc00) {
			ch = 0x10000 + ((ch & 0x3ff) << 10) +
			     (be16(p + (size_t)i * 2 + 2) & 0x3ffu);
			i++;
		}
		/* a zero byte would end the string, so U+0000 is replaced as well */
		used += base_utf8(text + used, ch ? ch : 0xfffd);
	}
	text[used] = '\0';
	if (is_class)
		dotted(text, sizeof(text));
	return BASE_COPY(*out, text, "names", c->err);
}

static int read_names(struct cursor *c, struct android_allocations *a)
{
	const size_t count = a->name_counts[0] + a->name_counts[1] + a->name_counts[2];

	TRY(BASE_ALLOC(a->names, count + 1, "names", c->err));
	for (size_t i = 0; i < count; i++)
		TRY(read_name(c, i < a->name_counts[CLASSES], &a->names[i]));
	return HDB_OK;
}

static const char *name_at(const struct android_allocations *a, int table, size_t no)
{
	for (int i = 0; i < table; i++)
		no += a->name_counts[i];
	return a->names[no];
}

/* ---- entries ---- */

struct header {
	unsigned header_bytes, entry_bytes, frame_bytes;
	uint64_t entries;
	uint32_t names_at;
};

static int read_header(struct cursor *c, struct header *h, struct android_allocations *a)
{
	const uint8_t *p = take(c, HEADER_BYTES);

	if (!p)
		return too_short(c, "the header");
	*h = (struct header){
		.header_bytes = p[0],
		.entry_bytes = p[1],
		.frame_bytes = p[2],
		.entries = be16(p + 3),
		.names_at = be32(p + 5),
	};
	for (int i = 0; i < 3; i++)
		a->name_counts[i] = be16(p + 9 + 2 * i);
	if (h->header_bytes < HEADER_BYTES || h->entry_bytes < ENTRY_BYTES ||
	    h->frame_bytes < FRAME_BYTES)
		return hdb_fail(c->err, HDB_EFORMAT,
				"not an allocation record of ddmlib: its header has lengths of %u, "
				"%u and %u bytes (expected at least 15, 9 and 8)",
				h->header_bytes, h->entry_bytes, h->frame_bytes);
	if (h->names_at > c->size || h->names_at < h->header_bytes)
		return hdb_fail(c->err, HDB_EFORMAT,
				"name table offset %" PRIu32
				" is not between the end of the header "
				"and the end of the file (%zu bytes)",
				h->names_at, c->size);
	return HDB_OK;
}

static int wrong_name(struct cursor *c, const char *what, unsigned no, size_t count)
{
	return hdb_fail(c->err, HDB_EFORMAT,
			"%s number %u is out of range (count %zu) before offset %zu", what, no,
			count, c->at);
}

static int read_frame(struct cursor *c, const struct header *h, struct android_allocations *a)
{
	const uint8_t *p = take(c, h->frame_bytes);
	struct android_frame frame;

	if (!p)
		return too_short(c, "a frame");
	frame = (struct android_frame){ be16(p), be16(p + 2), be16(p + 4), (int16_t)be16(p + 6) };
	if (frame.class_no >= a->name_counts[CLASSES])
		return wrong_name(c, "class", frame.class_no, a->name_counts[CLASSES]);
	if (frame.method >= a->name_counts[METHODS])
		return wrong_name(c, "method", frame.method, a->name_counts[METHODS]);
	if (frame.file >= a->name_counts[FILES])
		return wrong_name(c, "file", frame.file, a->name_counts[FILES]);
	a->frames[a->frame_count++] = frame;
	return HDB_OK;
}

static int read_entry(struct cursor *c, const struct header *h, struct android_allocations *a)
{
	const uint8_t *p = take(c, h->entry_bytes);
	struct android_allocation entry;

	if (!p)
		return too_short(c, "an entry");
	entry = (struct android_allocation){
		.bytes = be32(p),
		.thread = be16(p + 4),
		.class_no = be16(p + 6),
		.depth = p[8],
		.first_frame = (uint32_t)a->frame_count,
	};
	if (entry.class_no >= a->name_counts[CLASSES])
		return wrong_name(c, "class", entry.class_no, a->name_counts[CLASSES]);
	for (unsigned i = 0; i < entry.depth; i++)
		TRY(read_frame(c, h, a));
	assert(a->frame_count - entry.first_frame == entry.depth);
	a->list[a->count++] = entry;
	a->bytes += entry.bytes;
	return HDB_OK;
}

/* Counts distinct threads and classes. Their numbers have 16 bits. */
static void count_different(struct android_allocations *a)
{
	enum { THREAD = 1, CLASS = 2 };
	uint8_t seen[UINT16_MAX + 1] = { 0 };

	for (size_t i = 0; i < a->count; i++) {
		seen[a->list[i].thread] |= THREAD;
		seen[a->list[i].class_no] |= CLASS;
	}
	for (size_t no = 0; no < sizeof(seen); no++) {
		a->threads += (seen[no] & THREAD) != 0;
		a->classes += (seen[no] & CLASS) != 0;
	}
}

int android_allocations_read(const uint8_t *data, size_t size, struct android_allocations *out,
			     struct hdb_error *err)
{
	struct cursor c = { data, 0, size, err };
	struct header h = { 0 };
	size_t end;

	*out = (struct android_allocations){ 0 };
	if (size > ANDROID_FILE_MAX)
		return hdb_fail(err, HDB_ELIMIT, "the file is too large (limit %u bytes)",
				ANDROID_FILE_MAX);
	TRY(read_header(&c, &h, out));
	assert(h.entry_bytes >= ENTRY_BYTES);
	assert(h.frame_bytes > 0);
	c.at = h.names_at;
	TRY(read_names(&c, out));
	/* the entries end where the names begin */
	end = h.names_at - h.header_bytes;
	TRY(BASE_ALLOC(out->list, end / h.entry_bytes + 1, "allocations", err));
	TRY(BASE_ALLOC(out->frames, end / h.frame_bytes + 1, "frames", err));
	c.at = h.header_bytes;
	c.size = h.names_at;
	while (h.entries ? out->count < h.entries : c.size - c.at >= h.entry_bytes)
		TRY(read_entry(&c, &h, out));
	count_different(out);
	return HDB_OK;
}

void android_allocations_release(struct android_allocations *a)
{
	const size_t count = a->name_counts[0] + a->name_counts[1] + a->name_counts[2];

	for (size_t i = 0; a->names && i < count; i++)
		free(a->names[i]);
	free(a->names);
	free(a->list);
	free(a->frames);
	*a = (struct android_allocations){ 0 };
}

/* ---- groups ---- */

static void frame_text(const struct android_allocations *a, const struct android_frame *frame,
		       char *buf, size_t size)
{
	const char *class_name = name_at(a, CLASSES, frame->class_no);
	const char *method = name_at(a, METHODS, frame->method);
	const char *file = name_at(a, FILES, frame->file);

	if (frame->line >= 0)
		(void)snprintf(buf, size, "%.200s.%.150s (%.100s:%d)", class_name, method, file,
			       frame->line);
	else
		(void)snprintf(buf, size, "%.200s.%.150s (%.100s)", class_name, method,
			       frame->line == -2 ? "native" : file);
}

int android_allocations_group(const struct android_allocations *a, enum android_allocations_by by,
			      struct call_tree *tree, struct hdb_error *err)
{
	char text[FRAME_TEXT_BYTES];

	for (size_t i = 0; i < a->count; i++) {
		const struct android_allocation *entry = &a->list[i];
		const struct android_frame *frames = a->frames + entry->first_frame;
		uint32_t node = 0;

		if (by == ANDROID_BY_CLASS) {
			TRY(call_tree_child(tree, 0, name_at(a, CLASSES, entry->class_no), &node,
					    err));
			/* zero-padded, so that names sort by thread number */
		} else if (by == ANDROID_BY_THREAD) {
			(void)snprintf(text, sizeof(text), "%05u", (unsigned)entry->thread);
			TRY(call_tree_child(tree, 0, text, &node, err));
		} else if (by == ANDROID_BY_SITE && entry->depth == 0) {
			TRY(call_tree_child(tree, 0, "(no call stack)", &node, err));
		}
		for (unsigned left = node                  ? 0 :
				     by == ANDROID_BY_SITE ? 1 :
							     entry->depth;
		     left > 0;) {
			frame_text(a, &frames[--left], text, sizeof(text));
			TRY(call_tree_child(tree, node, text, &node, err));
		}
		if (node == 0) /* allocations without a call stack do not appear in the tree */
			continue;
		tree->nodes[node].count++;
		call_tree_add(&tree->nodes[node].bytes, entry->bytes);
	}
	return call_tree_sum(tree, err);
}
