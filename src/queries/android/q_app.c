/*
 * queries/android/q_app.c - what an Android dump tells of its device and its application.
 */
#include "base/base_text.h"
#include "derive/native.h"
#include "heap/known.h"
#include "queries/queries.h"
#include "query/coverage.h"
#include "heap/heap_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_BYTES 1024
/* Databases that are listed. */
#define DATABASES_MAX 1000u

#define COLUMNS(X) \
	X(KEY, TEXT, "key", "what", "what is told") \
	X(VALUE, TEXT, "value", "value", "as text; null if the dump does not tell") \
	X(NUMBER, COUNT, "number", "number", "as a number, if it is one") \
	X(HELP, TEXT, "help", "meaning", "what that is")
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) };

static const struct hdb_column facts[] = {
	QUERY_NO_ANDROID_FACT,
};

struct entry {
	const char *key, *help; /* static */
	size_t text;            /* in texts; 0: none */
	uint64_t number;
	bool has_number;
};

struct state {
	struct query *q;
	struct base_vec entries, texts;
	uint8_t *is_bitmap, *is_database, *is_display; /* by class; owned */
	struct base_vec native;                        /* struct derive_native */
	uint64_t instances, object_arrays, primitive_arrays, classes, recorded_bytes;
	uint64_t bitmaps, bitmap_bytes, large, large_bytes, display_pixels;
	struct base_vec pixels;    /* uint64_t by turns: pixels and bytes of a bitmap */
	struct base_vec databases; /* uint32_t */
};

/* ---- entries ---- */

static int add(struct state *s, const char *key, const char *help, const char *text,
	       struct hdb_error *err)
{
	struct entry entry = { .key = key, .help = help, .text = s->texts.count };

	TRY_ERRORS(base_vec_push(&s->entries, &entry, sizeof(entry), err));
	if (!text[0])
		base_vec_at(&s->entries, struct entry, s->entries.count - 1)->text = 0;
	return base_bytes_append(&s->texts, text, strlen(text) + 1, err);
}

static int add_number(struct state *s, const char *key, const char *help, uint64_t number,
		      struct hdb_error *err)
{
	const struct entry entry = {
		.key = key,
		.help = help,
		.number = number,
		.has_number = true,
	};

	return base_vec_push(&s->entries, &entry, sizeof(entry), err);
}

static int static_text(struct heap *heap, const char *field, const char *path, struct base_text to,
		       struct hdb_error *err)
{
	uint32_t ix;
	int r = heap_static_object(heap, field, &ix, err);

	to.buf[0] = '\0';
	TRY_FOUND(r);
	if (path[0])
		TRY_FOUND(heap_path_object(heap, ix, path, &ix, err));
	TRY_ERRORS(heap_string(heap, ix, to.buf, to.size, err));
	return HDB_OK;
}

/* ---- one pass over the objects ---- */

static uint8_t *mark_classes(struct heap *heap, const char *name)
{
	uint8_t *marks = calloc((size_t)heap->class_count + 1, 1);

	for (uint32_t no = 0; marks && no < heap->class_count; no++)
		marks[no] = heap_has_superclass(heap, no, name);
	return marks;
}

static int count_bitmap(struct state *s, uint32_t ix, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	int64_t width = 0, height = 0;
	uint64_t pair[2] = { 0, derive_native_in(&s->native, ix) };

	TRY_ERRORS(heap_path_number(heap, ix, "mWidth", &width, err));
	TRY_ERRORS(heap_path_number(heap, ix, "mHeight", &height, err));
	if (width > 0 && height > 0)
		pair[0] = (uint64_t)width * (uint64_t)height;
	s->bitmaps++;
	s->bitmap_bytes += pair[1];
	TRY(base_vec_push(&s->pixels, &pair[0], sizeof(pair[0]), err));
	return base_vec_push(&s->pixels, &pair[1], sizeof(pair[1]), err);
}

static int count_display(struct state *s, uint32_t ix, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	int64_t width = 0, height = 0;

	TRY_ERRORS(heap_path_number(heap, ix, "widthPixels", &width, err));
	TRY_ERRORS(heap_path_number(heap, ix, "heightPixels", &height, err));
	if (width > 0 && height > 0 && (uint64_t)width * (uint64_t)height > s->display_pixels)
		s->display_pixels = (uint64_t)width * (uint64_t)height;
	return HDB_OK;
}

