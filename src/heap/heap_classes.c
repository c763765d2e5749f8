/* heap/heap_classes.c - classes, their names and fields, and strings of the dump. */
#include "heap/heap.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "base/idmap.h"
#include "base/scope.h"
#include "heap/values/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/*
 * Charges the class tables to the memory budget before they are allocated. Fails with a message if
 * the dump has too many classes for the budget.
 */
static int count_classes(struct heap *heap, struct hdb_error *err)
{
	struct hdb_error why, with_path;
	const int r = store_count_classes(heap->work, heap->class_count,
					  &heap->classes.counted_bytes, &why);

	if (r >= 0)
		return r;
	(void)hdb_fail(&with_path, r, "%s: %s", store_path(heap->store), why.message);
	return store_fail(heap->store, &with_path, err);
}

/*
 * Copies a table of fixed-size records. Block sizes come from the file, so each is checked against
 * the remaining room.
 */
int heap_read_records(struct heap *heap, enum store_table table, const struct heap_records *to,
		      struct hdb_error *err)
{
	for (uint64_t done = 0; done < to->count;) {
		struct store_block block;
		const int r = store_block(heap->store, table, done, &block, err);

		TRY_ERRORS(r);
		if (r == HDB_NOTFOUND || block.item_count > to->count - done || !block.item_count ||
		    block.size != (uint64_t)block.item_count * to->size)
			return store_damaged(heap->store, table, done, "impossible size", err);
		memcpy((char *)to->records + done * to->size, block.data, block.size);
		done += block.item_count;
	}
	return HDB_OK;
}

/*
 * Loads the classes. Checks all indexes once, so that other code may use ix, loader_ix and super_no
 * unchecked.
 */
int heap_load_classes(struct heap *heap, struct hdb_error *err)
{
	const size_t n = heap->class_count;
	BASE_FREED struct store_class *classes = NULL;
	uint64_t there;

	if (heap->classes.records)
		return HDB_OK;
	TRY(store_record_room(heap->store, STORE_CLASSES, &there, err));
	if (there != n)
		return store_damaged(heap->store, STORE_CLASSES, 0, "impossible number of records",
				     err);
	TRY(count_classes(heap, err));
	TRY(HEAP_ALLOC(heap, classes, n + 1, "classes", err));
	TRY(heap_read_records(heap, STORE_CLASSES,
			      &(struct heap_records){ classes, sizeof(*classes), n }, err));
	for (size_t no = 0; no < n; no++) {
		const struct store_class *c = &classes[no];

		if (c->ix >= heap->object_count || c->loader_ix >= heap->object_count ||
		    (c->super_no != STORE_NONE && c->super_no >= n))
			return store_damaged(heap->store, STORE_CLASSES, no, "index out of range",
					     err);
	}
	heap->classes.records = classes;
	classes = NULL;
	return HDB_OK;
}

uint32_t heap_invented_count(const struct heap *heap)
{
	uint32_t count = heap->object_count > 0;

	for (uint32_t no = 0; no < heap->class_count; no++)
		count += (heap->classes.records[no].flags & STORE_CLASS_INVENTED) != 0;
	return count;
}

int heap_text(struct heap *heap, uint32_t text_no, char *buf, size_t size, struct hdb_error *err)
{
	const char *text;
	size_t text_size;

	assert(size > 0);
	buf[0] = '\0';
	if (text_no == STORE_NONE)
		return HDB_OK;
	TRY_FOUND(store_text(heap->store, text_no, &text, &text_size, err));
	(void)heap_clean_text(text, text_size, buf, size);
	return HDB_OK;
}

/*
 * Returns the name of a class, converted to valid UTF-8 and cached. Callers use names in
 * comparisons and messages and cannot handle a failure, so an unreadable name becomes "?", and the
 * store keeps the error for a later check. The "?" is cached too: twins of a heap share the names
 * and must not change them.
 */
const char *heap_class_name(struct heap *heap, uint32_t no)
{
	const char *text;
	size_t size;
	char *name;
	int r;

	if (no >= heap->class_count || heap_load_classes(heap, NULL) < 0)
		return "?";
	if (!heap->classes.names)
		heap->classes.names = calloc((size_t)heap->class_count + 1, sizeof(char *));
	if (!heap->classes.names) {
		(void)heap_fail_memory(heap, "names of classes", heap->class_count * 8ull, NULL);
		return "?";
	}
	if (heap->classes.names[no])
		return heap->classes.names[no];
	r = store_text(heap->store, heap->classes.records[no].name_text, &text, &size, NULL);
	if (r == HDB_NOTFOUND)
		(void)store_damaged(heap->store, STORE_TEXTS, heap->classes.records[no].name_text,
				    "text missing", NULL);
	if (r != HDB_OK) {
		text = "?";
		size = 1;
	}
	name = heap_clean_copy(text, &size);
	if (!name) {
		(void)heap_fail_memory(heap, "a class name", size, NULL);
		return "?";
	}
	heap->classes.names[no] = name;
	return name;
}

