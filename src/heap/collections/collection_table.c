/*
 * heap/collections/collection_table.c - the known collections as data: which fields of which
 * classes contain the size, the contents, the keys and the values. The only code returns the table.
 *
 * Rows of the same class are its versions. The first row whose fields (`size`, `store`, and `key`
 * of parallel arrays) exist in the dump's class applies. A subclass uses its superclass's row
 * unless it has its own. Field names come from the sources of the classes: OpenJDK 5 to 25,
 * Android's libcore and androidx, Guava 10 to 33, fastutil 6 to 8, Kotlin 1.3 to 2,
 * kotlinx.collections.immutable 0.3, Scala 2.10 to 3, Clojure 1.8 to 1.12, vavr 0.9 and 0.10,
 * Eclipse Collections 8 to 11, PCollections 3 and 4, Agrona 1, HPPC 0.7 to 0.10, RoaringBitmap 0.6
 * to 1, Ehcache 3, Pekko 1, Akka 2, Hazelcast 5, Hibernate 5 and 6, H2 2.
 */
#include "heap/collections/collections.h"

/*
 * Shapes that many rows use. NOLINTBEGIN(bugprone-macro-parentheses): the arguments are
 * initialisers.
 */
#define ROW(name, what, where, ...) \
	{ \
		.class_name = name, .kind = what, .shape = where, __VA_ARGS__ \
	}
#define EMPTY(name, what) ROW(name, what, HEAP_EMPTY, .flags = 0)
#define WRAP(name, what, field) ROW(name, what, HEAP_WRAP, .store = field)
#define KEYS(name, field) ROW(name, HEAP_SET, HEAP_WRAP, .store = field, .takes = HEAP_TAKES_KEYS)
#define VALUES(name, field) \
	ROW(name, HEAP_LIST, HEAP_WRAP, .store = field, .takes = HEAP_TAKES_VALUES)
/* A map's views of its keys, values and entries. They refer to the map by the given field. */
#define VIEWS(name, field) \
	KEYS(name "$KeySet", field), VALUES(name "$Values", field), \
		WRAP(name "$EntrySet", HEAP_SET, field)
#define ARRAY(name, what, length, field) ROW(name, what, HEAP_ARRAY, .size = length, .store = field)
#define RING(name, what, from, to, field) \
	ROW(name, what, HEAP_ARRAY, .store = field, .first = from, .last = to)
#define CHAINS(name, length, field, k, v, link) \
	ROW(name, HEAP_MAP, HEAP_CHAINS, .size = length, .store = field, .key = k, .value = v, \
	    .next = link, .flags = HEAP_HASHED)
/* Maps that consist of segments, which are maps with their own locks; and the segments. */
#define SEGMENTS(name) ROW(name, HEAP_MAP, HEAP_PARTS, .store = "segments")
#define SEGMENT(name, field, k, v) \
	ROW(name, HEAP_MAP, HEAP_CHAINS, .size = "count", .store = field, .key = k, .value = v, \
	    .next = "next", .flags = HEAP_HASHED | HEAP_PART)
#define LINKED(name, what, length, from, item, link) \
	ROW(name, what, HEAP_LINKED, .size = length, .store = from, .value = item, .next = link)
/* Queues that unlink nodes lazily: a node without an item is not an element. */
#define LAZY(name, from, item, link) \
	ROW(name, HEAP_QUEUE, HEAP_LINKED, .store = from, .value = item, .next = link, \
	    .flags = HEAP_SKIPS_NULL)
#define SLOTS(name, what, length, field) ROW(name, what, HEAP_SLOTS, .size = length, .store = field)
#define PARALLEL(name, length, k, v, how) \
	ROW(name, HEAP_MAP, HEAP_SLOTS, .size = length, .store = v, .key = k, .flags = how)
#define PAIRS(name, length, field, how) \
	ROW(name, HEAP_MAP, HEAP_PAIRS, .size = length, .store = field, .flags = how)
#define FIELDS(name, what, k, v) ROW(name, what, HEAP_FIELDS, .key = k, .value = v)
#define HIDDEN(name, what, length) ROW(name, what, HEAP_HIDDEN, .size = length)
/* An open-hashing set of fastutil. The last slot is reserved for zero or null. */
#define FAST_SET(name) \
	ROW(name, HEAP_SET, HEAP_SLOTS, .size = "size", .store = "key", .extra = "containsNull", \
	    .flags = HEAP_HASHED)
#define FAST_MAP(name) \
	ROW(name, HEAP_MAP, HEAP_SLOTS, .size = "size", .store = "value", .key = "key", \
	    .extra = "containsNullKey", .flags = HEAP_HASHED)

/* Takes rows of struct heap_part, in parentheses. */
#define PARTS(...) \
	.parts = (const struct heap_part[]) \
	{ \
		__VA_ARGS__, PART(END, NULL, NULL, NULL) \
	}
#define NODES(name, what, length, how, ...) \
	ROW(name, what, HEAP_NODES, .size = length, .flags = how, PARTS(__VA_ARGS__))
/* Nodes whose elements are objects with the fields k (key) and v (value). */
#define ENTRY_NODES(name, length, k, v, ...) \
	ROW(name, HEAP_MAP, HEAP_NODES, .size = length, .key = k, .value = v, PARTS(__VA_ARGS__))
/* A set that uses the nodes of a map. */
#define KEY_NODES(name, length, ...) \
	ROW(name, HEAP_SET, HEAP_NODES, .size = length, .takes = HEAP_TAKES_KEYS, \
	    PARTS(__VA_ARGS__))
#define PART(what, field, with, from) \
	{ \
		HEAP_PART_##what, field, with, from \
	}
#define IF(field) PART(IF, field, NULL, NULL)
#define ITEM(value) PART(ITEM, value, NULL, NULL)
#define ENTRY(key, value) PART(ITEM, value, key, NULL)
#define NODE(field) PART(NODE, field, NULL, NULL)
#define EITHER(field) PART(EITHER, field, NULL, NULL)
#define REVERSED(field) PART(REVERSED, field, NULL, NULL)
#define ITEMS(array) PART(ITEMS, array, NULL, NULL)
#define ARRAY_PART(what, array) PART(what, array, NULL, NULL)
#define ROPE(array, levels) PART(ROPE, array, levels, NULL)
/*
 * A list node with an element and the rest of the list. Each node is itself a list, so nodes are
 * pieces of one another.
 */
#define CONS(name, length, item, link) \
	ROW(name, HEAP_LIST, HEAP_LINKED, .size = length, .store = "", .value = item, \
	    .next = link, .flags = HEAP_PART)
