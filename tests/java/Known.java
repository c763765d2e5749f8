// tests/java/Known.java - makes collections and values of every known class, dumps the heap, and
// writes its contents next to it, as the classes themselves return them.
//
//     java tests/java/Known.java OUT.hprof TRUTH.tsv
//
// Lines of the truth: C name size element element ... (maps: key=value), V name text; in the order
// of the map ALL, from names to objects. Elements are sorted if the collection has no order; O is C
// for sets and maps that have one, U a collection whose entries heapdb cannot know.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.File;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

public class Known {
    static final Map<String, Object> ALL = new LinkedHashMap<>();
    static final List<String> TRUTH = new ArrayList<>();

    enum Color { RED, GREEN, BLUE }
    enum Many { A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, B0, B1, B2, B3, B4, B5, B6, B7, B8, B9,
        C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, D0, D1, D2, D3, D4, D5, D6, D7, D8, D9,
        E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, F0, F1, F2, F3, F4, F5, F6, F7, F8, F9,
        G0, G1, G2, G3, G4, G5, G6, G7, G8, G9 }
    record Point(int x, int y, String name) {}

    // Fields of a subclass with the names that matter must not mislead.
    static class Misleading extends HashMap<Object, Object> {
        int size = 77;
        Object[] table = { "wrong" };
    }

    static class Late implements Delayed {
        public long getDelay(TimeUnit unit) { return 1; }
        public int compareTo(Delayed other) { return 0; }
        public String toString() { return "late"; }
    }

