// tests/java/PlantedLocal.java - plants a leak: a cache without bound in a local variable of a thread that does not
// end. Dumps itself to the first argument.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

public class PlantedLocal {
    static final CountDownLatch FILLED = new CountDownLatch(1), DONE = new CountDownLatch(1);

    static void serve() throws InterruptedException {
        Map<String, byte[]> cache = new HashMap<>();
        for (int i = 0; i < 30_000; i++) cache.put("page " + i, new byte[500]);
        FILLED.countDown();
        DONE.await();
        System.out.println(cache.size());
    }

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> {
            try {
                serve();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "server-thread");
        thread.start();
        FILLED.await();
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
        DONE.countDown();
    }
}
