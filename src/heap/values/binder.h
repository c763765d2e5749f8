/*
 * heap/values/binder.h - describes Android objects with the help of other objects: the interface
 * that a Binder serves or a proxy calls, and the class whose memory an array represents. The texts
 * are the same as in ahat.
 */
#ifndef HEAP_VALUES_BINDER_H
#define HEAP_VALUES_BINDER_H

#include "heap/values/value_text.h"

/* A remote object, and the generated class through which the program calls it. */
struct heap_binder_proxy {
	uint32_t remote_ix, class_no;
};

/* Template functions, as in heap_value_function. */

/*
 * Describes a Binder with a descriptor: "binder stub (INTERFACE)" if its class was generated for
 * the interface, otherwise "binder token (DESCRIPTOR)".
 */
bool heap_value_binder(const struct heap_shown *o, char *buf, size_t size);

/*
 * Describes a BinderProxy: "for INTERFACE", if the field mRemote of an object of class
 * INTERFACE$Stub$Proxy refers to it. The first call reads all blocks with objects of such classes.
 */
bool heap_value_binder_proxy(const struct heap_shown *o, char *buf, size_t size);

/*
 * Describes an array that stands for the memory of a class in a dump of ART:
 * "$classOverhead of CLASS". Leaves buf unchanged for other objects.
 */
void heap_value_overhead(struct heap *heap, uint32_t ix, char *buf, size_t size);

#endif
