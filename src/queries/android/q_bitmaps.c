/*
 * queries/android/q_bitmaps.c - the bitmaps query: Android's bitmaps with size, configuration,
 * location of the pixels, and copies of the same picture.
 *
 * Up to Android 7 pixels are in a byte[], Bitmap.mBuffer. In later versions they are in native
 * memory, which is not in the dump. However, a dump made by `am dumpheap -b png` contains pictures
 * in the static field Bitmap.dumpData, by address of the native bitmap. The configuration is also
 * native; it is inferred from the number of bytes per pixel. In Android 16, the seventh decimal
 * digit of Bitmap.mId gives the kind of storage.
 */
#include "base/search.h"
#include "derive/native.h"
#include "base/idmap.h"
#include "heap/known.h"
#include "queries/queries.h"

#include <xxhash.h>

/* Number of array elements read at a time. */
#define CHUNK 4096u
/*
 * Number of bytes that Android counts for the native part of a bitmap, in addition to its pixels.
 */
#define NATIVE_PART_BYTES 32u
/* Place value of the digit in Bitmap.mId that gives the kind of storage. */
#define STORAGE_UNIT 1000000u
#define STORAGE_ASHMEM 2
#define STORAGE_HARDWARE 3

#include <queries/android/q_bitmaps.query.h>

enum encoding { NO_CONTENTS, PIXELS, JPEG, PNG, WEBP };

struct bitmap {
	/*
	 * the bitmap and the array with its contents; HEAP_NONE if the dump does not contain them
	 */
	uint32_t ix, buffer;
	int32_t width, height, density;
	uint64_t bytes; /* 0 if unknown */
	uint64_t copies, wasted;
	uint32_t first; /* index in the list, which is in order of ix */
	XXH128_hash_t hash;
	const char *config, *store; /* static strings; NULL if unknown */
	uint8_t encoding;
	bool is_recycled;
};

/* A picture made by `am dumpheap -b`. */
struct picture {
	uint64_t native;
	uint32_t buffer;
};

struct state {
	struct query *q;
	struct base_vec list;     /* struct bitmap */
	struct base_vec pictures; /* struct picture, by native address */
	enum encoding picture_encoding;
	struct base_vec native; /* struct derive_native */
	bool is_only_copies;
};

/* ---- pictures of dumpData ---- */

BASE_ORDER(compare_pictures, struct picture, BASE_UP(native), BASE_UP(buffer))

/* Converts a number of Bitmap.CompressFormat. */
static enum encoding encoding_of(int64_t format)
{
	static const enum encoding encodings[] = { JPEG, PNG, WEBP, WEBP, WEBP };

	return format >= 0 && (size_t)format < BASE_COUNT(encodings) ? encodings[format] :
								       NO_CONTENTS;
}

/* Reads the pairs of natives[] and buffers[], as many as both arrays have, but at most `count`. */
static int load_pairs(struct state *s, uint32_t natives, uint32_t buffers, uint64_t count,
		      struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	uint64_t pointers[CHUNK] = { 0 }, ids[CHUNK] = { 0 };
	struct heap_slice native = { .bits = pointers, .done = 1 };
	struct heap_slice buffer = { .bits = ids, .done = 1 };

	assert(!s->pictures.count); /* the pictures are sorted afterwards */
	for (uint64_t from = 0; from < count && native.done && buffer.done; from += CHUNK) {
		native.room = buffer.room = count - from < CHUNK ? count - from : CHUNK;
		TRY(heap_elements(heap, natives, from, &native, err));
		TRY(heap_elements(heap, buffers, from, &buffer, err));
		if (native.type != HPROF_LONG || buffer.type != HPROF_OBJECT)
			return HDB_OK;
		for (uint64_t i = 0; i < native.done && i < buffer.done; i++) {
			struct picture picture = { .native = pointers[i] };

			if (ids[i] && heap_find(heap, ids[i], &picture.buffer, err) == HDB_OK)
				TRY(base_vec_push(&s->pictures, &picture, sizeof(picture), err));
		}
	}
	return HDB_OK;
}

static bool is_array(struct heap *heap, uint32_t ix, uint8_t kind)
{
	struct heap_object object;

	return heap_object(heap, ix, &object, NULL) == HDB_OK && object.kind == kind;
}

