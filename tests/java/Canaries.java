/*
 * Holds texts that should be secret, one of each origin, and dumps its own heap.
 *
 *   java Canaries.java FILE CANARYxARGUMENT
 *
 * Each text is "CANARYx" and its origin in capitals, and so are the names of a class, a field and
 * a method; tests/e2e/canaries_test.c knows which may be where.
 */
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

public class Canaries {
	static class CANARYxCLASS {
		Object CANARYxFIELD = "CANARYxVALUE";
		static final String CONSTANT = "CANARYxCONSTANT";
	}

	static final Map<Object, Object> kept = new HashMap<>();

	static void never() {
		kept.put("CANARYxLITERAL", "http://user:CANARYxURL@host/");
	}

	static void CANARYxUNUSED() {
	}

	static void CANARYxMETHOD() {
		try {
			Thread.sleep(1000000);
		} catch (InterruptedException e) {
			never();
			CANARYxUNUSED();
		}
	}

	/* The text as numbers, big-endian, as in a dump. */
	static long number(String text, int at, int bytes) {
		long number = 0;

		for (int i = 0; i < bytes; i++)
			number = number << 8 | (at + i < text.length() ? text.charAt(at + i) : 0);
		return number;
	}

	public static void main(String[] args) throws Exception {
		com.sun.management.HotSpotDiagnosticMXBean bean = ManagementFactory
			.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);
		Thread waits = new Thread(new ThreadGroup("CANARYxGROUP"), Canaries::CANARYxMETHOD, "CANARYxTHREAD");
		int[] ints = new int[4];
		long[] longs = new long[2];
		short[] shorts = new short[7];

		System.setProperty("canary", "CANARYxPROPERTY");
		kept.put("CANARYxKEY", new CANARYxCLASS());
		kept.put("wide", "CANARYxWIDE\u4e2d");
		kept.put("argument", args[1]);
		kept.put("built", new StringBuilder("CANARYx").append("BUILDER"));
		kept.put("chars", "CANARYxCHARS".toCharArray());
		kept.put("bytes", "CANARYxBYTES".getBytes(StandardCharsets.UTF_8));
		kept.put("little", "CANARYxLITTLE".getBytes(StandardCharsets.UTF_16LE));
		kept.put("path", new java.io.File("/tmp/CANARYxPATH/x"));
		kept.put("exception", new RuntimeException("CANARYxEXCEPTION"));
		for (int i = 0; i < ints.length; i++)
			ints[i] = (int)number("CANARYxINTS", 4 * i, 4);
		for (int i = 0; i < longs.length; i++)
			longs[i] = number("CANARYxLONGS", 8 * i, 8);
		for (int i = 0; i < shorts.length; i++)
			shorts[i] = (short)number("CANARYxSHORTS", 2 * i, 2);
		kept.put("ints", ints);
		kept.put("longs", longs);
		kept.put("shorts", shorts);
		waits.setDaemon(true);
		waits.start();
		while (waits.getState() != Thread.State.TIMED_WAITING)
			Thread.sleep(5);
		bean.dumpHeap(args[0], true);
	}
}
