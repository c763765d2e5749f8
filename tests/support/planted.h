/*
 * support/planted.h - creates small heaps from one line of text, for tests of rules about classes.
 *
 * a.Cache:a.Base{limit=100, name="x", map=map(3*a.Entry{value=bytes(10)}), next=null} static
 * a.Cache.INSTANCE = $c; a.Cache@c{}; ...
 *
 * Semicolons separate items. A GC root holds the first object, and all classes are GC roots. Other
 * items are held only by references, or by a root if they begin with "thread" (the only thread) or
 * "local" (a local variable of this thread).
 *
 * An object consists of its class, superclasses after ":" (without java.lang.Object), "^NAME" if
 * the object NAME is the class loader of the class, "@NAME" if other items refer to the object by
 * $NAME, and fields in braces. Fields without a value are zero. "^" before the name of a field
 * makes it a field of the superclass. A field "referent" of a subclass of java.lang.ref.Reference
 * is the field that Reference declares.
 *
 * Values are 12 (int), 12L, 1.5 (double), true, "text", null, same (the value of the previous
 * field), last (the object written before), objects, and the arrays bytes(N), longs(N) and part(N),
 * of which an eighth is not 0. "@NAME" may follow an object or array. "#" is a long, one more than
 * the previous "#". In a text, "#" stands for the current number, and "##" first adds one to it.
 *
 * Collections contain items "VALUE" or "N*VALUE", separated by commas: array(...) is an Object[],
 * a.B[](...) an array of a.B, list(...) an ArrayList, set(...) a HashSet, map(...) a HashMap with
 * texts as keys, and paths(...) a HashMap with keys such as "/orders/1". chain(...) is the last of
 * its objects. "redacted;" at the beginning marks the dump as redacted, but values stay unchanged.
 */
#ifndef SUPPORT_PLANTED_H
#define SUPPORT_PLANTED_H

#include "support/hprof_writer.h"

/* Timestamp of the dumps. */
#define PLANTED_TIME_MS UINT64_C(1700000000000)

/* Writes the heap. written_open ends its segment. Fails the test if the text is invalid. */
void planted_write(struct hw *w, const char *text);

#endif
