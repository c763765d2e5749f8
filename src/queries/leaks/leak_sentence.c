/*
 * queries/leaks/leak_sentence.c - the first sentence on a leak suspect: "Cache.entries holds 12,000
 * Session (1.6 KiB each), 61.7 % of the heap."
 *
 * The same for all who show suspects. It has the owner as people name it, the number of objects,
 * what they are, the size of each, and the share; whole names are in the rows below it.
 */
#include "analysis/describe.h"
#include "analysis/groups.h"
#include "heap/collections/collections.h"
#include "heap/threads.h"
#include "queries/leaks/leak_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 1024
/* The beginning of names of local variables; their threads own nothing that is reached so. */
#define LOCAL "a local variable of thread "
/* Objects of one class are what is held if they keep at least this part of the suspect. */
#define MAIN_PART 2u
/* Where more than this part of it is not theirs, there are others; less are keys and tables. */
#define ALL_PART 3u
/* Less than this part more are a few that others among it have. */
#define SOME_PART 10u
/* Entries of a collection that must be of one class, so that it is what is held. */
#define ENTRIES_LOOKED 32u

/* What is held: so many objects of a class, which retain so much together. */
struct held {
	uint64_t count, bytes;
	uint32_t class_no; /* HEAP_NONE: of many classes */
	uint64_t length;   /* of an array that is all; 0: it is none */
	bool is_entries;   /* of a collection, whatever their class is */
	const char *text;  /* what a rule calls all of them; NULL: nothing */
};

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '.' || (unsigned char)c >= 0x80;
}

/* Bytes of the package at the beginning of a name: up to the dot before the first capital. */
static size_t package_size(const char *name, size_t size)
{
	size_t start = 0;

	for (size_t i = 0; i < size; i++) {
		if (i == start && name[i] >= 'A' && name[i] <= 'Z')
			return start;
		if (name[i] == '.')
			start = i + 1;
	}
	return 0;
}

void query_leak_add_short(struct base_text to, const char *text)
{
	size_t used = strlen(to.buf), size;
	bool is_quoted = false;

	while (*text && used + 1 < to.size) {
		size = 0;
		while (!is_quoted && is_name_char(text[size]))
			size++;
		if (size) {
			const size_t package = package_size(text, size);

			used += (size_t)snprintf(to.buf + used, to.size - used, "%.*s",
						 (int)(size - package), text + package);
			text += size;
			continue;
		}
		is_quoted ^= *text == '"';
		to.buf[used++] = *text++;
		to.buf[used] = '\0';
	}
}

/* Whether another class has the same name: only then its loader says which one is meant. */
static bool has_twin(struct heap *heap, uint32_t class_no)
{
	const char *name = heap_class_name(heap, class_no);

	for (uint32_t no = 0; no < heap->class_count; no++)
		if (no != class_no && strcmp(heap_class_name(heap, no), name) == 0)
			return true;
	return false;
}

/* ", loaded by com.acme.Loader 0x12c4", where two classes have one name. */
static int add_loader(struct query *q, uint32_t class_no, struct base_text to,
		      struct hdb_error *err)
{
	const struct store_class *class = heap_class(q->heap, class_no);
	const size_t used = strlen(to.buf);
	uint64_t id;

	if (class->loader_ix == HEAP_BOOT_LOADER || !has_twin(q->heap, class_no))
		return HDB_OK;
	TRY(heap_id(q->heap, class->loader_ix, &id, err));
	(void)snprintf(to.buf + used, to.size - used, ", loaded by %s 0x%" PRIx64,
		       heap_loader_name(q->heap, class), id);
	return HDB_OK;
}

