/*
 * queries/android/q_app.c - the app query: facts from an Android dump about the device and the
 * application.
 */
#include "base/base_text.h"
#include "derive/native.h"
#include "heap/known.h"
#include "queries/queries.h"
#include "query/info_rows.h"

#define TEXT_MAX_BYTES 1024
/* Maximum number of databases listed. */
#define DATABASES_MAX 1000u

/* The same columns as in the info query, without the section. */
#include <queries/android/q_app.query.h>

/* How the objects of a class are counted. */
enum role { ROLE_NONE, ROLE_BITMAP, ROLE_DATABASE, ROLE_DISPLAY, ROLES };

static const char *const role_classes[ROLES] = {
	[ROLE_BITMAP] = "android.graphics.Bitmap",
	[ROLE_DATABASE] = "android.database.sqlite.SQLiteDatabase",
	[ROLE_DISPLAY] = "android.util.DisplayMetrics",
};

struct bitmap {
	uint64_t pixels, bytes;
};

struct state {
	struct info_rows rows;
	struct query *q;
	uint8_t *roles;         /* indexed by class: enum role; owned */
	struct base_vec native; /* struct derive_native */
	uint64_t instances, object_arrays, primitive_arrays, classes, recorded_bytes;
	uint64_t bitmap_bytes, large, large_bytes, display_pixels;
	struct base_vec bitmaps;   /* struct bitmap */
	struct base_vec databases; /* uint32_t */
};

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

/* Reads the number of pixels of a bitmap or display. Sets *pixels to 0 if it is unknown. */
static int count_pixels(struct heap *heap, uint32_t ix, const char *const fields[2],
			uint64_t *pixels, struct hdb_error *err)
{
	int64_t width = 0, height = 0;

	TRY_ERRORS(heap_path_number(heap, ix, fields[0], &width, err));
	TRY_ERRORS(heap_path_number(heap, ix, fields[1], &height, err));
	*pixels = width > 0 && height > 0 ? (uint64_t)width * (uint64_t)height : 0;
	return HDB_OK;
}

static int count_instance(struct state *s, uint32_t ix, enum role role, struct hdb_error *err)
{
	static const char *const display[] = { "widthPixels", "heightPixels" };
	static const char *const image[] = { "mWidth", "mHeight" };
	struct heap *heap = s->q->heap;
	struct bitmap bitmap = { 0 };
	uint64_t pixels;

	if (role == ROLE_DATABASE && s->databases.count < DATABASES_MAX)
		return base_vec_push(&s->databases, &ix, sizeof(ix), err);
	if (role == ROLE_DISPLAY) {
		TRY(count_pixels(heap, ix, display, &pixels, err));
		if (pixels > s->display_pixels)
			s->display_pixels = pixels;
	}
	if (role != ROLE_BITMAP)
		return HDB_OK;
	TRY(count_pixels(heap, ix, image, &bitmap.pixels, err));
	bitmap.bytes = derive_native_in(&s->native, ix);
	s->bitmap_bytes += bitmap.bytes;
	return base_vec_push(&s->bitmaps, &bitmap, sizeof(bitmap), err);
}

static int count_object(struct state *s, const struct heap_block *block, uint32_t i,
			struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	const uint32_t no = block->class_no[i];
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
	return count_instance(s, block->first_ix + i, s->roles[no], err);
}

static int count_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	for (uint32_t i = 0; i < block->count; i++)
		if (block->first_ix + i != HEAP_BOOT_LOADER)
			TRY(count_object(ctx, block, i, err));
	return HDB_OK;
}

/* Counts bitmaps with at least 10 % more pixels than the largest display. */
static void count_large(struct state *s)
{
	for (size_t i = 0; i < s->bitmaps.count; i++) {
		const struct bitmap *bitmap = base_vec_at(&s->bitmaps, struct bitmap, i);

		if (s->display_pixels &&
		    bitmap->pixels > s->display_pixels + s->display_pixels / 10) {
			s->large++;
			s->large_bytes += bitmap->bytes;
		}
	}
}

/* ---- properties ---- */

static int count_threads(struct heap *heap)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < heap->roots.count; i++)
		count += heap->roots.records[i].kind == HPROF_ROOT_THREAD_OBJECT &&
			 (!i || heap->roots.records[i - 1].ix != heap->roots.records[i].ix ||
			  heap->roots.records[i - 1].kind != HPROF_ROOT_THREAD_OBJECT);
	return (int)count;
}

