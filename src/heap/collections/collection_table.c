/*
 * heap/collections/collection_table.c - the known collections, as data: which fields of which
 * classes have the size, the contents, keys and values. No code but what hands the table out.
 *
 * Rows of one class are its versions; the first whose fields (`size`, `store`, `key` of parallel
 * arrays) the class of the dump has counts. Subclasses are as their superclass unless they have a
 * row. Names of fields are facts of the classes' sources: OpenJDK 5 to 25, Android's libcore and
 * androidx, Guava 10 to 33, fastutil 6 to 8, Kotlin 1.3 to 2, Scala 2.10 to 3.
 */
#include "heap/collections/collections.h"

/*
 * Shapes that many rows share. NOLINTBEGIN(bugprone-macro-parentheses): the arguments are
 * initialisers.
 */
#define EMPTY(name, what) \
	{ \
		.class_name = name, .kind = what, .shape = HEAP_EMPTY \
	}
#define WRAP(name, what, field) \
	{ \
		.class_name = name, .kind = what, .shape = HEAP_WRAP, .store = field \
	}
#define KEYS(name, field) \
	{ \
		.class_name = name, .kind = HEAP_SET, .shape = HEAP_WRAP, .store = field, \
		.takes = HEAP_TAKES_KEYS \
	}
#define VALUES(name, field) \
	{ \
		.class_name = name, .kind = HEAP_LIST, .shape = HEAP_WRAP, .store = field, \
		.takes = HEAP_TAKES_VALUES \
	}
#define ARRAY(name, what, length, field) \
	{ \
		.class_name = name, .kind = what, .shape = HEAP_ARRAY, .size = length, \
		.store = field \
	}
#define RING(name, what, from, to, field) \
	{ \
		.class_name = name, .kind = what, .shape = HEAP_ARRAY, .store = field, \
		.first = from, .last = to \
	}
#define CHAINS(name, length, field, k, v, link) \
	{ \
		.class_name = name, .kind = HEAP_MAP, .shape = HEAP_CHAINS, .size = length, \
		.store = field, .key = k, .value = v, .next = link, .flags = HEAP_HASHED \
	}
#define LINKED(name, what, length, from, item, link) \
	{ \
		.class_name = name, .kind = what, .shape = HEAP_LINKED, .size = length, \
		.store = from, .value = item, .next = link \
	}
/* Queues that unlink lazily: nodes without an item are none of their elements. */
#define LAZY(name, from, item) \
	{ \
		.class_name = name, .kind = HEAP_QUEUE, .shape = HEAP_LINKED, .store = from, \
		.value = item, .next = "next", .flags = HEAP_SKIPS_NULL \
	}
#define SLOTS(name, what, length, field) \
	{ \
		.class_name = name, .kind = what, .shape = HEAP_SLOTS, .size = length, \
		.store = field \
	}
#define PARALLEL(name, length, k, v, how) \
	{ \
		.class_name = name, .kind = HEAP_MAP, .shape = HEAP_SLOTS, .size = length, \
		.store = v, .key = k, .flags = how \
	}
#define PAIRS(name, length, field, how) \
	{ \
		.class_name = name, .kind = HEAP_MAP, .shape = HEAP_PAIRS, .size = length, \
		.store = field, .flags = how \
	}
#define FIELDS(name, what, k, v) \
	{ \
		.class_name = name, .kind = what, .shape = HEAP_FIELDS, .key = k, .value = v \
	}
#define HIDDEN(name, what, length) \
	{ \
		.class_name = name, .kind = what, .shape = HEAP_HIDDEN, .size = length \
	}
/* A set by open hashing, of fastutil: the last slot is zero's or null's. */
#define FAST_SET(name, zero) \
	{ \
		.class_name = name, .kind = HEAP_SET, .shape = HEAP_SLOTS, .size = "size", \
		.store = "key", .extra = zero, .flags = HEAP_HASHED \
	}