const char *heap_class_name_of(struct heap *heap, uint32_t ix)
{
	struct heap_object o;

	return heap_object(heap, ix, &o, NULL) < 0 ? "?" : heap_class_name(heap, o.class_no);
}

const char *heap_loader_name(struct heap *heap, const struct store_class *class)
{
	return class->loader_ix == HEAP_BOOT_LOADER ? "<boot>" :
						      heap_class_name_of(heap, class->loader_ix);
}

bool heap_class_is_permanent(struct heap *heap, uint32_t no)
{
	static const char *const loaders[] = { "<boot>", "jdk.internal.loader.ClassLoaders$",
					       "sun.misc.Launcher$" };
	const char *name = heap_loader_name(heap, heap_class(heap, no));

	for (size_t i = 0; i < BASE_COUNT(loaders); i++)
		if (strncmp(name, loaders[i], strlen(loaders[i])) == 0)
			return true;
	return false;
}

bool heap_is_permanent_class(struct heap *heap, uint32_t ix)
{
	struct heap_object object;

	return heap_object(heap, ix, &object, NULL) == HDB_OK && object.kind == STORE_CLASS &&
	       heap_class_is_permanent(heap, (uint32_t)object.length);
}

/*
 * Returns the package of a class. An array belongs to the package of its element class, except that
 * primitive arrays have their own package.
 */
const char *heap_package(const char *class_name, size_t *size)
{
	static const char *const primitive[] = { "boolean", "byte", "char",  "short",
						 "int",     "long", "float", "double" };
	const char *dot = strrchr(class_name, '.'), *bracket = strchr(class_name, '[');
	const char *package = dot ? class_name : "<unnamed>";

	*size = dot ? (size_t)(dot - class_name) : strlen(package);
	if (dot || !bracket)
		return package;
	for (size_t i = 0; i < BASE_COUNT(primitive); i++) {
		const size_t n = strlen(primitive[i]);

		if (n != (size_t)(bracket - class_name) || memcmp(class_name, primitive[i], n) != 0)
			continue;
		package = "<primitive arrays>";
		*size = strlen(package);
	}
	return package;
}

int heap_class_of_object(struct heap *heap, uint32_t ix, uint32_t *class_no, struct hdb_error *err)
{
	struct heap_object o;
	const int r = heap_object(heap, ix, &o, err);

	*class_no = r == HDB_OK && o.kind == STORE_CLASS ? (uint32_t)o.length : HEAP_NONE;
	return r;
}

static uint32_t hash_name(const char *name)
{
	return (uint32_t)XXH3_64bits_withSeed(name, strlen(name), base_hash_seed());
}

/*
 * Returns the hashes of all class names, which save most string comparisons, or NULL if memory is
 * exhausted.
 */
static const uint32_t *name_hashes(struct heap *heap)
{
	uint32_t *hashes = heap->classes.name_hashes;

	if (hashes || heap_load_classes(heap, NULL) < 0)
		return hashes;
	hashes = malloc(((size_t)heap->class_count + 1) * sizeof(*hashes));
	if (!hashes)
		(void)heap_fail_memory(heap, "hashes of names", heap->class_count * 4ull, NULL);
	for (uint32_t no = 0; hashes && no < heap->class_count; no++)
		hashes[no] = hash_name(heap_class_name(heap, no));
	heap->classes.name_hashes = hashes;
	return hashes;
}

/*
 * Finds a class by name. Compares hashes first, because a dump may have hundreds of thousands of
 * classes, and the tables of known classes look up many names.
 */
uint32_t heap_class_by_name(struct heap *heap, const char *name, uint32_t from)
{
	const uint32_t *hashes = name_hashes(heap), hash = hash_name(name);

	for (uint32_t no = from; hashes && no < heap->class_count; no++)
		if (hashes[no] == hash && strcmp(heap_class_name(heap, no), name) == 0)
			return no;
	return HEAP_NONE;
}

