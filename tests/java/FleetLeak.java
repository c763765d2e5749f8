import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

class SessionCache {
    static final List<byte[]> items = new ArrayList<>();
}

class AuditLog {
    static final List<byte[]> lines = new ArrayList<>();
}

/** A program with two lists of the same shape, of which the named one leaks: FleetLeak SessionCache|AuditLog FILE. */
public class FleetLeak {
    public static void main(String[] args) throws Exception {
        SessionCache.items.add(new byte[8]);
        AuditLog.lines.add(new byte[8]);
        List<byte[]> leak = args[0].equals("SessionCache") ? SessionCache.items : AuditLog.lines;
        for (int i = 0; i < 20000; i++)
            leak.add(new byte[200]);
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[1], true);
    }
}