/* "12,000 Session (1.6 KiB each)", "one byte[134217728] (128.0 MiB)". */
static void add_held(struct query *q, const struct held *held, struct base_text to)
{
	const char *class =
		held->class_no == HEAP_NONE ? "" : heap_class_name(q->heap, held->class_no);
	const size_t stem = strlen(class) > 2 ? strlen(class) - 2 : 0;
	char name[NAME_MAX_BYTES] = "";
	size_t used = strlen(to.buf);

	if (held->text) {
		(void)snprintf(to.buf + used, to.size - used, "%s (%s each)", held->text,
			       base_size(held->bytes / held->count).text);
		return;
	}
	if (held->class_no == HEAP_NONE && !held->is_entries) {
		(void)snprintf(to.buf + used, to.size - used, "%s in %s object%s",
			       base_size(held->bytes).text, base_number(held->count).text,
			       held->count == 1 ? "" : "s");
		return;
	}
	query_leak_add_short(BASE_TEXT(name), held->is_entries ? "entries" : class);
	if (held->length)
		(void)snprintf(name, sizeof(name), "%.*s[%" PRIu64 "]", (int)stem, class,
			       held->length);
	(void)snprintf(to.buf + used, to.size - used, "%s %s (%s%s)",
		       held->count == 1 ? "one" : base_number(held->count).text, name,
		       base_size(held->count ? held->bytes / held->count : 0).text,
		       held->count == 1 ? "" : " each");
}

/* The last collection on the path, if it keeps enough: its entries are what is held. */
static int find_entries(struct query *q, const struct query_leak_suspect *about, struct held *out,
			uint32_t *class_no, struct hdb_error *err)
{
	const struct query_leak_path *path = about->path;

	bool is_top = false;

	*class_no = HEAP_NONE;
	/* What is above the suspect holds other things, too. */
	for (size_t i = path->count; i-- > 0 && !is_top && *class_no == HEAP_NONE;) {
		struct heap_collection collection = { 0 };
		struct heap_object object;
		uint64_t bytes;
		int r;

		TRY(heap_object(q->heap, path->nodes[i], &object, err));
		TRY(derive_retained(q->derive, path->nodes[i], &bytes, err));
		is_top = path->nodes[i] == about->suspect->ix;
		if (object.kind != STORE_INSTANCE ||
		    bytes < about->suspect->retained_bytes / MAIN_PART ||
		    !heap_collection_rule(q->heap, object.class_no))
			continue;
		r = heap_collection_open(q->heap, path->nodes[i], &collection, err);
		if (r < 0)
			return r == HDB_ECHANGED ? HDB_OK : r;
		if (r == HDB_OK && collection.has_size && collection.size > 1) {
			*out = (struct held){ collection.size, bytes, HEAP_NONE,
					      .is_entries = true };
			*class_no = object.class_no;
		}
	}
	return HDB_OK;
}

/* What the suspect holds: of the rows told the largest class, if it keeps enough. */
static void find_class(const struct query_report *report, const struct query_leak_suspect *about,
		       struct held *out)
{
	const uint64_t least = about->suspect->retained_bytes / MAIN_PART;
	uint64_t objects = 0;

	*out = (struct held){ .class_no = HEAP_NONE };
	for (size_t i = about->first_row; i < report->rows.count; i++) {
		const struct query_report_row *row =
			base_vec_at(&report->rows, struct query_report_row, i);

		if (strcmp(row->kind, "content") == 0)
			objects += row->count;
		if (strcmp(row->kind, "element") == 0 && row->class_no != HEAP_NONE &&
		    row->step == 0 && row->retained_bytes >= least)
			*out = (struct held){ row->count, row->retained_bytes,
					      .class_no = row->class_no };
	}
	if (out->class_no == HEAP_NONE) {
		out->count = objects;
		out->bytes = about->suspect->retained_bytes;
	}
}

/*
 * Objects of the class that is held in all that the suspect retains: there may be more than where
 * it accumulates. What each of these holds is not known.
 */
static void count_content(const struct query_report *report, const struct query_leak_suspect *about,
			  struct held *held)
{
	for (size_t i = about->first_row; i < report->rows.count; i++) {
		const struct query_report_row *row =
			base_vec_at(&report->rows, struct query_report_row, i);

		if (strcmp(row->kind, "content") != 0 || row->class_no != held->class_no ||
		    !held->count || row->count <= held->count ||
		    row->count - held->count <= row->count / SOME_PART)
			continue;
		held->bytes = held->bytes / held->count * row->count;
		if (held->bytes > about->suspect->retained_bytes)
			held->bytes = about->suspect->retained_bytes;
		held->count = row->count;
	}
}

