// tests/java/KnownLibraries.java - makes collections of libraries with known contents, dumps the heap,
// and writes its contents next to it; see Known.java. Which libraries: tests/oracle/known_libraries.xml.
//
//     java -cp "JARS/*" tests/java/KnownLibraries.java OUT.hprof TRUTH.tsv [MOST]
//
// MOST: elements of the largest collection. tests/java/make_libraries.sh records a small dump.
// Lines of the truth: O name size element element ... in order; C name ... of what has no order;
// U name of what heapdb does not know.

import clojure.lang.IPersistentCollection;
import clojure.lang.IPersistentMap;
import clojure.lang.PersistentArrayMap;
import clojure.lang.PersistentHashMap;
import clojure.lang.PersistentHashSet;
import clojure.lang.PersistentList;
import clojure.lang.PersistentQueue;
import clojure.lang.PersistentTreeMap;
import clojure.lang.PersistentVector;
import clojure.lang.RT;
import com.google.common.collect.*;
import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.stream.Collectors;
import org.pcollections.ConsPStack;
import org.pcollections.HashTreePMap;
import org.pcollections.HashTreePSet;
import org.pcollections.PMap;
import org.pcollections.TreePVector;
import static scala.jdk.javaapi.CollectionConverters.asJava;

public class KnownLibraries {
    static final Map<String, Object> ALL = new LinkedHashMap<>();
    static final List<String> TRUTH = new ArrayList<>();
    static int most = 40000;

    /** Sizes of collections, and of those with many levels. */
    static int[] sizes(int... sizes) { return Arrays.stream(sizes).filter(n -> n <= most).toArray(); }
    static int[] some() { return sizes(0, 1, 2, 5, 33, 300); }
    static final List<Object> KEPT = new ArrayList<>();

    static String text(Object o) {
        if (o instanceof Map.Entry<?, ?> e)
            return text(e.getKey()) + "=" + text(e.getValue());
        return o == null ? "null" : String.valueOf(o);
    }

    static void put(String name, Object o, Iterable<?> elements, boolean ordered) {
        List<String> texts = new ArrayList<>();
        for (Object e : elements)
            texts.add(text(e));
        if (!ordered)
            Collections.sort(texts);
        ALL.put(name, o);
        TRUTH.add((ordered ? "O\t" : "C\t") + name + "\t" + texts.size() +
            texts.stream().map(t -> "\t" + t).collect(Collectors.joining()));
    }

    /** What heapdb does not know, and says so: U in the truth. */
    static void unknown(String name, Object o) {
        ALL.put(name, o);
        TRUTH.add("U\t" + name);
    }

    static void list(String name, Collection<?> c) { put(name, c, c, true); }
    static void set(String name, Collection<?> c) { put(name, c, c, false); }
    static void map(String name, Map<?, ?> m) { put(name, m, m.entrySet(), false); }
    static void map(String name, Object o, Map<?, ?> m) { put(name, o, m.entrySet(), false); }

    /** Keys of which four have the same hash, and four more have the same again. */
    static String key(int i) {
        if (i >= 16)
            return "key" + i;
        String s = "";
        for (int bit = 0; bit < 4; bit++)
            s += (i >> bit & 1) == 0 ? "Aa" : "BB";
        return s;
    }

    // The same objects everywhere, so that a recorded dump is small.
    static final Map<Integer, Object> BOXES = new HashMap<>(), KEYS = new HashMap<>();

    static Object box(int i) { return BOXES.computeIfAbsent(i, n -> n); }
    static String sharedKey(int i) { return (String) KEYS.computeIfAbsent(i, KnownLibraries::key); }

    static Map<Object, Object> some(int n) {
        Map<Object, Object> m = new LinkedHashMap<>();
        for (int i = 0; i < n; i++)
            m.put(sharedKey(i), box(i + 1000));
        return m;
    }

    static List<Object> elements(int n) {
        List<Object> l = new ArrayList<>();
        for (int i = 0; i < n; i++)
            l.add(i % 7 == 3 ? sharedKey(i) : box(i));
        return l;
    }

