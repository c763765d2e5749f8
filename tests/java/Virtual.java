/*
 * Dumps its own heap while virtual threads run and wait.
 *
 *   java Virtual FILE        (JDK 21 and later)
 *
 * "spinner" runs, mounted on a carrier; "parked-0" to "parked-9" wait, each some frames deep, with
 * a Virtual$Held of its own in a local; "later" is not started.
 */
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

public class Virtual {
	static class Held {
		byte[] bytes = new byte[10000];
	}

	static volatile boolean done;
	static long spins;
	static Thread later;

	static int deep(int depth, CountDownLatch ready) {
		Held held = depth == 0 ? new Held() : null;

		if (depth > 0)
			return 1 + deep(depth - 1, ready);
		ready.countDown();
		while (!done)
			LockSupport.park();
		return held.bytes.length;
	}

	public static void main(String[] args) throws Exception {
		com.sun.management.HotSpotDiagnosticMXBean bean = ManagementFactory
			.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);
		CountDownLatch ready = new CountDownLatch(11);
		Thread[] parked = new Thread[10];

		for (int i = 0; i < parked.length; i++) {
			int depth = 5 + i;
			parked[i] = Thread.ofVirtual().name("parked-" + i).start(() -> deep(depth, ready));
		}
		Thread spinner = Thread.ofVirtual().name("spinner").start(() -> {
			ready.countDown();
			while (!done)
				spins++;
		});
		later = Thread.ofVirtual().name("later").unstarted(() -> { });
		ready.await();
		for (Thread thread : parked)
			while (thread.getState() != Thread.State.WAITING)
				Thread.sleep(1);
		bean.dumpHeap(args[0], true);
		done = true;
		for (Thread thread : parked) {
			LockSupport.unpark(thread);
			thread.join();
		}
		spinner.join();
	}
}