static int count_object(struct state *s, const struct heap_block *block, uint32_t i,
			struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	const uint32_t no = block->class_no[i], ix = block->first_ix + i;
	const struct store_class *class = heap_class(heap, no);
	struct hprof_sub sub;

	switch (block->kind[i]) {
	case STORE_CLASS:
		class = heap_class(heap, (uint32_t)block->length[i]);
		if (!class->file_offset)
			return HDB_OK;
		s->classes++;
		if (hprof_sub_read(&heap->dump.file, &heap->dump.view, class->file_offset, &sub,
				   err) == HDB_OK)
			s->recorded_bytes += sub.end - sub.offset - 1;
		return HDB_OK;
	case STORE_OBJECT_ARRAY:
		s->object_arrays++;
		s->recorded_bytes += block->length[i] * heap->id_size;
		return HDB_OK;
	case STORE_PRIMITIVE_ARRAY:
		s->primitive_arrays++;
		s->recorded_bytes +=
			block->length[i] * hprof_type_size(class->element_type, heap->id_size);
		return HDB_OK;
	default:
		break;
	}
	s->instances++;
	s->recorded_bytes += class->declared_size;
	if (s->is_database[no] && s->databases.count < DATABASES_MAX)
		return base_vec_push(&s->databases, &ix, sizeof(ix), err);
	if (s->is_display[no])
		return count_display(s, ix, err);
	return s->is_bitmap[no] ? count_bitmap(s, ix, err) : HDB_OK;
}

static int count_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	for (uint32_t i = 0; i < block->count; i++)
		if (block->first_ix + i != HEAP_BOOT_LOADER)
			TRY(count_object(ctx, block, i, err));
	return HDB_OK;
}

static int count_all(struct state *s, struct hdb_error *err)
{

	TRY(heap_each_block(s->q->heap, s->q->work, count_block, s, err));
	/* More pixels than the largest display has, and a tenth. */
	for (size_t i = 0; i + 1 < s->pixels.count; i += 2) {
		const uint64_t *pair = base_vec_at(&s->pixels, uint64_t, i);

		if (s->display_pixels && pair[0] > s->display_pixels + s->display_pixels / 10) {
			s->large++;
			s->large_bytes += pair[1];
		}
	}
	return HDB_OK;
}

/* ---- what is told ---- */

static int count_threads(struct heap *heap)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < heap->roots.count; i++)
		count += heap->roots.records[i].kind == HPROF_ROOT_THREAD_OBJECT &&
			 (!i || heap->roots.records[i - 1].ix != heap->roots.records[i].ix ||
			  heap->roots.records[i - 1].kind != HPROF_ROOT_THREAD_OBJECT);
	return (int)count;
}

static int tell_device(struct state *s, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	char text[TEXT_MAX_BYTES];
	struct heap_value value;
	int64_t sdk;
	int r = heap_static_value(heap, "android.os.Build$VERSION.SDK_INT", &value, err);

	TRY_ERRORS(r);
	if (r == HDB_OK && heap_value_number(&value, &sdk) && sdk > 0 &&
	    (r = add_number(s, "sdk", "Android's API level", (uint64_t)sdk, err)) != HDB_OK)
		return r;
	TRY(static_text(heap, "android.os.Build.MANUFACTURER", "", BASE_TEXT(text), err));
	if (text[0])
		TRY(add(s, "manufacturer", "of the device", text, err));
	TRY(static_text(heap, "android.os.Build.ID", "", BASE_TEXT(text), err));
	if (text[0])
		TRY(add(s, "build", "Android's build", text, err));
	TRY(static_text(heap, "android.app.ActivityThread.sCurrentActivityThread",
			"mBoundApplication.appInfo.processName", BASE_TEXT(text), err));
	TRY(add(s, "process", "name of the application's process", text, err));
	TRY(static_text(heap, "leakcanary.internal.InternalLeakCanary.version", "", BASE_TEXT(text),
			err));
	return add(s, "leakcanary", "version of LeakCanary in it", text, err);
}

