/*
 * queries/triage/triage_rules.c - the rules of first aid and what they measure: data only.
 *
 * Thresholds on shares are those that other tools use for the same questions (hprof-analyzer's
 * triage, Jafar's detectors, JOverflow); the ones on bytes and numbers are chosen above what a JVM
 * without an application has.
 */
#include "queries/triage/triage.h"

#define KIB 1024ull
#define MIB (1024ull * KIB)

const struct triage_rule triage_rules[] = {
	{ "out-of-memory", TRIAGE_CRITICAL, TRIAGE_OUT_OF_MEMORY, 1, 0, 0, 0,
	  "the dump was made on an OutOfMemoryError", "heapdb leaks, heapdb threads" },
	{ "leak-suspect", TRIAGE_CRITICAL, TRIAGE_SUSPECT, 1, 16 * MIB, 50, 70,
	  "one suspect holds more than half of a heap that has little room left", "heapdb leaks" },
	{ "heap-full", TRIAGE_WARNING, TRIAGE_HEAP, 1, 16 * MIB, 0, 80,
	  "reachable objects nearly fill the heap: GC is reclaiming little",
	  "heapdb leaks; or a larger -Xmx" },
	{ "leak-suspect", TRIAGE_WARNING, TRIAGE_SUSPECT, 1, 16 * MIB, 20, 0,
	  "one suspect holds a large part of the heap",
	  "heapdb leaks says what it holds: is it expected to hold so much?" },
	{ "leaking-objects", TRIAGE_WARNING, TRIAGE_SHOULD_BE_GONE, 1, 0, 0, 0,
	  "objects are destroyed by Android's life cycles but still reachable",
	  "heapdb leaks: which references keep them" },
	{ "thread-pin", TRIAGE_WARNING, TRIAGE_THREAD_PIN, 0, 16 * MIB, 20, 0,
	  "one thread holds a large part of the heap by its local variables and fields",
	  "heapdb threads shows its stack: does it come to an end?" },
	{ "thread-local", TRIAGE_WARNING, TRIAGE_LOCALS_OF_ONE, 1, 4 * MIB, 5, 0,
	  "the values of one ThreadLocal retain much, over all threads; threads of a pool keep them "
	  "for ever",
	  "call remove() when the work is done" },
	{ "thread-local", TRIAGE_WARNING, TRIAGE_LOCALS_OF_ONE, 2, 64 * MIB, 1, 0,
	  "the values of one ThreadLocal retain much, over all threads; threads of a pool keep them "
	  "for ever",
	  "call remove() when the work is done" },
	{ "thread-local", TRIAGE_WARNING, TRIAGE_LOCALS_OF_CLASS, 2, 8 * MIB, 5, 0,
	  "thread-local values of one class retain much, over all threads and ThreadLocals",
	  "keep the ThreadLocal in a static field; call remove() when the work is done" },
	{ "thread-local", TRIAGE_WARNING, TRIAGE_THREAD_LOCALS, 1, 8 * MIB, 5, 0,
	  "thread-local values of one thread hold much; a thread of a pool keeps them for ever",
	  "call remove() when the work is done" },
	{ "thread-local-stale", TRIAGE_WARNING, TRIAGE_STALE_LOCALS, 1, 1 * MIB, 1, 0,
	  "thread-local values whose ThreadLocal is gone: nobody can read or remove them",
	  "call remove() before the ThreadLocal is dropped, or keep it in a static field" },
	{ "loader-closed", TRIAGE_WARNING, TRIAGE_CLOSED_LOADER, 1, 0, 0, 0,
	  "class loaders that were closed or stopped are still reachable",
	  "heapdb path on the loader shows what keeps it" },
	{ "loader-twins", TRIAGE_WARNING, TRIAGE_TWIN_LOADERS, 3, 1 * MIB, 0, 0,
	  "classes of the same names were loaded by several class loaders of one kind: what was "
	  "redeployed or reloaded is still there",
	  "heapdb path on the loader shows what keeps it" },
	{ "loaders", TRIAGE_WARNING, TRIAGE_LOADERS, 1000, 0, 0, 0, "very many class loaders",
	  "heapdb top --by loader" },
	{ "classes", TRIAGE_WARNING, TRIAGE_CLASSES, 50000, 0, 0, 0,
	  "very many classes: generated and not unloaded?", "heapdb histogram --by loader" },
	{ "threads", TRIAGE_WARNING, TRIAGE_THREADS, 1000, 0, 0, 0, "very many threads",
	  "heapdb threads --no-stack" },
	{ "direct-buffers", TRIAGE_WARNING, TRIAGE_DIRECT_BUFFERS, 1, 64 * MIB, 0, 0,
	  "much memory outside the heap in direct buffers: the process is larger than its heap",
	  "heapdb path on one; -XX:MaxDirectMemorySize bounds them" },
	{ "mapped-files", TRIAGE_INFO, TRIAGE_MAPPED, 1, 1024 * MIB, 0, 0,
	  "files mapped into memory stay so until the collector finds their buffers dead",
	  "address space, mostly: the pages are the file's" },
	{ "finalizer-backlog", TRIAGE_WARNING, TRIAGE_FINALIZERS, 10000, 0, 0, 0,
	  "very many objects with a finalizer; what they hold lives until it has run",
	  "replace finalize() by close() or a Cleaner" },
	{ "weak-leak", TRIAGE_WARNING, TRIAGE_WEAK_LEAK, 100, 1 * MIB, 0, 0,
	  "entries of weak maps whose value leads back to their own key: they are never removed",
	  "hold the key weakly in the value, too" },
	{ "weak-only", TRIAGE_INFO, TRIAGE_WEAK_ONLY, 1000, 16 * MIB, 10, 0,
	  "objects that only weak, soft, phantom or final references keep",
	  "unused caches, mostly" },
	{ "jni-globals", TRIAGE_WARNING, TRIAGE_JNI_GLOBALS, 5000, 1 * MIB, 5, 0,
	  "native code holds very many objects and much memory",
	  "heapdb roots --kind \"JNI global\"" },
	{ "sessions", TRIAGE_WARNING, TRIAGE_SESSIONS, 100000, 0, 0, 0, "very many sessions",
	  "how long until a session expires?" },
	{ "sessions", TRIAGE_INFO, TRIAGE_SESSIONS, 5000, 8 * MIB, 20, 0,
	  "sessions hold a large part of the heap", "how long until a session expires?" },
	{ "connections", TRIAGE_WARNING, TRIAGE_CONNECTIONS, 1000, 0, 0, 0,
	  "very many connections or sockets: not closed?", "histogram '*Connection*'" },
	{ "listeners", TRIAGE_WARNING, TRIAGE_LISTENERS, 100000, 0, 0, 0,
	  "very many listeners: registered and never removed?", "heapdb path on one of them" },
	{ "listeners", TRIAGE_WARNING, TRIAGE_LISTENERS, 10000, 4 * MIB, 10, 0,
	  "listeners hold a large part of the heap: registered and never removed?",
	  "heapdb path on one of them" },
	{ "listeners-field", TRIAGE_WARNING, TRIAGE_HELD_LISTENERS, TRIAGE_FIELD_MANY, 1 * MIB, 5,
	  0,
	  "one collection of listeners retains a large part of the heap: registered and never removed?",
	  "heapdb entries on it" },
	{ "listeners-field", TRIAGE_WARNING, TRIAGE_HELD_LISTENERS, TRIAGE_FIELD_MANY, 64 * MIB, 0,
	  0, "one collection of listeners retains much: registered and never removed?",
	  "heapdb entries on it" },
	{ "listeners-field", TRIAGE_INFO, TRIAGE_HELD_LISTENERS, TRIAGE_FIELD_MANY, 0, 0, 0,
	  "one collection of listeners has very many elements: registered and never removed?",
	  "heapdb entries on it" },
	{ "task-queue", TRIAGE_WARNING, TRIAGE_TASKS, 10000, 4 * MIB, 5, 0,
	  "very many tasks wait for a thread of a pool, and retain a large part of the heap: they come "
	  "faster than they are done, or are never cancelled",
	  "a bounded queue; heapdb threads" },
	{ "task-queue", TRIAGE_INFO, TRIAGE_TASKS, 10000, 0, 0, 0,
	  "very many tasks wait for a thread of a pool", "a bounded queue; heapdb threads" },
	{ "delete-on-exit", TRIAGE_WARNING, TRIAGE_DELETE_ON_EXIT, 10000, 0, 0, 0,
	  "very many names of files that File.deleteOnExit() keeps until the VM ends",
	  "delete the files when they are no longer needed" },
	{ "statements", TRIAGE_WARNING, TRIAGE_STATEMENTS, 10000, 1 * MIB, 1, 0,
	  "very many statements or result sets of a database: not closed?",
	  "histogram '*Statement*'" },
	{ "zip-native", TRIAGE_WARNING, TRIAGE_ZIP, 2000, 0, 0, 0,
	  "very many Inflaters or Deflaters: each that was not ended has memory outside the heap",
	  "close the streams, or call end()" },
	{ "exceptions", TRIAGE_INFO, TRIAGE_EXCEPTIONS, 10000, 1 * MIB, 1, 0,
	  "very many exceptions are kept, with their stack traces",
	  "heapdb merged-paths on the class" },
	{ "hash-collisions", TRIAGE_WARNING, TRIAGE_COLLISIONS, 1, 0, 0, 0,
	  "large hash maps whose keys have few different hash codes: each access searches a long chain",
	  "heapdb collections --by collisions; hashCode() of the keys" },
	{ "big-collection", TRIAGE_WARNING, TRIAGE_BIG_ARRAY, 1000000, 16 * MIB, 20, 0,
	  "one collection has a million places or elements and holds a large part of the heap: "
	  "is it bounded?",
	  "heapdb path on it" },
	{ "big-array", TRIAGE_WARNING, TRIAGE_BIG_PRIMITIVE, 1, 64 * MIB, 5, 0,
	  "one primitive array takes a large part of the heap", "heapdb path on it" },
	{ "many-small-objects", TRIAGE_WARNING, TRIAGE_MANY_SMALL, 10000000, 0, 10, 0,
	  "many small objects: ten million of one class, whose headers use as much memory as their contents",
	  "arrays of primitive values instead?" },
	{ "many-small-objects", TRIAGE_INFO, TRIAGE_MANY_SMALL, 1000000, 0, 10, 0,
	  "many small objects: a million of one class; their headers use much of the memory",
	  "arrays of primitive values instead?" },
	{ "boxed-values", TRIAGE_INFO, TRIAGE_BOXED, 100000, 4 * MIB, 5, 0, "boxed numbers",
	  "collections of primitive values, or arrays, instead?" },
	{ "duplicate-strings", TRIAGE_INFO, TRIAGE_DUPLICATE_STRINGS, 1000, 4 * MIB, 5, 0,
	  "strings of which there is an equal one",
	  "heapdb duplicates; -XX:+UseStringDeduplication" },
	{ "duplicate-strings", TRIAGE_INFO, TRIAGE_DUPLICATE_STRINGS, 1000, 64 * MIB, 0, 0,
	  "strings of which there is an equal one",
	  "heapdb duplicates; -XX:+UseStringDeduplication" },
	{ "sparse-collections", TRIAGE_INFO, TRIAGE_SPARSE, 1000, 4 * MIB, 5, 0,
	  "collections that are at most half full: free places",
	  "a smaller initial capacity, trimToSize()" },
	{ "empty-collections", TRIAGE_INFO, TRIAGE_EMPTY, 100000, 2 * MIB, 1, 0,
	  "collections without elements", "make them when the first element comes" },
	{ "reflection", TRIAGE_INFO, TRIAGE_REFLECTION, 500000, 0, 0, 0,
	  "very many reflection objects: they are made anew at each call of getMethods() and the like",
	  "keep them" },
	{ "garbage", TRIAGE_INFO, TRIAGE_GARBAGE, 1, 16 * MIB, 10, 0,
	  "the dump has garbage in it: not made after a full collection",
	  "heapdb unreachable; jcmd GC.heap_dump without -all collects first" },
	{ "gc-fillers", TRIAGE_INFO, TRIAGE_FILLERS, 1, 16 * MIB, 5, 0,
	  "arrays that the collector put into gaps of the heap: garbage, not the application's",
	  "nothing to do" },
};
const size_t triage_rule_count = sizeof(triage_rules) / sizeof(triage_rules[0]);

