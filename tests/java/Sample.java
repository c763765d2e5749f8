// tests/java/Sample.java - makes a small heap with a bit of everything and dumps it.
//
//     java -XX:+UseSerialGC -Xshare:auto -Xmx32m Sample.java OUT.hprof [all]
//
// With `all` the dump also holds objects that nothing refers to any more (live=false). What is in
// the heap is counted below in comments where tests rely on it. make_sample.sh runs this with
// JDK 17 and keeps the result, compressed, as tests/data/sample.hprof.zst.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

public class Sample {
    enum Color { RED, GREEN, BLUE }

    record Customer(int number, String name, String city, List<Order> orders) {}

    record Order(long id, Color color, Double price) {}

    /** The leak: a static map that only ever grows. 500 sessions of 256 bytes and more each. */
    static class SessionCache {
        static final Map<String, Session> SESSIONS = new HashMap<>();
        static int requests;
    }

    static class Session {
        final String user;
        final byte[] buffer = new byte[256];
        Session previous; // a chain through all sessions, 500 deep

        Session(String user, Session previous) {
            this.user = user;
            this.previous = previous;
        }
    }

    /** One field of every type. Its superclass has fields too, one of the same name. */
    static class Base {
        int value = -1;
        Object owner = "owner of the base";
    }

    static class AllTypes extends Base {
        static final long CONSTANT = 0x1122334455667788L;
        static final String GREETING = "hello, heap";
        static double ratio = 0.5;
        static Object nothing;
        boolean flag = true;
        byte small = -128;
        char letter = '\u20ac';
        short number = -32768;
        int value = Integer.MAX_VALUE;
        long big = Long.MIN_VALUE;
        float single = 1.5f;
        double real = Math.PI;
        String text = "text";
        Object empty;
    }

    /** A singly linked list, 2,000 nodes long. */
    static class Node {
        final int index;
        final Node next;

        Node(int index, Node next) {
            this.index = index;
            this.next = next;
        }
    }

    /** Two objects that refer to each other, held by a third. */
    static class Ring {
        Ring other;
        String label;

        Ring(String label) {
            this.label = label;
        }
    }

    /** An inner class in an inner class: each holds the instance around it. */
    class Room {
        final int[] area = {3, 4};

        class Window {
            final String view = "north of " + Sample.this.title;

            Object handle() {
                return new Object() {
                    final Window window = Window.this;
                };
            }
        }
    }

    static class Finalizable {
        final byte[] payload = new byte[64];

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {
            SessionCache.requests++;
        }
    }

    /** What the custom class loader defines a second time. */
    public static class Plugin {
        static final List<String> REGISTRY = new ArrayList<>();
        final int[] state = new int[100];
        Plugin peer;
    }

    /** Defines Plugin itself instead of asking its parent. */
    static class PluginLoader extends ClassLoader {
        final String label;