    // ---- Guava ----

    static void guava() {
        for (int n : some()) {
            Map<Object, Object> m = some(n);
            List<Object> l = elements(n);
            map("ImmutableMap " + n, ImmutableMap.copyOf(m));
            put("ImmutableSortedMap " + n, ImmutableSortedMap.copyOf((Map) m), new TreeMap<>(m).entrySet(), true);
            map("ImmutableBiMap " + n, ImmutableBiMap.copyOf(m));
            map("HashBiMap " + n, HashBiMap.create(m));
            list("ImmutableList " + n, ImmutableList.copyOf(l));
            set("ImmutableSet " + n, ImmutableSet.copyOf(l));
            list("ImmutableSortedSet " + n, ImmutableSortedSet.copyOf((Collection) m.keySet()));
            Map<Object, Object> weak = new MapMaker().weakKeys().makeMap();
            Map<Object, Object> weakValues = new MapMaker().weakValues().makeMap();
            Map<Object, Object> both = new MapMaker().weakKeys().weakValues().concurrencyLevel(1).makeMap();
            Interner<Object> interner = Interners.newWeakInterner();
            for (Object k : m.keySet()) {
                KEPT.add(k);
                KEPT.add(m.get(k));
                weak.put(k, m.get(k));
                weakValues.put(k, m.get(k));
                both.put(k, m.get(k));
                interner.intern(k);
            }
            map("MapMaker, weak keys " + n, weak);
            map("MapMaker, weak values " + n, weakValues);
            map("MapMaker, both weak " + n, both);
            put("weak interner " + n, interner, m.keySet(), false);
            com.google.common.cache.Cache<Object, Object> cache =
                com.google.common.cache.CacheBuilder.newBuilder().weakKeys().softValues().build();
            cache.putAll(m);
            map("Cache " + n, cache, cache.asMap());
            Multiset<Object> bag = HashMultiset.create();
            for (int i = 0; i < n; i++)
                bag.add(i / 2);
            put("HashMultiset " + n, bag, bag.entrySet().stream().map(e -> e.getElement() + "=" + e.getCount())
                .collect(Collectors.toList()), false);
        }
        map("head of an ImmutableSortedMap", ImmutableSortedMap.copyOf((Map) some(40)).headMap("key30"));
        list("subList of an ImmutableList", ImmutableList.copyOf(elements(50)).subList(10, 30));
    }

    // ---- Scala ----