bool heap_is_subclass(const struct heap *heap, uint32_t no, uint32_t super_no)
{
	assert(no < heap->class_count);
	/*
	 * The import breaks cycles, but a damaged database may contain one, so the number of steps
	 * is limited.
	 */
	for (uint32_t steps = 0; no != STORE_NONE && steps <= heap->class_count; steps++) {
		if (no == super_no)
			return true;
		no = heap->classes.records[no].super_no;
	}
	return false;
}

/*
 * Number of superclasses beyond which a table of all classes is cheaper. Real hierarchies are
 * shallower.
 */
#define PLAIN_STEPS 64
/*
 * Maximum number of names with a table, which takes one bit per class. All rule tables together
 * have fewer names.
 */
#define BELOW_MAX 512

/* Classes that have a certain name, themselves or through a superclass. */
struct heap_below {
	char *name;
	uint64_t *bits; /* by class */
};

void heap_release_below(struct heap *heap)
{
	for (unsigned i = 0; heap->classes.below && i < BELOW_MAX; i++) {
		free(heap->classes.below[i].name);
		free(heap->classes.below[i].bits);
	}
	free(heap->classes.below);
	heap->classes.below = NULL;
}

/*
 * Computes the table for a name. Visits each class at most twice, because the result at the end of
 * a superclass chain is stored for all classes of the chain. `seen` is initially empty.
 */
static void mark_below(struct heap *heap, const char *name, uint64_t *bits, uint64_t *seen)
{
	for (uint32_t no = 0; (no = heap_class_by_name(heap, name, no)) != HEAP_NONE; no++)
		base_bit_put(bits, no);
	for (uint32_t no = 0; no < heap->class_count; no++) {
		uint32_t top = no;

		while (top != STORE_NONE && !base_bit_has(bits, top) && !base_bit_has(seen, top)) {
			base_bit_put(seen, top); /* also ends cycles */
			top = heap_class(heap, top)->super_no;
		}
		if (top == STORE_NONE || !base_bit_has(bits, top))
			continue;
		for (uint32_t at = no; at != top; at = heap_class(heap, at)->super_no)
			base_bit_put(bits, at);
	}
}

const uint64_t *heap_below(struct heap *heap, const char *name)
{
	const size_t words = base_bit_words((uint64_t)heap->class_count + 1);
	BASE_FREED uint64_t *seen = NULL;
	struct heap_below *below = NULL;

	if (!heap->classes.below)
		heap->classes.below = calloc(BELOW_MAX, sizeof(*heap->classes.below));
	for (unsigned i = 0; heap->classes.below && i < BELOW_MAX; i++) {
		below = &heap->classes.below[i];
		if (below->name && strcmp(below->name, name) == 0)
			return below->bits;
		if (below->name)
			continue;
		seen = calloc(words, sizeof(*seen));
		below->name = strdup(name);
		below->bits = calloc(words, sizeof(*below->bits));
		if (seen && below->name && below->bits) {
			base_work_count(heap->work, &heap->classes.counted_bytes,
					heap->classes.counted_bytes + words * sizeof(*seen));
			mark_below(heap, name, below->bits, seen);
			return below->bits;
		}
		free(below->name);
		free(below->bits);
		*below = (struct heap_below){ 0 };
		break;
	}
	return NULL;
}

/*
 * Returns whether a class or a superclass has a name. Compares names for PLAIN_STEPS levels, which
 * covers real hierarchies, and then uses a table: a hostile dump may have a chain of a million
 * superclasses, and walking it for every class would take quadratic time.
 */
bool heap_has_superclass(struct heap *heap, uint32_t no, const char *name)
{
	const uint64_t *table = NULL;

	assert(no < heap->class_count);
	for (uint32_t steps = 0; no != STORE_NONE && steps <= heap->class_count; steps++) {
		if (steps == PLAIN_STEPS)
			table = heap_below(heap, name);
		if (table)
			return base_bit_has(table, no);
		if (strcmp(heap_class_name(heap, no), name) == 0)
			return true;
		no = heap_class(heap, no)->super_no;
	}
	return false;
}

int heap_field(struct heap *heap, uint32_t i, struct store_field *out, struct hdb_error *err)
{
	struct heap_kept_field *kept = &heap->classes.fields[i % HEAP_KEPT_FIELDS];
	int r = HDB_OK;

	if (kept->end != (uint64_t)i + 1) {
		kept->end = 0;
		r = store_record(heap->store, STORE_FIELDS, i, &kept->field, err);
		if (r > 0)
			r = store_damaged(heap->store, STORE_FIELDS, i, "field missing", err);
		TRY(r);
		kept->end = (uint64_t)i + 1;
	}
	*out = kept->field;
	return HDB_OK;
}
