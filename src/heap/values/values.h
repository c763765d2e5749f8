/*
 * heap/values/values.h - reads field values and array contents from the dump by offset.
 */
#ifndef HEAP_VALUES_VALUES_H
#define HEAP_VALUES_VALUES_H

#include "heap/heap.h"
#include "heap/values/chars.h"

/* A field or element. */
struct heap_value {
	uint8_t type;  /* HPROF basic type */
	uint64_t bits; /* ID or raw bits, zero-extended */
};

/*
 * Iterates over the fields of an instance (first the fields that its class declares, then those of
 * each superclass), or over the static fields of a class.
 */
struct heap_fields {
	struct heap *heap;
	uint32_t declaring_no;    /* class that declares the current field */
	struct store_field field; /* current field: name_text, type */
	struct heap_value value;
	/* private */
	uint64_t offset, end; /* instances: position in the dump */
	uint32_t at, left;    /* position in the `fields` table */
	uint32_t steps;
	bool is_static;
};

/*
 * Begins with the fields of instance ix, and opens the dump. Fails with HDB_EUSAGE if ix is not an
 * instance.
 */
int heap_fields_begin(struct heap *heap, uint32_t ix, struct heap_fields *out,
		      struct hdb_error *err);
/*
 * Begins with the static fields of a class. The database contains them, so the dump is not needed.
 */
void heap_statics_begin(struct heap *heap, uint32_t class_no, struct heap_fields *out);
/*
 * Reads the next field. Returns HDB_OK, with field, declaring_no and value set, or HDB_END after
 * the last field.
 */
int heap_fields_next(struct heap_fields *fields, struct hdb_error *err);

/*
 * Names an instance field. If `class_name` is NULL, any class may declare the field, and the most
 * derived class takes precedence. Otherwise, `class_name` must declare it. Reading returns
 * HDB_NOTFOUND if the field does not exist.
 */
struct heap_field_name {
	const char *class_name; /* or NULL */
	const char *name;
};
int heap_field_value(struct heap *heap, uint32_t ix, struct heap_field_name field,
		     struct heap_value *out, struct hdb_error *err);

/*
 * Finds the object to which a reference field refers. Returns HDB_NOTFOUND if the field is null or
 * the object is not in the dump.
 */
int heap_field_object(struct heap *heap, uint32_t ix, struct heap_field_name field,
		      uint32_t *target, struct hdb_error *err);

/*
 * Sets *found to whether an instance has a field with this reference. Weak and similar references
 * are ignored, because they do not keep an object alive.
 */
int heap_field_refers(struct heap *heap, uint32_t ix, uint64_t bits, bool *found,
		      struct hdb_error *err);

/* A range of array elements. */
struct heap_slice {
	uint64_t *bits; /* values as in heap_value; provided by the caller */
	uint64_t room;  /* number of elements requested */
	uint64_t done;  /* result: number of elements read; smaller at the end of the array */
	uint8_t type;   /* result: HPROF basic type of the elements, or 0 if unknown */
};

/*
 * Reads elements of array ix, beginning with number `from`. Fails with HDB_EUSAGE if ix is not an
 * array.
 */
int heap_elements(struct heap *heap, uint32_t ix, uint64_t from, struct heap_slice *slice,
		  struct hdb_error *err);

/* Number of elements that a walk reads at once. */
#define HEAP_WALK_CHUNK 1024u

/* A walk over the elements of an array, from one number to another. */
struct heap_walk {
	uint32_t ix;
	/* numbers of the next element, and of the first element after the range */
	uint64_t at, end;
	uint8_t type; /* HPROF basic type of the elements */
	/* private: the elements that have been read */
	uint64_t chunk_from, chunk_count;
	uint64_t chunk[HEAP_WALK_CHUNK];
};

/* Leaves the chunk uninitialised, so that short arrays cost little. */
static inline void heap_walk_begin(struct heap_walk *walk, uint32_t ix, uint64_t from, uint64_t end)
{
	walk->ix = ix;
	walk->at = walk->chunk_from = from;
	walk->end = end;
	walk->chunk_count = 0;
	walk->type = 0;
}

/* Reads the next chunk. Returns HDB_OK, or HDB_END if there are no more elements. */
int heap_walk_chunk_next(struct heap *heap, struct heap_walk *walk, struct hdb_error *err);

/*
 * Returns the next element, number walk->at - 1, as in heap_value. The result is HDB_OK or HDB_END.
 */
static inline int heap_walk_next(struct heap *heap, struct heap_walk *walk, uint64_t *bits,
				 struct hdb_error *err)
{
	if (walk->at - walk->chunk_from >= walk->chunk_count) {
		const int r = heap_walk_chunk_next(heap, walk, err);

		if (r != HDB_OK)
			return r;
	}
	*bits = walk->chunk[walk->at++ - walk->chunk_from];
	return HDB_OK;
}

/* Returns the next reference, skipping null and objects that the dump lacks. */
int heap_walk_target_next(struct heap *heap, struct heap_walk *walk, uint32_t *ix,
			  struct hdb_error *err);

/*
 * Counts the elements of a walk that are not 0, examining only the first element and every step-th
 * element after it.
 */
int heap_walk_count(struct heap *heap, struct heap_walk *walk, uint64_t step, uint64_t *count,
		    struct hdb_error *err);

/*
 * Advances to the next element with these bits, which is number walk->at - 1. Returns HDB_OK or
 * HDB_END.
 */
int heap_walk_to_next(struct heap *heap, struct heap_walk *walk, uint64_t bits,
		      struct hdb_error *err);

/*
 * Copies the text of a java.lang.String to out->buf as UTF-8, truncated if necessary. Supports JDK
 * 5 to 25 and Android. Returns HDB_NOTFOUND if ix is not a string or the dump does not contain its
 * characters.
 */
int heap_string_text(struct heap *heap, uint32_t ix, struct heap_utf8 *out, struct hdb_error *err);

/* Reads a string into buf (`size` bytes) as a terminated C string; see text.h. */
static inline int heap_string(struct heap *heap, uint32_t ix, char *buf, size_t size,
			      struct hdb_error *err)
{
	struct heap_utf8 out = { .buf = buf, .size = size, .is_c_text = true };

	return heap_string_text(heap, ix, &out, err);
}

/* Returns whether ix is a java.lang.String. */
bool heap_is_string(struct heap *heap, uint32_t ix);

/*
 * Finds the ID of the referent of an instance of class_no, from the field `referent`, which
 * java.lang.ref.Reference has in every JDK and on Android. Returns HDB_NOTFOUND if the field does
 * not exist or is null.
 */
int heap_referent_id(struct heap *heap, uint32_t ix, uint32_t class_no, uint64_t *id,
		     struct hdb_error *err);

/*
 * The referent of a reference object if the object has no other reference to it. Otherwise, `to` is
 * HEAP_NONE.
 */
struct heap_weak {
	uint32_t to;
	uint8_t strength; /* enum store_strength */
};
int heap_weak_target(struct heap *heap, uint32_t from, struct heap_weak *out,
		     struct hdb_error *err);

/* Returns the strength of a reference: STORE_STRONG unless heap_weak_target found it. */
int heap_strength(struct heap *heap, uint32_t from, uint32_t to, uint8_t *strength,
		  struct hdb_error *err);

#endif
