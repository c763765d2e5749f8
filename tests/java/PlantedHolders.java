// tests/java/PlantedHolders.java - plants a leak that several hold, or that is hard to name: the second argument says
// which. Dumps itself to the first argument.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class PlantedHolders {
    static final class Order {
        final byte[] text = new byte[200];
        final Order next;

        Order(Order next) {
            this.next = next;
        }
    }

    /** A singleton with a cache in it. */
    static final class Registry {
        static final Registry INSTANCE = new Registry();
        Map<Integer, Order> orders;
    }

    static final class Statics {
        static List<Order> first = new ArrayList<>();
        static List<Order> second = new ArrayList<>();
    }

    /** Two entries into one graph: neither keeps it alone. */
    static final class Graph {
        static Order head, tail;
    }

    static final class Worker extends Thread {
        List<Order> mine = new ArrayList<>();
        final CountDownLatch started = new CountDownLatch(1);

        @Override
        public void run() {
            for (int i = 0; i < COUNT; i++) mine.add(new Order(null));
            started.countDown();
            await();
        }

        synchronized void await() {
            try {
                wait();
            } catch (InterruptedException e) {
                // to the end
            }
        }
    }

    static final class Task implements Runnable {
        final Order order;

        Task(Order order) {
            this.order = order;
        }

        @Override
        public void run() {}
    }

    static final int COUNT = 60_000;
    static final Map<Integer, Order> ORDERS = new HashMap<>();
    static final List<List<String>> NAMES = new ArrayList<>();

    static void dump(String file) throws Exception {
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(file, true);
    }

    /** A static field and a local variable hold the same map. */
    static void local(String file) throws Exception {
        Map<Integer, Order> work = ORDERS;
        for (int i = 0; i < COUNT; i++) work.put(i, new Order(null));
        dump(file);
        work.clear();
    }

    /** A singleton's field, far from the roots, and a local variable next to one. */
    static void singleton(String file) throws Exception {
        Map<Integer, Order> work = new HashMap<>();
        Registry.INSTANCE.orders = work;
        for (int i = 0; i < COUNT; i++) work.put(i, new Order(null));
        dump(file);
        work.clear();
    }

    /** Two static fields of one class with half of it each. */
    static void statics(String file) throws Exception {
        for (int i = 0; i < COUNT; i++) (i % 2 == 0 ? Statics.first : Statics.second).add(new Order(null));
        dump(file);
    }

    /** One chain that two static fields of a class lead into. */
    static void graph(String file) throws Exception {
        Order order = null;
        for (int i = 0; i < COUNT; i++) {
            order = new Order(order);
            if (i == COUNT - 10) Graph.tail = order;
        }
        Graph.head = new Order(order);
        order = null;
        dump(file);
    }

    /** Strings that two lists share: on the top level of the dominator tree, as a group of values. */
    static void strings(String file) throws Exception {
        for (int i = 0; i < 2; i++) NAMES.add(new ArrayList<>());
        for (int i = 0; i < COUNT; i++) {
            String name = new String("name of order number " + i);
            for (List<String> list : NAMES) list.add(name);
        }
        dump(file);
    }

    /** Tasks that wait behind one that does not end. */
    static void queue(String file) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        CountDownLatch end = new CountDownLatch(1);
        pool.submit(() -> {
            end.await();
            return null;
        });
        for (int i = 0; i < COUNT; i++) pool.execute(new Task(new Order(null)));
        dump(file);
        end.countDown();
        pool.shutdownNow();
    }

    /** A field of a thread's own class. */
    static void worker(String file) throws Exception {
        Worker worker = new Worker();
        worker.setDaemon(true);
        worker.start();
        worker.started.await();
        dump(file);
    }

    public static void main(String[] args) throws Exception {
        switch (args[1]) {
            case "local": local(args[0]); break;
            case "singleton": singleton(args[0]); break;
            case "statics": statics(args[0]); break;
            case "graph": graph(args[0]); break;
            case "strings": strings(args[0]); break;
            case "queue": queue(args[0]); break;
            default: worker(args[0]); break;
        }
    }
}
