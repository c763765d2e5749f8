// tests/java/KnownScala212.java - the collections of an older Scala; see KnownLibraries.java.
//
//     java -cp scala-library-2.12.JAR tests/java/KnownScala212.java OUT.hprof TRUTH.tsv

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.stream.Collectors;
import scala.Tuple2;
import scala.collection.immutable.HashMap$;
import scala.collection.immutable.HashSet$;
import scala.collection.immutable.ListMap$;
import scala.collection.immutable.Map;
import scala.collection.immutable.Queue$;
import scala.collection.immutable.TreeMap$;

public class KnownScala212 {
    static final LinkedHashMap<String, Object> ALL = new LinkedHashMap<>();
    static final List<String> TRUTH = new ArrayList<>();

    static void put(String name, Object o, Iterable<?> elements, boolean ordered) {
        List<String> texts = new ArrayList<>();
        for (Object e : elements)
            texts.add(String.valueOf(e));
        if (!ordered)
            Collections.sort(texts);
        ALL.put(name, o);
        TRUTH.add((ordered ? "O\t" : "C\t") + name + "\t" + texts.size() +
            texts.stream().map(t -> "\t" + t).collect(Collectors.joining()));
    }

    static String key(int i) {
        String s = "";
        for (int bit = 0; i < 16 && bit < 4; bit++)
            s += (i >> bit & 1) == 0 ? "Aa" : "BB";
        return i < 16 ? s : "key" + i;
    }

    @SuppressWarnings({ "unchecked", "rawtypes" })
    public static void main(String[] args) throws Exception {
        for (int n : new int[] { 0, 1, 2, 3, 4, 5, 33, 300 }) {
            scala.math.Ordering order =
                scala.math.Ordering$.MODULE$.comparatorToOrdering((Comparator) Comparator.naturalOrder());
            Map hash = HashMap$.MODULE$.empty(), list = ListMap$.MODULE$.empty();
            Map small = scala.collection.immutable.Map$.MODULE$.empty();
            Map tree = TreeMap$.MODULE$.empty(order);
            scala.collection.immutable.HashSet set = HashSet$.MODULE$.empty();
            var trie = new scala.collection.concurrent.TrieMap<Object, Object>();
            var buffer = new scala.collection.mutable.ListBuffer<Object>();
            var queue = Queue$.MODULE$.empty();
            var mutable = new scala.collection.mutable.HashMap<Object, Object>();
            List<String> entries = new ArrayList<>(), keys = new ArrayList<>(), sorted;
            for (int i = 0; i < n; i++) {
                Tuple2 pair = new Tuple2<>(key(i), i + 1000);
                hash = hash.$plus(pair);
                small = small.$plus(pair);
                list = list.$plus(pair);
                tree = tree.$plus(pair);
                set = set.$plus(key(i));
                trie.put(key(i), i + 1000);
                mutable.put(key(i), i + 1000);
                buffer.$plus$eq(key(i));
                queue = queue.enqueue(key(i));
                entries.add(key(i) + "=" + (i + 1000));
                keys.add(key(i));
            }
            sorted = new ArrayList<>(entries);
            Collections.sort(sorted, Comparator.comparing(e -> e.substring(0, e.indexOf('='))));
            put("HashMap " + n, hash, entries, false);
            put("Map " + n, small, entries, false);
            put("ListMap " + n, list, entries, true);
            put("TreeMap " + n, tree, sorted, true);
            put("HashSet " + n, set, keys, false);
            put("TrieMap " + n, trie, entries, false);
            put("mutable HashMap " + n, mutable, entries, false);
            put("ListBuffer " + n, buffer, keys, true);
            put("List " + n, buffer.toList(), keys, true);
            var vector = ((scala.collection.immutable.List) buffer.toList()).toVector().drop(n / 3);
            ALL.put("Vector " + n, vector);
            TRUTH.add("U\tVector " + n + "\t" + (n - n / 3));
            put("Queue " + n, queue, keys, true);
        }
        try (PrintWriter out = new PrintWriter(args[1], StandardCharsets.UTF_8)) {
            TRUTH.forEach(out::println);
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