static int load_pictures(struct state *s, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	uint32_t data, natives = HEAP_NONE, buffers = HEAP_NONE;
	int64_t count = 0, format = -1;

	TRY_FOUND(heap_static_object(heap, "android.graphics.Bitmap.dumpData", &data, err));
	TRY_FOUND(heap_path_number(heap, data, "count", &count, err));
	TRY_FOUND(heap_path_number(heap, data, "format", &format, err));
	TRY_FOUND(heap_path_object(heap, data, "natives", &natives, err));
	TRY_FOUND(heap_path_object(heap, data, "buffers", &buffers, err));
	if (count <= 0 || !is_array(heap, natives, STORE_PRIMITIVE_ARRAY) ||
	    !is_array(heap, buffers, STORE_OBJECT_ARRAY))
		return HDB_OK;
	s->picture_encoding = encoding_of(format);
	if (s->picture_encoding != NO_CONTENTS)
		TRY(load_pairs(s, natives, buffers, (uint64_t)count, err));
	base_vec_sort(&s->pictures, sizeof(struct picture), compare_pictures);
	return HDB_OK;
}

static uint32_t find_picture(const struct state *s, uint64_t native)
{
	const struct picture *pictures = s->pictures.data;
	struct base_search at = base_search_in(s->pictures.count);

	while (base_search_next(&at))
		base_search_step(&at, pictures[at.mid].native < native);
	return at.low < s->pictures.count && native && pictures[at.low].native == native ?
		       pictures[at.low].buffer :
		       HEAP_NONE;
}

/* ---- one bitmap ---- */

/* Reads a number from a field. Returns 0 if the field does not exist. */
static int64_t number(struct state *s, uint32_t ix, const char *path, int *r, struct hdb_error *err)
{
	int64_t out = 0;

	if (*r < 0)
		return 0;
	*r = heap_path_number(s->q->heap, ix, path, &out, err);
	return *r == HDB_OK ? out : 0;
}

/*
 * Returns width times height, or 0 if either is not positive. Both are below 2^31, so the product
 * cannot overflow.
 */
static uint64_t pixels_of(const struct bitmap *b)
{
	return b->width > 0 && b->height > 0 ? (uint64_t)b->width * (uint64_t)b->height : 0;
}

/* Returns the number of bytes per pixel, derived from the total size, or 0 if it is unknown. */
static unsigned bytes_a_pixel(const struct bitmap *b)
{
	const uint64_t pixels = pixels_of(b);

	for (unsigned n = 8; n && pixels; n /= 2)
		if (pixels <= b->bytes / n)
			return n;
	return 0;
}

static const char *config_of(const struct bitmap *b)
{
	switch (bytes_a_pixel(b)) {
	case 8:
		return "RGBA_F16";
	case 4:
		return "ARGB_8888";
	case 2:
		return "RGB_565";
	case 1:
		return "ALPHA_8";
	default:
		return NULL;
	}
}

static int look_at_store(struct state *s, struct bitmap *b, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	uint32_t hardware;
	int r = HDB_OK;
	const int64_t mid = number(s, b->ix, "mId", &r, err);
	const uint64_t storage = mid > 0 ? (uint64_t)mid / STORAGE_UNIT % 10 : 0;

	TRY_ERRORS(r);
	TRY_ERRORS(r = heap_path_object(heap, b->ix, "mHardwareBuffer", &hardware, err));
	b->store = r == HDB_OK || storage == STORAGE_HARDWARE ? "hardware" :
		   storage == STORAGE_ASHMEM                  ? "ashmem" :
								"native";
	b->bytes = derive_native_in(&s->native, b->ix);
	if (b->bytes > NATIVE_PART_BYTES)
		b->bytes -= NATIVE_PART_BYTES;
	b->config = b->store[0] == 'h' ? "HARDWARE" : config_of(b);
	return HDB_OK;
}

static int look_at_contents(struct state *s, struct bitmap *b, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	struct heap_object array = { 0 };
	int r = heap_path_object(heap, b->ix, "mBuffer", &b->buffer, err);

	TRY_ERRORS(r);
	if (r == HDB_OK && (r = heap_object(heap, b->buffer, &array, err)) < 0)
		return r;
	if (r == HDB_OK && array.kind == STORE_PRIMITIVE_ARRAY &&
	    heap_class(heap, array.class_no)->element_type == HPROF_BYTE) {
		b->bytes = array.length;
		b->store = "java";
		b->config = config_of(b);
		b->encoding = b->config ? PIXELS : NO_CONTENTS;
		if (!b->config)
			b->buffer = HEAP_NONE;
		return HDB_OK;
	}
	TRY(r = look_at_store(s, b, err));
	b->buffer = find_picture(s, (uint64_t)number(s, b->ix, "mNativePtr", &r, err));
	TRY_ERRORS(r);
	if (b->buffer != HEAP_NONE && is_array(heap, b->buffer, STORE_PRIMITIVE_ARRAY))
		b->encoding = (uint8_t)s->picture_encoding;
	else
		b->buffer = HEAP_NONE;
	return HDB_OK;
}

/*
 * Hashes the used part of the array, together with the width, height, encoding and bytes per pixel.
 */
