/*
 * gen_world.h - what comes before the objects of a dump: names, classes and their layout, threads
 * with stack traces, roots. Also the sizes of objects and where the next one lies.
 *
 * Objects are laid out as HotSpot lays them: with 8-byte IDs a header of 12 bytes and references
 * of 4, with 4-byte IDs a header of 8; aligned to 8. All classes are declared, then
 * gen_world_seal fixes where objects begin, then addresses are handed out in the order in which
 * the objects will be written. Running out of memory ends the program.
 */
#ifndef HPROFGEN_GEN_WORLD_H
#define HPROFGEN_GEN_WORLD_H

#include "gen_file.h"

#define GEN_NONE UINT32_MAX /* no class */
#define GEN_FIELDS_MAX 24u  /* fields that one class declares */
#define GEN_LOADERS_MAX 32u /* class loaders, the boot loader included */
#define GEN_BOOT 0u         /* the boot loader's number; its ID is 0 */

struct gen_field {
	uint32_t name_no;
	uint8_t type;
	uint64_t value; /* of a static field */
};

struct gen_class {
	uint64_t id;
	uint32_t name_no;
	uint32_t super_no; /* GEN_NONE: no superclass */
	unsigned loader;   /* number of the class loader */
	unsigned field_count;
	unsigned static_count;
	struct gen_field *fields; /* own fields, then static ones; owned */
	uint8_t *value_types;     /* of all fields in the file's order: own first; owned */
	unsigned value_count;
	unsigned body_bytes;   /* of an instance's values in the file */
	unsigned packed_bytes; /* header and fields, before alignment */
};

struct gen_root {
	uint8_t tag;
	uint64_t id;
	uint64_t a; /* JNI global: the reference's id; else the thread's serial */
	uint32_t b; /* frame number, or serial of the stack trace */
};

struct gen_frame {
	uint32_t method_no, source_no; /* names */
	uint32_t class_no;
	uint32_t line;
	uint32_t thread; /* its serial */
};

struct gen_world {
	struct gen_file file;
	uint64_t seed;
	unsigned header_bytes;    /* of an instance */
	unsigned reference_bytes; /* in the heap, not in the file */
	uint64_t next;            /* address of the next object */
	uint64_t limit;           /* first address that does not fit the IDs */
	bool is_sealed;

	char **names; /* owned, each owned */
	uint32_t name_count, name_room;

	struct gen_class *classes;
	uint32_t class_count, class_room;
	struct gen_root *roots;
	uint32_t root_count, root_room;
	struct gen_frame *frames;
	uint32_t frame_count, frame_room;
	uint32_t thread_count; /* serials 1 to this; trace serial = thread serial + 1 */
	uint64_t loader_ids[GEN_LOADERS_MAX];
};

/* The memory; where there is none, the program ends. */
void *gen_checked(void *p);

/* Creates the file: 0, or -1 with errno set. */
int gen_world_open(struct gen_world *w, const char *path, unsigned id_size, uint64_t seed);

/* Ends the dump and the file, frees everything: 0, or -1 with errno set. */
int gen_world_close(struct gen_world *w);

/* The number of a name, the same for equal texts. */
uint32_t gen_name(struct gen_world *w, const char *text);

/* A class to declare. */
struct gen_declaration {
	const char *name;
	uint32_t super_no; /* declared before; GEN_NONE */
	unsigned loader;
	/* blank-separated names with a letter for the type in front: "Lvalue Ihash Bcoder"; "" */
	const char *fields, *statics;
};

/* Declares it; its number. */
uint32_t gen_class(struct gen_world *w, const struct gen_declaration *d);

/* Declares all of a table. */
void gen_classes(struct gen_world *w, const struct gen_declaration *declared, size_t count);

/* Gives a static field its value; the field exists. */
void gen_class_static(struct gen_world *w, uint32_t class_no, const char *name, uint64_t value);

/* No classes after this: addresses can be taken. */
void gen_world_seal(struct gen_world *w);

/* Takes `size` bytes of the heap; gen_world_fits says whether all did fit. */
uint64_t gen_take(struct gen_world *w, uint64_t size);
bool gen_world_fits(const struct gen_world *w);

/* Bytes in the heap. */
uint64_t gen_instance_bytes(const struct gen_world *w, uint32_t class_no);
uint64_t gen_array_bytes(const struct gen_world *w, uint8_t type, uint64_t length);

/* Adds a root, and a thread with its stack's frames (innermost first); returns its serial. */
void gen_root(struct gen_world *w, uint8_t tag, uint64_t id, uint64_t a, uint32_t b);
uint32_t gen_thread(struct gen_world *w, uint64_t thread_id);
void gen_thread_frame(struct gen_world *w, uint32_t thread, uint32_t class_no, const char *method,
		      uint32_t line);

/* Writes all of that: names, classes, traces, then class dumps and roots. */
void gen_world_write(struct gen_world *w);

/* Starts an instance's record and returns room for its `body_bytes`. */
uint8_t *gen_instance(struct gen_world *w, uint32_t class_no, uint64_t id);

/* The elements of an array: how many, and a function that gives each. */
struct gen_elements {
	uint32_t length;
	uint64_t (*element)(void *ctx, uint64_t i);
	void *ctx;
};

/* Writes an object array of any length that fits a record. */
void gen_object_array(struct gen_world *w, uint32_t class_no, uint64_t id,
		      const struct gen_elements *elements);

/* Most elements that an object array's record can hold. */
uint64_t gen_array_limit(const struct gen_world *w);

/* Starts a primitive array's record and returns room for its elements (256 KB at most). */
uint8_t *gen_primitive_array(struct gen_world *w, uint8_t type, uint64_t id, uint32_t length);

#endif
