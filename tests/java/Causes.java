/*
 * Dumps its own heap with one planted problem, or with a healthy program that looks like it.
 *
 *   java Causes CASE FILE.hprof
 *
 * Each case keeps about 10 MB in a static field or a local variable of main, as a program would that has this
 * problem. A case whose name ends in "-ok" is its control: the same structure, used as it should be.
 */
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.channels.FileChannel;
import java.text.DecimalFormat;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;

public class Causes {
    enum Right {
        READ,
        WRITE,
        LIST,
        DELETE,
        GRANT,
        REVOKE,
        AUDIT,
        OWN,
        SHARE,
        COPY,
        MOVE,
        A,
        B,
        C,
        D,
        E,
        F,
        G,
        H,
        I,
        J,
        K,
        L,
        M,
        N,
        O,
        P
    }
    enum Region { NORTH, SOUTH, EAST, WEST, CENTER, ISLES }

    record Customer(String name) {}
    static class Country { static Map<String, Integer> codes; }
    static class Permissions { static List<EnumMap<Right, Boolean>> users = new ArrayList<>(); }
    static class Board { static Object[][] cells; }
    static class WriterPool { static Deque<StringBuilder> idle = new ArrayDeque<>(); }
    static class StreamPool { static Deque<ByteArrayOutputStream> idle = new ArrayDeque<>(); }
    static class Icons { static List<byte[]> images = new ArrayList<>(); }
    static class Buffers { static List<byte[]> free = new ArrayList<>(); }
    static class Order {
        final int no;
        final String state;
        final Customer customer;
        final Region region;
        Order(int no, String state, Customer customer, Region region) {
            this.no = no;
            this.state = state;
            this.customer = customer;
            this.region = region;
        }
    }
    static class Topic {
        final Deque<byte[]> messages = new ArrayDeque<>();
        final List<Runnable> consumers = new ArrayList<>();
        long enqueued, dequeued;
    }
    static class Pipe {
        final Deque<byte[]> waiting = new ArrayDeque<>();
        long messagesWritten, messagesRead;
    }
    static class Store {
        final Map<String, byte[]> pages = new HashMap<>();
        long timeToLive;
    }
    static class Engine {
        final byte[] tables;
        Engine(int seed) { tables = random(30_000, seed); }
    }
    static class Script {
        final Engine engine;
        final byte[] text;
        Script(Engine engine, byte[] text) {
            this.engine = engine;
            this.text = text;
        }
    }
    static class Shop { final Deque<byte[]> history = new ArrayDeque<>(), open = new ArrayDeque<>(); }
    static class Orders { static List<Order> all = new ArrayList<>(); }
    static class Tenants {
        static Map<String, byte[]> cache = new HashMap<>();
        static Map<String, Queue<byte[]>> queues = new HashMap<>();
        static Map<String, List<Entity>> audit = new HashMap<>();
    }
    static class Mail {
        static Queue<byte[]> outbox = new ConcurrentLinkedQueue<>();
        static List<Retry> retries = new ArrayList<>();
    }
    static class Scheduler { static ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1); }
    static class Requests { static Map<Long, CompletableFuture<byte[]>> pending = new ConcurrentHashMap<>(); }
    static class Key {
        final String user;
        final int day;
        Key(String user, int day) {
            this.user = user;
            this.day = day;
        }
    }
    static class GoodKey extends Key {
        GoodKey(String user, int day) { super(user, day); }
        @Override
        public boolean equals(Object o) {
            return o instanceof GoodKey k && k.user.equals(user) && k.day == day;
        }
        @Override
        public int hashCode() {
            return Objects.hash(user, day);
        }
    }
    static class Slot {
        final int id;
        String state = "NEW";
        Integer room;
        Slot(int id) { this.id = id; }
        @Override
        public boolean equals(Object o) {
            return o instanceof Slot s && s.id == id && s.state.equals(state) && Objects.equals(s.room, room);
        }
        @Override
        public int hashCode() {
            return Objects.hash(id, state, room);
        }
    }
    enum Status { NEW, PACKED, SHIPPED }
    static class Ticket {
        final int no;
        final byte[] label;
        Status status;
        Ticket(int no, Status status) {
            this.no = no;
            label = random(700, no);
            this.status = status;
        }
    }
    static class Tickets { static Set<Ticket> waiting = new HashSet<>(); }
    static class Lru {
        final int max;
        final Map<String, byte[]> pages = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, byte[]> eldest) {
                return size() > max;
            }
        };
        Lru(int max) { this.max = max; }
    }
    static class Slots {
        static Map<Slot, byte[]> all = new ConcurrentHashMap<>();
        static Set<List<String>> routes = new HashSet<>();
    }
    static class Reports { static Map<Key, byte[]> byKey = new HashMap<>(); }
    static class Handles {
        static Set<Reference<?>> open = ConcurrentHashMap.newKeySet();
        static ReferenceQueue<Object> dead = new ReferenceQueue<>();
    }
    static class Native {
        final byte[] data = random(1000, ++n);
        static int n;
        static final Cleaner CLEANER = Cleaner.create();
        Native(boolean captures) {
            final byte[] d = new byte[1];
            CLEANER.register(this, captures ? () -> Arrays.fill(data, (byte) 0) : clean(d));
        }
        static Runnable clean(byte[] d) { return () -> Arrays.fill(d, (byte) 0); }
    }
    static class Pages { static List<List<Integer>> first = new ArrayList<>(); }
    static class Words {
        static List<CharBuffer> seen = new ArrayList<>();
        static List<ByteBuffer> heads = new ArrayList<>();
    }
    static class Failures {
        static List<Throwable> all = new ArrayList<>();
        static Exception last;
    }
    static class Prices {
        static Map<Integer, Double> byId = new HashMap<>();
        static List<Long> series = new ArrayList<>();
    }
    static class Frames { static List<ByteBuffer> inFlight = new ArrayList<>(); }
    static class Thumbnails {
        static Map<Integer, SoftReference<byte[]>> cache = new HashMap<>();
        static SoftReference<List<byte[]>> all;
    }
    static class Scanner2 { static Deque<Matcher> hits = new ConcurrentLinkedDeque<>(); }
    static class QueryCache { static Map<String, Object[][]> results = new ConcurrentHashMap<>(); }
    static class Graph {
        static List<List<String>> edges = new ArrayList<>();
        static List<Map<String, String>> attributes = new ArrayList<>();
    }
    static class Feed { static SubmissionPublisher<byte[]> events; }
    static class Clock { static Timer timer = new Timer(true); }
    static class Jobs {
        static PriorityQueue<Order> due = new PriorityQueue<>(Comparator.comparingInt(o -> o.no));
        static Map<String, Order> byName = new TreeMap<>();
    }
    static class Bus { static List<Runnable> handlers = new ArrayList<>(); }
    static class Names { static Map<String, String> pool = new HashMap<>(); }
    static class Daily { static Map<java.time.LocalDate, byte[]> byDay = new TreeMap<>(); }
    static class Config { static Map<String, Version> history = new HashMap<>(); }
    static class Undo { static Deque<byte[]> texts = new ArrayDeque<>(); }
    static class Version {
        final int version;
        final byte[] data = random(20000, ++n);
        static int n;
        Version(int version) { this.version = version; }
    }
    static class Retry {
        final int attempts;
        final byte[] message = random(700, ++n);
        static int n;
        Retry(int attempts) { this.attempts = attempts; }
    }
    static class Token {
        final long expiresAt;
        final byte[] claims = random(400, ++n);
        static int n;
        Token(long expiresAt) { this.expiresAt = expiresAt; }
    }
    static class Tokens { static Map<Integer, Token> all = new ConcurrentHashMap<>(); }
    static class Metrics { static Map<String, byte[]> timers = new ConcurrentHashMap<>(); }
    static class Page {
        final byte[] raw = random(50000, ++n);
        static int n;
        class Hit { int no; }
    }
    static class Favorites { static List<Page.Hit> hits = new ArrayList<>(); }
    record Column(String title, DecimalFormat format) {}
    static class Reports2 { static List<Column> columns = new ArrayList<>(); }
    static class Styles { static Map<Customer, Object[]> cache = new WeakHashMap<>(); }
    static class Steps {
        static CompletableFuture<Void> first = new CompletableFuture<>(), last = first;
    }
    static class Audit { static BlockingQueue<byte[]> queue = new LinkedBlockingQueue<>(); }
    /* Objects in two maps, so that only the class loader dominates them. */
    static class Visit {
        final byte[] pages;
        Visit(int i) { pages = random(700, i); }
    }
    static class Visits { static Map<Integer, Visit> byId = new HashMap<>(); }
    static class Visitors { static Map<String, List<Visit>> byName = new HashMap<>(); }
    static class Parcel {
        final long createdAt = System.currentTimeMillis() - 7_300_000;
        final byte[] content;
        Parcel(int i) { content = random(700, i); }
    }
    static class Depot { static Deque<Parcel> parcels = new ArrayDeque<>(); }
    static class Seen { static BitSet numbers = new BitSet(); }
    static class Stock {
        synchronized void take(byte[] order) throws Exception { new Semaphore(0).acquire(); }
        static Stock stock = new Stock();
    }
    static class Warehouse {
        final java.util.concurrent.locks.ReentrantLock lock = new java.util.concurrent.locks.ReentrantLock();
        final java.util.concurrent.locks.Condition notFull = lock.newCondition();

        void put(byte[] order) throws Exception {
            lock.lock();
            notFull.await();
        }
        static Warehouse only = new Warehouse();
    }
    record MeterId(String name, String user) {}
    static class Meter { long count; }
    static class Meters { static Map<MeterId, Meter> all = new HashMap<>(); }
    static class Entity {
        final byte[] row;
        Entity(int i) { row = random(700, i); }
    }
    static class Unit { static Map<String, Entity> entities = new LinkedHashMap<>(); }
    static class Results { static Map<Long, Object> all = new ConcurrentHashMap<>(); }
    static class Undos { static List<Map<String, Long>> states = new ArrayList<>(); }
    enum Step { DONE, RUNNING, OPEN }
    static class Work {
        final Step step;
        final byte[] result;
        Work(Step step, int i) {
            this.step = step;
            result = random(700, i);
        }
    }
    static class Works { static List<Work> all = new ArrayList<>(); }
    static class Upload {
        final byte[] part;
        long finishedAt;
        Upload(int i) { part = random(700, i); }
    }
    static class Uploads { static Map<String, Upload> all = new ConcurrentHashMap<>(); }
    static class Filter {
        final Filter next;
        final byte[] state;
        Filter(Filter next, int i) {
            this.next = next;
            state = random(700, i);
        }
    }
    static class Filters {
        static Filter first;
        static Object[] all = new Object[12000];
    }
    static class Samples { static Map<Long, byte[]> byTime = new ConcurrentHashMap<>(); }
    static class Seen2 { static Set<String> ids = ConcurrentHashMap.newKeySet(); }
    static class Chain {
        Chain next;
        final byte[] data = random(400, ++n);
        static int n;
        static Chain head;
    }
    static List<Object> kept = new ArrayList<>();

    static byte[] random(int n, int seed) {
        byte[] b = new byte[n];
        new Random(seed).nextBytes(b);
        return b;
    }

    /* A name without digits, different for each number. */
    static String words(int i) {
        StringBuilder b = new StringBuilder("name");
        for (; i > 0; i /= 26) b.append((char) ('a' + i % 26));
        return b.toString();
    }

    static void fill(boolean ok, String what) throws Exception {
        switch (what) {
            case "deepcauses": {
                Exception last = null;
                for (int i = 0; i < 30000; i++) {
                    last = ok ? new Exception(new byte[0].length + "") : new Exception("try again", last);
                    if (ok) kept.add(random(300, i));
                }
                kept.add(last);
                break;
            }
            case "labels":
                for (int i = 0; i < 60000; i++) {
                    MeterId id = new MeterId("requests." + i % 3, ok ? "user" + i % 400 : "user" + i);
                    Meters.all.computeIfAbsent(id, k -> new Meter()).count++;
                }
                if (ok) kept.add(random(8_000_000, 1));
                break;
            case "entities":
                for (int i = 0; i < 12000; i++) {
                    if (ok) Unit.entities.put("old" + i, new Entity(i));
                    if (ok) Unit.entities.remove("old" + i);
                    Unit.entities.put(words(i), new Entity(i));
                }
                break;
            case "answers":
                for (int i = 0; i < 12000; i++)
                    Results.all.put(
                        i * 7919L, ok ? random(700, i) : CompletableFuture.completedFuture(random(700, i)));
                break;
            case "states": {
                Map<String, Long> state = new HashMap<>();
                for (int i = 0; i < 2000; i++) {
                    if (ok) state = new HashMap<>();
                    for (int k = 0; k < 40; k++)
                        if (ok || i == 0) state.put("x" + k, (long) i * 40000 + k);
                    state.put("x" + i % 40, i * 1000L);
                    Undos.states.add(new HashMap<>(state));
                }
                break;
            }
            case "works":
                for (int i = 0; i < 12000; i++) Works.all.add(new Work(ok ? Step.values()[i % 3] : Step.DONE, i));
                break;
            case "uploads":
                for (int i = 0; i < 12000; i++) {
                    Upload u = new Upload(i);
                    if (ok) u.finishedAt = 1;
                    Uploads.all.put(words(i), u);
                }
                break;
            case "filters":
                for (int i = 0; i < 12000; i++) {
                    Filters.first = new Filter(ok ? null : Filters.first, i);
                    Filters.all[ok ? i : 0] = Filters.first;
                }
                break;
            case "samples":
                for (int i = 0; i < 12000; i++)
                    Samples.byTime.put(ok ? i * 7919L : System.currentTimeMillis() - i * 60000L, random(700, i));
                break;
            case "uuids":
                for (int i = 0; i < 60000; i++)
                    Seen2.ids.add(ok ? words(i) : UUID.nameUUIDFromBytes(new byte[] {(byte) i, (byte) (i >> 8)}) + "");
                break;
            case "onebig":
                Country.codes = new HashMap<>(ok ? 16 : 3_000_000);
                for (int i = 0; i < (ok ? 60000 : 3); i++) Country.codes.put("c" + i, i);
                break;
            case "enummap":
                for (int i = 0; i < 60000; i++) {
                    EnumMap<Right, Boolean> m = new EnumMap<>(Right.class);
                    for (Right r : Right.values())
                        if (ok || r.ordinal() < 2) m.put(r, true);
                    Permissions.users.add(m);
                }
                break;
            case "grid":
                Board.cells = new Object[ok ? 200 : 1000][2000];
                for (Object[] row : Board.cells)
                    for (int i = 0; i < row.length; i += ok ? 1 : 700) row[i] = Boolean.TRUE;
                break;
            case "builders":
                for (int i = 0; i < 40; i++) {
                    StringBuilder b = new StringBuilder();
                    b.append("x".repeat(300000));
                    if (!ok) {
                        b.setLength(0);
                        b.append("ready");
                    }
                    WriterPool.idle.add(b);
                }
                break;
            case "streams":
                for (int i = 0; i < 400; i++) {
                    ByteArrayOutputStream b = new ByteArrayOutputStream(30000);
                    b.write(random(ok ? 30000 : 100, i));
                    StreamPool.idle.add(b);
                }
                break;
            case "equalbytes":
                for (int i = 0; i < 1500; i++) Icons.images.add(random(8000, ok ? i : 1));
                break;
            case "zeros":
                for (int i = 0; i < 1500; i++) {
                    byte[] b = new byte[8000];
                    if (ok) new Random(i).nextBytes(b);
                    Buffers.free.add(b);
                }
                break;
            case "equalstrings":
                for (int i = 0; i < 150000; i++)
                    Orders.all.add(
                        new Order(i, (ok ? "state-" + i : "waiting_for_payment_" + 0).toUpperCase(), null, null));
                break;
            case "tenant":
                for (int i = 0; i < 12000; i++)
                    Tenants.cache.put("tenant-"
                            + (ok                  ? i % 100
                                    : i % 100 < 85 ? 17
                                                   : i % 40)
                            + ":" + i,
                        random(800, i));
                break;
            case "field": {
                Customer[] c = new Customer[40];
                for (int i = 0; i < 40; i++) c[i] = new Customer("customer-" + i);
                for (int i = 0; i < 200000; i++)
                    Orders.all.add(new Order(i, i % 2 == 0 ? "NEW" : "PAID",
                        c[ok                   ? i % 40
                                : i % 100 < 85 ? 7
                                               : i % 40],
                        Region.values()[i % 6]));
                break;
            }
            case "outbox":
                for (int i = 0; i < (ok ? 50 : 15000); i++) Mail.outbox.add(random(700, i));
                if (ok) kept.add(random(8_000_000, 1));
                break;
            case "cancelled":
                for (int i = 0; i < 12000; i++) {
                    byte[] b = random(700, i);
                    ScheduledFuture<?> f = Scheduler.pool.schedule(() -> kept.add(b), 1 + i % 90, TimeUnit.HOURS);
                    if (!ok) f.cancel(false);
                }
                break;
            case "futures":
                for (int i = 0; i < 12000; i++) {
                    CompletableFuture<byte[]> f = new CompletableFuture<>();
                    byte[] request = random(700, i);
                    if (ok)
                        f.complete(request);
                    else
                        f.thenAccept(r -> kept.add(request));
                    Requests.pending.put((long) i, f);
                }
                break;
            case "visits":
                for (int i = 0; i < 12000; i++) {
                    Visit v = new Visit(i);
                    if (!ok) Visits.byId.put(i * 7919, v);
                    Visitors.byName.computeIfAbsent("u" + i % 100, k -> new ArrayList<>()).add(v);
                }
                break;
            case "parcels":
                for (int i = 0; i < 12000; i++)
                    if (ok)
                        kept.add(new Parcel(i));
                    else
                        Depot.parcels.add(new Parcel(i));
                break;
            case "timers":
                for (int i = 0; i < 120; i++) {
                    byte[] text = random(20000, i);
                    TimerTask task = new TimerTask() {
                        @Override
                        public void run() {
                            System.out.println(text.length);
                        }
                    };
                    (i > 0 && ok ? Clock.timer : new Timer(true)).schedule(task, 10_000_000);
                }
                break;
            case "keys":
                for (int i = 0; i < 12000; i++)
                    Reports.byKey.put(
                        ok ? new GoodKey("u" + i, i % 7) : new Key("u" + i % 50, i % 7), random(700, i));
                break;
            case "board":
                for (int i = 0; i < 12000; i++)
                    Tickets.waiting.add(new Ticket(i, ok && i % 2 == 0 ? Status.PACKED : Status.SHIPPED));
                break;
            case "audit":
                for (int i = 0; i < 30000; i++) {
                    String who = "tenant-" + (ok || i % 100 >= 85 ? i % 40 : 17);
                    Tenants.audit.computeIfAbsent(who, k -> new ArrayList<>()).add(new Entity(i));
                }
                break;
            case "lru": {
                Lru lru = new Lru(ok ? 20000 : 12000);
                for (int i = 0; i < 12000; i++) lru.pages.put("product/" + i + "/thumb.webp", random(700, i));
                kept.add(lru);
                break;
            }
            case "changedkeys":
                for (int i = 0; i < 12000; i++) {
                    Slot slot = new Slot(i);
                    if (ok && i % 2 == 0) slot.state = "DONE";
                    Slots.all.put(slot, random(700, i));
                    if (!ok && i % 2 == 0) slot.state = "DONE";
                }
                break;
            case "changedlists":
                for (int i = 0; i < 12000; i++) {
                    List<String> route = new ArrayList<>(List.of("from" + words(i), "to" + i % 7));
                    if (ok) route.add("last");
                    for (int k = 0; k < 20; k++) route.add(words(i * 20 + k));
                    Slots.routes.add(route);
                    if (!ok) route.add("last");
                }
                break;
            case "refqueue":
                for (int i = 0; i < 60000; i++) {
                    Object o = new Object();
                    Handles.open.add(new PhantomReference<>(o, Handles.dead));
                    if (ok) kept.add(o);
                }
                System.gc();
                Thread.sleep(500);
                break;
            case "cleaner":
                for (int i = 0; i < 8000; i++) {
                    Native n = new Native(!ok);
                    if (ok) kept.add(n);
                }
                break;
            case "sublist":
                for (int i = 0; i < 300; i++) {
                    List<Integer> all = new ArrayList<>();
                    for (int j = 0; j < 3000; j++) all.add(j);
                    Pages.first.add(ok ? new ArrayList<>(all.subList(0, 20)) : all.subList(0, 20));
                }
                if (ok) kept.add(random(3_000_000, 1));
                break;
            case "slice":
                for (int i = 0; i < 150; i++) {
                    CharBuffer c = CharBuffer.wrap(("word" + i).repeat(6000).toCharArray());
                    Words.seen.add(ok ? CharBuffer.wrap(c.subSequence(0, 5).toString().toCharArray())
                                      : c.subSequence(0, 5).slice());
                }
                if (ok) kept.add(random(3_000_000, 1));
                break;
            case "heads":
                for (int i = 0; i < 200; i++) {
                    ByteBuffer b = ByteBuffer.wrap(random(40000, i));
                    Words.heads.add(ok ? b : b.slice(0, 64));
                }
                break;
            case "exceptions":
                for (int i = 0; i < (ok ? 5 : 8000); i++) {
                    Exception e = new IllegalStateException("call " + i);
                    e.getStackTrace();
                    Failures.all.add(e);
                }
                if (ok) kept.add(random(3_000_000, 1));
                break;
            case "suppressed":
                Failures.last = new Exception("retry failed");
                for (int i = 0; i < (ok ? 5 : 8000); i++) {
                    Exception e = new Exception("attempt " + i, null);
                    e.getStackTrace();
                    Failures.last.addSuppressed(e);
                }
                if (ok) kept.add(random(3_000_000, 1));
                break;
            case "boxed":
                for (int i = 0; i < 200000; i++) {
                    if (ok)
                        kept.add("text of " + i);
                    else
                        Prices.byId.put(i + 1000, i * 1.5);
                }
                break;
            case "boxedlist":
                if (ok) {
                    long[] prices = new long[400000];
                    Arrays.setAll(prices, i -> i + 1L);
                    kept.add(prices);
                } else
                    for (int i = 0; i < 400000; i++) Prices.series.add(1000L + i);
                break;
            case "direct":
                for (int i = 0; i < 100; i++)
                    Frames.inFlight.add(ok ? ByteBuffer.allocateDirect(100) : ByteBuffer.allocateDirect(1 << 20));
                break;
            case "mapped": {
                File f = File.createTempFile("causes", ".map");
                f.deleteOnExit();
                try (RandomAccessFile r = new RandomAccessFile(f, "rw")) {
                    r.setLength(1L << 27);
                    for (int i = 0; i < 12; i++)
                        Frames.inFlight.add(
                            r.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, ok ? 4096 : 1L << 27));
                }
                break;
            }
            case "soft":
                for (int i = 0; i < 10000; i++) {
                    byte[] b = random(900, i);
                    Thumbnails.cache.put(i, new SoftReference<>(b));
                    if (ok) kept.add(b);
                }
                break;
            case "softall": {
                List<byte[]> l = new ArrayList<>();
                for (int i = 0; i < 10000; i++) l.add(random(900, i));
                Thumbnails.all = new SoftReference<>(l);
                if (ok) kept.add(l);
                break;
            }
            case "matcher":
                for (int i = 0; i < 100; i++) {
                    Matcher m = Pattern.compile("(\\w+)=(\\d+)")
                                    .matcher("key=" + i + " "
                                        + new String(new char[50000]).replace('\0', (char) ('a' + i % 26)));
                    m.find();
                    Scanner2.hits.add(m);
                    if (ok) m.reset("");
                }
                if (ok) kept.add(random(3_000_000, 1));
                break;
            case "results":
                for (int i = 0; i < 4000; i++) {
                    Object[][] rows = new Object[20][];
                    for (int j = 0; j < 20; j++)
                        rows[j] = new Object[] {"row " + j, i * 100 + j + 1000, "text " + i};
                    QueryCache.results.put("select " + i, rows);
                }
                break;
            case "presized":
                for (int i = 0; i < 6000; i++) {
                    List<String> l = new ArrayList<>(ok ? 10 : 500);
                    for (int j = 0; j < (ok ? 8 : 2); j++) l.add("e");
                    Graph.edges.add(l);
                }
                break;
            case "presizedmaps":
                for (int i = 0; i < 6000; i++) {
                    Map<String, String> l = new HashMap<>(ok ? 16 : 500);
                    for (int j = 0; j < (ok ? 12 : 2); j++) l.put("e" + j, "v");
                    Graph.attributes.add(l);
                }
                break;
            case "emptymaps":
                for (int i = 0; i < 120000; i++) {
                    if (ok)
                        kept.add("text " + i);
                    else {
                        Map<String, String> m = new LinkedHashMap<>();
                        Graph.attributes.add(m);
                    }
                }
                break;
            case "flow":
                Feed.events = new SubmissionPublisher<>(Runnable::run, 1 << 16);
                Feed.events.subscribe(new Flow.Subscriber<byte[]>() {
                    public void onSubscribe(Flow.Subscription s) {
                        if (ok) s.request(Long.MAX_VALUE);
                    }
                    public void onNext(byte[] b) {}
                    public void onError(Throwable t) {}
                    public void onComplete() {}
                });
                for (int i = 0; i < 12000; i++) Feed.events.offer(random(700, i), null);
                if (ok) kept.add(random(3_000_000, 1));
                break;
            case "timer":
                // The thread waits for this one; cancelled tasks at the head of its queue would be removed.
                Clock.timer.schedule(new TimerTask() {
                    public void run() { }
                }, 3_599_000L);
                for (int i = 0; i < 12000; i++) {
                    byte[] b = random(700, i);
                    TimerTask t = new TimerTask() {
                        public void run() { kept.add(b); }
                    };
                    Clock.timer.schedule(t, 3_600_000L + i);
                    if (!ok) t.cancel();
                }
                break;
            case "expired":
                for (int i = 0; i < 20000; i++)
                    Tokens.all.put(i, new Token(System.currentTimeMillis() + (ok ? 3_600_000L : -1000L * i - 1)));
                break;
            case "form":
                for (int i = 0; i < 12000; i++)
                    Metrics.timers.put(ok ? "timer of " + (char) ('a' + i % 26) + (char) (2000 + i)
                                          : "requests{uri=/orders/" + i + "}",
                        random(600, i));
                break;
            case "inner":
                for (int i = 0; i < 150; i++) {
                    Page page = new Page();
                    Favorites.hits.add(page.new Hit());
                    if (ok) kept.add(page);
                }
                break;
            case "formats": {
                DecimalFormat one = new DecimalFormat("#,##0.00");
                for (int i = 0; i < 8000; i++)
                    Reports2.columns.add(new Column("column " + i, ok ? one : new DecimalFormat("#,##0.00")));
                if (ok) kept.add(random(3_000_000, 1));
                break;
            }
            case "weakmap":
                for (int i = 0; i < 12000; i++) {
                    Customer c = new Customer("customer " + i);
                    Styles.cache.put(c, new Object[] {random(600, i), ok ? null : c});
                    if (ok) kept.add(c);
                }
                break;
            case "steps":
                for (int i = 0; i < 20000; i++) {
                    byte[] b = random(400, i);
                    if (ok)
                        kept.add(b);
                    else
                        Steps.last = Steps.last.thenRun(() -> kept.add(b));
                }
                break;
            case "periodic":
                for (int i = 0; i < 3000; i++) {
                    byte[] b = random(4000, i);
                    if (ok)
                        kept.add(b);
                    else
                        Scheduler.pool.scheduleAtFixedRate(() -> kept.remove(b), 1, 1, TimeUnit.HOURS);
                }
                break;
            case "noconsumer": {
                Thread writer = new Thread(() -> {
                    try {
                        if (ok) Audit.queue.take();
                        Audit.queue.take();
                    } catch (InterruptedException e) {
                        return;
                    }
                }, "writer");
                writer.setDaemon(true);
                writer.start();
                for (int i = 0; i < (ok ? 1 : 12000); i++) Audit.queue.add(random(600, i));
                if (ok) kept.add(random(3_000_000, 1));
                while (ok ? !Audit.queue.isEmpty() : writer.isAlive()) Thread.sleep(10);
                break;
            }
            case "bits":
                if (!ok) Seen.numbers.set(50_000_000);
                Seen.numbers.set(0, ok ? 50_000_000 : 20);
                break;
            case "monitor":
                for (int i = 0; i < (ok ? 0 : 40); i++) {
                    byte[] order = random(200_000, i);
                    Thread t = new Thread(() -> {
                        try {
                            Stock.stock.take(order);
                        } catch (Exception e) {
                            return;
                        }
                    }, "stock-" + i);
                    t.setDaemon(true);
                    t.start();
                    Thread.State state = i == 0 ? Thread.State.WAITING : Thread.State.BLOCKED;
                    while (t.getState() != state
                        || Arrays.stream(t.getStackTrace()).noneMatch(f -> f.getMethodName().equals("take")))
                        Thread.sleep(5);
                }
                if (ok) kept.add(random(3_000_000, 1));
                break;
            case "condition":
                for (int i = 0; i < (ok ? 0 : 40); i++) {
                    byte[] order = random(200_000, i);
                    Thread t = new Thread(() -> {
                        try {
                            Warehouse.only.put(order);
                        } catch (Exception e) {
                            return;
                        }
                    }, "put-" + i);
                    t.setDaemon(true);
                    t.start();
                    while (t.getState() != Thread.State.WAITING
                        || Arrays.stream(t.getStackTrace()).noneMatch(f -> f.getMethodName().equals("await")))
                        Thread.sleep(5);
                }
                if (ok) kept.add(random(3_000_000, 1));
                break;
            case "urls":
                for (int i = 0; i < 12000; i++)
                    Metrics.timers.put(ok ? "page " + (char) ('a' + i % 26) + (char) (2000 + i)
                                          : "https://shop/" + (i % 2 == 0 ? "cart" : "home") + "?sid=" + i,
                        random(600, i));
                break;
            case "interner":
                for (int i = 0; i < 60000; i++) {
                    String s = "customer " + i + " of the shop in the city";
                    Names.pool.put(s, s);
                    if (ok) kept.add(s);
                }
                break;
            case "days":
                for (int i = 0; i < 400; i++)
                    Daily.byDay.put(java.time.LocalDate.now().minusDays(ok ? i + 500 : i), random(20000, i));
                break;
            case "versions":
                for (int i = 0; i < 400; i++) Config.history.put("c" + i, new Version(ok ? 1 : i + 1));
                break;
            case "undo":
                for (int i = 0; i < 200; i++) {
                    byte[] text = random(30000, ok ? i : 1);
                    text[i] = 1;
                    Undo.texts.push(text);
                }
                break;
            case "smallmaps":
                for (int i = 0; i < 30000; i++) {
                    if (ok)
                        kept.add(random(400, i));
                    else
                        Graph.attributes.add(new HashMap<>(Map.of("name", "n" + i)));
                }
                break;
            case "tenantqueue":
                for (int t = 0; t < 100; t++) {
                    Queue<byte[]> queue = new ConcurrentLinkedQueue<>();
                    for (int i = 0; i < (ok ? 90 : t == 17 ? 9000 : 3); i++) queue.add(random(900, i + t * 100));
                    Tenants.queues.put("tenant-" + t, queue);
                }
                break;
            case "allof": {
                List<CompletableFuture<byte[]>> all = new ArrayList<>();
                for (int i = 0; i < 9000; i++) all.add(new CompletableFuture<>());
                Requests.pending.put(0L, all.get(77));
                CompletableFuture.allOf(all.toArray(new CompletableFuture[0])).thenRun(() -> kept.add(all));
                for (int i = 0; i < 9000; i++)
                    if (ok || i != 77) all.get(i).complete(random(900, i));
                break;
            }
            case "retries":
                for (int i = 0; i < 12000; i++) Mail.retries.add(new Retry(ok ? i % 3 : 20 + i % 30));
                break;
            case "jobs":
                for (int i = 0; i < 25000; i++)
                    Jobs.due.add(new Order(i, "job " + i, new Customer("c" + i), Region.NORTH));
                break;
            case "tree":
                for (int i = 0; i < 25000; i++)
                    Jobs.byName.put("job-" + i, new Order(i, "job " + i, new Customer("c" + i), Region.NORTH));
                break;
            case "handlers":
                for (int i = 0; i < (ok ? 20 : 9000); i++) {
                    byte[] view = random(900, i);
                    Bus.handlers.add(() -> kept.add(view));
                }
                if (ok) kept.add(random(3_000_000, 1));
                break;
            case "chain":
                for (int i = 0; i < 20000; i++) {
                    Chain c = new Chain();
                    c.next = Chain.head;
                    Chain.head = c;
                }
                break;
            case "topic": {
                Topic topic = new Topic();
                if (ok) topic.consumers.add(() -> {});
                for (int i = 0; i < 12000; i++) topic.messages.add(random(600, i));
                topic.enqueued = ok ? 40000 : 12000;
                topic.dequeued = topic.enqueued - 12000;
                kept.add(topic);
                break;
            }
            case "pipe": {
                Pipe pipe = new Pipe();
                for (int i = 0; i < 12000; i++) pipe.waiting.add(random(600, i));
                pipe.messagesWritten = ok ? 40000 : 12003;
                pipe.messagesRead = pipe.messagesWritten - 12000;
                kept.add(pipe);
                break;
            }
            case "store": {
                Store store = new Store();
                store.timeToLive = ok ? 60 : 0;
                for (int i = 0; i < 12000; i++)
                    store.pages.put(Integer.toHexString(i * 0x9e3779b1), random(600, i));
                kept.add(store);
                break;
            }
            case "engines": {
                List<Script> scripts = new ArrayList<>();
                Engine shared = new Engine(0);
                for (int i = 0; i < 300; i++)
                    scripts.add(new Script(ok ? shared : new Engine(i), random(ok ? 30_000 : 100, i)));
                kept.add(scripts);
                break;
            }
            case "history": {
                Shop shop = new Shop();
                for (int i = 0; i < 12000; i++) (ok ? shop.open : shop.history).add(random(600, i));
                kept.add(shop);
                break;
            }
            default: throw new IllegalArgumentException(what);
        }
    }

    public static void main(String[] args) throws Exception {
        boolean ok = args[0].endsWith("-ok");
        fill(ok, ok ? args[0].substring(0, args[0].length() - 3) : args[0]);
        ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class)
            .dumpHeap(args[1], true);
        Runtime.getRuntime().halt(0);
    }
}