static int hash_contents(struct state *s, struct bitmap *b, XXH3_state_t *hash,
			 struct hdb_error *err)
{
	const uint64_t used = b->encoding == PIXELS ? pixels_of(b) * bytes_a_pixel(b) : UINT64_MAX;
	const int32_t sides[] = { b->width, b->height, b->encoding, (int32_t)bytes_a_pixel(b) };
	uint64_t bits[CHUNK];
	struct heap_slice slice = { .bits = bits, .done = 1 };
	uint8_t bytes[CHUNK];

	assert(b->encoding != NO_CONTENTS && b->buffer != HEAP_NONE);
	if (XXH3_128bits_reset_withSeed(hash, base_hash_seed()) != XXH_OK ||
	    XXH3_128bits_update(hash, sides, sizeof(sides)) != XXH_OK)
		return hdb_fail(err, HDB_EBUG, "cannot hash the pixels of a bitmap");
	for (uint64_t from = 0; from < used && slice.done; from += slice.done) {
		slice.room = used - from < CHUNK ? used - from : CHUNK;
		TRY(heap_elements(s->q->heap, b->buffer, from, &slice, err));
		for (uint64_t i = 0; i < slice.done; i++)
			bytes[i] = (uint8_t)bits[i];
		if (XXH3_128bits_update(hash, bytes, slice.done) != XXH_OK)
			return hdb_fail(err, HDB_EBUG, "cannot hash the pixels of a bitmap");
	}
	b->hash = XXH3_128bits_digest(hash);
	return HDB_OK;
}

static int add_bitmap(struct state *s, uint32_t ix, XXH3_state_t *hash, struct hdb_error *err)
{
	struct bitmap b = { .ix = ix, .buffer = HEAP_NONE };
	struct heap_value value;
	int r = HDB_OK;

	b.width = (int32_t)number(s, ix, "mWidth", &r, err);
	b.height = (int32_t)number(s, ix, "mHeight", &r, err);
	b.density = (int32_t)number(s, ix, "mDensity", &r, err);
	TRY_ERRORS(r);
	TRY_ERRORS(r = heap_path_value(s->q->heap, ix, "mRecycled", &value, err));
	b.is_recycled = r == HDB_OK && value.bits & 0xff;
	TRY_ERRORS(look_at_contents(s, &b, err));
	if (b.encoding != NO_CONTENTS)
		TRY(hash_contents(s, &b, hash, err));
	return base_vec_push(&s->list, &b, sizeof(b), err);
}

/* ---- all bitmaps ---- */

static void free_hash(XXH3_state_t **hash)
{
	(void)XXH3_freeState(*hash);
}

static int find_bitmaps(struct state *s, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	BASE_FREED struct heap_block *block = NULL;
	BASE_FREED uint8_t *is_bitmap = NULL;
	BASE_SCOPED(free_hash) XXH3_state_t *hash = XXH3_createState();
	uint64_t done = 0; /* number of objects before the block */
	struct derive_total sum = { 0 };
	bool any = false, reachable;

	if (!hash)
		return hdb_fail_memory(err, "bitmaps", 0);
	TRY(BASE_ALLOC(block, 1, "bitmaps", err));
	TRY(BASE_ALLOC(is_bitmap, (size_t)heap->class_count + 1, "bitmaps", err));
	for (uint32_t no = 0; no < heap->class_count; no++)
		any |= is_bitmap[no] = heap_has_superclass(heap, no, "android.graphics.Bitmap");
	for (uint32_t b = 0; any && b < heap_block_count(heap); b++) {
		bool has = false;

		TRY(heap_block_has(heap, b, is_bitmap, &has, err));
		if (has)
			TRY(heap_read_block_of(heap, b, is_bitmap, block, err));
		for (uint32_t i = 0; has && i < block->count; i++) {
			const uint32_t ix = block->first_ix + i;

			if (block->kind[i] != STORE_INSTANCE || !is_bitmap[block->class_no[i]])
				continue;
			TRY(derive_is_reachable(s->q->derive, ix, &reachable, err));
			analysis_count_object(&sum, block->shallow[i], reachable);
			if (query_counts(s->q, reachable))
				TRY(add_bitmap(s, ix, hash, err));
		}
		done = has ? block->first_ix : done;
		TRY(base_step(s->q->work, done, err));
	}
	query_report_unreachable(s->q, sum.unreachable_count, sum.unreachable_bytes);
	return HDB_OK;
}

/*
 * Sorts bitmaps with the same contents together, in order of index. Bitmaps without contents come
 * last.
 */
static int compare_contents(const void *a, const void *b)
{
	const struct bitmap *x = a, *y = b;
	int order;

	if ((x->encoding == NO_CONTENTS) != (y->encoding == NO_CONTENTS))
		return x->encoding == NO_CONTENTS ? 1 : -1;
	order = x->encoding == NO_CONTENTS ? 0 : XXH128_cmp(&x->hash, &y->hash);
	return order ? order : x->ix < y->ix ? -1 : x->ix > y->ix;
}

