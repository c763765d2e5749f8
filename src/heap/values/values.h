/*
 * heap/values/values.h - field values and array contents, read from the dump by offset.
 */
#ifndef HEAP_VALUES_VALUES_H
#define HEAP_VALUES_VALUES_H

#include "heap/heap.h"
#include "heap/values/chars.h"

/* A field or element value. */
struct heap_value {
	uint8_t type;  /* HPROF basic type */
	uint64_t bits; /* identifier or raw bits, zero-extended */
};

/*
 * The fields of an instance: its class's own first, then each superclass's; or the statics of a
 * class.
 */
struct heap_fields {
	struct heap *heap;
	uint32_t declaring_no;    /* class that declares the current field */
	struct store_field field; /* the current field: name_text, type */
	struct heap_value value;
	/* private */
	uint64_t offset, end; /* in the dump; instances */
	uint32_t at, left;    /* in table fields */
	uint32_t steps;
	bool is_static;
};

/* Starts with the fields of instance ix (opens the dump). HDB_EUSAGE if ix is no instance. */
int heap_fields_begin(struct heap *heap, uint32_t ix, struct heap_fields *out,
		      struct hdb_error *err);
/* Starts with the static fields of a class (from the database; no dump needed). */
void heap_statics_begin(struct heap *heap, uint32_t class_no, struct heap_fields *out);
/* HDB_OK with field, declaring_no and value set; HDB_END after the last. */
int heap_fields_next(struct heap_fields *fields, struct hdb_error *err);

/*
 * The value of the instance field of that name (of the most derived class that has it, or of
 * `class_name` only if that is not NULL). HDB_NOTFOUND if there is none.
 */
struct heap_field_name {
	const char *class_name; /* or NULL */
	const char *name;
};
int heap_field_value(struct heap *heap, uint32_t ix, struct heap_field_name field,
		     struct heap_value *out, struct hdb_error *err);

/* The object that a reference field refers to: HDB_NOTFOUND if null or not in the dump. */
int heap_field_object(struct heap *heap, uint32_t ix, struct heap_field_name field,
		      uint32_t *target, struct hdb_error *err);

/* Some elements of an array. */
struct heap_slice {
	uint64_t *bits; /* as in heap_value; lent by the caller */
	uint64_t room;  /* how many were asked for */
	uint64_t done;  /* result: how many there are; less at the end */
	uint8_t type;   /* result: HPROF basic type of the array's elements, 0: not known */
};

/* Elements of array ix from number `from` on. HDB_EUSAGE if ix is no array. */
int heap_elements(struct heap *heap, uint32_t ix, uint64_t from, struct heap_slice *slice,
		  struct hdb_error *err);

/*
 * The text of a java.lang.String as UTF-8, for JDK 5 to 25 and Android. Copied to out->buf and cut
 * there if it must be. HDB_NOTFOUND if ix is no string or its characters are not in the dump.
 */
int heap_string_text(struct heap *heap, uint32_t ix, struct heap_utf8 *out, struct hdb_error *err);

/* The same to buf, as a C string (text.h): size bytes, terminated. */
static inline int heap_string(struct heap *heap, uint32_t ix, char *buf, size_t size,
			      struct hdb_error *err)
{
	struct heap_utf8 out = { .buf = buf, .size = size, .is_c_text = true };

	return heap_string_text(heap, ix, &out, err);
}

/* Whether the class of ix is java.lang.String. */
bool heap_is_string(struct heap *heap, uint32_t ix);

/*
 * The identifier of what an instance of class_no refers to by the field `referent` that
 * java.lang.ref.Reference has in every JDK and on Android. HDB_NOTFOUND: none, or null.
 */
int heap_referent_id(struct heap *heap, uint32_t ix, uint32_t class_no, uint64_t *id,
		     struct hdb_error *err);

/*
 * Strength of a reference (enum store_strength): STORE_STRONG unless `from` is a reference object
 * of such a class whose only reference to `to` is its referent.
 */
int heap_strength(struct heap *heap, uint32_t from, uint32_t to, uint8_t *strength,
		  struct hdb_error *err);

#endif
