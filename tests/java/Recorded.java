import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;

/* Keeps sessions while Flight Recorder records, then writes the recording and a dump of the heap. */
public class Recorded {
    static final class Session {
        final byte[] data = new byte[900];
        final Map<String, Object> attributes = new HashMap<>();

        Session(int i) {
            attributes.put("name", "session " + i);
        }
    }

    static final List<Session> sessions = new ArrayList<>();

    static void open(int i) {
        sessions.add(new Session(i));
    }

    static int deep(int depth, int i) {
        return depth > 0 ? deep(depth - 1, i) + 1 : new int[1000 + i % 7].length + "é\u4e2d".repeat(i % 50).hashCode();
    }

    public static void main(String[] arguments) throws Exception {
        Thread worker = new Thread(() -> {
            for (int i = 0; i < 40000; i++)
                deep(i % 90, i);
        }, "worker \"\u00e9\u4e2d\ud83d\ude00\"");
        try (Recording recording = new Recording(Configuration.getConfiguration("profile"))) {
            recording.enable("jdk.OldObjectSample").with("cutoff", "infinity").withStackTrace();
            recording.enable("jdk.ThreadCPULoad").with("period", "100 ms");
            recording.start();
            worker.start();
            for (int i = 0; i < 30000; i++) {
                open(i);
                if (i % 10000 == 5000) {
                    Thread.sleep(300);
                    try (Recording rotate = new Recording()) { // a new chunk begins
                        rotate.start();
                        rotate.stop();
                    }
                }
            }
            worker.join();
            System.gc();
            Thread.sleep(300);
            recording.stop();
            recording.dump(Path.of(arguments[0]));
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(arguments[1], true);
    }
}