    static void scala() {
        for (int n : sizes(0, 1, 2, 3, 4, 5, 33, 300, 1100, 40000)) {
            var v = scala.collection.immutable.Vector$.MODULE$.empty();
            var prepended = scala.collection.immutable.Vector$.MODULE$.empty();
            for (Object o : elements(n)) {
                v = (scala.collection.immutable.Vector) ((scala.collection.immutable.Seq) v).appended(o);
                prepended =
                    (scala.collection.immutable.Vector) ((scala.collection.immutable.Seq) prepended).prepended(o);
            }
            put("Scala Vector " + n, v, asJava(v), true);
            if (n > 300)
                put("Scala Vector, prepended " + n, prepended, asJava(prepended), true);
            if (n > 300)
                continue;
            var m = (scala.collection.immutable.Map) scala.collection.immutable.HashMap$.MODULE$.empty();
            var small = (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty();
            var s = scala.collection.immutable.HashSet$.MODULE$.empty();
            var listMap = (scala.collection.immutable.Map) scala.collection.immutable.ListMap$.MODULE$.empty();
            scala.math.Ordering order =
                scala.math.Ordering$.MODULE$.comparatorToOrdering((Comparator) Comparator.naturalOrder());
            scala.collection.immutable.Map tree = scala.collection.immutable.TreeMap$.MODULE$.empty(order);
            scala.collection.immutable.SortedSet treeSet = scala.collection.immutable.TreeSet$.MODULE$.empty(order);
            var trie = new scala.collection.concurrent.TrieMap<Object, Object>();
            var buffer = new scala.collection.mutable.ListBuffer<Object>();
            var mutableTree = new scala.collection.mutable.TreeMap<Object, Object>((scala.math.Ordering) order);
            var linked = new scala.collection.mutable.LinkedHashSet<Object>();
            for (var e : some(n).entrySet()) {
                m = (scala.collection.immutable.Map) m.updated(e.getKey(), e.getValue());
                small = (scala.collection.immutable.Map) small.updated(e.getKey(), e.getValue());
                listMap = (scala.collection.immutable.Map) listMap.updated(e.getKey(), e.getValue());
                tree = (scala.collection.immutable.Map) tree.updated(e.getKey(), e.getValue());
                trie.put(e.getKey(), e.getValue());
                mutableTree.put(e.getKey(), e.getValue());
                linked.add(e.getKey());
                treeSet = (scala.collection.immutable.SortedSet) treeSet.incl(e.getKey());
                s = (scala.collection.immutable.HashSet) s.incl(e.getKey());
            }
            for (Object o : elements(n))
                buffer.addOne(o);
            map("Scala HashMap " + n, m, asJava(m));
            map("Scala Map " + n, small, asJava(small));
            put("Scala HashSet " + n, s, asJava(s), false);
            put("Scala ListMap " + n, listMap, asJava(listMap).entrySet(), true);
            put("Scala TreeMap " + n, tree, asJava(tree).entrySet(), true);
            put("Scala TreeSet " + n, treeSet, asJava((scala.collection.Set) treeSet), true);
            map("Scala TrieMap " + n, trie, asJava((scala.collection.Map) trie));
            put("Scala mutable TreeMap " + n, mutableTree, asJava((scala.collection.Map) mutableTree).entrySet(),
                true);
            put("Scala mutable LinkedHashSet " + n, linked, asJava((scala.collection.mutable.Set) linked), true);
            put("Scala ListBuffer " + n, buffer, asJava((scala.collection.mutable.Buffer) buffer), true);
            put("Scala List " + n, buffer.toList(), asJava((scala.collection.Seq) buffer.toList()), true);
            var queue = scala.collection.immutable.Queue$.MODULE$.empty();
            for (Object o : elements(n))
                queue = (scala.collection.immutable.Queue) queue.enqueue(o);
            if (n > 2)
                queue = (scala.collection.immutable.Queue) ((scala.Tuple2) queue.dequeue())._2();
            if (n > 2)
                queue = (scala.collection.immutable.Queue) queue.enqueue("last");
            put("Scala Queue " + n, queue, asJava((scala.collection.Seq) queue), true);
        }
    }

    // ---- Clojure ----

    static void clojure() {
        RT.init();
        for (int n : sizes(0, 1, 2, 5, 8, 33, 300, 1100, 40000)) {
            list("Clojure PersistentVector " + n, PersistentVector.create(elements(n)));
            if (n > 300)
                continue;
            IPersistentMap hash = PersistentHashMap.EMPTY, tree = PersistentTreeMap.EMPTY,
                array = PersistentArrayMap.EMPTY;
            for (var e : some(n).entrySet()) {
                hash = hash.assoc(e.getKey(), e.getValue());
                tree = tree.assoc(e.getKey(), e.getValue());
                array = array.assoc(e.getKey(), e.getValue());
            }
            map("Clojure PersistentHashMap " + n, (Map<?, ?>) hash);
            put("Clojure PersistentTreeMap " + n, tree, ((Map<?, ?>) tree).entrySet(), true);
            map("Clojure map " + n, (Map<?, ?>) array);
            map("Clojure map with a null key " + n, (Map<?, ?>) hash.assoc(null, "for null"));
            set("Clojure PersistentHashSet " + n, PersistentHashSet.create(elements(n)));
            list("Clojure PersistentList " + n, (Collection<?>) PersistentList.create(elements(n)));
            IPersistentCollection queue = PersistentQueue.EMPTY;
            for (Object o : elements(n))
                queue = queue.cons(o);
            list("Clojure PersistentQueue " + n, (Collection<?>) queue);
            Object cons = null;
            for (Object o : elements(n))
                cons = RT.cons(o, cons);
            if (cons != null)
                list("Clojure Cons " + n, (Collection<?>) cons);
        }
        map("Clojure map with nil", (Map<?, ?>) PersistentArrayMap.EMPTY.assoc(null, "v").assoc("k", null));
        list("Clojure Cons before a list",
            (Collection<?>) RT.cons("a", RT.cons("b", PersistentList.create(elements(5)))));
        PersistentVector vector = PersistentVector.create(elements(70));
        for (int n : new int[] { 1, 31, 40, 65 }) {
            Object rest = vector.seq();
            for (int i = 0; i < n; i++)
                rest = RT.next(rest);
            list("Clojure rest of a vector " + n, (Collection<?>) rest);
            list("Clojure Cons before it " + n, (Collection<?>) RT.cons("a", rest));
        }
        Object range = clojure.java.api.Clojure.var("clojure.core", "range").invoke(33);
        unknown("Clojure range", range);
        unknown("Clojure Cons before a range", RT.cons("a", range));
        Object lazy = clojure.java.api.Clojure.var("clojure.core", "map")
            .invoke(clojure.java.api.Clojure.var("clojure.core", "str"), PersistentVector.create(elements(100)));
        list("Clojure LazySeq", (Collection<?>) lazy);
    }

    // ---- vavr ----

    static void vavr() {
        for (int n : sizes(0, 1, 2, 5, 33, 300, 1100, 40000)) {
            var v = io.vavr.collection.Vector.ofAll(elements(n));
            put("vavr Vector " + n, v, v.toJavaList(), true);
            v = v.drop(n / 3);
            put("vavr Vector, dropped " + n, v, v.toJavaList(), true);
            v = v.append("last").prepend("first");
            put("vavr Vector, both ends " + n, v, v.toJavaList(), true);
            if (n > 300)
                continue;
            Map<Object, Object> m = some(n);
            var hash = io.vavr.collection.HashMap.ofAll(m);
            map("vavr HashMap " + n, hash, hash.toJavaMap());
            var linked = io.vavr.collection.LinkedHashMap.<Object, Object>empty();
            for (var e : m.entrySet())
                linked = linked.put(e.getKey(), e.getValue());
            put("vavr LinkedHashMap " + n, linked, m.entrySet(), true);
            var tree = io.vavr.collection.TreeMap.ofAll((Comparator) Comparator.naturalOrder(), m);
            put("vavr TreeMap " + n, tree, new TreeMap<>(m).entrySet(), true);
            put("vavr HashSet " + n, io.vavr.collection.HashSet.ofAll(m.keySet()), m.keySet(), false);
            put("vavr LinkedHashSet " + n, io.vavr.collection.LinkedHashSet.ofAll(m.keySet()), m.keySet(), true);
            var treeSet = io.vavr.collection.TreeSet.ofAll((Comparator) Comparator.naturalOrder(), m.keySet());
            put("vavr TreeSet " + n, treeSet, new TreeSet<>(m.keySet()), true);
            put("vavr List " + n, io.vavr.collection.List.ofAll(elements(n)), elements(n), true);
            put("vavr Array " + n, io.vavr.collection.Array.ofAll(elements(n)), elements(n), true);
            var queue = io.vavr.collection.Queue.empty();
            for (Object o : elements(n))
                queue = queue.enqueue(o);
            put("vavr Queue " + n, queue, elements(n), true);
        }
        put("vavr Vector of int", io.vavr.collection.Vector.ofAll(1, 2, 3), List.of(1, 2, 3), true);
    }

    // ---- Eclipse Collections ----

    static void eclipse() {
        for (int n : sizes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 33, 300)) {
            Map<Object, Object> m = some(n);
            List<Object> l = elements(n);
            list("FastList " + n, org.eclipse.collections.impl.list.mutable.FastList.newList(l));
            put("ImmutableList of Eclipse Collections " + n,
                org.eclipse.collections.impl.factory.Lists.immutable.withAll(l), l, true);
            put("ImmutableSet of Eclipse Collections " + n,
                org.eclipse.collections.impl.factory.Sets.immutable.withAll(m.keySet()), m.keySet(), false);
            put("ImmutableMap of Eclipse Collections " + n,
                org.eclipse.collections.impl.map.mutable.UnifiedMap.newMap(m).toImmutable(), m.entrySet(), false);
            map("UnifiedMap " + n, org.eclipse.collections.impl.map.mutable.UnifiedMap.newMap(m));
            set("UnifiedSet " + n, org.eclipse.collections.impl.set.mutable.UnifiedSet.newSet(m.keySet()));
            var ints = new org.eclipse.collections.impl.list.mutable.primitive.IntArrayList();
            for (int i = 0; i < n; i++)
                ints.add(i * 3);
            put("IntArrayList of Eclipse Collections " + n, ints, ints.collect(i -> i), true);
        }
    }

