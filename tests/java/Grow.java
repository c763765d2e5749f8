/*
 * Dumps its own heap three times and changes it in between by known amounts.
 *
 *   java Grow FILE-PREFIX live|all      writes PREFIX1.hprof, PREFIX2.hprof, PREFIX3.hprof
 *
 * From each dump to the next: the static map CACHE gets 1,000 entries Integer -> Grow$Payload with
 * a byte[] of 1,000; the thread "worker" gets 100 more Grow$Note in a list that only a local
 * variable of its holds; 50 Grow$Brief go (all 50 before the second dump); Grow$Steady stays as it
 * is, 200 objects.
 */
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;

public class Grow {
	static class Payload {
		byte[] bytes = new byte[1000];
	}

	static class Note {
		Object next;
	}

	static class Brief {
	}

	static class Steady {
	}

	static final Map<Integer, Payload> CACHE = new HashMap<>();
	static List<Brief> briefs = new ArrayList<>();
	static final List<Steady> STEADY = new ArrayList<>();
	static final CyclicBarrier BARRIER = new CyclicBarrier(2);

	static void work() {
		List<Note> notes = new ArrayList<>();
		try {
			for (int round = 0; round < 3; round++) {
				for (int i = 0; i < 100; i++)
					notes.add(new Note());
				BARRIER.await();
				BARRIER.await();
			}
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
		if (notes.size() != 300)
			throw new AssertionError();
	}

	public static void main(String[] args) throws Exception {
		com.sun.management.HotSpotDiagnosticMXBean bean = ManagementFactory
			.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);
		Thread worker = new Thread(Grow::work, "worker");

		for (int i = 0; i < 200; i++)
			STEADY.add(new Steady());
		for (int i = 0; i < 50; i++)
			briefs.add(new Brief());
		worker.start();
		for (int round = 1; round <= 3; round++) {
			for (int i = 0; i < 1000; i++)
				CACHE.put(round * 100000 + i, new Payload());
			BARRIER.await();
			bean.dumpHeap(args[0] + round + ".hprof", args[1].equals("live"));
			briefs = new ArrayList<>();
			BARRIER.await();
		}
		worker.join();
	}
}