BASE_ORDER(compare_bytes, struct bitmap, BASE_DOWN(bytes), BASE_UP(ix))

static bool is_same(const struct bitmap *a, const struct bitmap *b)
{
	return a->encoding != NO_CONTENTS && b->encoding != NO_CONTENTS &&
	       XXH128_isEqual(a->hash, b->hash);
}

/* Counts the copies. Returns the number of bytes that they waste. */
static uint64_t join_copies(struct state *s)
{
	struct bitmap *list = s->list.data;
	const size_t n = s->list.count;
	uint64_t wasted = 0;

	if (n)
		qsort(list, n, sizeof(*list), compare_contents);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && is_same(&list[i], &list[end]); end++) {
			list[end].wasted = list[end].bytes;
			wasted += list[end].bytes;
			if (s->is_only_copies)
				list[i].wasted += list[end].bytes;
		}
		for (size_t k = i; k < end; k++) {
			list[k].copies = list[k].encoding == NO_CONTENTS ? 0 : end - i;
			list[k].first = list[i].ix;
		}
	}
	return wasted;
}

static void keep_copies(struct state *s)
{
	struct bitmap *list = s->list.data;
	size_t kept = 0;

	for (size_t i = 0; i < s->list.count; i++)
		if (list[i].copies > 1 && list[i].first == list[i].ix)
			list[kept++] = list[i];
	s->list.count = kept;
}

static void set_facts(struct state *s, uint64_t wasted)
{
	uint64_t all = 0, java = 0, contents = 0;
	query_fact(s->q, "bitmaps", s->list.count);
	for (size_t i = 0; i < s->list.count; i++) {
		const struct bitmap *b = base_vec_at(&s->list, struct bitmap, i);

		all += b->bytes;
		java += b->store && strcmp(b->store, "java") == 0 ? b->bytes : 0;
		contents += b->encoding != NO_CONTENTS;
	}
	query_fact(s->q, "bytes", all);
	query_fact(s->q, "java", java);
	query_fact(s->q, "native", all - java);
	query_fact(s->q, "contents", contents);
	query_fact(s->q, "wasted", wasted);
}

static int open_bitmaps(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;
	uint64_t wasted;

	s->q = q;
	s->is_only_copies = query_option(q, "duplicates") != NULL;
	TRY(heap_load_classes(q->heap, err));
	if (heap_class_by_name(q->heap, "android.graphics.Bitmap", 0) != HEAP_NONE)
		TRY(heap_open_dump(q->heap, err));
	TRY(load_pictures(s, err));
	TRY(derive_native_sizes(q->derive, DERIVE_NATIVE_ALL, &s->native, err));
	TRY(find_bitmaps(s, err));
	wasted = join_copies(s);
	set_facts(s, wasted);
	if (s->is_only_copies)
		keep_copies(s);
	base_vec_sort(&s->list, sizeof(struct bitmap), compare_bytes);
	q->total = s->list.count;
	if (!s->list.count)
		query_report_no_android(q, "no bitmaps found");
	query_choose(q, s->is_only_copies ? "id,width,height,config,bytes,store,copies,wasted" :
					    "id,width,height,config,bytes,store,density,recycled,"
					    "encoding,buffer,copies,wasted,first");
	return HDB_OK;
}

static int bitmap_row(struct query *q, size_t no, struct hdb_error *err)
{
	static const char *const encodings[] = { NULL, "pixels", "jpeg", "png", "webp" };
	struct state *s = q->state;
	const struct bitmap *b = base_vec_at(&s->list, struct bitmap, no);

	(void)err;
	assert(no < s->list.count && b->encoding < BASE_COUNT(encodings));
	query_set_id(q, ID, b->ix);
	query_set_int(q, WIDTH, b->width);
	query_set_int(q, HEIGHT, b->height);
	query_set_int(q, DENSITY, b->density);
	query_set(q, RECYCLED, b->is_recycled);
	if (b->bytes)
		query_set(q, BYTES, b->bytes);
	if (b->config)
		query_lend_text(q, CONFIG, b->config);
	if (b->store)
		query_lend_text(q, STORE, b->store);
	if (encodings[b->encoding]) {
		query_lend_text(q, ENCODING, encodings[b->encoding]);
		query_set(q, COPIES, b->copies);
		query_set(q, WASTED, b->wasted);
		query_set_id(q, BUFFER, b->buffer);
		if (b->first != b->ix)
			query_set_id(q, FIRST, b->first);
	}
	if (query_is_shown(q, RETAINED))
		query_set_retained(q, RETAINED, b->ix);
	return HDB_OK;
}

QUERY_DEFINE(bitmaps, QUERY_STATE(struct state, list, pictures, native), .open = open_bitmaps,
	     .row = bitmap_row);
