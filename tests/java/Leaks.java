/*
 * Dumps its own heap three times; between the dumps one thing leaks and others grow, shrink and move.
 *
 *   java Leaks KIND FILE-PREFIX      writes PREFIX1.hprof, PREFIX2.hprof, PREFIX3.hprof
 *
 * KIND is what leaks: sessions, cache, listeners, locals, loaders, builder, queue. Whatever it is, the
 * program also has a bounded cache whose entries are replaced, a warm-up map that grows once and stays,
 * buffers that go, requests that come and go with the threads that serve them, and a table that moves
 * from one field to another.
 */
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;

public class Leaks {
	static class Session {
		final String id;
		final Map<String, Object> attributes = new HashMap<>();

		Session(int n)
		{
			id = "session-" + n;
			attributes.put("user", "user " + n);
			attributes.put("cart", new ArrayList<>(List.of(new byte[400], new byte[100])));
		}
	}

	static class SessionManager {
		final Map<String, Session> sessions = new ConcurrentHashMap<>();
	}

	static class Context {
		final SessionManager manager = new SessionManager();
		final List<Object> filters = new ArrayList<>();
	}

	interface Listener {
		void changed();
	}

	static class EventBus {
		final List<Listener> listeners = new ArrayList<>();
	}

	static class View implements Listener {
		final byte[] pixels = new byte[1500];

		public void changed()
		{
		}
	}

	static class Trace {
		static final ThreadLocal<List<Object>> CURRENT = ThreadLocal.withInitial(ArrayList::new);
	}

	static class Query {
		final String sql;
		final byte[] plan = new byte[700];

		Query(int n)
		{
			sql = "select * from t where id = " + n;
		}
	}

	static class PlanCache {
		final Map<String, Query> plans = new HashMap<>();
	}

	static class Job implements Runnable {
		final byte[] payload = new byte[900];

		public void run()
		{
		}
	}

	static class Mailer {
		final LinkedBlockingQueue<Job> outbox = new LinkedBlockingQueue<>();
	}

	static class AuditLog {
		final StringBuilder text = new StringBuilder();
	}

	static class Request {
		final byte[] body = new byte[3000];
	}

	/* Loads a copy of Application again, as a server that deploys it again does. */
	static class WebLoader extends ClassLoader {
		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException
		{
			if (!name.equals("Leaks$Application"))
				return super.loadClass(name, resolve);
			try (InputStream in = Leaks.class.getResourceAsStream("Leaks$Application.class")) {
				final byte[] code = in.readAllBytes();
				return defineClass(name, code, 0, code.length);
			} catch (java.io.IOException e) {
				throw new ClassNotFoundException(name, e);
			}
		}
	}

	public static class Application {
		static final List<byte[]> DATA = new ArrayList<>();

		public Application()
		{
			for (int i = 0; i < 200; i++)
				DATA.add(new byte[1000]);
		}
	}

	static class DriverRegistry {
		static final List<Object> DRIVERS = new ArrayList<>();
	}

	static final int ROUNDS = 3;
	static final Context CONTEXT = new Context();
	static final EventBus BUS = new EventBus();
	static final PlanCache PLANS = new PlanCache();
	static final Mailer MAILER = new Mailer();
	static final AuditLog AUDIT = new AuditLog();
	static final Map<Integer, byte[]> WARM = new HashMap<>();
	static final List<byte[]> BUFFERS = new ArrayList<>();
	static final ArrayDeque<Request> RECENT = new ArrayDeque<>();
	static final Map<Integer, byte[]> LRU = new LinkedHashMap<>() {
		@Override
		protected boolean removeEldestEntry(Map.Entry<Integer, byte[]> eldest)
		{
			return size() > 500;
		}
	};
	static Object left = new ArrayList<byte[]>(), right;
	static final ExecutorService POOL = Executors.newFixedThreadPool(8);
	static int made;

	static void leak(String kind, int count) throws Exception
	{
		for (int i = 0; i < count; i++) {
			final int n = made++;
			switch (kind) {
			case "sessions":
				CONTEXT.manager.sessions.put("s" + n, new Session(n));
				break;
			case "cache":
				PLANS.plans.put("q" + n, new Query(n));
				break;
			case "listeners":
				BUS.listeners.add(new View());
				break;
			case "locals":
				POOL.submit(() -> Trace.CURRENT.get().add(new byte[1000])).get();
				break;
			case "loaders":
				if (n % 200 == 0)
					DriverRegistry.DRIVERS.add(new WebLoader().loadClass("Leaks$Application")
									   .getDeclaredConstructor()
									   .newInstance());
				break;
			case "builder":
				AUDIT.text.append(n).append(" did something that nobody will ever read again, ")
					.append("and all of it is kept in one text, line after line after line\n"
							.repeat(8));
				break;
			case "queue":
				MAILER.outbox.add(new Job());
				break;
			default:
				throw new IllegalArgumentException(kind);
			}
		}
	}

	/* What else happens at the same time. */
	static void work(int round)
	{
		for (int i = 0; i < 2000; i++)
			LRU.put(ThreadLocalRandom.current().nextInt(), new byte[200]);
		if (round == 1)
			for (int i = 0; i < 300; i++)
				BUFFERS.add(new byte[1000]);
		else
			BUFFERS.subList(0, 100).clear();
		if (round == 2)
			for (int i = 0; i < 500; i++)
				WARM.put(i, new byte[300]);
		RECENT.clear();
		for (int i = 0; i < (round == 2 ? 10 : 40); i++)
			RECENT.add(new Request());
		CONTEXT.filters.clear();
		for (int i = 0; i < 50 + 5 * round; i++)
			CONTEXT.filters.add(new Request());
		if (round == 1)
			for (int i = 0; i < 400; i++)
				((List<byte[]>)left).add(new byte[1000]);
		if (round == 2) {
			right = left;
			left = null;
		}
	}

	public static void main(String[] args) throws Exception
	{
		final com.sun.management.HotSpotDiagnosticMXBean bean = ManagementFactory
			.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);

		for (int round = 1; round <= ROUNDS; round++) {
			work(round);
			leak(args[0], round == 1 ? 1500 : 800);
			bean.dumpHeap(args[1] + round + ".hprof", true);
		}
		POOL.shutdown();
	}
}