    static String text(Object o) {
        return o instanceof Map.Entry<?, ?> e ? text(e.getKey()) + "=" + text(e.getValue()) : String.valueOf(o);
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

    static void list(String name, Collection<?> c) { put(name, c, c, true); }
    static void set(String name, Collection<?> c) { put(name, c, c, false); }
    static void map(String name, Map<?, ?> m) { put(name, m, m.entrySet(), false); }
    static void value(String name, Object o, String text) {
        ALL.put(name, o);
        TRUTH.add("V\t" + name + "\t" + text);
    }
    static void value(String name, Object o) { value(name, o, o.toString()); }

    static void fill(String name, Map<Object, Object> m, int n) {
        for (int i = 0; i < n; i++)
            m.put("key" + i, i + 1000);
        map(name + " " + n, m);
    }

    static void fill(String name, Collection<Object> c, int n, boolean ordered) {
        for (int i = 0; i < n; i++)
            c.add("e" + i);
        put(name + " " + n, c, c, ordered);
    }

    static void collections() throws Exception {
        for (int n : new int[] { 0, 1, 2, 10, 333 }) {
            fill("HashMap", new HashMap<>(), n);
            fill("LinkedHashMap", new LinkedHashMap<>(), n);
            fill("TreeMap", new TreeMap<>(), n);
            fill("Hashtable", new Hashtable<>(), n);
            fill("IdentityHashMap", new IdentityHashMap<>(), n);
            fill("ConcurrentHashMap", new ConcurrentHashMap<>(), n);
            fill("ConcurrentSkipListMap", new ConcurrentSkipListMap<>(), n);
            fill("Misleading", new Misleading(), n);
            fill("Properties", new Properties(), n);
            fill("ArrayList", new ArrayList<>(), n, true);
            fill("LinkedList", new LinkedList<>(), n, true);
            fill("Vector", new Vector<>(), n, true);
            fill("Stack", new Stack<>(), n, true);
            fill("ArrayDeque", new ArrayDeque<>(), n, true);
            fill("PriorityQueue", new PriorityQueue<>(), n, true);
            fill("HashSet", new HashSet<>(), n, false);
            fill("LinkedHashSet", new LinkedHashSet<>(), n, true);
            fill("TreeSet", new TreeSet<>(), n, true);
            fill("ConcurrentSkipListSet", new ConcurrentSkipListSet<>(), n, true);
            fill("CopyOnWriteArrayList", new CopyOnWriteArrayList<>(), n, true);
            fill("CopyOnWriteArraySet", new CopyOnWriteArraySet<>(), n, true);
            fill("ConcurrentLinkedQueue", new ConcurrentLinkedQueue<>(), n, true);
            fill("ConcurrentLinkedDeque", new ConcurrentLinkedDeque<>(), n, true);
            fill("LinkedBlockingQueue", new LinkedBlockingQueue<>(), n, true);
            fill("LinkedBlockingDeque", new LinkedBlockingDeque<>(), n, true);
            fill("LinkedTransferQueue", new LinkedTransferQueue<>(), n, true);
            fill("ArrayBlockingQueue", new ArrayBlockingQueue<>(500), n, true);
            fill("PriorityBlockingQueue", new PriorityBlockingQueue<>(), n, true);
            fill("keySet of CHM", ConcurrentHashMap.newKeySet(), n, false);
        }
        // Rings that are wrapped round; queues whose heads were taken.
        ArrayDeque<Object> ring = new ArrayDeque<>(16);
        ArrayBlockingQueue<Object> blocking = new ArrayBlockingQueue<>(8);
        ConcurrentLinkedQueue<Object> lazy = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 40; i++) {
            ring.add("r" + i);
            blocking.add("b" + i);
            lazy.add("l" + i);
            if (i >= 6) {
                ring.remove();
                blocking.remove();
                lazy.remove();
            }
        }
        list("ring", ring);
        list("blocking ring", blocking);
        list("queue with its head taken", lazy);
        ConcurrentSkipListMap<Object, Object> skip = new ConcurrentSkipListMap<>();
        for (int i = 0; i < 100; i++)
            skip.put(i, "s" + i);
        for (int i = 0; i < 100; i += 2)
            skip.remove(i);
        map("skip list with holes", skip);
        // A counter with cells.
        ConcurrentHashMap<Object, Object> striped = new ConcurrentHashMap<>();
        Thread[] threads = new Thread[8];
        for (int t = 0; t < threads.length; t++) {
            int first = t * 2000;
            threads[t] = new Thread(() -> {
                for (int i = first; i < first + 2000; i++)
                    striped.put(i, "x");
            });
            threads[t].start();
        }
        for (Thread t : threads)
            t.join();
        map("striped", striped);
        HashMap<Object, Object> nulls = new HashMap<>();
        nulls.put(null, "for null");
        nulls.put("to null", null);
        map("nulls", nulls);
        list("list of nulls", new ArrayList<>(Arrays.asList("a", null, "b")));
        for (int n = 0; n < 5; n++) {
            List<String> some = new ArrayList<>();
            Map<String, String> pairs = new HashMap<>();
            for (int i = 0; i < n; i++) {
                some.add("i" + i);
                pairs.put("k" + i, "v" + i);
            }
            list("List.copyOf " + n, List.copyOf(some));
            set("Set.copyOf " + n, Set.copyOf(some));
            map("Map.copyOf " + n, Map.copyOf(pairs));
        }
        list("Arrays.asList", Arrays.asList("p", "q", "r"));
        list("subList", new ArrayList<>(List.of("0", "1", "2", "3", "4")).subList(1, 4));
        list("singletonList", Collections.singletonList("one"));
        set("singleton", Collections.singleton("one"));
        map("singletonMap", Collections.singletonMap("one", "1"));
        list("emptyList", Collections.emptyList());
        set("emptySet", Collections.emptySet());
        map("emptyMap", Collections.emptyMap());
        EnumMap<Color, Object> byColor = new EnumMap<>(Color.class);
        byColor.put(Color.GREEN, "g");
        byColor.put(Color.BLUE, "b");
        map("EnumMap", byColor);
        list("EnumSet", EnumSet.of(Color.RED, Color.BLUE));
        list("large EnumSet", EnumSet.of(Many.A0, Many.C5, Many.G3, Many.G9));
        BitSet bits = new BitSet();
        bits.set(3);
        bits.set(64);
        bits.set(1000);
        put("BitSet", bits, List.of(3, 64, 1000), true);
        put("empty BitSet", new BitSet(), List.of(), true);
        Map<Object, Object> inner = new HashMap<>(Map.of("a", "1", "b", "2"));
        map("unmodifiableMap", Collections.unmodifiableMap(inner));
        map("synchronizedMap", Collections.synchronizedMap(inner));
        map("wrapped twice", Collections.unmodifiableMap(Collections.synchronizedMap(inner)));
        list("unmodifiableList", Collections.unmodifiableList(new ArrayList<>(List.of("u"))));
        list("synchronizedList", Collections.synchronizedList(new LinkedList<>(List.of("s"))));
        set("unmodifiableSet", Collections.unmodifiableSet(new HashSet<>(List.of("us"))));
        list("checkedList", Collections.checkedList(new ArrayList<>(List.of("c")), String.class));
        set("keySet", inner.keySet());
        set("values", inner.values());
        set("values of a tree", new TreeMap<>(inner).values());
        fill("newSetFromMap of a HashMap", Collections.newSetFromMap(new HashMap<>()), 4, false);
        WeakHashMap<Object, Object> weak = new WeakHashMap<>();
        for (String key : List.of("literal1", "literal2", "literal3"))
            weak.put(key, "w");
        map("WeakHashMap", weak);
        DelayQueue<Late> delayed = new DelayQueue<>();
        delayed.add(new Late());
        ALL.put("DelayQueue", delayed);
        TRUTH.add("C\tDelayQueue\t1\tKnown$Late");
        LinkedHashMap<Object, Object> lru = new LinkedHashMap<>(16, 0.75f, true);
        for (int i = 0; i < 5; i++)
            lru.put("" + i, i);
        lru.get("0");
        put("access order", lru, lru.entrySet(), true);
        list("nCopies", Collections.nCopies(1000, "same"));
        list("nCopies 0", Collections.nCopies(0, "same"));
        list("nCopies of null", Collections.nCopies(3, null));
        views();
    }