    // ---- PCollections, Kotlin ----

    static void persistent() {
        for (int n : some()) {
            Map<Object, Object> m = some(n);
            PMap<Object, Object> hash = HashTreePMap.from(m);
            map("HashPMap " + n, hash);
            set("MapPSet " + n, HashTreePSet.from(m.keySet()));
            list("TreePVector " + n, TreePVector.from(elements(n)));
            list("ConsPStack " + n, ConsPStack.from(elements(n)));
            put("TreePMap " + n, org.pcollections.TreePMap.from((Map) m), new TreeMap<>(m).entrySet(), true);
            list("TreePSet " + n, org.pcollections.TreePSet.from((Collection) m.keySet()));
            var numbers = org.pcollections.IntTreePMap.<Object>empty();
            for (int i = 0; i < n; i++)
                numbers = numbers.plus(i * 37 % 1009 - 300, "v" + i);
            map("IntTreePMap " + n, numbers);
            org.pcollections.AmortizedPQueue<Object> queue = org.pcollections.AmortizedPQueue.empty();
            for (Object o : elements(n))
                queue = queue.plus(o);
            list("AmortizedPQueue " + n, queue);
            list("OrderedPSet " + n, org.pcollections.OrderedPSet.from(m.keySet()));

            map("kotlinx PersistentHashMap " + n,
                kotlinx.collections.immutable.ExtensionsKt.<Object, Object>persistentHashMapOf().putAll(m));
            map("kotlinx PersistentOrderedMap " + n,
                kotlinx.collections.immutable.ExtensionsKt.<Object, Object>persistentMapOf().putAll(m));
            var withNull = new ArrayList<Object>(m.keySet());
            withNull.add(null);
            set("kotlinx PersistentHashSet " + n,
                kotlinx.collections.immutable.ExtensionsKt.<Object>persistentHashSetOf().addAll(withNull));
            set("kotlinx PersistentOrderedSet " + n,
                kotlinx.collections.immutable.ExtensionsKt.<Object>persistentSetOf().addAll(m.keySet()));
        }
        for (int n : sizes(0, 1, 32, 33, 300, 1100, 40000)) {
            List<Object> l = elements(n);
            list("kotlinx PersistentVector " + n,
                kotlinx.collections.immutable.ExtensionsKt.<Object>persistentListOf().addAll(l));
            var builder = kotlinx.collections.immutable.ExtensionsKt.<Object>persistentListOf().builder();
            for (Object o : l)
                builder.add(o);
            if (n <= 1100)
                list("kotlinx PersistentVectorBuilder " + n, builder);
        }
    }

