/*
 * heap/values/binder.h - what Android's objects are that say it nowhere in themselves: which
 * interface a Binder serves or its proxy calls, whose memory an array stands for. The names are
 * those that ahat gives them.
 */
#ifndef HEAP_VALUES_BINDER_H
#define HEAP_VALUES_BINDER_H

#include "heap/values/value_text.h"

/* A remote object, and the generated class by which the program calls it. */
struct heap_binder_proxy {
	uint32_t remote_ix, class_no;
};

/* Functions of templates, as heap_value_function has them. */

/*
 * A Binder with a descriptor: "binder stub (INTERFACE)" if it is of the class that is generated for
 * the interface, else "binder token (DESCRIPTOR)".
 */
bool heap_value_binder(const struct heap_shown *o, char *buf, size_t size);

/*
 * A BinderProxy: "for INTERFACE", by the class INTERFACE$Stub$Proxy of the object that has it as
 * mRemote. The first one takes a pass over the blocks that have objects of such classes.
 */
bool heap_value_binder_proxy(const struct heap_shown *o, char *buf, size_t size);

/*
 * An array that ART has written for a class's own memory: "$classOverhead of CLASS"; else buf is
 * left as it is.
 */
void heap_value_overhead(struct heap *heap, uint32_t ix, char *buf, size_t size);

#endif
