import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A live dump, and the bytes of the heap that the VM says are in use after a full collection.
 * Argument: OUT (writes OUT.hprof and OUT.used).
 */
public class Used {
	static final List<Object> kept = new ArrayList<>();

	public static void main(String[] args) throws Exception {
		Map<String, Integer> map = new HashMap<>();

		for (int i = 0; i < 120000; i++) {
			map.put("key number " + i, i);
			kept.add(new long[i % 7]);
			kept.add(new byte[i % 61]);
		}
		kept.add(map);
		ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class)
			.dumpHeap(args[0] + ".hprof", true);
		System.gc();
		// Right after the collection: later the main thread's allocation buffer counts as a whole.
		long used = 0;

		for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
			if (pool.getType() == MemoryType.HEAP)
				used += pool.getCollectionUsage().getUsed();
		}

		try (PrintWriter w = new PrintWriter(args[0] + ".used")) {
			w.println(used);
		}
	}
}