const struct triage_set triage_sets[] = {
	{ TRIAGE_BOXED, false, false,
	  "java.lang.Integer,java.lang.Long,java.lang.Short,java.lang.Byte,java.lang.Character,"
	  "java.lang.Boolean,java.lang.Float,java.lang.Double",
	  NULL, NULL },
	{ TRIAGE_FINALIZERS, false, true, "java.lang.ref.Finalizer", NULL, NULL },
	{ TRIAGE_SESSIONS, true, true, "*Session,*SessionImpl", NULL, NULL },
	{ TRIAGE_LISTENERS, true, true,
	  "*Listener,*Listener$*,*Observer,*Subscriber,*Subscription,*EventHandler", NULL, NULL },
	{ TRIAGE_CONNECTIONS, true, true,
	  "*Connection,*ConnectionImpl,*Socket,*SocketImpl,*SocketChannelImpl", NULL, NULL },
	/* Not "*Statement": so compilers call parts of programs. */
	{ TRIAGE_STATEMENTS, true, true,
	  "*PreparedStatement,*StatementImpl,*JdbcStatement,*CallableStatement,*ResultSet,"
	  "*ResultSetImpl",
	  NULL, NULL },
	{ TRIAGE_ZIP, false, true, "java.util.zip.Inflater,java.util.zip.Deflater", NULL, NULL },
	{ TRIAGE_EXCEPTIONS, false, true, NULL, "java.lang.Throwable", NULL },
	{ TRIAGE_REFLECTION, false, false,
	  "java.lang.reflect.Method,java.lang.reflect.Field,java.lang.reflect.Constructor", NULL,
	  NULL },
	{ TRIAGE_LOADERS, false, true, NULL, "java.lang.ClassLoader", NULL },
	{ TRIAGE_THREADS, false, true, NULL, "java.lang.Thread", "java.lang.BaseVirtualThread" },
	/*
	 * JDK 17 and later; before, the collectors use int[], which the measure adds where
	 * unreachable
	 */
	{ TRIAGE_FILLERS, false, false, "jdk.internal.vm.Filler*", NULL, NULL },
};
const size_t triage_set_count = sizeof(triage_sets) / sizeof(triage_sets[0]);

