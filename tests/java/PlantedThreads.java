// tests/java/PlantedThreads.java - 40 threads of one kind wait for a lock that thread "main" has, each with a buffer in
// a local variable; two threads wait for each other's locks, two for each other's monitors; 1,200 threads are never
// started. Dumps itself to the first argument. With a second argument, the control: the same threads without the
// locks, started and ended.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class PlantedThreads {
    static final ReentrantLock LEDGER = new ReentrantLock(), FROM = new ReentrantLock(), TO = new ReentrantLock();
    static final List<Thread> LATER = new ArrayList<>();

    static void transfer(CountDownLatch ready) {
        byte[] page = new byte[400_000];
        ready.countDown();
        LEDGER.lock();
        System.out.println(page.length);
    }

    static void both(ReentrantLock first, ReentrantLock second, CountDownLatch ready) {
        first.lock();
        ready.countDown();
        try {
            ready.await();
        } catch (InterruptedException e) {
            return;
        }
        second.lock();
    }

    /** An account whose monitor a transfer takes. */
    static class Account {
        void give(Account other, CountDownLatch ready) {
            synchronized (this) {
                ready.countDown();
                try {
                    ready.await();
                } catch (InterruptedException e) {
                    return;
                }
                other.take();
            }
        }

        synchronized void take() {
        }
    }

    static Thread start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** No frame of "main" refers to the accounts. */
    static void startAccounts(CountDownLatch ready) {
        Account up = new Account(), down = new Account();

        start("up", () -> up.give(down, ready));
        start("down", () -> down.give(up, ready));
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch ready = new CountDownLatch(42), two = new CountDownLatch(2),
            monitors = new CountDownLatch(2);

        if (args.length > 1) {
            for (int i = 0; i < 1200; i++) LATER.add(start("later-" + i, () -> { }));
            for (Thread thread : LATER) thread.join();
        } else {
            LEDGER.lock();
            for (int i = 0; i < 40; i++) start("transfer-" + i, () -> transfer(ready));
            start("left", () -> { ready.countDown(); both(FROM, TO, two); });
            start("right", () -> { ready.countDown(); both(TO, FROM, two); });
            startAccounts(monitors);
            ready.await();
            two.await();
            monitors.await();
            // Any object may be what a thread is parked on: an array has no owner.
            start("parked", () -> { while (true) LockSupport.park(new int[1]); });
            for (int i = 0; i < 1200; i++) LATER.add(new Thread(() -> { }, "later-" + i));
            Thread.sleep(500);
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