#define TREE(name, what, length, top, k, v, less, more) \
	ROW(name, what, HEAP_TREE, .size = length, .store = top, .key = k, .value = v, \
	    .left = less, .next = more)

#define JUC "java.util.concurrent."
#define GUAVA "com.google.common.collect."
#define IMMUTABLE "java.util.ImmutableCollections$"
#define SCALA "scala.collection.immutable."
#define SCALA_TRIE "scala.collection.concurrent."
#define KOTLINX "*collections.immutable.implementations."
#define VAVR "io.vavr.collection."
#define ECLIPSE "org.eclipse.collections.impl."
#define FIELDS_1(name) name "1"
#define FIELDS_2(name) name "1," name "2"
#define FIELDS_3(name) FIELDS_2(name) "," name "3"
#define FIELDS_4(name) FIELDS_3(name) "," name "4"
#define PCOLLECTIONS "org.pcollections."
#define AGRONA "org.agrona.collections."
#define ROARING "org.roaringbitmap."
#define NOTHING "java.util.ImmutableCollections.EMPTY"
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct heap_collection_rule table[] = {
	/* ---- java.util: lists ---- */
	ARRAY("java.util.ArrayList", HEAP_LIST, "size", "elementData"),
	ARRAY("java.util.ArrayList", HEAP_LIST, "size", "array"), /* Android to API 23 */
	RING("java.util.ArrayList", HEAP_LIST, "firstIndex", "lastIndex", "array"), /* Harmony */
	ROW("java.util.ArrayList$SubList", HEAP_LIST, HEAP_ARRAY, .size = "size",
	    .store = "root.elementData", .first = "offset", .flags = HEAP_LENT),
	ROW("java.util.ArrayList$SubList", HEAP_LIST, HEAP_ARRAY, .size = "size",
	    .store = "this$0.elementData", .first = "offset", .flags = HEAP_LENT),
	ARRAY("java.util.Arrays$ArrayList", HEAP_LIST, NULL, "a"),
	ARRAY("java.util.Vector", HEAP_LIST, "elementCount", "elementData"),
	LINKED("java.util.LinkedList", HEAP_LIST, "size", "first", "item", "next"),
	ROW("java.util.LinkedList", HEAP_LIST, HEAP_LINKED, .size = "size", .store = "header",
	    .value = "element", .next = "next", .flags = HEAP_CIRCULAR), /* JDK 5, 6 */
	ROW("java.util.LinkedList", HEAP_LIST, HEAP_LINKED, .size = "size", .store = "voidLink",
	    .value = "data", .next = "next",
	    .flags = HEAP_CIRCULAR), /* Harmony, Android to API 23 */
	EMPTY("java.util.Collections$EmptyList", HEAP_LIST),
	FIELDS("java.util.Collections$SingletonList", HEAP_LIST, NULL, "element"),
	NODES("java.util.Collections$CopiesList", HEAP_LIST, "n", 0,
	      PART(REPEAT, "element", "n", NULL)),

	/* ---- java.util: immutable ---- */
	EMPTY(IMMUTABLE "List0", HEAP_LIST),
	EMPTY(IMMUTABLE "Set0", HEAP_SET),
	EMPTY(IMMUTABLE "Map0", HEAP_MAP),
	FIELDS(IMMUTABLE "List1", HEAP_LIST, NULL, "e0"),
	FIELDS(IMMUTABLE "List2", HEAP_LIST, NULL, "e0,e1"),
	FIELDS(IMMUTABLE "Set1", HEAP_SET, NULL, "e0"),
	FIELDS(IMMUTABLE "Set2", HEAP_SET, NULL, "e0,e1"),
	ROW(IMMUTABLE "List12", HEAP_LIST, HEAP_FIELDS, .value = "e0,e1", .absent = NOTHING,
	    .flags = HEAP_SKIPS_NULL),
	ROW(IMMUTABLE "Set12", HEAP_SET, HEAP_FIELDS, .value = "e0,e1", .absent = NOTHING,
	    .flags = HEAP_SKIPS_NULL),
	ARRAY(IMMUTABLE "ListN", HEAP_LIST, NULL, "elements"),
	HIDDEN(IMMUTABLE "SubList", HEAP_LIST, "size"),
	SLOTS(IMMUTABLE "SetN", HEAP_SET, "size", "elements"),
	FIELDS(IMMUTABLE "Map1", HEAP_MAP, "k0", "v0"),
	PAIRS(IMMUTABLE "MapN", "size", "table", 0),

	/* ---- java.util: maps and sets ---- */
	ROW("java.util.LinkedHashMap", HEAP_MAP, HEAP_LINKED, .size = "size", .store = "head",
	    .key = "key", .value = "value", .next = "after", .array = "table",
	    .flags = HEAP_HASHED),
	ROW("java.util.LinkedHashMap", HEAP_MAP, HEAP_LINKED, .size = "size", .store = "header",
	    .key = "key", .value = "value", .next = "after|nxt", .array = "table",
	    .flags = HEAP_HASHED | HEAP_CIRCULAR),
	ROW("java.util.HashMap", HEAP_MAP, HEAP_CHAINS, .size = "size", .store = "table",
	    .key = "key", .value = "value", .next = "next", .extra = "entryForNullKey",
	    .flags = HEAP_HASHED), /* Android to API 23 */
	CHAINS("java.util.HashMap", "size", "table", "key", "value", "next"),
	CHAINS("java.util.HashMap", "elementCount", "elementData", "key", "value", "next"),
	CHAINS("java.util.Hashtable", "count|size|elementCount", "table|elementData", "key",
	       "value", "next"),
	WRAP("java.util.Properties", HEAP_MAP, "map"), /* JDK 9; before, a Hashtable */
	CHAINS("java.util.WeakHashMap", "size|elementCount", "table|elementData", "referent",
	       "value", "next"),
	PAIRS("java.util.IdentityHashMap", "size", "table|elementData", HEAP_HASHED),
	TREE("java.util.TreeMap", HEAP_MAP, "size", "root", "key", "value", "left", "right"),
	ROW("java.util.TreeMap$AscendingSubMap", HEAP_MAP, HEAP_TREE, .store = "m.root",
	    .key = "key", .value = "value", .left = "left", .next = "right", .flags = HEAP_BOUNDED),
	ROW("java.util.TreeMap$DescendingSubMap", HEAP_MAP, HEAP_TREE, .store = "m.root",
	    .key = "key", .value = "value", .left = "right", .next = "left", .flags = HEAP_BOUNDED),
	PARALLEL("java.util.EnumMap", "size", "keyUniverse", "vals", HEAP_BY_VALUE),
	KEYS("java.util.HashSet", "map|backingMap"),
	KEYS("java.util.TreeSet", "m|backingMap"),
	ROW("java.util.RegularEnumSet", HEAP_SET, HEAP_WORDS, .store = "elements",
	    .key = "universe"),
	ROW("java.util.JumboEnumSet", HEAP_SET, HEAP_WORDS, .size = "size", .store = "elements",
	    .key = "universe"),
	ROW("java.util.BitSet", HEAP_BITS, HEAP_WORDS, .store = "words|bits"),
	EMPTY("java.util.Collections$EmptySet", HEAP_SET),
	EMPTY("java.util.Collections$EmptyMap", HEAP_MAP),
	FIELDS("java.util.Collections$SingletonSet", HEAP_SET, NULL, "element"),
	FIELDS("java.util.Collections$SingletonMap", HEAP_MAP, "k", "v"),
	KEYS("java.util.Collections$SetFromMap", "m"),
	CHAINS("java.lang.ThreadLocal$ThreadLocalMap", "size", "table", "referent", "value", NULL),
	NODES("sun.util.PreHashedMap", HEAP_MAP, "size", 0, ARRAY_PART(BUCKETS, "ht")),

	/* ---- java.util: queues ---- */
	RING("java.util.ArrayDeque", HEAP_QUEUE, "head", "tail", "elements"),
	ARRAY("java.util.PriorityQueue", HEAP_QUEUE, "size", "queue|elements"),

	/* ---- java.util.concurrent ---- */
	ROW(JUC "ConcurrentHashMap", HEAP_MAP, HEAP_CHAINS, .size = "baseCount", .store = "table",
	    .key = "key", .value = "val", .next = "next", .cells = "counterCells", .via = "first",
	    .flags = HEAP_HASHED),
	SEGMENTS(JUC "ConcurrentHashMap"), /* JDK 5 to 7 */
	SEGMENT(JUC "ConcurrentHashMap$Segment", "table", "key", "value"),
	KEYS(JUC "ConcurrentHashMap$KeySetView", "map"),
	VALUES(JUC "ConcurrentHashMap$ValuesView", "map"),
	WRAP(JUC "ConcurrentHashMap$EntrySetView", HEAP_SET, "map"),
	ROW(JUC "ConcurrentSkipListMap", HEAP_MAP, HEAP_LINKED, .size = "adder.base",
	    .store = "head.node", .key = "key", .value = "val|value", .next = "next",
	    .cells = "adder.cells", .flags = HEAP_SKIPS_NULL), /* JDK 9 */
	ROW(JUC "ConcurrentSkipListMap", HEAP_MAP, HEAP_LINKED, .store = "head.node", .key = "key",
	    .value = "val|value", .next = "next", .flags = HEAP_SKIPS_NULL),
	ROW(JUC "ConcurrentSkipListMap$SubMap", HEAP_MAP, HEAP_LINKED, .store = "m.head.node",
	    .key = "key", .value = "val|value", .next = "next",
	    .flags = HEAP_SKIPS_NULL | HEAP_BOUNDED),
	KEYS(JUC "ConcurrentSkipListSet", "m"),
	ARRAY(JUC "CopyOnWriteArrayList", HEAP_LIST, NULL, "array|elements"),
	WRAP(JUC "CopyOnWriteArraySet", HEAP_SET, "al"),
	LAZY(JUC "ConcurrentLinkedQueue", "head", "item", "next"),
	LAZY(JUC "ConcurrentLinkedDeque", "head", "item", "next"),
	LAZY(JUC "LinkedTransferQueue", "head", "item", "next"),
	LINKED(JUC "LinkedBlockingQueue", HEAP_QUEUE, "count.value", "head.next", "item", "next"),
	LINKED(JUC "LinkedBlockingDeque", HEAP_QUEUE, "count", "first", "item", "next"),
	ROW(JUC "ArrayBlockingQueue", HEAP_QUEUE, HEAP_ARRAY, .size = "count", .store = "items",
	    .first = "takeIndex"),
	ARRAY(JUC "PriorityBlockingQueue", HEAP_QUEUE, "size", "queue"),
	WRAP(JUC "PriorityBlockingQueue", HEAP_QUEUE, "q"), /* JDK 5, 6 */
	WRAP(JUC "DelayQueue", HEAP_QUEUE, "q"),
	ARRAY(JUC "ScheduledThreadPoolExecutor$DelayedWorkQueue", HEAP_QUEUE, "size", "queue"),
	EMPTY(JUC "SynchronousQueue", HEAP_QUEUE),
	ARRAY(JUC "atomic.AtomicReferenceArray", HEAP_LIST, NULL, "array"),
	ARRAY(JUC "ForkJoinPool$WorkQueue", HEAP_QUEUE, NULL, "array"),

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
	VIEWS("java.util.HashMap", "this$0"),
	KEYS("java.util.LinkedHashMap$LinkedKeySet", "this$0"),
	VALUES("java.util.LinkedHashMap$LinkedValues", "this$0"),
	WRAP("java.util.LinkedHashMap$LinkedEntrySet", HEAP_SET, "this$0"),
	KEYS("java.util.Hashtable$KeySet", "this$0"),
	VALUES("java.util.Hashtable$ValueCollection", "this$0"),
	WRAP("java.util.Hashtable$EntrySet", HEAP_SET, "this$0"),
	VIEWS("java.util.WeakHashMap", "this$0"),
	VIEWS("java.util.IdentityHashMap", "this$0"),
	KEYS("java.util.TreeMap$KeySet", "m"),
	VALUES("java.util.TreeMap$Values", "this$0"),
	WRAP("java.util.TreeMap$EntrySet", HEAP_SET, "this$0"),
	VIEWS("java.util.EnumMap", "this$0"),
	VIEWS(JUC "ConcurrentSkipListMap", "m"),
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

	/* ---- Ehcache 3, Pekko, Akka, Hazelcast 5, Hibernate 5 and 6, H2 2 ---- */
	ROW("org.ehcache.impl.internal.concurrent.ConcurrentHashMap", HEAP_MAP, HEAP_CHAINS,
	    .size = "baseCount", .store = "table", .key = "key", .value = "val", .next = "next",
	    .cells = "counterCells", .via = "first", .flags = HEAP_HASHED),
	LAZY("org.apache.pekko.dispatch.AbstractNodeQueue", "_tailDoNotCallMeDirectly", "value",
	     "_nextDoNotCallMeDirectly"),
	LAZY("akka.dispatch.AbstractNodeQueue", "_tailDoNotCallMeDirectly", "value",
	     "_nextDoNotCallMeDirectly"),
	SEGMENTS("com.hazelcast.internal.util.ConcurrentReferenceHashMap"),
	SEGMENT("com.hazelcast.internal.util.ConcurrentReferenceHashMap$Segment", "table", "keyRef",
		"valueRef"),
	SEGMENTS("org.hibernate.internal.util.collections.BoundedConcurrentHashMap"),
	SEGMENT("org.hibernate.internal.util.collections.BoundedConcurrentHashMap$Segment", "table",
		"key", "value"),
	HIDDEN("org.h2.mvstore.MVMap", HEAP_MAP, "root.value.root.totalCount"),
	ROW("org.h2.mvstore.RootReference", HEAP_MAP, HEAP_HIDDEN, .size = "root.totalCount",
	    .flags = HEAP_PART),
	ROW("org.h2.mvstore.Page$NonLeaf", HEAP_MAP, HEAP_HIDDEN, .size = "totalCount",
	    .flags = HEAP_PART),

	/* ---- Guava ---- */
	ARRAY(GUAVA "RegularImmutableList", HEAP_LIST, "size", "array|elements"),
	ARRAY(GUAVA "RegularImmutableList", HEAP_LIST, NULL, "array|elements"),
	ROW(GUAVA "ImmutableList$SubList", HEAP_LIST, HEAP_ARRAY, .size = "length",
	    .store = "this$0.array", .first = "offset", .flags = HEAP_LENT),
	FIELDS(GUAVA "SingletonImmutableList", HEAP_LIST, NULL, "element"),
	WRAP(GUAVA "ImmutableEnumSet", HEAP_SET, "delegate"),
	WRAP(GUAVA "JdkBackedImmutableSet", HEAP_SET, "delegate"),
	WRAP(GUAVA "JdkBackedImmutableMap", HEAP_MAP, "delegateMap"),
	WRAP(GUAVA "JdkBackedImmutableBiMap", HEAP_MAP, "forwardDelegate"),
	ROW(GUAVA "RegularImmutableBiMap", HEAP_MAP, HEAP_CHAINS, .store = "entries", .key = "key",
	    .value = "value"),
	PAIRS(GUAVA "RegularImmutableBiMap", "size", "alternatingKeysAndValues", HEAP_DENSE),
	ROW(GUAVA "RegularImmutableMultiset", HEAP_MAP, HEAP_CHAINS, .store = "entries",
	    .key = "element", .value = "count"),
	FIELDS(GUAVA "SingletonImmutableSet", HEAP_SET, NULL, "element"),
	ARRAY(GUAVA "RegularImmutableSet", HEAP_SET, NULL, "elements"),
	WRAP(GUAVA "RegularImmutableSortedSet", HEAP_SET, "elements"),
	WRAP(GUAVA "RegularImmutableAsList", HEAP_LIST, "delegateList"),
	ROW(GUAVA "RegularImmutableMap", HEAP_MAP, HEAP_CHAINS, .store = "entries", .key = "key",
	    .value = "value"),
	PAIRS(GUAVA "RegularImmutableMap", "size", "alternatingKeysAndValues", HEAP_DENSE),
	FIELDS(GUAVA "SingletonImmutableBiMap", HEAP_MAP, "singleKey", "singleValue"),
	ROW(GUAVA "ImmutableSortedMap", HEAP_MAP, HEAP_SLOTS, .store = "valueList",
	    .key = "keySet.elements", .flags = HEAP_DENSE | HEAP_LENT | HEAP_OF_LISTS),
	WRAP(GUAVA "ImmutableEnumMap", HEAP_MAP, "delegate"),
	CHAINS(GUAVA "HashBiMap", "size", "hashTableKToV", "key", "value", "nextInKToVBucket"),
	PARALLEL(GUAVA "HashBiMap", "size", "keys", "values", HEAP_DENSE),
	PARALLEL(GUAVA "CompactHashMap", "size", "keys", "values", HEAP_DENSE),
	ARRAY(GUAVA "CompactHashSet", HEAP_SET, "size", "elements"),
	WRAP(GUAVA "AbstractMapBasedMultimap", HEAP_MAP, "map"),
	WRAP(GUAVA "ImmutableMultimap", HEAP_MAP, "map"),
	LINKED(GUAVA "LinkedListMultimap", HEAP_MAP, "size", "head", "value", "next"),
	WRAP(GUAVA "AbstractMapBasedMultiset", HEAP_MAP, "backingMap"),
	PARALLEL(GUAVA "ObjectCountHashMap", "size", "keys", "values", HEAP_DENSE),
	WRAP(GUAVA "ConcurrentHashMultiset", HEAP_MAP, "countMap"),
	KEYS(GUAVA "Interners$InternerImpl", "map"),
	ARRAY(GUAVA "MinMaxPriorityQueue", HEAP_QUEUE, "size", "queue"),
	WRAP(GUAVA "EvictingQueue", HEAP_QUEUE, "delegate"),
	WRAP(GUAVA "StandardTable", HEAP_MAP, "backingMap"),
	WRAP("com.google.common.cache.LocalCache$LocalManualCache", HEAP_MAP, "localCache"),
	SEGMENTS("com.google.common.cache.LocalCache"),
	SEGMENT("com.google.common.cache.LocalCache$Segment", "table.array", "key|referent",
		"valueReference.referent"),
	SEGMENTS(GUAVA "MapMakerInternalMap"),
	SEGMENT(GUAVA "MapMakerInternalMap$Segment", "table.array", "key|referent",
		"value|valueReference.referent"),
	WRAP("com.github.benmanes.caffeine.cache.BoundedLocalCache$BoundedLocalManualCache",
	     HEAP_MAP, "cache"),
	WRAP("com.github.benmanes.caffeine.cache.BoundedLocalCache", HEAP_MAP, "data"),
	WRAP("com.github.benmanes.caffeine.cache.UnboundedLocalCache", HEAP_MAP, "data"),

	/* ---- fastutil ---- */
	FAST_SET("it.unimi.dsi.fastutil.*LinkedOpenHashSet"),
	FAST_SET("it.unimi.dsi.fastutil.*OpenHashSet"),
	FAST_SET("it.unimi.dsi.fastutil.*OpenCustomHashSet"),
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
	ROW("kotlin.collections.ArrayDeque", HEAP_QUEUE, HEAP_ARRAY, .size = "size",
	    .store = "elementData", .first = "head"),
	ARRAY("kotlin.collections.ArrayAsCollection", HEAP_LIST, NULL, "values"),
	ROW("kotlin.collections.builders.ListBuilder", HEAP_LIST, HEAP_ARRAY, .size = "length",
	    .store = "backing|array", .first = "offset"),
	ARRAY("kotlin.collections.builders.ListBuilder", HEAP_LIST, "length", "backing|array"),
	/* Removed keys leave nulls. The arrays are in insertion order. */
	PARALLEL("kotlin.collections.builders.MapBuilder", "size|length", "keysArray",
		 "valuesArray", 0),
	KEYS("kotlin.collections.builders.SetBuilder", "backing"),
	/* kotlinx.collections.immutable, its builders, and the copy in Jetpack Compose. */
	NODES(KOTLINX "immutableMap.PersistentHashMap*", HEAP_MAP, "size", 0, NODE("node")),
	NODES(KOTLINX "immutableMap.TrieNode", HEAP_MAP, NULL, HEAP_PART,
	      PART(CHAMP, "buffer", "dataMap", "nodeMap")),
	NODES(KOTLINX "immutableSet.PersistentHashSet*", HEAP_SET, "size", 0, NODE("node")),
	NODES(KOTLINX "immutableSet.TrieNode", HEAP_SET, NULL, HEAP_PART | HEAP_INNER,
	      PART(MIXED, "buffer", "nulls", NULL)),
	NODES(KOTLINX "immutableList.PersistentVector*", HEAP_LIST, "size", HEAP_DENSE,
	      ROPE("root", "rootShift"), ITEMS("tail")),
	ARRAY(KOTLINX "immutableList.SmallPersistentVector", HEAP_LIST, NULL, "buffer"),
	ENTRY_NODES(KOTLINX "persistentOrderedMap.PersistentOrderedMap", "hashMap.size", NULL,
		    "value", NODE("hashMap")),
	KEY_NODES(KOTLINX "persistentOrderedSet.PersistentOrderedSet", "hashMap.size",
		  NODE("hashMap")),

	/* ---- Scala ---- */
	EMPTY(SCALA "Nil$", HEAP_LIST),
	CONS(SCALA "$colon$colon", NULL, "head|hd", "next|tl"),
	FIELDS(SCALA "Map$Map1", HEAP_MAP, "key1", "value1"),
	FIELDS(SCALA "Map$Map2", HEAP_MAP, "key1,key2", "value1,value2"),
	FIELDS(SCALA "Map$Map3", HEAP_MAP, "key1,key2,key3", "value1,value2,value3"),
	FIELDS(SCALA "Map$Map4", HEAP_MAP, "key1,key2,key3,key4", "value1,value2,value3,value4"),
	EMPTY(SCALA "Map$EmptyMap$", HEAP_MAP),
	EMPTY(SCALA "Set$EmptySet$", HEAP_SET),
	FIELDS(SCALA "Set$Set1", HEAP_SET, NULL, "elem1"),
	FIELDS(SCALA "Set$Set2", HEAP_SET, NULL, "elem1,elem2"),
	FIELDS(SCALA "Set$Set3", HEAP_SET, NULL, "elem1,elem2,elem3"),
	FIELDS(SCALA "Set$Set4", HEAP_SET, NULL, "elem1,elem2,elem3,elem4"),
	ENTRY_NODES(SCALA "HashMap", "rootNode.size", "_1", "_2", NODE("rootNode")),
	NODES(SCALA "BitmapIndexedMapNode", HEAP_MAP, "size", HEAP_PART,
	      PART(CHAMP, "content", "dataMap", "nodeMap")),
	NODES(SCALA "HashCollisionMapNode", HEAP_MAP, NULL, HEAP_PART, NODE("content")),
	NODES(SCALA "HashSet", HEAP_SET, "rootNode.size", 0, NODE("rootNode")),
	NODES(SCALA "BitmapIndexedSetNode", HEAP_SET, "size", HEAP_PART,
	      PART(CHAMP, "content", "dataMap", "nodeMap")),
	NODES(SCALA "HashCollisionSetNode", HEAP_SET, NULL, HEAP_PART, NODE("content")),
	/* 2.12 */
	NODES(SCALA "HashMap$HashTrieMap", HEAP_MAP, "size0", 0, ARRAY_PART(NODES, "elems|elems0")),
	NODES(SCALA "HashMap$HashMap1", HEAP_MAP, NULL, HEAP_PART, ENTRY("key", "value")),
	NODES(SCALA "HashMap$HashMapCollision1", HEAP_MAP, NULL, HEAP_PART, NODE("kvs")),
	EMPTY(SCALA "HashMap$EmptyHashMap$", HEAP_MAP),
	NODES(SCALA "HashSet$HashTrieSet", HEAP_SET, "size0", 0, ARRAY_PART(NODES, "elems|elems0")),
	NODES(SCALA "HashSet$HashSet1", HEAP_SET, NULL, HEAP_PART, ITEM("key")),
	NODES(SCALA "HashSet$HashSetCollision1", HEAP_SET, NULL, HEAP_PART, NODE("ks")),
	EMPTY(SCALA "HashSet$EmptyHashSet$", HEAP_SET),
	/* In insertion order; the head is the last entry. */
	NODES(SCALA "ListMap$Node", HEAP_MAP, NULL, HEAP_PART, NODE("_init"),
	      ENTRY("key", "_value")),
	NODES(SCALA "ListMap$Node", HEAP_MAP, NULL, HEAP_PART, NODE("$outer"),
	      ENTRY("key", "value")),
	EMPTY(SCALA "ListMap$EmptyListMap$", HEAP_MAP),
	NODES(SCALA "ListSet$Node", HEAP_SET, NULL, HEAP_PART, NODE("$outer"), ITEM("elem")),
	EMPTY(SCALA "ListSet$EmptyListSet$", HEAP_SET),
	TREE(SCALA "TreeMap", HEAP_MAP, NULL, "tree", "_key|key", "_value|value", "_left|left",
	     "_right|right"),
	TREE(SCALA "TreeSet", HEAP_SET, NULL, "tree", NULL, "_key|key", "_left|left",
	     "_right|right"),
	NODES(SCALA "Queue", HEAP_QUEUE, NULL, 0, NODE("out"), REVERSED("in")),
	EMPTY(SCALA "Vector0$", HEAP_LIST),
	NODES(SCALA "Vector2", HEAP_LIST, "length0", HEAP_DENSE, ITEMS("prefix1"),
	      ROPE("data2", "1"), ITEMS("suffix1")),
	NODES(SCALA "Vector3", HEAP_LIST, "length0", HEAP_DENSE, ITEMS("prefix1"),
	      ROPE("prefix2", "1"), ROPE("data3", "2"), ROPE("suffix2", "1"), ITEMS("suffix1")),
	NODES(SCALA "Vector4", HEAP_LIST, "length0", HEAP_DENSE, ITEMS("prefix1"),
	      ROPE("prefix2", "1"), ROPE("prefix3", "2"), ROPE("data4", "3"), ROPE("suffix3", "2"),
	      ROPE("suffix2", "1"), ITEMS("suffix1")),
	NODES(SCALA "Vector5", HEAP_LIST, "length0", HEAP_DENSE, ITEMS("prefix1"),
	      ROPE("prefix2", "1"), ROPE("prefix3", "2"), ROPE("prefix4", "3"), ROPE("data5", "4"),
	      ROPE("suffix4", "3"), ROPE("suffix3", "2"), ROPE("suffix2", "1"), ITEMS("suffix1")),
	NODES(SCALA "Vector6", HEAP_LIST, "length0", HEAP_DENSE, ITEMS("prefix1"),
	      ROPE("prefix2", "1"), ROPE("prefix3", "2"), ROPE("prefix4", "3"),
	      ROPE("prefix5", "4"), ROPE("data6", "5"), ROPE("suffix5", "4"), ROPE("suffix4", "3"),
	      ROPE("suffix3", "2"), ROPE("suffix2", "1"), ITEMS("suffix1")),
	ARRAY(SCALA "Vector1", HEAP_LIST, NULL, "prefix1"),
	ROW(SCALA "Vector", HEAP_LIST, HEAP_HIDDEN, .size = "endIndex",
	    .first = "startIndex"), /* 2.12 */
	ARRAY(SCALA "ArraySeq$of*", HEAP_LIST, NULL, "unsafeArray"),
	ARRAY("scala.collection.mutable.ArrayBuffer", HEAP_LIST, "size0", "array"),
	ARRAY("scala.collection.mutable.ArraySeq$of*", HEAP_LIST, NULL, "array"),
	RING("scala.collection.mutable.ArrayDeque", HEAP_QUEUE, "start", "end", "array"),
	LINKED("scala.collection.mutable.ListBuffer", HEAP_LIST, "len", "first|start", "head|hd",
	       "next|tl"),
	CHAINS("scala.collection.mutable.HashMap", "contentSize", "table", "_key", "_value",
	       "_next"),
	CHAINS("scala.collection.mutable.HashMap", "tableSize", "table", "key", "value", "next"),
	ROW("scala.collection.mutable.HashSet", HEAP_SET, HEAP_CHAINS, .size = "contentSize",
	    .store = "table", .value = "_key", .next = "_next", .flags = HEAP_HASHED),
	SLOTS("scala.collection.mutable.HashSet", HEAP_SET, "tableSize", "table"),
	ROW("scala.collection.mutable.LinkedHashMap", HEAP_MAP, HEAP_LINKED, .store = "firstEntry",
	    .key = "key|_key", .value = "value|_value", .next = "later|_later", .array = "table"),
	LINKED("scala.collection.mutable.LinkedHashSet", HEAP_SET, "contentSize|tableSize",
	       "firstEntry", "key|_key", "later|_later"),
	TREE("scala.collection.mutable.TreeMap", HEAP_MAP, "tree.size", "tree.root", "key", "value",
	     "left", "right"),
	ENTRY_NODES(SCALA_TRIE "TrieMap", NULL, "_1", "_2", NODE("root")),
	NODES(SCALA_TRIE "INodeBase", HEAP_MAP, NULL, HEAP_PART, NODE("mainnode")),
	NODES(SCALA_TRIE "CNode", HEAP_MAP, NULL, HEAP_PART, ARRAY_PART(NODES, "array")),
	NODES(SCALA_TRIE "SNode", HEAP_MAP, NULL, HEAP_PART, ENTRY("k", "v")),
	NODES(SCALA_TRIE "TNode", HEAP_MAP, NULL, HEAP_PART, ENTRY("k", "v")),
	NODES(SCALA_TRIE "LNode", HEAP_MAP, NULL, HEAP_PART, NODE("entries|listmap")),

	/* ---- Clojure ---- */
	ROW("clojure.lang.PersistentVector", HEAP_LIST, HEAP_NODES, .size = "cnt", .via = "array",
	    .flags = HEAP_DENSE, PARTS(ROPE("root.array", "shift"), ITEMS("tail"))),
	NODES("clojure.lang.PersistentHashMap", HEAP_MAP, "count", 0, NODE("root"), IF("hasNull"),
	      ENTRY("no key", "nullValue")),
	NODES("clojure.lang.PersistentHashMap$BitmapIndexedNode", HEAP_MAP, NULL, HEAP_PART,
	      ARRAY_PART(PAIRS, "array")),
	NODES("clojure.lang.PersistentHashMap$HashCollisionNode", HEAP_MAP, "count", HEAP_PART,
	      ARRAY_PART(PAIRS, "array")),
	NODES("clojure.lang.PersistentHashMap$ArrayNode", HEAP_MAP, NULL, HEAP_PART,
	      ARRAY_PART(NODES, "array")),
	PAIRS("clojure.lang.PersistentArrayMap", NULL, "array", HEAP_DENSE),
	TREE("clojure.lang.PersistentTreeMap", HEAP_MAP, "_count", "tree", "key", "val", "left",
	     "right"),
	KEYS("clojure.lang.APersistentSet", "impl"),
	CONS("clojure.lang.PersistentList", "_count", "_first", "_rest"),
	EMPTY("clojure.lang.PersistentList$EmptyList", HEAP_LIST),
	NODES("clojure.lang.PersistentQueue", HEAP_QUEUE, "cnt", 0, NODE("f"), NODE("r")),
	/* Sequences: only the realised part is in the heap. */
	NODES("clojure.lang.Cons", HEAP_LIST, NULL, HEAP_PART, ITEM("_first"), NODE("_more")),
	NODES("clojure.lang.LazySeq", HEAP_LIST, NULL, HEAP_PART, NODE("sv"), NODE("s")),
	NODES("clojure.lang.ChunkedCons", HEAP_LIST, NULL, HEAP_PART, NODE("chunk"), NODE("_more")),
	NODES("clojure.lang.ArrayChunk", HEAP_LIST, NULL, HEAP_PART,
	      PART(ITEMS, "array", "end", "off")),
	NODES("clojure.lang.ArraySeq", HEAP_LIST, NULL, HEAP_LENT, PART(ITEMS, "array", NULL, "i")),
	NODES("clojure.lang.PersistentVector$ChunkedSeq", HEAP_LIST, NULL, HEAP_LENT,
	      PART(SKIP, "i", NULL, NULL), PART(SKIP, "offset", NULL, NULL), NODE("vec")),
	HIDDEN("clojure.lang.LongRange", HEAP_LIST, "count"),

	/* ---- vavr ---- */
	CONS(VAVR "List$Cons", "length", "head", "tail"),
	EMPTY(VAVR "List$Nil", HEAP_LIST),
	NODES(VAVR "Queue", HEAP_QUEUE, NULL, 0, NODE("front"), REVERSED("rear")),
	ARRAY(VAVR "Array", HEAP_LIST, NULL, "delegate"),
	NODES(VAVR "Vector", HEAP_LIST, "trie.length", HEAP_DENSE,
	      PART(ROPE, "trie.array", "trie.depthShift", "trie.offset")),
	NODES(VAVR "HashMap", HEAP_MAP, NULL, 0, NODE("trie")),
	KEY_NODES(VAVR "HashSet", NULL, NODE("tree")),
	EMPTY(VAVR "HashArrayMappedTrieModule$EmptyNode", HEAP_MAP),
	NODES(VAVR "HashArrayMappedTrieModule$LeafSingleton", HEAP_MAP, NULL, HEAP_PART,
	      ENTRY("key", "value")),
	NODES(VAVR "HashArrayMappedTrieModule$LeafList", HEAP_MAP, "size", HEAP_PART,
	      ENTRY("key", "value"), NODE("tail")),
	NODES(VAVR "HashArrayMappedTrieModule$IndexedNode", HEAP_MAP, "size", HEAP_PART,
	      ARRAY_PART(NODES, "subNodes")),
	NODES(VAVR "HashArrayMappedTrieModule$ArrayNode", HEAP_MAP, "size", HEAP_PART,
	      ARRAY_PART(NODES, "subNodes")),
	ENTRY_NODES(VAVR "LinkedHashMap", NULL, "_1", "_2", NODE("list")),
	KEYS(VAVR "LinkedHashSet", "map"),
	ENTRY_NODES(VAVR "TreeMap", NULL, "_1", "_2", NODE("entries")),
	NODES(VAVR "TreeSet", HEAP_SET, NULL, 0, NODE("tree")),
	NODES(VAVR "RedBlackTreeModule$Node", HEAP_SET, "size", HEAP_PART, NODE("left"),
	      ITEM("value"), NODE("right")),
	EMPTY(VAVR "RedBlackTreeModule$Empty", HEAP_SET),
	WRAP(VAVR "AbstractMultimap", HEAP_MAP, "back"),

	/* ---- Eclipse Collections ---- */
	ARRAY(ECLIPSE "list.mutable.FastList", HEAP_LIST, "size", "items"),
	ARRAY(ECLIPSE "list.mutable.primitive.*ArrayList", HEAP_LIST, "size", "items"),
	ARRAY(ECLIPSE "list.immutable.ImmutableArrayList", HEAP_LIST, NULL, "items"),
	EMPTY(ECLIPSE "list.immutable.ImmutableEmptyList", HEAP_LIST),
	FIELDS(ECLIPSE "list.immutable.ImmutableSingletonList", HEAP_LIST, NULL,
	       FIELDS_1("element")),
	FIELDS(ECLIPSE "list.immutable.ImmutableDoubletonList", HEAP_LIST, NULL,
	       FIELDS_2("element")),
	FIELDS(ECLIPSE "list.immutable.ImmutableTripletonList", HEAP_LIST, NULL,
	       FIELDS_3("element")),
	FIELDS(ECLIPSE "list.immutable.ImmutableQuadrupletonList", HEAP_LIST, NULL,
	       FIELDS_4("element")),
	FIELDS(ECLIPSE "list.immutable.ImmutableQuintupletonList", HEAP_LIST, NULL,
	       FIELDS_4("element") ",element5"),
	FIELDS(ECLIPSE "list.immutable.ImmutableSextupletonList", HEAP_LIST, NULL,
	       FIELDS_4("element") ",element5,element6"),
	FIELDS(ECLIPSE "list.immutable.ImmutableSeptupletonList", HEAP_LIST, NULL,
	       FIELDS_4("element") ",element5,element6,element7"),
	FIELDS(ECLIPSE "list.immutable.ImmutableOctupletonList", HEAP_LIST, NULL,
	       FIELDS_4("element") ",element5,element6,element7,element8"),
	FIELDS(ECLIPSE "list.immutable.ImmutableNonupletonList", HEAP_LIST, NULL,
	       FIELDS_4("element") ",element5,element6,element7,element8,element9"),
	FIELDS(ECLIPSE "list.immutable.ImmutableDecapletonList", HEAP_LIST, NULL,
	       FIELDS_4("element") ",element5,element6,element7,element8,element9,element10"),
	EMPTY(ECLIPSE "set.immutable.ImmutableEmptySet", HEAP_SET),
	FIELDS(ECLIPSE "set.immutable.ImmutableSingletonSet", HEAP_SET, NULL, FIELDS_1("element")),
	FIELDS(ECLIPSE "set.immutable.ImmutableDoubletonSet", HEAP_SET, NULL, FIELDS_2("element")),
	FIELDS(ECLIPSE "set.immutable.ImmutableTripletonSet", HEAP_SET, NULL, FIELDS_3("element")),
	FIELDS(ECLIPSE "set.immutable.ImmutableQuadrupletonSet", HEAP_SET, NULL,
	       FIELDS_4("element")),
	WRAP(ECLIPSE "set.immutable.ImmutableUnifiedSet", HEAP_SET, "delegate"),
	NODES(ECLIPSE "set.mutable.UnifiedSet", HEAP_SET, "occupied", 0,
	      ARRAY_PART(MIXED, "table")),
	NODES(ECLIPSE "set.mutable.UnifiedSet$ChainedBucket", HEAP_SET, NULL,
	      HEAP_PART | HEAP_INNER, EITHER("zero"), EITHER("one"), EITHER("two"),
	      EITHER("three")),
	EMPTY(ECLIPSE "map.immutable.ImmutableEmptyMap", HEAP_MAP),
	FIELDS(ECLIPSE "map.immutable.ImmutableSingletonMap", HEAP_MAP, FIELDS_1("key"),
	       FIELDS_1("value")),
	FIELDS(ECLIPSE "map.immutable.ImmutableDoubletonMap", HEAP_MAP, FIELDS_2("key"),
	       FIELDS_2("value")),
	FIELDS(ECLIPSE "map.immutable.ImmutableTripletonMap", HEAP_MAP, FIELDS_3("key"),
	       FIELDS_3("value")),
	FIELDS(ECLIPSE "map.immutable.ImmutableQuadrupletonMap", HEAP_MAP, FIELDS_4("key"),
	       FIELDS_4("value")),
	WRAP(ECLIPSE "map.immutable.ImmutableUnifiedMap", HEAP_MAP, "delegate"),
	ROW(ECLIPSE "map.mutable.UnifiedMap", HEAP_MAP, HEAP_NODES, .size = "occupied",
	    .absent = ECLIPSE "map.mutable.UnifiedMap.CHAINED_KEY",
	    PARTS(ARRAY_PART(PAIRS, "table"))),
	WRAP(ECLIPSE "map.sorted.mutable.TreeSortedMap", HEAP_MAP, "treeMap"),
	WRAP(ECLIPSE "set.sorted.mutable.TreeSortedSet", HEAP_SET, "treeSet"),
	WRAP(ECLIPSE "map.ordered.mutable.OrderedMapAdapter", HEAP_MAP, "delegate"),
	WRAP(ECLIPSE "bimap.mutable.AbstractMutableBiMap", HEAP_MAP, "delegate"),
	WRAP(ECLIPSE "multimap.AbstractMutableMultimap", HEAP_MAP, "map"),
	WRAP(ECLIPSE "list.mutable.ListAdapter", HEAP_LIST, "delegate"),
	WRAP(ECLIPSE "set.mutable.SetAdapter", HEAP_SET, "delegate"),
	WRAP(ECLIPSE "stack.mutable.ArrayStack", HEAP_LIST, "delegate"),

	/* ---- PCollections ---- */
	ROW(PCOLLECTIONS "HashPMap", HEAP_MAP, HEAP_NODES, .size = "size", .key = "key",
	    .value = "value", .flags = HEAP_NESTED, PARTS(NODE("intMap"))),
	NODES(PCOLLECTIONS "IntTreePMap", HEAP_MAP, "root.size", 0, NODE("root")),
	NODES(PCOLLECTIONS "IntTree", HEAP_MAP, "size", HEAP_PART, IF("left"),
	      PART(SUM, "key", NULL, NULL), NODE("left"), PART(NUMBERED, "value", NULL, NULL),
	      NODE("right")),
	ROW(PCOLLECTIONS "TreePVector", HEAP_LIST, HEAP_NODES, .takes = HEAP_TAKES_VALUES,
	    PARTS(NODE("map"))),
	NODES(PCOLLECTIONS "ConsPStack", HEAP_LIST, "size", HEAP_PART, IF("rest"), ITEM("first"),
	      NODE("rest")),
	NODES(PCOLLECTIONS "AmortizedPQueue", HEAP_QUEUE, NULL, 0, NODE("front"), REVERSED("back")),
	NODES(PCOLLECTIONS "TreePMap", HEAP_MAP, "tree.size", 0, NODE("tree")),
	KEY_NODES(PCOLLECTIONS "TreePSet", "tree.size", NODE("tree")),
	NODES(PCOLLECTIONS "KVTree", HEAP_MAP, "size", HEAP_PART, IF("left"), NODE("left"),
	      ENTRY("key", "value"), NODE("right")),
	KEYS(PCOLLECTIONS "MapPSet", "map"),
	ROW(PCOLLECTIONS "OrderedPSet", HEAP_SET, HEAP_WRAP, .store = "elements",
	    .takes = HEAP_TAKES_VALUES),

	/* ---- Agrona ---- */
	PAIRS(AGRONA "Object2*ObjectHashMap", "size", "entries", HEAP_HASHED),
	PARALLEL(AGRONA "*2*ObjectHashMap", "size", "keys", "values", HEAP_HASHED | HEAP_BY_VALUE),
	PARALLEL(AGRONA "BiInt2ObjectMap", "size", "keys", "values", HEAP_HASHED | HEAP_BY_VALUE),
	PARALLEL(AGRONA "Object2*Map", "size", "keys", "values", HEAP_HASHED),
	ROW(AGRONA "*2*HashMap", HEAP_MAP, HEAP_PAIRS, .size = "size", .store = "entries",
	    .free = "missingValue", .flags = HEAP_HASHED),
	ROW(AGRONA "*2*CounterMap", HEAP_MAP, HEAP_PAIRS, .size = "size", .store = "entries",
	    .free = "initialValue", .flags = HEAP_HASHED),
	ROW(AGRONA "*HashSet", HEAP_SET, HEAP_SLOTS, .size = "sizeOfArrayValues", .store = "values",
	    .free = "-1", .extra = "containsMissingValue", .flags = HEAP_HASHED | HEAP_APART),
	ROW(AGRONA "ObjectHashSet", HEAP_SET, HEAP_SLOTS, .size = "size", .store = "values",
	    .flags = HEAP_HASHED),
	ARRAY(AGRONA "*ArrayList", HEAP_LIST, "size", "elements"),
	RING(AGRONA "*ArrayQueue", HEAP_QUEUE, "head", "tail", "elements"),

	/* ---- HPPC, Netty: also the copies in others' packages ---- */
	ROW("*hppc.*HashMap", HEAP_MAP, HEAP_SLOTS, .size = "assigned", .store = "values",
	    .key = "keys", .extra = "hasEmptyKey", .flags = HEAP_HASHED | HEAP_APART),
	ROW("*hppc.*HashSet", HEAP_SET, HEAP_SLOTS, .size = "assigned", .store = "keys",
	    .extra = "hasEmptyKey", .flags = HEAP_HASHED | HEAP_APART),
	ARRAY("*hppc.*ArrayList", HEAP_LIST, "elementsCount", "buffer"),
	RING("*hppc.*ArrayDeque", HEAP_QUEUE, "head", "tail", "buffer"),
	PARALLEL("*netty.util.collection.*ObjectHashMap", "size", "keys", "values",
		 HEAP_HASHED | HEAP_BY_VALUE),

	/* ---- RoaringBitmap ---- */
	NODES(ROARING "RoaringBitmap", HEAP_BITS, NULL, 0, NODE("highLowContainer")),
	NODES(ROARING "RoaringArray", HEAP_BITS, NULL, HEAP_PART,
	      PART(CONTAINERS, "values", "keys", "size")),
	NODES(ROARING "ArrayContainer", HEAP_BITS, "cardinality", HEAP_PART,
	      PART(SHORTS, "content", "cardinality", NULL)),
	NODES(ROARING "BitmapContainer", HEAP_BITS, "cardinality", HEAP_PART,
	      ARRAY_PART(BITS, "bitmap")),
	NODES(ROARING "RunContainer", HEAP_BITS, NULL, HEAP_PART,
	      PART(RUNS, "valueslength", "nbrruns", NULL)),
};

const struct heap_collection_rule *heap_collection_rules(size_t *count)
{
	*count = sizeof(table) / sizeof(table[0]);
	return table;
}
