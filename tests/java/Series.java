/*
 * Dumps its own heap five times; what is in it grows in several ways from each dump to the next.
 *
 *   java Series FILE-PREFIX      writes PREFIX1.hprof to PREFIX5.hprof
 *
 * In round n, from 1: EVENTS has 7n, SLOW 2n, TABLE n * 3 lists of 4 items each; STOPS has 5n, but no more
 * than 15; WAVES 10 or 20 in turns; LEFT and RIGHT have 5n each, which refer in pairs to the same 5n Blob
 * with a byte[1000]; a local variable of the thread "worker" holds 4n Note; n threads "extra" live.
 * STEADY stays as it is, 100 objects; RING replaces all of its 30.
 */
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;

public class Series {
	static class Event {
		byte[] bytes = new byte[100];
	}

	static class Slow {
	}

	static class Item {
	}

	static class Stop {
	}

	static class Wave {
	}

	static class Blob {
		byte[] bytes = new byte[1000];
	}

	static class Left {
		Blob blob;
	}

	static class Right {
		Blob blob;
	}

	static class Note {
	}

	static class Steady {
	}

	static final int ROUNDS = 5;
	static final List<Event> EVENTS = new ArrayList<>();
	static final List<Slow> SLOW = new ArrayList<>();
	static final List<Stop> STOPS = new ArrayList<>();
	static final List<Wave> WAVES = new ArrayList<>();
	static final Map<Integer, List<Item>> TABLE = new HashMap<>();
	static final List<Left> LEFT = new ArrayList<>();
	static final List<Right> RIGHT = new ArrayList<>();
	static final List<Steady> STEADY = new ArrayList<>();
	static final Object[] RING = new Object[30];
	static final CyclicBarrier BARRIER = new CyclicBarrier(2);
	static final CountDownLatch END = new CountDownLatch(1);

	static void work() {
		List<Note> notes = new ArrayList<>();
		try {
			for (int round = 1; round <= ROUNDS; round++) {
				for (int i = 0; i < 4; i++)
					notes.add(new Note());
				BARRIER.await();
				BARRIER.await();
			}
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
		if (notes.size() != 4 * ROUNDS)
			throw new AssertionError();
	}

	static void waits() {
		try {
			END.await();
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	static void fill(int round) {
		for (int i = 0; i < 7; i++)
			EVENTS.add(new Event());
		for (int i = 0; i < 2; i++)
			SLOW.add(new Slow());
		for (int i = 0; i < 3; i++) {
			List<Item> items = new ArrayList<>();
			for (int k = 0; k < 4; k++)
				items.add(new Item());
			TABLE.put(round * 10 + i, items);
		}
		for (int i = 0; i < 5; i++) {
			Left left = new Left();
			Right right = new Right();
			left.blob = right.blob = new Blob();
			LEFT.add(left);
			RIGHT.add(right);
			if (STOPS.size() < 15)
				STOPS.add(new Stop());
		}
		WAVES.clear();
		for (int i = 0; i < (round % 2 == 0 ? 20 : 10); i++)
			WAVES.add(new Wave());
		for (int i = 0; i < RING.length; i++)
			RING[i] = new Steady();
	}

	public static void main(String[] args) throws Exception {
		com.sun.management.HotSpotDiagnosticMXBean bean = ManagementFactory
			.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);
		Thread worker = new Thread(Series::work, "worker");
		List<Thread> extras = new ArrayList<>();

		for (int i = 0; i < 100; i++)
			STEADY.add(new Steady());
		worker.start();
		for (int round = 1; round <= ROUNDS; round++) {
			Thread extra = new Thread(Series::waits, "extra");
			extra.start();
			while (extra.getState() != Thread.State.WAITING)
				Thread.sleep(1);
			fill(round);
			BARRIER.await();
			bean.dumpHeap(args[0] + round + ".hprof", true);
			BARRIER.await();
		}
		END.countDown();
		worker.join();
	}
}
