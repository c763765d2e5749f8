import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** Writes the reachable objects of this VM's heap to a file. */
final class Dump {
	private Dump() {
	}

	/** The VM requires that FILE ends in .hprof and does not exist. */
	static void write(String file) throws IOException {
		ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(file, true);
	}
}