/* The class of the first entries of a collection, if they have one; HEAP_NONE. */
static int entries_class(struct heap *heap, const struct heap_collection *collection, uint32_t *out,
			 struct hdb_error *err)
{
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	bool is_one = true;
	int r = heap_entries_begin(heap, collection, &entries, err);

	*out = HEAP_NONE;
	for (unsigned i = 0; r == HDB_OK && is_one && i < ENTRIES_LOOKED; i++) {
		struct heap_object object = { .class_no = HEAP_NONE };
		uint32_t ix;

		if ((r = heap_entries_next(&entries, err)) != HDB_OK)
			break;
		if (entries.value.type != HPROF_OBJECT || !entries.value.bits)
			continue;
		if ((r = heap_find(heap, entries.value.bits, &ix, err)) == HDB_OK)
			r = heap_object(heap, ix, &object, err);
		is_one = *out == HEAP_NONE || *out == object.class_no;
		*out = object.class_no;
	}
	if (!is_one)
		*out = HEAP_NONE;
	return r < 0 && r != HDB_ECHANGED ? r : HDB_OK;
}

/* Where one collection is what is held: its entries, if they are of one class. */
static int look_inside(struct query *q, uint32_t end_ix, struct held *held, struct hdb_error *err)
{
	struct heap_collection collection = { 0 };
	struct store_lists children;
	struct heap_object child;
	const uint32_t *batch;
	uint32_t class_no;
	size_t count;
	int r;

	if (held->class_no == HEAP_NONE || held->count != 1 ||
	    !heap_collection_rule(q->heap, held->class_no))
		return HDB_OK;
	TRY(derive_children(q->derive, &children, err));
	TRY(store_lists_begin(&children, end_ix, NULL, err));
	TRY(store_lists_next(&children, &batch, &count, err));
	if (!count)
		return HDB_OK;
	TRY(heap_object(q->heap, batch[0], &child, err));
	if (child.class_no != held->class_no)
		return HDB_OK;
	r = heap_collection_open(q->heap, child.ix, &collection, err);
	if (r != HDB_OK || !collection.has_size || collection.size < 2)
		return r < 0 && r != HDB_ECHANGED ? r : HDB_OK;
	TRY(entries_class(q->heap, &collection, &class_no, err));
	if (class_no == HEAP_NONE)
		return HDB_OK;
	held->count = collection.size;
	held->class_no = class_no;
	return HDB_OK;
}

/* Of a single suspect: objects of one class, entries of a collection, one array, or anything. */
static int find_held(struct query *q, const struct query_report *report,
		     const struct query_leak_suspect *about, struct held *out,
		     struct hdb_error *err)
{
	const struct analysis_suspect *s = about->suspect;
	const uint32_t end_ix = s->point_ix == HEAP_NONE ? s->ix : s->point_ix;
	struct heap_object end;
	struct held entries;
	const char *class, *of;
	uint32_t collection;

	find_class(report, about, out);
	TRY(heap_object(q->heap, end_ix, &end, err));
	if (out->class_no == HEAP_NONE && end.shallow_bytes >= s->retained_bytes / MAIN_PART) {
		*out = (struct held){ 1, end.shallow_bytes, .class_no = end.class_no };
		if (end.kind == STORE_PRIMITIVE_ARRAY || end.kind == STORE_OBJECT_ARRAY)
			out->length = end.length;
		return HDB_OK;
	}
	TRY(find_entries(q, about, &entries, &collection, err));
	if (collection == HEAP_NONE) {
		TRY(look_inside(q, end_ix, out, err));
		count_content(report, about, out);
		return HDB_OK;
	}
	/* Its own entries, java.util.HashMap$Node, are inside of it. */
	of = heap_class_name(q->heap, collection);
	class = out->class_no == HEAP_NONE ? NULL : heap_class_name(q->heap, out->class_no);
	if (!class || (strncmp(class, of, strlen(of)) == 0 && class[strlen(of)] == '$'))
		*out = entries;
	else
		count_content(report, about, out);
	return HDB_OK;
}

