import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A program under load that leaks slowly, for watch and growth: `java Growing KIND STEP_MS`. Each step makes
 * garbage, and the kinds sessions, listeners, queue, threadlocal, cache and loaders keep something of it.
 * The kinds quiet, sawtooth (a cache that is cleared) and builder (texts whose arrays double and stay
 * within a limit) do not. Ends after 10 minutes.
 */
public class Growing {
    static class Session {
        final byte[] state = new byte[1000];
        final String user;

        Session(String user) {
            this.user = user;
        }
    }

    interface Listener {
        void changed(String what);
    }

    static class PriceFeed {
        final List<Listener> listeners = new ArrayList<>();
    }

    static class Task {
        final long[] samples = new long[120];
    }

    static final Map<String, Session> SESSIONS = new HashMap<>();
    static final PriceFeed FEED = new PriceFeed();
    static final LinkedBlockingQueue<Task> TASKS = new LinkedBlockingQueue<>();
    static final ThreadLocal<List<Session>> SCRATCH = ThreadLocal.withInitial(ArrayList::new);
    static final Map<Long, long[]> RESULTS = new HashMap<>();
    static final Map<Integer, Session> CACHE = new HashMap<>();
    static final ExecutorService POOL = Executors.newFixedThreadPool(3, r -> {
        Thread t = new Thread(r, "worker");
        t.setDaemon(true);
        return t;
    });

    /** Keeps a class of its own, as an undeployed application does. */
    static class Plugin extends ClassLoader {
        final Class<?> type;

        Plugin(byte[] code) {
            super(Growing.class.getClassLoader());
            type = defineClass(null, code, 0, code.length);
        }
    }

    static final List<Plugin> PLUGINS = new ArrayList<>();
    static final List<StringBuilder> TEXTS = new ArrayList<>();
    static byte[] code;

    static class Watcher implements Listener {
        final byte[] buffer = new byte[1000];

        public void changed(String what) {}
    }

    static void step(String kind, int no) throws Exception {
        List<byte[]> garbage = new ArrayList<>();
        for (int i = 0; i < 100; i++)
            garbage.add(new byte[2000]);
        for (int i = 0; i < 100; i++) {
            int item = no * 100 + i;
            switch (kind) {
                case "sessions": SESSIONS.put("user-" + item, new Session("user " + item)); break;
                case "listeners": FEED.listeners.add(new Watcher()); break;
                case "queue": TASKS.add(new Task()); break;
                case "threadlocal": POOL.submit(() -> SCRATCH.get().add(new Session("x"))).get(); break;
                case "cache": RESULTS.put((long) item, new long[100]); break;
                case "loaders": if (i < 5) PLUGINS.add(new Plugin(code)); break;
                case "builder": write(item); break;
                case "sawtooth": CACHE.put(item, new Session("u" + item)); break;
                case "quiet": CACHE.put(i * 17 + no % 10, new Session("u" + item)); break;
                default: throw new IllegalArgumentException(kind);
            }
        }
        if (kind.equals("sawtooth") && no % Integer.getInteger("tooth", 100) == 0)
            CACHE.clear();
    }

    /** Appends to one of 50 texts; one that is long enough starts again, with the array that it has. */
    static void write(int item) {
        if (TEXTS.size() < 50) TEXTS.add(new StringBuilder());
        StringBuilder text = TEXTS.get(item * 7 % TEXTS.size());
        if (text.length() > 20_000) text.setLength(0);
        text.append("line ").append(item).append(" of a text that grows\n");
    }

    public static void main(String[] args) throws Exception {
        try (var in = Growing.class.getResourceAsStream("Growing$Task.class")) {
            code = in.readAllBytes();
        }
        long end = System.nanoTime() + 600_000_000_000L;
        for (int no = 0; System.nanoTime() < end; no++) {
            step(args[0], no);
            Thread.sleep(Long.parseLong(args[1]));
        }
    }
}
