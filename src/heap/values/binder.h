/*
 * heap/values/binder.h - descriptions of Android objects that do not describe themselves: the
 * interface that a Binder serves or its proxy calls, and the class whose memory an array
 * represents. The names are those of ahat.
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
 * A Binder with a descriptor: "binder stub (INTERFACE)" if it belongs to the class generated for
 * the interface, otherwise "binder token (DESCRIPTOR)".
 */
bool heap_value_binder(const struct heap_shown *o, char *buf, size_t size);

/*
 * A BinderProxy: "for INTERFACE", if an object of class INTERFACE$Stub$Proxy has it as mRemote. The
 * first call reads all blocks with objects of such classes.
 */
bool heap_value_binder_proxy(const struct heap_shown *o, char *buf, size_t size);

/*
 * An array written by ART for the memory of a class: "$classOverhead of CLASS". Otherwise buf does
 * not change.
 */
void heap_value_overhead(struct heap *heap, uint32_t ix, char *buf, size_t size);

#endif