#define FAST_MAP(name) \
	{ \
		.class_name = name, .kind = HEAP_MAP, .shape = HEAP_SLOTS, .size = "size", \
		.store = "value", .key = "key", .extra = "containsNullKey", .flags = HEAP_HASHED \
	}

#define IMMUTABLE "java.util.ImmutableCollections$"
#define NOTHING "java.util.ImmutableCollections.EMPTY"
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct heap_collection_rule table[] = {
	/* ---- java.util: lists ---- */
	ARRAY("java.util.ArrayList", HEAP_LIST, "size", "elementData"),
	ARRAY("java.util.ArrayList", HEAP_LIST, "size", "array"), /* Android to API 23 */
	RING("java.util.ArrayList", HEAP_LIST, "firstIndex", "lastIndex", "array"), /* Harmony */
	{ .class_name = "java.util.ArrayList$SubList",
	  .kind = HEAP_LIST,
	  .shape = HEAP_ARRAY,
	  .size = "size",
	  .store = "root.elementData",
	  .first = "offset",
	  .flags = HEAP_LENT },
	{ .class_name = "java.util.ArrayList$SubList",
	  .kind = HEAP_LIST,
	  .shape = HEAP_ARRAY,
	  .size = "size",
	  .store = "this$0.elementData",
	  .first = "offset",
	  .flags = HEAP_LENT },
	ARRAY("java.util.Arrays$ArrayList", HEAP_LIST, NULL, "a"),
	ARRAY("java.util.Vector", HEAP_LIST, "elementCount", "elementData"),
	LINKED("java.util.LinkedList", HEAP_LIST, "size", "first", "item", "next"),
	{ .class_name = "java.util.LinkedList",
	  .kind = HEAP_LIST,
	  .shape = HEAP_LINKED,
	  .size = "size",
	  .store = "header",
	  .value = "element",
	  .next = "next",
	  .flags = HEAP_CIRCULAR }, /* JDK 5, 6 */
	{ .class_name = "java.util.LinkedList",
	  .kind = HEAP_LIST,
	  .shape = HEAP_LINKED,
	  .size = "size",
	  .store = "voidLink",
	  .value = "data",
	  .next = "next",
	  .flags = HEAP_CIRCULAR }, /* Harmony, Android to API 23 */
	EMPTY("java.util.Collections$EmptyList", HEAP_LIST),
	FIELDS("java.util.Collections$SingletonList", HEAP_LIST, NULL, "element"),
	HIDDEN("java.util.Collections$CopiesList", HEAP_LIST, "n"),

	/* ---- java.util: immutable ---- */
	EMPTY(IMMUTABLE "List0", HEAP_LIST),
	EMPTY(IMMUTABLE "Set0", HEAP_SET),
	EMPTY(IMMUTABLE "Map0", HEAP_MAP),
	FIELDS(IMMUTABLE "List1", HEAP_LIST, NULL, "e0"),
	FIELDS(IMMUTABLE "List2", HEAP_LIST, NULL, "e0,e1"),
	FIELDS(IMMUTABLE "Set1", HEAP_SET, NULL, "e0"),
	FIELDS(IMMUTABLE "Set2", HEAP_SET, NULL, "e0,e1"),
	{ .class_name = IMMUTABLE "List12",
	  .kind = HEAP_LIST,
	  .shape = HEAP_FIELDS,
	  .value = "e0,e1",
	  .absent = NOTHING,
	  .flags = HEAP_SKIPS_NULL },
	{ .class_name = IMMUTABLE "Set12",
	  .kind = HEAP_SET,
	  .shape = HEAP_FIELDS,
	  .value = "e0,e1",
	  .absent = NOTHING,
	  .flags = HEAP_SKIPS_NULL },
	ARRAY(IMMUTABLE "ListN", HEAP_LIST, NULL, "elements"),
	{ .class_name = IMMUTABLE "SubList",
	  .kind = HEAP_LIST,
	  .shape = HEAP_HIDDEN,
	  .size = "size" },
	SLOTS(IMMUTABLE "SetN", HEAP_SET, "size", "elements"),
	FIELDS(IMMUTABLE "Map1", HEAP_MAP, "k0", "v0"),
	PAIRS(IMMUTABLE "MapN", "size", "table", 0),

	/* ---- java.util: maps and sets ---- */
	{ .class_name = "java.util.LinkedHashMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_LINKED,
	  .size = "size",
	  .store = "head",
	  .key = "key",
	  .value = "value",
	  .next = "after",
	  .array = "table",
	  .flags = HEAP_HASHED },
	{ .class_name = "java.util.LinkedHashMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_LINKED,
	  .size = "size",
	  .store = "header",
	  .key = "key",
	  .value = "value",
	  .next = "after|nxt",
	  .array = "table",
	  .flags = HEAP_HASHED | HEAP_CIRCULAR },
	{ .class_name = "java.util.HashMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_CHAINS,
	  .size = "size",
	  .store = "table",
	  .key = "key",
	  .value = "value",
	  .next = "next",
	  .extra = "entryForNullKey",
	  .flags = HEAP_HASHED }, /* Android to API 23 */
	CHAINS("java.util.HashMap", "size", "table", "key", "value", "next"),
	CHAINS("java.util.HashMap", "elementCount", "elementData", "key", "value", "next"),
	CHAINS("java.util.Hashtable", "count|size|elementCount", "table|elementData", "key",
	       "value", "next"),
	WRAP("java.util.Properties", HEAP_MAP, "map"), /* JDK 9; before, a Hashtable */
	CHAINS("java.util.WeakHashMap", "size|elementCount", "table|elementData", "referent",
	       "value", "next"),
	PAIRS("java.util.IdentityHashMap", "size", "table|elementData", HEAP_HASHED),
	{ .class_name = "java.util.TreeMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_TREE,
	  .size = "size",
	  .store = "root",
	  .key = "key",
	  .value = "value",
	  .left = "left",
	  .next = "right" },
	PARALLEL("java.util.EnumMap", "size", "keyUniverse", "vals", HEAP_BY_VALUE),
	KEYS("java.util.HashSet", "map|backingMap"),
	KEYS("java.util.TreeSet", "m|backingMap"),
	{ .class_name = "java.util.RegularEnumSet",
	  .kind = HEAP_SET,
	  .shape = HEAP_WORDS,
	  .store = "elements",
	  .key = "universe" },
	{ .class_name = "java.util.JumboEnumSet",
	  .kind = HEAP_SET,
	  .shape = HEAP_WORDS,
	  .size = "size",
	  .store = "elements",
	  .key = "universe" },
	{ .class_name = "java.util.BitSet",
	  .kind = HEAP_BITS,
	  .shape = HEAP_WORDS,
	  .store = "words|bits" },
	EMPTY("java.util.Collections$EmptySet", HEAP_SET),
	EMPTY("java.util.Collections$EmptyMap", HEAP_MAP),
	FIELDS("java.util.Collections$SingletonSet", HEAP_SET, NULL, "element"),
	FIELDS("java.util.Collections$SingletonMap", HEAP_MAP, "k", "v"),
	KEYS("java.util.Collections$SetFromMap", "m"),
	CHAINS("java.lang.ThreadLocal$ThreadLocalMap", "size", "table", "referent", "value", NULL),
	HIDDEN("sun.util.PreHashedMap", HEAP_MAP, "size"),

	/* ---- java.util: queues ---- */
	RING("java.util.ArrayDeque", HEAP_QUEUE, "head", "tail", "elements"),
	ARRAY("java.util.PriorityQueue", HEAP_QUEUE, "size", "queue|elements"),

	/* ---- java.util.concurrent ---- */
	{ .class_name = "java.util.concurrent.ConcurrentHashMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_CHAINS,
	  .size = "baseCount",
	  .store = "table",
	  .key = "key",
	  .value = "val",
	  .next = "next",
	  .cells = "counterCells",
	  .via = "first",
	  .flags = HEAP_HASHED },
	{ .class_name = "java.util.concurrent.ConcurrentHashMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_PARTS,
	  .store = "segments" }, /* JDK 5 to 7 */
	{ .class_name = "java.util.concurrent.ConcurrentHashMap$Segment",
	  .kind = HEAP_MAP,
	  .shape = HEAP_CHAINS,
	  .size = "count",
	  .store = "table",
	  .key = "key",
	  .value = "value",
	  .next = "next",
	  .flags = HEAP_HASHED | HEAP_PART },
	KEYS("java.util.concurrent.ConcurrentHashMap$KeySetView", "map"),
	VALUES("java.util.concurrent.ConcurrentHashMap$ValuesView", "map"),
	WRAP("java.util.concurrent.ConcurrentHashMap$EntrySetView", HEAP_SET, "map"),
	{ .class_name = "java.util.concurrent.ConcurrentSkipListMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_LINKED,
	  .size = "adder.base",
	  .store = "head.node",
	  .key = "key",
	  .value = "val|value",
	  .next = "next",
	  .cells = "adder.cells",
	  .flags = HEAP_SKIPS_NULL }, /* JDK 9 */
	{ .class_name = "java.util.concurrent.ConcurrentSkipListMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_LINKED,
	  .store = "head.node",
	  .key = "key",
	  .value = "val|value",
	  .next = "next",
	  .flags = HEAP_SKIPS_NULL },
	KEYS("java.util.concurrent.ConcurrentSkipListSet", "m"),
	ARRAY("java.util.concurrent.CopyOnWriteArrayList", HEAP_LIST, NULL, "array|elements"),
	WRAP("java.util.concurrent.CopyOnWriteArraySet", HEAP_SET, "al"),
	LAZY("java.util.concurrent.ConcurrentLinkedQueue", "head", "item"),
	LAZY("java.util.concurrent.ConcurrentLinkedDeque", "head", "item"),
	LAZY("java.util.concurrent.LinkedTransferQueue", "head", "item"),
	LINKED("java.util.concurrent.LinkedBlockingQueue", HEAP_QUEUE, "count.value", "head.next",
	       "item", "next"),
	LINKED("java.util.concurrent.LinkedBlockingDeque", HEAP_QUEUE, "count", "first", "item",
	       "next"),
	{ .class_name = "java.util.concurrent.ArrayBlockingQueue",
	  .kind = HEAP_QUEUE,
	  .shape = HEAP_ARRAY,
	  .size = "count",
	  .store = "items",
	  .first = "takeIndex" },
	ARRAY("java.util.concurrent.PriorityBlockingQueue", HEAP_QUEUE, "size", "queue"),
	WRAP("java.util.concurrent.PriorityBlockingQueue", HEAP_QUEUE, "q"), /* JDK 5, 6 */
	WRAP("java.util.concurrent.DelayQueue", HEAP_QUEUE, "q"),
	ARRAY("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", HEAP_QUEUE,
	      "size", "queue"),
	EMPTY("java.util.concurrent.SynchronousQueue", HEAP_QUEUE),
	ARRAY("java.util.concurrent.atomic.AtomicReferenceArray", HEAP_LIST, NULL, "array"),
	ARRAY("java.util.concurrent.ForkJoinPool$WorkQueue", HEAP_QUEUE, NULL, "array"),

	/* ---- wrappers and views ---- */
	WRAP("java.util.Collections$SynchronizedSet", HEAP_SET, "c"),
	WRAP("java.util.Collections$SynchronizedCollection", HEAP_LIST, "c"),
	WRAP("java.util.Collections$SynchronizedMap", HEAP_MAP, "m"),
	WRAP("java.util.Collections$UnmodifiableSet", HEAP_SET, "c"),
	WRAP("java.util.Collections$UnmodifiableSequencedSet", HEAP_SET, "c"),
	WRAP("java.util.Collections$UnmodifiableCollection", HEAP_LIST, "c"),
	WRAP("java.util.Collections$UnmodifiableMap", HEAP_MAP, "m"),
	WRAP("java.util.Collections$CheckedSet", HEAP_SET, "c"),
	WRAP("java.util.Collections$CheckedCollection", HEAP_LIST, "c"),
	WRAP("java.util.Collections$CheckedMap", HEAP_MAP, "m"),
	WRAP("java.util.Collections$CheckedMap$CheckedEntrySet", HEAP_SET, "s"),
	WRAP("java.util.Collections$AsLIFOQueue", HEAP_QUEUE, "q"),
	KEYS("java.util.HashMap$KeySet", "this$0"),
	VALUES("java.util.HashMap$Values", "this$0"),
	WRAP("java.util.HashMap$EntrySet", HEAP_SET, "this$0"),
	KEYS("java.util.LinkedHashMap$LinkedKeySet", "this$0"),
	VALUES("java.util.LinkedHashMap$LinkedValues", "this$0"),
	WRAP("java.util.LinkedHashMap$LinkedEntrySet", HEAP_SET, "this$0"),
	KEYS("java.util.Hashtable$KeySet", "this$0"),
	VALUES("java.util.Hashtable$ValueCollection", "this$0"),
	WRAP("java.util.Hashtable$EntrySet", HEAP_SET, "this$0"),
	KEYS("java.util.WeakHashMap$KeySet", "this$0"),
	VALUES("java.util.WeakHashMap$Values", "this$0"),
	WRAP("java.util.WeakHashMap$EntrySet", HEAP_SET, "this$0"),
	KEYS("java.util.IdentityHashMap$KeySet", "this$0"),
	VALUES("java.util.IdentityHashMap$Values", "this$0"),
	WRAP("java.util.IdentityHashMap$EntrySet", HEAP_SET, "this$0"),
	KEYS("java.util.TreeMap$KeySet", "m"),
	VALUES("java.util.TreeMap$Values", "this$0"),
	WRAP("java.util.TreeMap$EntrySet", HEAP_SET, "this$0"),
	KEYS("java.util.EnumMap$KeySet", "this$0"),
	VALUES("java.util.EnumMap$Values", "this$0"),
	WRAP("java.util.EnumMap$EntrySet", HEAP_SET, "this$0"),
	KEYS("java.util.concurrent.ConcurrentSkipListMap$KeySet", "m"),
	VALUES("java.util.concurrent.ConcurrentSkipListMap$Values", "m"),
	WRAP("java.util.concurrent.ConcurrentSkipListMap$EntrySet", HEAP_SET, "m"),
	KEYS("java.util.AbstractMap$1", "this$0"),
	VALUES("java.util.AbstractMap$2", "this$0"),
	WRAP("java.lang.ProcessEnvironment$StringEnvironment", HEAP_MAP, "m"),
	WRAP("java.util.jar.Attributes", HEAP_MAP, "map"),
	WRAP("java.awt.RenderingHints", HEAP_MAP, "hintmap"),

	/* ---- Android ---- */
	PAIRS("android.util.ArrayMap", "mSize", "mArray", HEAP_DENSE),
	PAIRS("android*.collection.SimpleArrayMap", "mSize|size", "mArray|array", HEAP_DENSE),
	PAIRS("android.support.v4.util.SimpleArrayMap", "mSize", "mArray", HEAP_DENSE),
	ARRAY("android.util.ArraySet", HEAP_SET, "mSize", "mArray"),
	ARRAY("androidx.collection.ArraySet", HEAP_SET, "mSize|_size", "mArray|array"),
	PARALLEL("android.util.SparseArray", "mSize", "mKeys", "mValues", HEAP_DENSE),
	PARALLEL("android.util.LongSparseArray", "mSize", "mKeys", "mValues", HEAP_DENSE),
	PARALLEL("android.util.SparseIntArray", "mSize", "mKeys", "mValues", HEAP_DENSE),
	PARALLEL("android.util.SparseLongArray", "mSize", "mKeys", "mValues", HEAP_DENSE),
	PARALLEL("android.util.SparseBooleanArray", "mSize", "mKeys", "mValues", HEAP_DENSE),
	PARALLEL("androidx.collection.SparseArrayCompat", "mSize|size", "mKeys|keys",
		 "mValues|values", HEAP_DENSE),
	PARALLEL("androidx.collection.LongSparseArray", "mSize|size", "mKeys|keys",
		 "mValues|values", HEAP_DENSE),
	PARALLEL("android.support.v4.util.SparseArrayCompat", "mSize", "mKeys", "mValues",
		 HEAP_DENSE),
	WRAP("android.util.LruCache", HEAP_MAP, "map"),
	WRAP("androidx.collection.LruCache", HEAP_MAP, "map"),
	WRAP("android.os.BaseBundle", HEAP_MAP, "mMap"),

	/* ---- Guava ---- */
	ARRAY("com.google.common.collect.RegularImmutableList", HEAP_LIST, "size",
	      "array|elements"),
	ARRAY("com.google.common.collect.RegularImmutableList", HEAP_LIST, NULL, "array|elements"),
	FIELDS("com.google.common.collect.SingletonImmutableList", HEAP_LIST, NULL, "element"),
	FIELDS("com.google.common.collect.SingletonImmutableSet", HEAP_SET, NULL, "element"),
	ARRAY("com.google.common.collect.RegularImmutableSet", HEAP_SET, NULL, "elements"),
	WRAP("com.google.common.collect.RegularImmutableSortedSet", HEAP_SET, "elements"),
	WRAP("com.google.common.collect.RegularImmutableAsList", HEAP_LIST, "delegateList"),
	{ .class_name = "com.google.common.collect.RegularImmutableMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_CHAINS,
	  .store = "entries",
	  .key = "key",
	  .value = "value" },
	PAIRS("com.google.common.collect.RegularImmutableMap", "size", "alternatingKeysAndValues",
	      HEAP_DENSE),
	FIELDS("com.google.common.collect.SingletonImmutableBiMap", HEAP_MAP, "singleKey",
	       "singleValue"),
	{ .class_name = "com.google.common.collect.ImmutableSortedMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_WRAP,
	  .store = "keySet",
	  .takes = HEAP_TAKES_ALL },
	WRAP("com.google.common.collect.ImmutableEnumMap", HEAP_MAP, "delegate"),
	CHAINS("com.google.common.collect.HashBiMap", "size", "hashTableKToV", "key", "value",
	       "nextInKToVBucket"),
	PARALLEL("com.google.common.collect.CompactHashMap", "size", "keys", "values", HEAP_DENSE),
	ARRAY("com.google.common.collect.CompactHashSet", HEAP_SET, "size", "elements"),
	WRAP("com.google.common.collect.AbstractMapBasedMultimap", HEAP_MAP, "map"),
	WRAP("com.google.common.collect.AbstractMapBasedMultiset", HEAP_MAP, "backingMap"),
	WRAP("com.google.common.collect.EvictingQueue", HEAP_QUEUE, "delegate"),
	WRAP("com.google.common.collect.StandardTable", HEAP_MAP, "backingMap"),
	WRAP("com.google.common.cache.LocalCache$LocalManualCache", HEAP_MAP, "localCache"),
	{ .class_name = "com.google.common.cache.LocalCache",
	  .kind = HEAP_MAP,
	  .shape = HEAP_PARTS,
	  .store = "segments" },
	{ .class_name = "com.google.common.cache.LocalCache$Segment",
	  .kind = HEAP_MAP,
	  .shape = HEAP_CHAINS,
	  .size = "count",
	  .store = "table.array",
	  .key = "key|referent",
	  .value = "valueReference.referent",
	  .next = "next",
	  .flags = HEAP_HASHED | HEAP_PART },
	{ .class_name = "com.google.common.collect.MapMakerInternalMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_PARTS,
	  .store = "segments" },
	{ .class_name = "com.google.common.collect.MapMakerInternalMap$Segment",
	  .kind = HEAP_MAP,
	  .shape = HEAP_CHAINS,
	  .size = "count",
	  .store = "table.array",
	  .key = "key|referent",
	  .value = "value|valueReference.referent",
	  .next = "next",
	  .flags = HEAP_HASHED | HEAP_PART },
	WRAP("com.github.benmanes.caffeine.cache.BoundedLocalCache$BoundedLocalManualCache",
	     HEAP_MAP, "cache"),
	WRAP("com.github.benmanes.caffeine.cache.BoundedLocalCache", HEAP_MAP, "data"),
	WRAP("com.github.benmanes.caffeine.cache.UnboundedLocalCache", HEAP_MAP, "data"),

	/* ---- fastutil ---- */
	{ .class_name = "it.unimi.dsi.fastutil.*LinkedOpenHashSet",
	  .kind = HEAP_SET,
	  .shape = HEAP_SLOTS,
	  .size = "size",
	  .store = "key",
	  .extra = "containsNull",
	  .flags = HEAP_HASHED },
	FAST_SET("it.unimi.dsi.fastutil.*OpenHashSet", "containsNull"),
	FAST_SET("it.unimi.dsi.fastutil.*OpenCustomHashSet", "containsNull"),
	FAST_MAP("it.unimi.dsi.fastutil.*2*OpenHashMap"),
	FAST_MAP("it.unimi.dsi.fastutil.*2*OpenCustomHashMap"),
	PARALLEL("it.unimi.dsi.fastutil.*2*ArrayMap", "size", "key|keys", "value|values",
		 HEAP_DENSE),
	ARRAY("it.unimi.dsi.fastutil.*.*ArraySet", HEAP_SET, "size", "a"),
	ARRAY("it.unimi.dsi.fastutil.*.*ImmutableList", HEAP_LIST, NULL, "a"),
	ARRAY("it.unimi.dsi.fastutil.*.*ArrayList", HEAP_LIST, "size", "a"),
	ARRAY("it.unimi.dsi.fastutil.*.*HeapPriorityQueue", HEAP_QUEUE, "size", "heap"),
	RING("it.unimi.dsi.fastutil.*.*ArrayFIFOQueue", HEAP_QUEUE, "start", "end", "array"),

	/* ---- Kotlin ---- */
	EMPTY("kotlin.collections.EmptyList", HEAP_LIST),
	EMPTY("kotlin.collections.EmptySet", HEAP_SET),
	EMPTY("kotlin.collections.EmptyMap", HEAP_MAP),
	{ .class_name = "kotlin.collections.ArrayDeque",
	  .kind = HEAP_QUEUE,
	  .shape = HEAP_ARRAY,
	  .size = "size",
	  .store = "elementData",
	  .first = "head" },
	ARRAY("kotlin.collections.ArrayAsCollection", HEAP_LIST, NULL, "values"),
	{ .class_name = "kotlin.collections.builders.ListBuilder",
	  .kind = HEAP_LIST,
	  .shape = HEAP_ARRAY,
	  .size = "length",
	  .store = "backing|array",
	  .first = "offset" },
	ARRAY("kotlin.collections.builders.ListBuilder", HEAP_LIST, "length", "backing|array"),
	/* Removed keys leave null behind; the arrays' order is that of insertion. */
	PARALLEL("kotlin.collections.builders.MapBuilder", "size|length", "keysArray",
		 "valuesArray", 0),
	KEYS("kotlin.collections.builders.SetBuilder", "backing"),

	/* ---- Scala ---- */
	EMPTY("scala.collection.immutable.Nil$", HEAP_LIST),
	{ .class_name = "scala.collection.immutable.$colon$colon",
	  .kind = HEAP_LIST,
	  .shape = HEAP_LINKED,
	  .store = "",
	  .value = "head|scala$collection$immutable$$colon$colon$$hd",
	  .next = "next|tl",
	  .flags = HEAP_PART },
	FIELDS("scala.collection.immutable.Map$Map1", HEAP_MAP, "key1", "value1"),
	FIELDS("scala.collection.immutable.Map$Map2", HEAP_MAP, "key1,key2", "value1,value2"),
	FIELDS("scala.collection.immutable.Map$Map3", HEAP_MAP, "key1,key2,key3",
	       "value1,value2,value3"),
	FIELDS("scala.collection.immutable.Map$Map4", HEAP_MAP, "key1,key2,key3,key4",
	       "value1,value2,value3,value4"),
	EMPTY("scala.collection.immutable.Map$EmptyMap$", HEAP_MAP),
	EMPTY("scala.collection.immutable.Set$EmptySet$", HEAP_SET),
	FIELDS("scala.collection.immutable.Set$Set1", HEAP_SET, NULL, "elem1"),
	FIELDS("scala.collection.immutable.Set$Set2", HEAP_SET, NULL, "elem1,elem2"),
	FIELDS("scala.collection.immutable.Set$Set3", HEAP_SET, NULL, "elem1,elem2,elem3"),
	FIELDS("scala.collection.immutable.Set$Set4", HEAP_SET, NULL, "elem1,elem2,elem3,elem4"),
	HIDDEN("scala.collection.immutable.HashMap", HEAP_MAP, "rootNode.size"),
	HIDDEN("scala.collection.immutable.HashMap$HashTrieMap", HEAP_MAP, "size0"),
	HIDDEN("scala.collection.immutable.HashSet", HEAP_SET, "rootNode.size"),
	HIDDEN("scala.collection.immutable.HashSet$HashTrieSet", HEAP_SET, "size0"),
	HIDDEN("scala.collection.immutable.BigVector", HEAP_LIST, "length0"),
	ARRAY("scala.collection.immutable.Vector1", HEAP_LIST, NULL, "prefix1"),
	HIDDEN("scala.collection.immutable.Vector", HEAP_LIST, "endIndex"),
	ARRAY("scala.collection.immutable.ArraySeq$of*", HEAP_LIST, NULL, "unsafeArray"),
	ARRAY("scala.collection.mutable.ArrayBuffer", HEAP_LIST, "size0", "array"),
	ARRAY("scala.collection.mutable.ArraySeq$of*", HEAP_LIST, NULL, "array"),
	RING("scala.collection.mutable.ArrayDeque", HEAP_QUEUE,
	     "start|scala$collection$mutable$ArrayDeque$$start",
	     "end|scala$collection$mutable$ArrayDeque$$end",
	     "array|scala$collection$mutable$ArrayDeque$$array"),
	LINKED("scala.collection.mutable.ListBuffer", HEAP_LIST, "len",
	       "first|scala$collection$mutable$ListBuffer$$start|start",
	       "head|scala$collection$immutable$$colon$colon$$hd", "next|tl"),
	CHAINS("scala.collection.mutable.HashMap", "contentSize",
	       "table|scala$collection$mutable$HashMap$$table", "_key", "_value", "_next"),
	CHAINS("scala.collection.mutable.HashMap", "tableSize", "table", "key", "value", "next"),
	{ .class_name = "scala.collection.mutable.HashSet",
	  .kind = HEAP_SET,
	  .shape = HEAP_CHAINS,
	  .size = "contentSize",
	  .store = "scala$collection$mutable$HashSet$$table|table",
	  .value = "_key",
	  .next = "_next",
	  .flags = HEAP_HASHED },
	SLOTS("scala.collection.mutable.HashSet", HEAP_SET, "tableSize", "table"),
	{ .class_name = "scala.collection.mutable.LinkedHashMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_LINKED,
	  .store = "firstEntry",
	  .key = "key|_key",
	  .value = "value|_value",
	  .next = "later|_later",
	  .array = "table" },
	{ .class_name = "scala.collection.concurrent.TrieMap",
	  .kind = HEAP_MAP,
	  .shape = HEAP_HIDDEN },
};

const struct heap_collection_rule *heap_collection_rules(size_t *count)
{
	*count = sizeof(table) / sizeof(table[0]);
	return table;
}
