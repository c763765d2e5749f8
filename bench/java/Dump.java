import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** Writes the heap of this VM, what can be reached and nothing else, to a file. */
final class Dump {
	private Dump() {
	}

	/** FILE must end in .hprof and must not be there yet; the VM wants it so. */
	static void write(String file) throws IOException {
		ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(file, true);
	}
}