    // ---- numbers: Agrona, HPPC, fastutil, RoaringBitmap ----

    static Map<Object, Object> numbers(int n) {
        Map<Object, Object> m = new TreeMap<>();
        for (int i = 0; i < n; i++)
            m.put(box(i * 7 - 14), box(i * 3 + 1));
        return m;
    }

    static void numbers() {
        for (int n : some()) {
            Map<Object, Object> m = numbers(n);
            var intObject = new org.agrona.collections.Int2ObjectHashMap<Object>();
            var longObject = new org.agrona.collections.Long2ObjectHashMap<Object>();
            var intInt = new org.agrona.collections.Int2IntHashMap(-77);
            var longLong = new org.agrona.collections.Long2LongHashMap(0);
            var objects = new org.agrona.collections.Object2ObjectHashMap<Object, Object>();
            var objectInt = new org.agrona.collections.Object2IntHashMap<Object>(-1);
            var counters = new org.agrona.collections.Int2IntCounterMap(0);
            var ints = new org.agrona.collections.IntHashSet();
            var longs = new org.agrona.collections.LongHashSet();
            var set = new org.agrona.collections.ObjectHashSet<Object>();
            var list = new org.agrona.collections.IntArrayList();
            var hppcObjects = new com.carrotsearch.hppc.IntObjectHashMap<Object>();
            var hppcLongs = new com.carrotsearch.hppc.LongLongHashMap();
            var hppcInts = new com.carrotsearch.hppc.ObjectIntHashMap<Object>();
            var hppcSet = new com.carrotsearch.hppc.IntHashSet();
            var hppcObjectSet = new com.carrotsearch.hppc.ObjectHashSet<Object>();
            var hppcList = new com.carrotsearch.hppc.IntArrayList();
            var fastIntObject = new it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap<Object>();
            var fastIntInt = new it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap();
            var fastLong = new it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap<Object>();
            var fastObjects = new it.unimi.dsi.fastutil.objects.Object2ObjectOpenHashMap<Object, Object>();
            var fastLinked = new it.unimi.dsi.fastutil.objects.Object2ObjectLinkedOpenHashMap<Object, Object>();
            var fastSet = new it.unimi.dsi.fastutil.objects.ObjectOpenHashSet<Object>();
            var fastInts = new it.unimi.dsi.fastutil.ints.IntOpenHashSet();
            var fastList = new it.unimi.dsi.fastutil.objects.ObjectArrayList<Object>(elements(n));
            var fastIntList = new it.unimi.dsi.fastutil.ints.IntArrayList();
            for (var e : m.entrySet()) {
                int k = (Integer) e.getKey(), v = (Integer) e.getValue();
                intObject.put(k, "v" + v);
                longObject.put(k * 1L << 20, "v" + v);
                intInt.put(k, v);
                longLong.put(k, v);
                objects.put("k" + k, v);
                objectInt.put("k" + k, v);
                counters.addAndGet(k, v);
                ints.add(k);
                longs.add(k);
                set.add("k" + k);
                list.add(k);
                hppcObjects.put(k, "v" + v);
                hppcLongs.put(k, v);
                hppcInts.put("k" + k, v);
                hppcSet.add(k);
                hppcObjectSet.add("k" + k);
                hppcList.add(k);
                fastIntObject.put(k, "v" + v);
                fastIntInt.put(k, v);
                fastLong.put(k, "v" + v);
                fastObjects.put("k" + k, v);
                fastLinked.put("k" + k, v);
                fastSet.add("k" + k);
                fastInts.add(k);
                fastIntList.add(k);
            }
            if (n > 2) {
                ints.add(-1);
                longs.add(-1);
                hppcObjectSet.add(null);
                fastSet.add(null);
                fastObjects.put(null, "for null");
            }
            map("Agrona Int2ObjectHashMap " + n, intObject);
            map("Agrona Long2ObjectHashMap " + n, longObject);
            map("Agrona Int2IntHashMap " + n, intInt);
            map("Agrona Long2LongHashMap " + n, longLong);
            map("Agrona Object2ObjectHashMap " + n, objects);
            map("Agrona Object2IntHashMap " + n, objectInt);
            put("Agrona Int2IntCounterMap " + n, counters, m.entrySet(), false);
            set("Agrona IntHashSet " + n, ints);
            set("Agrona LongHashSet " + n, longs);
            set("Agrona ObjectHashSet " + n, set);
            list("Agrona IntArrayList " + n, list);
            put("HPPC IntObjectHashMap " + n, hppcObjects,
                m.entrySet().stream().map(e -> e.getKey() + "=v" + e.getValue()).collect(Collectors.toList()), false);
            put("HPPC LongLongHashMap " + n, hppcLongs, m.entrySet(), false);
            put("HPPC ObjectIntHashMap " + n, hppcInts,
                m.entrySet().stream().map(e -> "k" + e.getKey() + "=" + e.getValue())
                    .collect(Collectors.toList()), false);
            put("HPPC IntHashSet " + n, hppcSet, m.keySet(), false);
            List<Object> names = m.keySet().stream().map(k -> "k" + k).collect(Collectors.toList());
            if (n > 2)
                names.add(null);
            put("HPPC ObjectHashSet " + n, hppcObjectSet, names, false);
            put("HPPC IntArrayList " + n, hppcList, m.keySet(), true);
            map("fastutil Int2ObjectOpenHashMap " + n, fastIntObject);
            map("fastutil Int2IntOpenHashMap " + n, fastIntInt);
            map("fastutil Long2ObjectOpenHashMap " + n, fastLong);
            map("fastutil Object2ObjectOpenHashMap " + n, fastObjects);
            map("fastutil Object2ObjectLinkedOpenHashMap " + n, fastLinked);
            set("fastutil ObjectOpenHashSet " + n, fastSet);
            set("fastutil IntOpenHashSet " + n, fastInts);
            list("fastutil ObjectArrayList " + n, fastList);
            list("fastutil IntArrayList " + n, fastIntList);
        }
        for (int n : some()) {
            List<Queue<Object>> queues = List.of(new org.jctools.queues.MpscLinkedQueue<>(),
                new org.jctools.queues.MpscUnboundedArrayQueue<>(64),
                new org.jctools.queues.SpscUnboundedArrayQueue<>(64),
                new org.jctools.queues.MpmcArrayQueue<>(512),
                new org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue<>(64),
                new org.jctools.queues.atomic.SpscAtomicArrayQueue<>(512),
                (Queue<Object>) reactor.util.concurrent.Queues.unbounded(64).get(),
                (Queue<Object>) reactor.util.concurrent.Queues.unboundedMultiproducer().get());
            for (Queue<Object> queue : queues) {
                for (int i = -5; i < n; i++) queue.add("q" + i);
                for (int i = 0; i < 5; i++) queue.poll();
                List<Object> rest = new ArrayList<>();
                for (int i = 0; i < n; i++) rest.add("q" + i);
                // The elements of the second array of a linked array begin in its middle.
                put("values of " + queue.getClass().getName() + " " + n, queue, rest, false);
            }
        }
        for (int n : sizes(0, 1, 1000, 20000)) {
            var bits = new org.roaringbitmap.RoaringBitmap();
            for (int i = 0; i < n; i++)
                bits.add(i * 3 + (i % 5 == 0 ? 1 << 20 : 0));
            put("RoaringBitmap " + n, bits, bits, true);
        }
        var runs = new org.roaringbitmap.RoaringBitmap();
        runs.add(5L, 3000L);
        runs.add(70000L, 70003L);
        runs.add(-2);
        runs.runOptimize();
        List<Object> numbers = new ArrayList<>();
        runs.forEach((org.roaringbitmap.IntConsumer) i -> numbers.add(Integer.toUnsignedLong(i)));
        put("RoaringBitmap of runs", runs, numbers, true);
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 2)
            most = Integer.parseInt(args[2]);
        guava();
        scala();
        clojure();
        vavr();
        eclipse();
        persistent();
        numbers();
        try (PrintWriter out = new PrintWriter(args[1], StandardCharsets.UTF_8)) {
            TRUTH.forEach(out::println);
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
