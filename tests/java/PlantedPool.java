// tests/java/PlantedPool.java - plants what is small in each place and large in all: thread-local values in the threads
// of a pool, tasks that wait, and listeners in a map of lists by event. Dumps itself to the first argument.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class PlantedPool {
    static final ThreadLocal<List<byte[]>> SCRATCH = ThreadLocal.withInitial(ArrayList::new);

    static class Registry {
        final Map<String, List<Runnable>> eventHandlers = new HashMap<>();
    }

    static final Registry REGISTRY = new Registry();

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        CountDownLatch filled = new CountDownLatch(8), end = new CountDownLatch(1);
        for (int i = 0; i < 8; i++) pool.submit(() -> {
            for (int k = 0; k < 800; k++) SCRATCH.get().add(new byte[1000]);
            filled.countDown();
            end.await();
            return null;
        });
        filled.await();
        for (int i = 0; i < 15_000; i++) {
            int number = i;
            pool.submit(() -> System.out.println(number));
        }
        for (int i = 0; i < 1800; i++) {
            int number = i;
            REGISTRY.eventHandlers.computeIfAbsent("event " + i % 3, k -> new CopyOnWriteArrayList<>())
                .add(() -> System.out.println(number));
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
        pool.shutdownNow();
        end.countDown();
    }
}