    static void ordered(String name, Map<?, ?> m) { put(name, m, m.entrySet(), true); }

    // Views of sorted maps: bounds of keys that can be compared, and of others.
    static void views() {
        TreeMap<Object, Object> texts = new TreeMap<>(), numbers = new TreeMap<>();
        TreeMap<Object, Object> backwards = new TreeMap<>(Collections.reverseOrder());
        TreeMap<String, Object> own = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        TreeMap<Object, Object> colors = new TreeMap<>();
        ConcurrentSkipListMap<Object, Object> skip = new ConcurrentSkipListMap<>();
        for (int i = 0; i < 50; i++) {
            texts.put("t" + i, i);
            numbers.put(i * 10L - 200, i);
            backwards.put((short) i, i);
            own.put("o" + i, i);
            skip.put(i, i);
        }
        for (String s : List.of("t2\uffee", "t2\ud83d\ude00", "t2\u00e4"))
            texts.put(s, s);
        for (Color c : Color.values())
            colors.put(c, c.ordinal());
        ordered("subMap of texts", texts.subMap("t10", "t3"));
        ordered("headMap of texts", texts.headMap("t2\ud83d\ude00", true));
        ordered("tailMap of texts", texts.tailMap("t2\ud83d\ude00", false));
        ordered("subMap of numbers", numbers.subMap(-155L, true, 100L, true));
        ordered("subMap without its ends", numbers.subMap(-150L, false, 100L, false));
        ordered("empty subMap", numbers.subMap(1L, 2L));
        ordered("descendingMap", numbers.descendingMap());
        ordered("descending subMap", numbers.descendingMap().subMap(100L, -150L));
        ordered("subMap of a reversed map", backwards.subMap((short) 20, (short) 3));
        ordered("subMap of enums", colors.tailMap(Color.GREEN));
        ordered("whole subMap with a comparator of its own", own.descendingMap());
        ordered("subMap of a skip list", skip.subMap(10, 20));
        ordered("tailMap of a skip list", skip.tailMap(45, false));
        list("subSet", new TreeSet<>(numbers.keySet()).subSet(0L, 50L));
        list("descendingSet", new TreeSet<>(numbers.keySet()).descendingSet());
        list("keySet of a subMap", numbers.subMap(0L, 50L).keySet());
        unknown("subMap with a comparator of its own", own.subMap("O1", "o3"));
        unknown("descending skip list", skip.descendingMap());
        unknown("unmodifiable list of a list of its own", Collections.unmodifiableList(new AbstractList<String>() {
            public int size() { return 2; }
            public String get(int i) { return "computed"; }
        }));
    }

    static void unknown(String name, Object o) {
        ALL.put(name, o);
        TRUTH.add("U\t" + name);
    }

