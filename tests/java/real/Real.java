import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.net.HttpURLConnection;
import java.net.URI;

/** What the programs here share: a dump of themselves, and requests to a server of theirs. */
final class Real {
	private Real() {}

	/** Writes the live objects and ends the program, whatever threads there are. */
	static void dump(String file) throws Exception {
		ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(file, true);
		Runtime.getRuntime().halt(0);
	}

	/** Asks a server on this machine so many times, each without cookies. */
	static void get(int port, String path, int times) throws Exception {
		for (int i = 0; i < times; i++) {
			var connection = (HttpURLConnection) URI.create("http://127.0.0.1:" + port + path)
				.toURL().openConnection();
			if (connection.getResponseCode() != 200)
				throw new IllegalStateException(path + ": " + connection.getResponseCode());
			connection.getInputStream().readAllBytes();
		}
	}
}