static int tell_counts(struct state *s, struct hdb_error *err)
{
	const struct {
		const char *key, *help;
		uint64_t number;
	} numbers[] = {
		{ "classes", "class objects", s->classes },
		{ "instances", "instances", s->instances },
		{ "object_arrays", "arrays of references", s->object_arrays },
		{ "primitive_arrays", "arrays of numbers", s->primitive_arrays },
		{ "threads", "threads", (uint64_t)count_threads(s->q->heap) },
		{ "heap_bytes", "bytes of all objects as the dump records them",
		  s->recorded_bytes },
		{ "bitmaps", "bitmaps", s->bitmaps },
		{ "bitmap_bytes", "native bytes of these", s->bitmap_bytes },
		{ "large_bitmaps", "with more pixels than the display and a tenth", s->large },
		{ "large_bitmap_bytes", "native bytes of these", s->large_bytes },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		TRY(add_number(s, numbers[i].key, numbers[i].help, numbers[i].number, err));
	return HDB_OK;
}

static int tell_databases(struct state *s, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	int r;

	for (size_t i = 0; i < s->databases.count; i++) {
		const uint32_t ix = *base_vec_at(&s->databases, uint32_t, i);
		char label[TEXT_MAX_BYTES], text[TEXT_MAX_BYTES + 16];
		uint32_t target;

		TRY_ERRORS(
			r = heap_path_object(heap, ix, "mConfigurationLocked.label", &target, err));
		if (r != HDB_OK)
			continue;
		TRY_ERRORS(r = heap_string(heap, target, label, sizeof(label), err));
		if (r != HDB_OK)
			continue;
		TRY_ERRORS(r = heap_path_object(heap, ix, "mConnectionPoolLocked", &target, err));
		(void)snprintf(text, sizeof(text), "%s %s", r == HDB_OK ? "open" : "closed", label);
		TRY_ERRORS(add(s, "database", "an SQLite database, and whether it is open", text,
			       err));
	}
	return HDB_OK;
}

static int open_app(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;

	s->q = q;
	TRY(heap_load_classes(q->heap, err));
	query_tell_no_android(q, "it tells neither of a device nor of an application");
	TRY(heap_load_roots(q->heap, err));
	TRY(heap_open_dump(q->heap, err));
	s->is_bitmap = mark_classes(q->heap, "android.graphics.Bitmap");
	s->is_database = mark_classes(q->heap, "android.database.sqlite.SQLiteDatabase");
	s->is_display = mark_classes(q->heap, "android.util.DisplayMetrics");
	if (!s->is_bitmap || !s->is_database || !s->is_display)
		return hdb_fail_memory(err, "classes", q->heap->class_count);
	/* Place 0 is no text. */
	TRY(base_bytes_append(&s->texts, "", 1, err));
	TRY(derive_native_sizes(q->derive, DERIVE_NATIVE_REGISTERED, &s->native, err));
	TRY(count_all(s, err));
	TRY(tell_device(s, err));
	TRY(tell_counts(s, err));
	TRY(tell_databases(s, err));
	q->total = s->entries.count;
	return HDB_OK;
}

static int app_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct state *s = q->state;
	const struct entry *entry = base_vec_at(&s->entries, struct entry, no);

	(void)err;
	query_set_text(q, KEY, entry->key);
	query_set_text(q, HELP, entry->help);
	if (entry->text)
		query_set_text(q, VALUE, (const char *)s->texts.data + entry->text);
	if (entry->has_number)
		query_set(q, NUMBER, entry->number);
	return HDB_OK;
}

static void close_app(struct query *q)
{
	struct state *s = q->state;

	free(s->is_bitmap);
	free(s->is_database);
	free(s->is_display);
	base_vec_release(&s->native);
	base_vec_release(&s->entries);
	base_vec_release(&s->texts);
	base_vec_release(&s->pixels);
	base_vec_release(&s->databases);
}

const struct query_def query_app = {
	.spec = {
		.name = "app", .aliases = "android",
		.group = "database", .example = "",
		.targets = "",
		.summary = "what an Android dump tells of its device and application: API level, process, "
			   "counts, bitmaps, databases",
		.options = query_no_options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
	},
	.state_size = sizeof(struct state),
	.open = open_app, .row = app_row, .close = close_app,
};