const struct triage_value triage_values[] = {
	{ TRIAGE_THREAD_PIN, TRIAGE_LOOK_LARGEST, "java.lang.Thread", true, NULL, NULL },
	{ TRIAGE_THREAD_LOCALS, TRIAGE_LOOK_LARGEST, "java.lang.ThreadLocal$ThreadLocalMap", false,
	  NULL, NULL },
	{ TRIAGE_THREAD_LOCALS, TRIAGE_LOOK_LARGEST, "java.lang.ThreadLocal$Values", false, NULL,
	  NULL },
	{ TRIAGE_LOCALS_OF_ONE, TRIAGE_LOOK_LOCALS, "java.lang.ThreadLocal$ThreadLocalMap$Entry",
	  false, "referent", "value" },
	{ TRIAGE_STALE_LOCALS, TRIAGE_LOOK_NULL, "java.lang.ThreadLocal$ThreadLocalMap$Entry",
	  false, "referent", NULL },
	{ TRIAGE_WEAK_LEAK, TRIAGE_LOOK_SELF, "java.util.WeakHashMap$Entry", false, "referent",
	  "value" },
	{ TRIAGE_WEAK_LEAK, TRIAGE_LOOK_SELF, "java.lang.ThreadLocal$ThreadLocalMap$Entry", false,
	  "referent", "value" },
	/*
	 * What frees the memory of a direct buffer knows its size. Not the capacities of buffers:
	 * views share memory, and the JDK's own file of classes is a buffer, too.
	 */
	{ TRIAGE_DIRECT_BUFFERS, TRIAGE_LOOK_SUM, "java.nio.DirectByteBuffer$Deallocator", false,
	  "size", NULL },
	{ TRIAGE_MAPPED, TRIAGE_LOOK_SUM, "sun.nio.ch.FileChannelImpl$Unmapper", true, "size",
	  NULL },
	/* What has no array; the long ones of those that have one are found by it. */
	{ TRIAGE_BIG_ARRAY, TRIAGE_LOOK_LONGEST, "java.util.LinkedList", true, "size", NULL },
	{ TRIAGE_BIG_ARRAY, TRIAGE_LOOK_LONGEST, "java.util.TreeMap", true, "size", NULL },
	{ TRIAGE_BIG_ARRAY, TRIAGE_LOOK_LONGEST, "java.util.concurrent.LinkedBlockingQueue", true,
	  "count.value", NULL },
	{ TRIAGE_BIG_ARRAY, TRIAGE_LOOK_LONGEST, "java.util.concurrent.LinkedBlockingDeque", true,
	  "count", NULL },
	{ TRIAGE_SPARSE, TRIAGE_LOOK_FILL, "java.util.ArrayList", false, "size", "elementData" },
	{ TRIAGE_SPARSE, TRIAGE_LOOK_FILL, "java.util.Vector", true, "elementCount",
	  "elementData" },
	{ TRIAGE_SPARSE, TRIAGE_LOOK_FILL, "java.util.HashMap", true, "size", "table" },
	{ TRIAGE_SPARSE, TRIAGE_LOOK_FILL, "java.util.Hashtable", true, "count", "table" },
	{ TRIAGE_SPARSE, TRIAGE_LOOK_FILL, "java.util.WeakHashMap", false, "size", "table" },
	{ TRIAGE_SPARSE, TRIAGE_LOOK_FILL, "java.util.IdentityHashMap", false, "size", "table" },
	{ TRIAGE_SPARSE, TRIAGE_LOOK_FILL, "java.util.PriorityQueue", false, "size", "queue" },
	{ TRIAGE_SPARSE, TRIAGE_LOOK_FILL, "java.util.concurrent.ConcurrentHashMap", false,
	  "baseCount", "table" },
};
const size_t triage_value_count = sizeof(triage_values) / sizeof(triage_values[0]);

