/*
 * Dumps its own heap while threads cannot continue, or (-ok) while as many threads wait as healthy threads do.
 *
 *   java Stuck CASE FILE.hprof
 */
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

public class Stuck {
    static class Prices {
        static final Prices only = new Prices();
        final ReentrantLock lock = new ReentrantLock();
        final ServerSocket server;
        Prices() {
            try {
                server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        Object receive() throws Exception {
            try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                return s.getInputStream().read();
            }
        }
        synchronized Object refresh() throws Exception { return receive(); }
        synchronized int price() { return 1; }
        Object locked() throws Exception {
            lock.lock();
            return receive();
        }
        Socket accepted() throws Exception { return new Socket(server.getInetAddress(), server.getLocalPort()); }
    }
    static class Report {
        final byte[] text = new byte[500];
        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {
            synchronized (Prices.only) { text[0] = 1; }
        }
    }

    /* A queue whose consumer is in a socket read, or (ok) waits at another queue. */
    static class Outbox {
        final BlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();
        Object send() throws Exception {
            queue.take();
            return okio.Source.read(Prices.only.accepted().getInputStream()::read);
        }
        Object wait(BlockingQueue<?> empty) throws Exception { return empty.take(); }
    }

    /* Permits that are not released after an error, or (ok) that other threads hold. */
    static class Limit {
        final Semaphore permits = new Semaphore(10);
        Object enter(boolean fails) throws Exception {
            permits.acquire();
            if (fails) return null;
            Thread.sleep(1_000_000);
            permits.release();
            return null;
        }
        static final Limit only = new Limit();
    }
    static class Book {
        static final Book only = new Book();
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);
        Object level(boolean isNew) {
            lock.readLock().lock();
            if (isNew) lock.writeLock().lock();
            return this;
        }
        Object attempt() throws Exception {
            lock.readLock().lock();
            return lock.writeLock().tryLock(1_000_000, TimeUnit.SECONDS);
        }
    }
    /* The same semaphore in a method of another class. */
    static class Gate extends Thread {
        Gate(String name) {
            super(name);
            setDaemon(true);
        }
        @Override
        public void run() {
            try {
                Limit.only.permits.acquire();
                Thread.sleep(1_000_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        static void open(String name, Thread.State state, String method) throws Exception {
            Gate gate = new Gate(name);
            gate.start();
            await(gate, state, method);
        }
    }
    /* Permits that count items. */
    static class Buffer {
        final Semaphore items = new Semaphore(0);
        Object take() throws Exception {
            items.acquire();
            return null;
        }
    }
    /* stuck_test.sh renames this class, to a name with a parenthesis. */
    static class Odd_Limit {
        final Semaphore permits = new Semaphore(0);
        Object enter() throws Exception {
            permits.acquire();
            return null;
        }
    }
    /* Objects that tasks take from a queue and do not give back. */
    static class Lender {
        final BlockingQueue<Object> idle = new ArrayBlockingQueue<>(8);
        final Map<String, Object> lent = new ConcurrentHashMap<>();
        Object borrow() throws InterruptedException { return idle.take(); }
    }
    /* Threads that meet, of which one has ended, or (ok) comes later. */
    static class Meeting {
        final CyclicBarrier all = new CyclicBarrier(13);
        Object join() throws Exception { return all.await(); }
    }
    static Process child;
    static class Loop implements Runnable {
        final BlockingQueue<Runnable> tasks;
        final byte[] buffer = new byte[20_000];
        Loop(BlockingQueue<Runnable> tasks) { this.tasks = tasks; }
        public void run() {
            try {
                if (child != null) child.waitFor();
                tasks.take().run();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /* Classes whose static initializers need each other, or that wait, or (ok) compute. */
    static final CyclicBarrier both = new CyclicBarrier(2);
    static class Rules {
        static final int rate;
        static {
            meet();
            rate = Money.scale;
        }
    }
    static class Money {
        static final int scale;
        static {
            meet();
            scale = Rules.rate;
        }
    }
    static class Remote {
        static final Object table;
        static {
            try {
                table = Prices.only.receive();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
    static volatile boolean isDone;
    static class Busy {
        static int count;
        static {
            while (!isDone) count++;
        }
    }
    static class Tariffs {
        static int count;
        static {
            while (!isDone) count++;
        }
    }
    /* An initializer that runs another one, for which no thread waits. */
    static class Orders {
        static final int count = busy();
    }
    static void meet() {
        try {
            both.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
    static Object rate() { return Rules.rate; }
    static Object scale() { return Money.scale; }
    static Object remote() { return Remote.table; }
    static int busy() { return Busy.count; }
    static int tariffs() { return Tariffs.count; }
    static Object orders() { return Orders.count; }

    static List<Thread> workers = Collections.synchronizedList(new ArrayList<>());
    static List<Object> kept = new ArrayList<>();

    /* Waits until the thread is in this state, in a method with this name. */
    static void await(Thread t, Thread.State state, String method) throws Exception {
        while (t.getState() != state
            || Arrays.stream(t.getStackTrace()).noneMatch(f -> f.getMethodName().equals(method)))
            Thread.sleep(2);
    }
    /* Waits until the innermost frame of the thread is a method with this name. */
    static void awaitTop(Thread t, String method) throws Exception {
        StackTraceElement[] stack;
        do {
            Thread.sleep(2);
            stack = t.getStackTrace();
        } while (stack.length == 0 || !stack[0].getMethodName().equals(method));
    }
    static Thread start(String name, Callable<?> task) {
        Thread t = new Thread(() -> {
            try {
                task.call();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        t.setDaemon(true);
        t.start();
        return t;
    }
    static ExecutorService pool(String name, int threads) {
        return Executors.newFixedThreadPool(threads, r -> {
            Thread t = new Thread(r, name + workers.size());
            t.setDaemon(true);
            workers.add(t);
            return t;
        });
    }

    /* Tasks of a pool that wait for tasks of `inner`. */
    static void nest(ExecutorService pool, int threads, ExecutorService inner, boolean hasStages)
        throws Exception {
        CountDownLatch all = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++)
            pool.submit(() -> {
                all.countDown();
                all.await();
                return hasStages ? CompletableFuture.supplyAsync(() -> "price", inner).get()
                                 : inner.submit(() -> "price").get();
            });
        all.await();
        for (Thread t : workers)
            if (!t.getName().startsWith("inner-")) await(t, Thread.State.WAITING, "get");
    }

    static void fill(String what, boolean ok) throws Exception {
        switch (what) {
            case "convoy":
                await(start("refresh", Prices.only::refresh), Thread.State.RUNNABLE, "read");
                for (int i = 0; i < (ok ? 2 : 6); i++)
                    await(start("http-" + i, Prices.only::price), Thread.State.BLOCKED, "price");
                break;
            case "lock":
                await(start("refresh", Prices.only::locked), Thread.State.RUNNABLE, "read");
                for (int i = 0; i < (ok ? 2 : 6); i++)
                    await(start("http-" + i, Prices.only::locked), Thread.State.WAITING, "lock");
                break;
            /* A thread with many objects in a local variable reads from a socket, or (ok) waits. */
            case "export":
                await(start("export", () -> {
                    List<byte[]> rows = new ArrayList<>();
                    for (int i = 0; i < 3000; i++) rows.add(new byte[700]);
                    if (ok) new CountDownLatch(1).await();
                    return Prices.only.receive().hashCode() + rows.size();
                }), ok ? Thread.State.WAITING : Thread.State.RUNNABLE, ok ? "await" : "read");
                break;
            /* A reader asks for the write lock, which (ok) another thread holds, or for a limited time. */
            case "upgrade": {
                ReentrantReadWriteLock book = Book.only.lock;
                if (ok) {
                    await(start("writer", () -> {
                        book.writeLock().lock();
                        return Prices.only.receive();
                    }), Thread.State.RUNNABLE, "read");
                    Book other = new Book();
                    kept.add(other);
                    await(start("attempt", other::attempt), Thread.State.TIMED_WAITING, "tryLock");
                } else {
                    book.readLock().lock();
                    book.readLock().unlock();
                    await(start("stock-0", () -> Book.only.level(true)), Thread.State.WAITING, "lock");
                }
                for (int i = 1; i < (ok ? 2 : 12); i++)
                    await(start("stock-" + i, () -> Book.only.level(false)), Thread.State.WAITING, "lock");
                break;
            }
            case "classes":
                if (ok) {
                    awaitTop(start("tax-0", Stuck::busy), "<clinit>");
                    for (int i = 1; i < 5; i++) awaitTop(start("tax-" + i, Stuck::busy), "busy");
                    break;
                }
                Thread[] crossed = {start("tax-0", Stuck::rate), start("tax-1", Stuck::scale)};
                for (Thread t : crossed) awaitTop(t, "<clinit>");
                awaitTop(start("tax-2", Stuck::rate), "rate");
                awaitTop(start("tax-4", Stuck::rate), "rate");
                awaitTop(start("tax-3", Stuck::scale), "scale");
                break;
            /* Two initializers compute, and threads wait for one of them only. */
            case "initializers":
                awaitTop(start("tariffs", Stuck::tariffs), "<clinit>");
                awaitTop(start("tax-0", Stuck::busy), "<clinit>");
                for (int i = 1; i < 5; i++) awaitTop(start("tax-" + i, Stuck::busy), "busy");
                break;
            case "nested":
                awaitTop(start("order-0", Stuck::orders), "<clinit>");
                for (int i = 1; i < 13; i++) awaitTop(start("order-" + i, Stuck::orders), "orders");
                break;
            case "remote":
                await(start("load-0", Stuck::remote), Thread.State.RUNNABLE, "read");
                for (int i = 1; i < (ok ? 3 : 5); i++) awaitTop(start("load-" + i, Stuck::remote), "remote");
                break;
            case "starved":
            case "stages": {
                ExecutorService pool = pool("quote-", 4), inner = pool("inner-", 1);
                if (ok) inner.submit(Prices.only::receive);
                nest(pool, 4, ok ? inner : pool, what.equals("stages"));
                break;
            }
            /* The threads of a second pool wait for tasks in the queue of the first, which starves itself. */
            case "second": {
                ExecutorService first = pool("self-", 5);
                nest(first, 5, first, false);
                nest(pool("quote-", 4), 4, first, false);
                break;
            }
            /* Two groups of threads, which wait for locks of two other threads, and are one suspect. */
            case "groups": {
                Prices[] prices = {Prices.only, new Prices()};
                for (Prices p : prices)
                    await(start("refresh-" + p.server.getLocalPort(), p::refresh), Thread.State.RUNNABLE, "read");
                for (int i = 0; i < 18; i++) {
                    Prices p = prices[i / 12];
                    await(start("http-" + i, () -> {
                        byte[] page = new byte[200000];
                        return p.price() + page.length;
                    }), Thread.State.BLOCKED, "price");
                }
                break;
            }
            case "reader": {
                ExecutorService pool = pool("printer-", 1);
                if (!ok) pool.submit(Prices.only::receive);
                for (int i = 0; i < (ok ? 1 : 3000); i++) {
                    byte[] page = new byte[700];
                    pool.submit(() -> page.hashCode());
                }
                await(workers.get(0), ok ? Thread.State.WAITING : Thread.State.RUNNABLE, ok ? "take" : "read");
                break;
            }
            /* Both threads of a pool wait for each other's locks, or (ok) for tasks. The tasks are no futures. */
            case "crossed": {
                ExecutorService pool = pool("posting-", 2);
                ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock()};
                CyclicBarrier both = new CyclicBarrier(2);
                for (int i = 0; i < 2 && !ok; i++) {
                    int no = i;
                    pool.execute(() -> {
                        locks[no].lock();
                        try {
                            both.await();
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                        locks[1 - no].lock();
                    });
                }
                for (int i = 0; i < (ok ? 2 : 3000); i++) {
                    byte[] page = new byte[700];
                    pool.execute(() -> page.hashCode());
                }
                kept.add(pool);
                while (!ok && !(locks[0].hasQueuedThreads() && locks[1].hasQueuedThreads())) Thread.sleep(2);
                for (Thread t : workers) await(t, Thread.State.WAITING, ok ? "take" : "lock");
                break;
            }
            case "permits":
                for (int i = 0; i < 10 && !ok; i++) Limit.only.enter(true);
                for (int i = 0; i < 10 && ok; i++)
                    await(start("busy-" + i, () -> Limit.only.enter(false)), Thread.State.TIMED_WAITING, "sleep");
                for (int i = 0; i < 12; i++)
                    await(start("http-" + i, () -> Limit.only.enter(true)), Thread.State.WAITING, "acquire");
                break;
            /* The thread that holds the permits is in a method of some of those that wait. */
            case "gate":
                for (int i = 0; i < 10; i++) Gate.open("busy-" + i, Thread.State.TIMED_WAITING, "sleep");
                for (int i = 0; i < 6; i++) {
                    await(start("http-" + i, () -> Limit.only.enter(true)), Thread.State.WAITING, "acquire");
                    Gate.open("batch-" + i, Thread.State.WAITING, "acquire");
                }
                break;
            case "buffer": {
                Buffer buffer = new Buffer();
                for (int i = 0; i < 12; i++)
                    await(start("take-" + i, buffer::take), Thread.State.WAITING, "acquire");
                break;
            }
            case "odd": {
                Odd_Limit limit = new Odd_Limit();
                for (int i = 0; i < 12; i++)
                    await(start("http-" + i, limit::enter), Thread.State.WAITING, "acquire");
                break;
            }
            /* The threads of a pool wait for a lock, and its tasks for its threads: one incident. */
            case "pooled": {
                await(start("refresh", Prices.only::refresh), Thread.State.RUNNABLE, "read");
                ExecutorService pool = pool("ship-", ok ? 2 : 6);
                kept.add(pool);
                for (int i = 0; i < (ok ? 2 : 3000); i++) {
                    byte[] page = new byte[700];
                    pool.submit(() -> Prices.only.price() + page.length);
                }
                for (Thread t : workers) await(t, Thread.State.BLOCKED, "price");
                break;
            }
            /* Each thread has its own loop, or (ok) all have one, the loops share a queue or run a process. */
            case "loops":
            case "processes":
            case "workers": {
                if (what.equals("processes")) child = new ProcessBuilder("sleep", "600").start();
                BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
                Loop one = new Loop(tasks);
                for (int i = 0; i < 60; i++) {
                    Loop loop = what.equals("workers") ? new Loop(tasks)
                        : ok                           ? one
                                                       : new Loop(new LinkedBlockingQueue<>());
                    Thread t = new Thread(loop, "loop-" + i);
                    t.setDaemon(true);
                    if (ok) kept.add(ThreadLocal.withInitial(() -> new byte[20_000]));
                    t.start();
                    await(t, Thread.State.WAITING, child != null ? "waitFor" : "take");
                }
                break;
            }
            case "outbox": {
                Outbox outbox = new Outbox();
                for (int i = 0; i < 3000; i++) outbox.queue.add(new byte[700]);
                kept.add(outbox);
                if (ok)
                    await(start("sms", () -> outbox.wait(new LinkedBlockingQueue<>())), Thread.State.WAITING, "take");
                else
                    await(start("sms", outbox::send), Thread.State.RUNNABLE, "read");
                break;
            }
            case "finalizer":
                if (!ok) await(start("archiver", Prices.only::refresh), Thread.State.RUNNABLE, "read");
                for (int i = 0; i < 3000; i++) new Report();
                System.gc();
                for (Thread t : Thread.getAllStackTraces().keySet())
                    if (t.getName().equals("Finalizer") && !ok) await(t, Thread.State.BLOCKED, "finalize");
                break;
            case "idle": {
                BlockingQueue<Object> queue = new LinkedBlockingQueue<>();
                ExecutorService pool = pool("idle-", 20);
                for (int i = 0; i < 20; i++) {
                    pool.submit(() -> 1);
                    start("acceptor-" + i, Prices.only.server::accept);
                    await(start("consumer-" + i, queue::take), Thread.State.WAITING, "take");
                }
                for (Thread t : workers) await(t, Thread.State.WAITING, "take");
                break;
            }
            /* A task ends without releasing a lock, or (ok) releases it. */
            case "abandoned": {
                pool("seat-", 1).submit(() -> {
                    Prices.only.lock.lock();
                    if (ok) Prices.only.lock.unlock();
                    return null;
                });
                await(workers.get(0), Thread.State.WAITING, "take");
                for (int i = 0; i < (ok ? 0 : 12); i++)
                    await(start("http-" + i, Prices.only::locked), Thread.State.WAITING, "lock");
                break;
            }
            /*
             * A pool whose threads wait for a lock that a task of another pool did not release, and whose queue is
             * long: one incident.
             */
            case "unreleased": {
                pool("seat-", 1).submit(Prices.only.lock::lock);
                await(workers.get(0), Thread.State.WAITING, "take");
                ExecutorService pool = pool("ship-", 12);
                kept.add(pool);
                for (int i = 0; i < 3000; i++) {
                    byte[] page = new byte[700];
                    pool.submit(() -> Prices.only.locked().hashCode() + page.length);
                }
                for (Thread t : workers.subList(1, 13)) await(t, Thread.State.WAITING, "lock");
                break;
            }
            /* The threads of a pool wait for an empty queue with tasks behind them, or (ok) without. */
            case "borrow": {
                Lender lender = new Lender();
                for (int i = 0; i < 8; i++) lender.lent.put("renderer " + i, new byte[100]);
                ExecutorService pool = pool("label-", 4);
                for (int i = 0; i < (ok ? 4 : 40); i++) pool.submit(lender::borrow);
                for (Thread t : workers) await(t, Thread.State.WAITING, "take");
                kept.add(pool);
                break;
            }
            /* The tasks of a ForkJoinPool read from sockets, or (ok) the pool has few tasks. */
            case "joined": {
                ForkJoinPool pool = new ForkJoinPool(4, p -> {
                    ForkJoinWorkerThread t = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(p);
                    workers.add(t);
                    return t;
                }, null, false);
                for (int i = 0; i < (ok ? 40 : 3000); i++) {
                    byte[] page = new byte[700];
                    pool.submit(() -> {
                        Prices.only.receive();
                        return page;
                    });
                }
                while (workers.size() < 4) Thread.sleep(2);
                for (Thread t : workers) await(t, Thread.State.RUNNABLE, "read");
                kept.add(pool);
                break;
            }
            case "meeting": {
                Meeting meeting = new Meeting();
                for (int i = 0; i < 12; i++)
                    await(start("region-" + i, meeting::join), Thread.State.WAITING, "await");
                if (ok)
                    await(start("late", () -> {
                        Thread.sleep(1_000_000);
                        return meeting.all.await();
                    }), Thread.State.TIMED_WAITING, "sleep");
                break;
            }
            /* Many threads of a pool without a maximum, or (ok) with one, or ("queued") with a queue. */
            case "unlimited":
            case "queued": {
                ThreadFactory factory = r -> {
                    workers.add(new Thread(r, "track-" + workers.size()));
                    return workers.get(workers.size() - 1);
                };
                ExecutorService pool = ok ? pool("track-", 120)
                    : what.equals("queued") ? new ThreadPoolExecutor(
                          120, Integer.MAX_VALUE, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>(), factory)
                                            : Executors.newCachedThreadPool(factory);
                for (int i = 0; i < 120; i++) {
                    pool.execute(() -> {
                        byte[] page = new byte[20_000];
                        try {
                            Thread.sleep(1_000_000 + page.length);
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    });
                }
                for (Thread t : workers) await(t, Thread.State.TIMED_WAITING, "sleep");
                break;
            }
            default:
                throw new IllegalArgumentException(what);
        }
    }

    public static void main(String[] args) throws Exception {
        boolean ok = args[0].endsWith("-ok");
        fill(ok ? args[0].substring(0, args[0].length() - 3) : args[0], ok);
        ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class)
            .dumpHeap(args[1], true);
        if (child != null) child.destroy();
        Runtime.getRuntime().halt(0);
    }
}
