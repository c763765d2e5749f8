/*
 * gen_world.h - the parts of a dump other than the objects of its shape: names, classes and their
 * layout, roots, and a few adjacent arrays. Also computes the sizes and addresses of objects.
 *
 * Objects are laid out as in HotSpot: with 8-byte IDs, a header of 12 bytes and references of 4
 * bytes; with 4-byte IDs, a header of 8 bytes; in both cases, alignment to 8 bytes. All classes are
 * declared, then gen_world_seal fixes where objects begin, then addresses are handed out in the
 * order in which the objects will be written. Running out of memory ends the program.
 */
#ifndef HPROFGEN_GEN_WORLD_H
#define HPROFGEN_GEN_WORLD_H

#include "gen_file.h"

#define GEN_FIELDS_MAX 4u
#define GEN_CLASSES_MAX 32u
#define GEN_ROOTS_MAX 32u
/*
 * Adjacent arrays reveal the width of references. Their sizes are not multiples of 16, and there
 * are enough of them to show that objects are aligned to 8.
 */
#define GEN_ARRAYS 16u
#define GEN_ARRAY_LENGTH 14u

/* Numbers of the classes that every dump has. */
enum gen_base_class {
	GEN_OBJECT_CLASS,
	GEN_CLASS_CLASS,
	GEN_OBJECT_ARRAY_CLASS,
	GEN_FIRST_OWN_CLASS
};

struct gen_class {
	uint64_t id;
	char name[32];
	/* Names of the reference fields. All classes are direct subclasses of java.lang.Object. */
	const char *references[GEN_FIELDS_MAX];
	unsigned reference_count;
	bool has_number; /* an int field "value" comes last */
};

struct gen_world {
	struct gen_file file;
	uint64_t seed;
	unsigned header_bytes; /* of an instance */
	uint64_t next;         /* address of the next object */
	uint64_t limit;        /* first address that does not fit the IDs */
	bool is_sealed;
	struct gen_class classes[GEN_CLASSES_MAX];
	unsigned class_count;
	uint64_t roots[GEN_ROOTS_MAX]; /* held by a JNI global */
	unsigned root_count;
	uint64_t arrays[GEN_ARRAYS + 1]; /* the last array refers to the others */
};

/* Allocates memory. Ends the program if there is none. */
void *gen_checked(void *p);

/* Creates the file and declares the parts that every dump has. Returns 0, or -1 with errno set. */
int gen_world_open(struct gen_world *w, const char *path, unsigned id_size, uint64_t seed);

/* Ends the dump and closes the file. Returns 0, or -1 with errno set. */
int gen_world_close(struct gen_world *w);

/*
 * Declares a class with reference fields of these names (borrowed) and, optionally, an int field.
 * Returns the class number.
 */
unsigned gen_class(struct gen_world *w, const char *name, const char *const *references,
		   unsigned reference_count, bool has_number);

/* After this call, no classes can be declared, and addresses can be allocated. */
void gen_world_seal(struct gen_world *w);

/* Allocates `size` bytes of the heap. gen_world_fits reports whether all allocations fitted. */
uint64_t gen_take(struct gen_world *w, uint64_t size);
bool gen_world_fits(const struct gen_world *w);

/* Returns the number of bytes in the heap. */
uint64_t gen_instance_bytes(const struct gen_world *w, unsigned class_no);
uint64_t gen_array_bytes(const struct gen_world *w, uint64_t length);

void gen_root(struct gen_world *w, uint64_t id);

/* Writes the names, classes and roots, then the arrays. */
void gen_world_write(struct gen_world *w);

/* Starts an instance's record and returns room for its values. */
uint8_t *gen_instance(struct gen_world *w, unsigned class_no, uint64_t id);

/* The elements of an array: their number, and a function that returns each element. */
struct gen_elements {
	uint32_t length;
	uint64_t (*element)(void *ctx, uint64_t i);
	void *ctx;
};

/* Writes an Object[] of any length that fits a record. */
void gen_object_array(struct gen_world *w, uint64_t id, const struct gen_elements *elements);

/* Maximum number of elements in the record of an object array. */
uint64_t gen_array_limit(const struct gen_world *w);

#endif