/* Whether a name is several: "A.one and B.two", but not "A.one, in B.two". */
static bool is_several(const char *name)
{
	if (strstr(name, " and "))
		return true;
	for (name = strstr(name, ", "); name; name = strstr(name + 2, ", "))
		if (strncmp(name + 2, "in ", 3) != 0)
			return true;
	return false;
}

/* Whether the owner is named only because the path goes through a local variable. */
static bool is_way(const struct query_leak_suspect *about, const struct query_leak_owner *owner)
{
	return about->path->is_passing && strncmp(owner->name, LOCAL, sizeof(LOCAL) - 1) == 0 &&
	       !is_several(owner->name);
}

/* "Cache.entries holds ", "Thread "main" holds ": who holds it; "" for a group nobody owns. */
static void add_owner(struct query *q, const struct query_leak_suspect *about,
		      const struct query_leak_owner *owner, struct base_text to)
{
	const struct analysis_suspect *s = about->suspect;
	char what[NAME_MAX_BYTES];
	size_t used;

	if (owner->name[0] && !owner->is_of_members && !is_way(about, owner)) {
		query_leak_add_short(to, owner->name);
	} else if (s->ix != HEAP_NONE) {
		analysis_describe(&q->session, s->ix, what, sizeof(what));
		query_leak_add_short(to, heap_is_thread(q->heap, s->ix) ? "thread " : "");
		query_leak_add_short(to, what[0] ? what : heap_class_name(q->heap, s->class_no));
	}
	/* "a local variable", "thread", "a GC root" begin the sentence; names stay as they are. */
	if (strncmp(to.buf, "a ", 2) == 0 || strncmp(to.buf, "thread", 6) == 0 ||
	    strncmp(to.buf, "nothing ", 8) == 0)
		to.buf[0] = (char)(to.buf[0] - 'a' + 'A');
	used = strlen(to.buf);
	if (used)
		used += (size_t)snprintf(to.buf + used, to.size - used, "%s %s ",
					 strstr(to.buf, ", in ") ? "," : "",
					 is_several(to.buf) ? "hold" : "holds");
	if (used && used < to.size && s->ix == HEAP_NONE && owner->count < s->count &&
	    !about->holds)
		(void)snprintf(to.buf + used, to.size - used, "%s of ",
			       owner->count ? base_number(owner->count).text : "most");
}

int query_leak_sentence(struct query *q, const struct query_report *report,
			const struct query_leak_suspect *about, struct base_text to,
			struct hdb_error *err)
{
	const struct query_leak_owner *owner = about->owner;
	const struct analysis_suspect *s = about->suspect;
	const double percent = analysis_percent(s->retained_bytes, about->whole_bytes);
	struct held held = { s->count, s->retained_bytes, .class_no = s->class_no };
	bool is_owned;
	size_t used;

	to.buf[0] = '\0';
	add_owner(q, about, owner, to);
	is_owned = to.buf[0] != '\0';
	if (about->holds)
		held = (struct held){ about->held, s->retained_bytes, HEAP_NONE,
				      .text = about->holds };
	else if (s->ix != HEAP_NONE)
		TRY(find_held(q, report, about, &held, err));
	add_held(q, &held, to);
	if (held.class_no != HEAP_NONE)
		TRY(add_loader(q, held.class_no, to, err));
	used = strlen(to.buf);
	used += (size_t)snprintf(
		to.buf + used, to.size - used, "%s%s %.1f %% of the heap%s",
		held.bytes < s->retained_bytes / ALL_PART * (ALL_PART - 1) ? " and others" : "",
		is_owned        ? "," :
		held.count == 1 ? " holds" :
				  " hold",
		percent,
		owner->is_of_members ? ", by the " :
		is_way(about, owner) ? ", reached through " :
				       "");
	if ((owner->is_of_members || is_way(about, owner)) && used < to.size)
		query_leak_add_short(to, owner->name);
	used = strlen(to.buf);
	if (is_way(about, owner) && used < to.size)
		used += (size_t)snprintf(to.buf + used, to.size - used, ", which does not hold %s",
					 held.count == 1 ? "it" : "them");
	if (used + 1 < to.size)
		(void)snprintf(to.buf + used, to.size - used, ".");
	return HDB_OK;
}
