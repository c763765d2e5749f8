import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** The JDK alone: pools with more tasks than they do, timers, HTTP clients, finalizers. */
public class Threads {
	static final List<Object> kept = new ArrayList<>();

	record Report(int no, byte[] data) implements Runnable {
		@Override
		public void run() {
			try {
				Thread.sleep(600_000);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	static class Connection {
		final byte[] buffer = new byte[1000];

		@Override
		@SuppressWarnings({ "deprecation", "removal" })
		protected void finalize() throws InterruptedException {
			Thread.sleep(600_000);
		}
	}

	static Report report(int no) {
		return new Report(no, new byte[1000]);
	}

	public static void main(String[] args) throws Exception {
		boolean ok = args[1].endsWith("-ok");
		int tasks = ok ? 3 : 8000;
		switch (args[1].replace("-ok", "")) {
		case "pool" -> {
			var pool = Executors.newFixedThreadPool(4);
			for (int i = 0; i < tasks; i++)
				pool.submit(report(i));
			kept.add(pool);
		}
		case "forkjoin" -> {
			var pool = new ForkJoinPool(2);
			for (int i = 0; i < tasks; i++)
				pool.execute(report(i));
			kept.add(pool);
		}
		case "scheduled" -> {
			var pool = Executors.newScheduledThreadPool(1);
			for (int i = 0; i < tasks; i++)
				pool.schedule(report(i), 1, TimeUnit.HOURS).cancel(false);
			kept.add(pool);
		}
		case "timer" -> {
			var timer = new Timer("reports");
			/* One that is not cancelled, and first: a timer takes cancelled tasks out at its head. */
			timer.schedule(new TimerTask() {
				@Override
				public void run() {
					report(0).run();
				}
			}, 1800_000);
			for (int i = 0; i < tasks; i++) {
				Report report = report(i);
				var task = new TimerTask() {
					@Override
					public void run() {
						report.run();
					}
				};
				timer.schedule(task, 3600_000);
				task.cancel();
			}
			kept.add(timer);
		}
		case "httpclient" -> {
			for (int i = 0; i < (ok ? 1 : 40); i++)
				kept.add(HttpClient.newHttpClient());
		}
		case "finalizer" -> {
			for (int i = 0; i < (ok ? 1 : 8000); i++)
				new Connection();
			System.gc();
			Thread.sleep(500);
			System.gc();
			Thread.sleep(500);
		}
		default -> throw new IllegalArgumentException(args[1]);
		}
		Thread.sleep(200);
		Real.dump(args[0]);
	}
}