const struct triage_field triage_field_names[] = {
	/* JDK 8 and later; before, the same class was a set of another name. */
	{ TRIAGE_DELETE_ON_EXIT, "java.io.DeleteOnExitHook", "files" },
	{ TRIAGE_TASKS, "java.util.concurrent.ThreadPoolExecutor", "workQueue" },
	{ TRIAGE_HELD_LISTENERS, NULL,
	  "*listeners,*Listeners,*istenerList,*istenerSet,*istenerMap,*istenersMap,"
	  "*observers,*Observers,*bserverList,*bserverSet,*bserverMap,"
	  "*subscribers,*Subscribers,*subscriptions,*Subscriptions,"
	  "*callbacks,*Callbacks,*handlers,*Handlers,"
	  "watchers,*Watchers,_watchers,hooks,*Hooks,_hooks" },
	{ TRIAGE_HELD_LISTENERS, "java.util.Observable", "obs" },
};
const size_t triage_field_count = sizeof(triage_field_names) / sizeof(triage_field_names[0]);

const struct triage_hint triage_hints[] = {
	{ "java.sql.Driver*", NULL, "a JDBC driver that was not deregistered" },
	{ "java.lang.ThreadLocal$*", NULL, "a thread-local value" },
	{ "java.util.ServiceLoader*", NULL, "a service loader" },
	{ "java.util.ResourceBundle*", NULL, "the cache of resource bundles" },
	{ "java.lang.ApplicationShutdownHooks", NULL, "a shutdown hook" },
	{ "java.util.Timer*", NULL, "a timer that was not cancelled" },
	{ "java.beans.*", NULL, "the cache of bean descriptions" },
	{ "java.util.logging.*", NULL, "a logger or its level" },
	{ "org.apache.logging.*", NULL, "a logger" },
	{ "org.apache.log4j.*", NULL, "a logger" },
	{ "ch.qos.logback.*", NULL, "a logger" },
	{ "org.apache.commons.logging.*", NULL, "a logger" },
	{ "javax.management.*", NULL, "a management bean that was not unregistered" },
	{ "com.sun.jmx.*", NULL, "a management bean that was not unregistered" },
	{ "java.security.*", NULL, "a security provider" },
	{ NULL, "contextClassLoader", "the context class loader of a thread" },
	{ NULL, "inheritedAccessControlContext", "the access control context of a thread" },
	{ "java.util.concurrent.ThreadPoolExecutor*", NULL,
	  "a thread pool that was not shut down" },
	{ "java.lang.Thread", "<local variable>", "a local variable of a running thread" },
	{ "java.lang.Thread", NULL, "a thread" },
};
const size_t triage_hint_count = sizeof(triage_hints) / sizeof(triage_hints[0]);

