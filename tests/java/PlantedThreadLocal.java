// tests/java/PlantedThreadLocal.java - plants a leak: thread-local buffers in the threads of a pool, and values whose
// ThreadLocal is gone. Dumps itself to the first argument.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class PlantedThreadLocal {
    static final ThreadLocal<List<byte[]>> BUFFERS = ThreadLocal.withInitial(ArrayList::new);

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        pool.submit(() -> {
            for (int i = 0; i < 12_000; i++) BUFFERS.get().add(new byte[1000]);
            for (int i = 0; i < 4; i++) new ThreadLocal<byte[]>().set(new byte[500_000]);
        }).get();
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
        pool.shutdown();
    }
}
