/*
 * gen_base.h - what every dump has: the classes of the boot loader, the main thread, class
 * loaders, the cache of small Integers.
 */
#ifndef HPROFGEN_GEN_BASE_H
#define HPROFGEN_GEN_BASE_H

#include "gen_batch.h"

/* Numbers of the classes that code refers to; gen_base.c declares them in this order. */
enum gen_base_class {
	GEN_OBJECT_CLASS,
	GEN_CLASS_CLASS,
	GEN_STRING,
	GEN_LOADER_CLASS,
	GEN_BUILTIN_LOADER,
	GEN_APP_LOADER,
	GEN_PLATFORM_LOADER,
	GEN_THREAD_GROUP,
	GEN_THREAD,
	GEN_NUMBER,
	GEN_INTEGER,
	GEN_INTEGER_CACHE,
	GEN_LONG_CLASS,
	GEN_ABSTRACT_COLLECTION,
	GEN_ABSTRACT_LIST,
	GEN_ARRAY_LIST,
	GEN_SYSTEM,
	GEN_BASE_CLASSES, /* array classes follow: [Z [C [F [D [B [S [I [J, then these */
	GEN_OBJECT_ARRAY_CLASS = GEN_BASE_CLASSES + 8,
	GEN_STRING_ARRAY_CLASS,
	GEN_CLASS_ARRAY_CLASS,
	GEN_INTEGER_ARRAY_CLASS,
	GEN_FIRST_OWN_CLASS
};

/* Places of values in instances. */
enum {
	GEN_STRING_VALUE = 0,
	GEN_STRING_HASH = 1,
	GEN_LOADER_PARENT = 0,
	GEN_LOADER_NAME = 1,
	GEN_LOADER_CLASSES = 2,
	GEN_THREAD_NAME = 0,
	GEN_THREAD_GROUP_FIELD = 1,
	GEN_THREAD_LOADER = 2,
	GEN_THREAD_TID = 3,
	GEN_THREAD_PRIORITY = 4,
	GEN_THREAD_STATUS = 8,
	GEN_LIST_ELEMENTS = 0,
	GEN_LIST_SIZE = 1
};

/* Loader numbers: the boot loader is 0. */
enum { GEN_PLATFORM = 1, GEN_APP = 2, GEN_FIRST_OWN_LOADER = 3 };

#define GEN_SMALL_INTEGERS 256u

struct gen_base {
	uint64_t integers[GEN_SMALL_INTEGERS]; /* java.lang.Integer -128 to 127 */
	uint64_t group;                        /* the main thread group */
	uint32_t main_thread;                  /* serial */
};

/* Declares the classes; first of all. */
void gen_base_declare(struct gen_world *w);

/* Plans the objects into an empty batch: the first that lie in the heap. Adds threads and roots. */
void gen_base_plan(struct gen_batch *b, struct gen_base *base);

/* An ArrayList of `count` elements with room for `room`, 0 <= count <= room; returns it. */
uint32_t gen_plan_list(struct gen_batch *b, const uint64_t *elements, uint32_t count,
		       uint32_t room);

/* A java.lang.Thread with a name; its stack is the caller's. */
uint32_t gen_plan_thread(struct gen_batch *b, const struct gen_base *base, const char *name,
			 unsigned loader);

/* Plans a loader's `classes` list, with all classes that it defines. */
void gen_plan_loader(struct gen_batch *b, unsigned loader, uint32_t loader_class, const char *name);

#endif
