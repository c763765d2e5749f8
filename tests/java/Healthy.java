// tests/java/Healthy.java - a program without a leak: some caches with bounds, a pool, text, none of them large. With
// a second argument it does nothing at all: what is in the dump then is the JDK alone. Dumps itself to the first.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class Healthy {
    static final Map<Integer, String> NAMES = new LinkedHashMap<>();
    static final Map<String, List<Integer>> INDEX = new TreeMap<>();
    static final Map<Long, int[]> COUNTS = new ConcurrentHashMap<>();
    static final ThreadLocal<StringBuilder> SCRATCH = ThreadLocal.withInitial(StringBuilder::new);

    static void work() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++) pool.submit(() -> SCRATCH.get().append("scratch")).get();
        for (int i = 0; i < 2000; i++) {
            NAMES.put(i, "name of " + i);
            INDEX.computeIfAbsent("word " + i % 700, k -> new ArrayList<>()).add(i);
            COUNTS.put((long) i, new int[i % 16]);
        }
        pool.shutdown();
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 1) work();
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
