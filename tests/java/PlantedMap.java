// tests/java/PlantedMap.java - plants a leak: a static map that grows. Dumps itself to the first argument.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

public class PlantedMap {
    static final Map<Integer, byte[]> RESULTS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 40_000; i++) RESULTS.put(i, new byte[400]);
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
