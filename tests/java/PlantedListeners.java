// tests/java/PlantedListeners.java - plants a leak: listeners that are registered and never removed. Dumps itself to
// the first argument.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

public class PlantedListeners {
    static class Bus {
        final List<ChangeListener> listeners = new ArrayList<>();
    }

    static class ChangeListener {
        final byte[] state = new byte[80];
    }

    static final Bus BUS = new Bus();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 120_000; i++) BUS.listeners.add(new ChangeListener());
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