    static void values() throws Exception {
        value("int", 42);
        value("negative long", -1234567890123L);
        value("short", (short) -3);
        value("byte", (byte) -1);
        value("char", 'x', "'x'");
        value("true", Boolean.TRUE);
        value("float", 1.5f);
        value("double", 0.25);
        value("string", "hello");
        value("long string", "0123456789".repeat(9));
        value("optional of a long string", Optional.of("0123456789".repeat(9)),
            "Optional[" + "0123456789".repeat(9).substring(0, 63) + "]");
        value("StringBuilder", new StringBuilder("built"), "\"built\"");
        value("wide StringBuffer", new StringBuffer("\u0416\u0438\u0437"), "\"\u0416\u0438\u0437\"");
        value("AtomicInteger", new AtomicInteger(-7));
        value("AtomicLong", new AtomicLong(1L << 40));
        value("AtomicBoolean", new AtomicBoolean(true));
        value("AtomicReference", new AtomicReference<>("inside"));
        LongAdder adder = new LongAdder();
        adder.add(1234);
        value("LongAdder", adder);
        for (String digits : List.of("0", "1", "-1", "4294967296", "-18446744073709551617",
                "123456789012345678901234567890123456789012345678901234567890"))
            value("BigInteger " + digits, new BigInteger(digits));
        for (String digits : List.of("0", "0.00", "-1.5", "123.456", "0.000001", "0.0000001", "1E+3", "-12E+30",
                "0.001", "-0.05", "1234567890123456789012345.6789", "1E-10", "12345E-20", "100"))
            value("BigDecimal " + digits, new BigDecimal(digits));
        value("UUID", UUID.fromString("01234567-89ab-cdef-8123-456789abcdef"));
        value("LocalDate", LocalDate.of(2024, 2, 29));
        value("LocalTime", LocalTime.of(7, 5));
        value("LocalTime seconds", LocalTime.of(7, 5, 9));
        value("LocalTime nanos", LocalTime.of(7, 5, 0, 120_000_000));
        value("LocalDateTime", LocalDateTime.of(1999, 12, 31, 23, 59, 59, 1));
        value("OffsetDateTime", OffsetDateTime.of(2020, 1, 2, 3, 4, 5, 0, ZoneOffset.ofHours(-5)));
        value("ZonedDateTime", ZonedDateTime.of(2020, 7, 2, 3, 4, 5, 0, ZoneId.of("Europe/Paris")));
        value("ZonedDateTime by offset", ZonedDateTime.of(2020, 7, 2, 3, 4, 5, 0, ZoneOffset.UTC));
        for (long s : new long[] { 0, 1, -1, 951782399, 951782400, -62135596800L, 4102444800L, 1709251199 })
            value("Instant " + s, Instant.ofEpochSecond(s));
        value("Instant nanos", Instant.ofEpochSecond(-5, 123456000));
        value("Date", new Date(1_234_567_890_123L), "2009-02-13T23:31:30.123Z");
        value("Date before 1970", new Date(-1), "1969-12-31T23:59:59.999Z");
        value("Timestamp", new Calendar.Builder().setInstant(86_400_000L).build(), "1970-01-02T00:00:00Z");
        for (String d : List.of("PT0S", "PT1H", "PT1M5S", "PT-1M", "PT-0.5S", "PT36H0.001S", "PT-1.25S",
                "P1D", "PT-59M-59.999S"))
            value("Duration " + d, Duration.parse(d));
        for (String p : List.of("P0D", "P1Y2M3D", "P-1M", "P14D"))
            value("Period " + p, Period.parse(p));
        value("Year", Year.of(1066));
        value("YearMonth", YearMonth.of(800, 12));
        value("MonthDay", MonthDay.of(5, 1));
        value("ZoneOffset", ZoneOffset.ofHoursMinutes(5, 30));
        value("ZoneId", ZoneId.of("Asia/Tokyo"));
        value("TimeZone", TimeZone.getTimeZone("America/New_York"), "America/New_York");
        value("Locale", Locale.CANADA_FRENCH);
        value("Locale of a language", Locale.GERMAN);
        value("Currency", Currency.getInstance("EUR"));
        value("Pattern", Pattern.compile("a+b*"));
        value("Optional", Optional.of("there"));
        value("Optional.empty", Optional.empty());
        value("OptionalInt", OptionalInt.of(9), "OptionalInt[9]");
        value("enum", Color.GREEN);
        value("TimeUnit", TimeUnit.SECONDS);
        value("class", String.class, "java.lang.String");
        value("File", new File("/some/where.txt"));
        value("Path", Path.of("/a/p\u00e4th"));
        value("URI", URI.create("http://user@example.org:8080/path?q=1#f"));
        value("URL", new URI("https://example.org:444/x/y.html?a=b#here").toURL());
        value("URL without port", new URI("http://example.org/z").toURL());
        value("InetAddress", InetAddress.getByAddress(new byte[] { 10, 1, (byte) 200, 3 }));
        value("named InetAddress", InetAddress.getByAddress("host", new byte[] { 127, 0, 0, 1 }));
        value("InetSocketAddress", InetSocketAddress.createUnresolved("far.example", 99), "far.example:99");
        value("Charset", StandardCharsets.UTF_16LE);
        value("entry", Map.entry("k", "v"));
        value("simple entry", new AbstractMap.SimpleEntry<>("k", 5));
        value("record", new Point(1, -2, "here"), "[name=\"here\", x=1, y=-2]");
        value("exception", new IllegalStateException("it broke"), "it broke");
        value("thread", new Thread("a thread's name"), "\"a thread's name\"");
        value("StackTraceElement", new StackTraceElement("a.B", "run", "B.java", 12));
        value("Level", java.util.logging.Level.WARNING);
        value("method", String.class.getMethod("length"), "java.lang.String.length");
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("heapdb.test.property", "its value");
        collections();
        values();
        try (PrintWriter out = new PrintWriter(args[1], StandardCharsets.UTF_8)) {
            TRUTH.forEach(out::println);
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
