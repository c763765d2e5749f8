/*
 * support/planted.h - creates small heaps from one line of text, for tests of rules about classes.
 *
 * a.Cache:a.Base{limit=100, name="x", map=map(3*a.Entry{value=bytes(10)}), next=null} static
 * a.Cache.INSTANCE = $c; a.Cache@c{}; ...
 *
 * Items have ";" between; the first object is held by a root, as all classes are. An object is its
 * class, superclasses after ":" (java.lang.Object is not written), "^NAME" if the object NAME loads
 * its class, "@NAME" if others refer to it by $NAME, and its fields. Values: 12 (int), 12L, 1.5
 * (double), true, "text", null, same (as the field before), objects, bytes(N), longs(N), part(N)
 * (an eighth is not 0), each with "@NAME" too, and collections with items "N*VALUE" or "VALUE", commas
 * between: array(...) of Object[], a.B[](...), list(...) an ArrayList, set(...) a HashSet, map(...)
 * a HashMap with texts as keys, paths(...) one with keys such as "/orders/1", chain(...) the last
 * of its objects. last: the object written before; #: a long, one more than the last one, which "#"
 * in a text stands for, and "##" counts up first. "thread OBJECT" and "local OBJECT" make items
 * roots: the one thread, and its local variables. Fields that an object of a class does not name
 * are zero; "^" before a name makes it a field of the superclass. A field "referent" of a subclass
 * of java.lang.ref.Reference is that class's. "redacted;" at the beginning marks the dump as
 * redacted; values are as written.
 */
#ifndef SUPPORT_PLANTED_H
#define SUPPORT_PLANTED_H

#include "support/hprof_writer.h"

/* Timestamp of the dumps. */
#define PLANTED_TIME_MS UINT64_C(1700000000000)

/* Writes the heap. written_open ends its segment. Fails the test if the text is invalid. */
void planted_write(struct hw *w, const char *text);

#endif