static int add_device_rows(struct state *s, struct hdb_error *err)
{
	static const struct {
		const char *key, *help, *field, *path;
		bool is_always;
	} texts[] = {
		{ "manufacturer", "Manufacturer of the device", "android.os.Build.MANUFACTURER", "",
		  false },
		{ "build", "Android build", "android.os.Build.ID", "", false },
		{ "process", "Name of the application's process",
		  "android.app.ActivityThread.sCurrentActivityThread",
		  "mBoundApplication.appInfo.processName", true },
		{ "leakcanary", "Version of LeakCanary that the application contains",
		  "leakcanary.internal.InternalLeakCanary.version", "", true },
	};
	struct heap *heap = s->q->heap;
	char text[TEXT_MAX_BYTES];
	struct heap_value value;
	int64_t sdk;
	int r;

	TRY_ERRORS(r = heap_static_value(heap, "android.os.Build$VERSION.SDK_INT", &value, err));
	if (r == HDB_OK && heap_value_number(&value, &sdk) && sdk > 0)
		info_number(s->q, "sdk", "Android API level", (uint64_t)sdk);
	for (size_t i = 0; i < BASE_COUNT(texts); i++) {
		TRY(static_text(heap, texts[i].field, texts[i].path, BASE_TEXT(text), err));
		if (text[0] || texts[i].is_always)
			info_text(s->q, texts[i].key, texts[i].help, text[0] ? text : NULL);
	}
	return HDB_OK;
}

static void add_count_rows(struct state *s)
{
	const struct {
		const char *key, *help;
		uint64_t number;
	} numbers[] = {
		{ "classes", "Class objects", s->classes },
		{ "instances", "Instances", s->instances },
		{ "object_arrays", "Arrays of references", s->object_arrays },
		{ "primitive_arrays", "Arrays of numbers", s->primitive_arrays },
		{ "threads", "Threads", (uint64_t)count_threads(s->q->heap) },
		{ "heap_bytes", "Size of all objects as recorded in the dump", s->recorded_bytes },
		{ "bitmaps", "Number of bitmaps", s->bitmaps.count },
		{ "bitmap_bytes", "Native memory of the bitmaps", s->bitmap_bytes },
		{ "large_bitmaps",
		  "Number of bitmaps with more than 110 % of the display's "
		  "pixels",
		  s->large },
		{ "large_bitmap_bytes", "Native memory of the bitmaps", s->large_bytes },
	};

	for (size_t i = 0; i < BASE_COUNT(numbers); i++)
		info_number(s->q, numbers[i].key, numbers[i].help, numbers[i].number);
}

static int add_database_rows(struct state *s, struct hdb_error *err)
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
		info_text(s->q, "database", "SQLite database, and whether it is open", text);
	}
	return HDB_OK;
}

static int open_app(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;

	s->q = q;
	TRY(heap_load_classes(q->heap, err));
	query_report_no_android(q, "no device or application found");
	TRY(heap_load_roots(q->heap, err));
	TRY(heap_open_dump(q->heap, err));
	TRY(BASE_ALLOC(s->roles, (size_t)q->heap->class_count + 1, "classes", err));
	for (uint32_t no = 0; no < q->heap->class_count; no++)
		for (unsigned role = ROLE_BITMAP; role < ROLES; role++)
			if (heap_has_superclass(q->heap, no, role_classes[role]))
				s->roles[no] = (uint8_t)role;
	TRY(derive_native_sizes(q->derive, DERIVE_NATIVE_REGISTERED, &s->native, err));
	TRY(heap_each_block(q->heap, q->work, count_block, s, err));
	count_large(s);
	TRY(add_device_rows(s, err));
	add_count_rows(s);
	TRY(add_database_rows(s, err));
	info_end(q);
	return HDB_OK;
}

static void close_app(struct query *q)
{
	struct state *s = q->state;

	info_close(q);
	free(s->roles);
	base_vec_release(&s->native);
	base_vec_release(&s->bitmaps);
	base_vec_release(&s->databases);
}

QUERY_DEFINE(app, .state_size = sizeof(struct state), .open = open_app, .row = info_row,
	     .close = close_app);