/* Of those that are not here: objects. */
static const char *const units[TRIAGE_MEASURES][2] = {
	[TRIAGE_SUSPECT] = { "leak suspect", "leak suspects" },
	[TRIAGE_HEAP] = { "heap", "heaps" },
	[TRIAGE_OUT_OF_MEMORY] = { "thread that ran out of memory",
				   "threads that ran out of memory" },
	[TRIAGE_CLASSES] = { "class", "classes" },
	[TRIAGE_SHOULD_BE_GONE] = { "leaking object", "leaking objects" },
	[TRIAGE_FILLERS] = { "array", "arrays" },
	[TRIAGE_SESSIONS] = { "session", "sessions" },
	[TRIAGE_LISTENERS] = { "listener", "listeners" },
	[TRIAGE_CONNECTIONS] = { "connection", "connections" },
	[TRIAGE_LOADERS] = { "class loader", "class loaders" },
	[TRIAGE_THREADS] = { "thread", "threads" },
	[TRIAGE_STATEMENTS] = { "statement", "statements" },
	[TRIAGE_EXCEPTIONS] = { "exception", "exceptions" },
	[TRIAGE_BIG_ARRAY] = { "place or element", "places or elements" },
	[TRIAGE_BIG_PRIMITIVE] = { "array", "arrays" },
	[TRIAGE_THREAD_PIN] = { "thread", "threads" },
	[TRIAGE_THREAD_LOCALS] = { "thread", "threads" },
	[TRIAGE_STALE_LOCALS] = { "value", "values" },
	[TRIAGE_COLLISIONS] = { "hash map", "hash maps" },
	[TRIAGE_WEAK_LEAK] = { "entry", "entries" },
	[TRIAGE_DIRECT_BUFFERS] = { "buffer", "buffers" },
	[TRIAGE_MAPPED] = { "mapped file", "mapped files" },
	[TRIAGE_SPARSE] = { "collection", "collections" },
	[TRIAGE_EMPTY] = { "collection", "collections" },
	[TRIAGE_DUPLICATE_STRINGS] = { "string", "strings" },
	[TRIAGE_LOCALS_OF_ONE] = { "thread", "threads" },
	[TRIAGE_LOCALS_OF_CLASS] = { "value", "values" },
	[TRIAGE_HELD_LISTENERS] = { "listener", "listeners" },
	[TRIAGE_TASKS] = { "task", "tasks" },
	[TRIAGE_DELETE_ON_EXIT] = { "file name", "file names" },
	[TRIAGE_CLOSED_LOADER] = { "class loader", "class loaders" },
	[TRIAGE_TWIN_LOADERS] = { "class loader", "class loaders" },
};

const char *triage_unit(enum triage_measure_no measure, uint64_t count)
{
	static const char *const objects[] = { "object", "objects" };

	return (units[measure][0] ? units[measure] : objects)[count != 1];
}