        PluginLoader(String label) {
            super("plugins-" + label, Sample.class.getClassLoader());
            this.label = label;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Sample$Plugin"))
                return super.loadClass(name, resolve);
            Class<?> known = findLoadedClass(name);
            if (known != null)
                return known;
            try (InputStream in = getResourceAsStream("Sample$Plugin.class")) {
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    final String title = "sample";
    final Map<Integer, Customer> customers = new HashMap<>();
    final Map<String, String> texts = new LinkedHashMap<>();
    final List<Object> boxes = new ArrayList<>();
    final List<Object> arrays = new ArrayList<>();
    final List<Object> plugins = new ArrayList<>();
    final List<Object> references = new ArrayList<>();
    final ReferenceQueue<Object> queue = new ReferenceQueue<>();
    final LinkedList<String> linked = new LinkedList<>();
    final EnumMap<Color, int[]> byColor = new EnumMap<>(Color.class);
    final TreeMap<String, BigInteger> powers = new TreeMap<>();
    final ConcurrentHashMap<Long, Boolean> concurrent = new ConcurrentHashMap<>();
    final ArrayDeque<Object> deque = new ArrayDeque<>();
    final AllTypes allTypes = new AllTypes();
    final Finalizable finalizable = new Finalizable();
    final ByteBuffer direct = ByteBuffer.allocateDirect(4096);
    final ByteBuffer onHeap = ByteBuffer.allocate(512);
    Node list;
    Ring ring;
    Object handle;

    void fill() throws Exception {
        Session last = null;
        for (int i = 0; i < 500; i++) {
            last = new Session(String.format("user-%03d", i), last);
            SessionCache.SESSIONS.put(last.user, last);
        }
        String[] cities = {"Zürich", "São Paulo", "東京", "Αθήνα", "Łódź", "Boston"};
        Color[] colors = Color.values();
        for (int i = 0; i < 300; i++) {
            List<Order> orders = new ArrayList<>();
            for (int k = 0; k < i % 5; k++)
                orders.add(new Order(1000L * i + k, colors[k % colors.length], i + k / 4.0));
            customers.put(i, new Customer(i, "customer " + i, cities[i % cities.length], orders));
        }
        texts.put("latin1", "caf\u00e9 cr\u00e8me, na\u00efve \u00a9");
        texts.put("utf16", "\u65e5\u672c\u8a9e \u0395\u03bb\u03bb\u03ac\u03b4\u03b1");
        texts.put("emoji", "heap \ud83d\ude00 dump");
        texts.put("lone surrogate", "a\ud800b");
        texts.put("controls", "tab\there, line\nthere, zero\0, quote\", backslash\\");
        texts.put("empty", new String(""));
        texts.put("long", "0123456789".repeat(200));
        for (int i = 0; i < 20; i++)
            texts.put("copy " + i, new String("the same text twenty times"));
        fillBoxesAndArrays();
        for (int i = 0; i < 2000; i++)
            list = new Node(i, list);
        for (int i = 0; i < 50; i++)
            linked.add("element " + i);
        for (Color color : colors)
            byColor.put(color, new int[] {color.ordinal(), 255});
        for (int i = 0; i < 20; i++)
            powers.put("2^" + 50 * i, BigInteger.TWO.pow(50 * i));
        for (long i = 0; i < 100; i++)
            concurrent.put(i * 1_000_000_007L, i % 2 == 0);
        ring = new Ring("first");
        ring.other = new Ring("second");
        ring.other.other = ring;
        deque.addAll(List.of(ring, "last"));
        handle = new Room().new Window().handle();
        references.add(new WeakReference<>(allTypes, queue));
        references.add(new WeakReference<>(list));
        references.add(new SoftReference<>(new long[1000])); // held softly only
        references.add(new PhantomReference<>(finalizable, queue));
        for (String label : new String[] {"a", "b"})
            plugins.add(new PluginLoader(label).loadClass("Sample$Plugin")
                    .getDeclaredConstructor().newInstance());
        plugins.add(new Plugin());
    }

    private void fillBoxesAndArrays() {
        boxes.addAll(Arrays.asList(Boolean.TRUE, (byte) -1, 'x', (short) 1234, 123456789,
                9876543210L, 2.5f, -0.0, Double.NaN, null, Float.NEGATIVE_INFINITY));
        for (int i = 0; i < 200; i++)
            boxes.add(1000 + i);
        arrays.add(new boolean[] {true, false, true});
        arrays.add(new byte[] {-128, -1, 0, 1, 127});
        arrays.add(new char[] {'h', 'e', 'a', 'p', '\u20ac', '\0'});
        arrays.add(new short[] {-32768, 0, 32767});
        arrays.add(new int[] {Integer.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE});
        arrays.add(new long[] {Long.MIN_VALUE, 0, Long.MAX_VALUE});
        arrays.add(new float[] {0f, -0f, Float.MIN_VALUE, Float.NaN});
        arrays.add(new double[] {Math.E, Double.POSITIVE_INFINITY, -0.0});
        arrays.add(new Object[] {null, "one", 2, new Object[] {arrays, null}});
        arrays.add(new int[0]);
        arrays.add(new String[] {"a", "b", null, "a"});
        arrays.add(new int[][] {{1, 2}, {}, null, {3}});
        arrays.add(new Object[1000]); // all null
        arrays.add(new byte[20_000]); // the largest object
    }

    /** A thread that waits three frames deep with things in its local variables. */
    static class Worker extends Thread {
        final CountDownLatch parked;
        final Object monitor = new Object();
        volatile boolean done;

        Worker(CountDownLatch parked) {
            super("worker with locals");
            this.parked = parked;
            setDaemon(true);
        }

        @Override
        public void run() {
            byte[] onlyHere = new byte[5000]; // held by this frame alone
            Arrays.fill(onlyHere, (byte) 7);
            outer(onlyHere, new StringBuilder("built by the worker"));
        }

        private void outer(byte[] data, StringBuilder text) {
            Map<String, Object> context = new HashMap<>();
            context.put("data", data);
            context.put("text", text);
            inner(context, 42);
            if (context.size() != 2 || data[0] != 7)
                throw new AssertionError(text);
        }

        private void inner(Map<String, Object> context, int depth) {
            synchronized (monitor) {
                parked.countDown();
                while (!done) {
                    try {
                        monitor.wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
                context.put("depth", depth);
            }
        }
    }

    /** 1,000 arrays in rings that nothing holds. */
    static void litter() {
        for (int i = 0; i < 1000; i++) {
            Object[] garbage = new Object[3];
            garbage[0] = garbage;
            garbage[1] = new Ring("garbage " + i);
            garbage[2] = new byte[100];
        }
    }

    static Sample kept;

    public static void main(String[] args) throws Exception {
        boolean all = args.length > 1 && args[1].equals("all");
        kept = new Sample();
        kept.fill();
        CountDownLatch parked = new CountDownLatch(1);
        Worker worker = new Worker(parked);
        worker.start();
        parked.await();
        synchronized (worker.monitor) { // it waits now: it had to let go of the monitor
            SessionCache.requests = 1;
        }
        HotSpotDiagnosticMXBean bean = ManagementFactory.getPlatformMXBean(
                HotSpotDiagnosticMXBean.class);
        System.gc();
        if (all)
            litter();
        bean.dumpHeap(args[0], !all);
    }
}
