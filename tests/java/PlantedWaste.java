// tests/java/PlantedWaste.java - plants waste of many kinds, none of which is a leak alone: boxed numbers, sparse and
// empty collections, sessions, finalizers, entries of a weak map that keep their own keys, memory outside the heap.
// Dumps itself to the first argument.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

public class PlantedWaste {
    static class ShopSession {
        final byte[] basket = new byte[1600];
    }

    static class Closer {
        boolean isClosed;

        @SuppressWarnings({"deprecation", "removal"})
        @Override protected void finalize() { isClosed = true; }
    }

    record Holder(Object key, byte[] data) {}

    static final Object[] BOXED = new Object[200_000];
    static final List<List<Object>> SPARSE = new ArrayList<>(), EMPTY = new ArrayList<>();
    static final List<ShopSession> SESSIONS = new ArrayList<>();
    static final List<Closer> CLOSERS = new ArrayList<>();
    static final Map<Object, Holder> WEAK = new WeakHashMap<>();
    static final List<ByteBuffer> OUTSIDE = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < BOXED.length; i++) BOXED[i] = 1_000_000L + i;
        for (int i = 0; i < 2000; i++) {
            List<Object> list = new ArrayList<>(1010);
            for (int k = 0; k < 10; k++) list.add(BOXED[k]);
            SPARSE.add(list);
        }
        for (int i = 0; i < 120_000; i++) EMPTY.add(new ArrayList<>(4));
        for (int i = 0; i < 6000; i++) SESSIONS.add(new ShopSession());
        for (int i = 0; i < 25_000; i++) CLOSERS.add(new Closer());
        for (int i = 0; i < 300; i++) {
            Object key = new Object();
            WEAK.put(key, new Holder(key, new byte[5000]));
        }
        for (int i = 0; i < 8; i++) OUTSIDE.add(ByteBuffer.allocateDirect(10 << 20));
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
