import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * Wastes memory in known numbers and writes a dump of all of it: `java Waste OUT.hprof`.
 * tests/oracle/waste_test.sh knows what must be found.
 */
public class Waste {
    static final class Named { String name; Named(String name) { this.name = name; } }
    static final class Key { Object unused; }
    static final class Value { final Object key; Value(Object key) { this.key = key; } }
    static final class Soft { final byte[] load = new byte[100]; }
    static final class Held { }
    static final class Leaf { final int[] load = new int[7]; }
    static final class Top { final Leaf[] leaves = { new Leaf(), new Leaf(), new Leaf(), new Leaf(), new Leaf() }; }
    static final class Ring { Ring next; }

    static final CountDownLatch running = new CountDownLatch(1);

    @SuppressWarnings({ "deprecation", "removal" })
    static final class Fin {
        final long[] load = new long[4];

        @Override protected void finalize() throws Throwable {
            running.countDown();
            Thread.sleep(1_000_000);
        }
    }

    static final List<Object> kept = new ArrayList<>();
    static final Map<Object, Object> cache = new WeakHashMap<>();

    static void garbage() {
        for (int i = 0; i < 45; i++) new Fin();
    }

    static void strings() {
        char[] text = "a planted duplicate".toCharArray();
        for (int i = 0; i < 500; i++) kept.add(new Named(new String(text)));
        String shared = new String("a planted \u20ac share".toCharArray());
        for (int i = 0; i < 99; i++) kept.add(new Named(new String(shared)));
        kept.add(new Named(shared));
    }

    static void arrays() {
        for (int i = 0; i < 50; i++) kept.add(new short[] { 1, 2, 3, 5, 8, 13, 21, 34, 55, 89 });
        for (int i = 0; i < 40; i++) kept.add(new Leaf[0]);
        for (int i = 0; i < 30; i++) kept.add(new double[333]);
        for (int i = 0; i < 20; i++) {
            float[] same = new float[77];
            Arrays.fill(same, 1.5f);
            kept.add(same);
        }
        for (int i = 0; i < 10; i++) {
            long[] tail = new long[1000];
            tail[9] = i + 1;
            kept.add(tail);
        }
    }

    static void references() {
        for (int i = 0; i < 70; i++) {
            Key key = new Key();
            cache.put(key, new Value(key));
        }
        for (int i = 0; i < 60; i++) kept.add(new SoftReference<>(new Soft()));
        for (int i = 0; i < 25; i++) {
            Held held = new Held();
            kept.add(held);
            kept.add(new WeakReference<>(held));
        }
        for (int i = 0; i < 35; i++) kept.add(new Fin());
    }

    static void rings() {
        for (int i = 0; i < 20; i++) new Top();
        Ring first = new Ring(), last = first;
        for (int i = 1; i < 12; i++) {
            last.next = new Ring();
            last = last.next;
        }
        last.next = first;
    }

    public static void main(String[] args) throws Exception {
        HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        garbage();
        System.gc();
        running.await();
        Thread.sleep(500);
        strings();
        arrays();
        references();
        rings();
        vm.dumpHeap(args[0], false);
        Runtime.getRuntime().halt(0);
    }
}
