/*
 * PlantedFull.java - a heap that a leak has filled. Two ways: a dump when 85 % of the maximum heap
 * size is in use, by a static list of records in an object of the program; or, with the argument
 * "error", one that the VM writes when there is no room left (-XX:+HeapDumpOnOutOfMemoryError
 * -XX:HeapDumpPath=...).
 */
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

public final class PlantedFull {
    static final class Order {
        final long number;
        final int[] amounts = new int[60];

        Order(long number) {
            this.number = number;
        }
    }

    static final class Journal {
        final Map<Long, Order> orders = new HashMap<>();
    }

    static final Journal JOURNAL = new Journal();

    private PlantedFull() {
    }

    public static void main(String[] args) throws Exception {
        Runtime runtime = Runtime.getRuntime();
        boolean untilError = args.length > 1 && args[1].equals("error");
        long number = 0;
        while (untilError || runtime.totalMemory() - runtime.freeMemory() < runtime.maxMemory() / 100 * 85) {
            JOURNAL.orders.put(number, new Order(number));
            number++;
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
