// tests/java/PlantedStrings.java - plants waste: many equal strings. Dumps itself to the first argument.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

public class PlantedStrings {
    static final List<String> COUNTRIES = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 100_000; i++)
            COUNTRIES.add(new String(("a country with a long name, number " + i % 50).toCharArray()));
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
