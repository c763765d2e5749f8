import java.io.RandomAccessFile;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Holds known amounts of memory outside the heap: words of the command line, each KIND=MEGABYTES, or
 * a number of threads or class loaders. Then prints "ready" and sleeps.
 */
public class OutsideHeap {
    static final List<Object> kept = new ArrayList<>();

    static native long allocate(long bytes);

    static native void free(long address);

    static void hold(String kind, int n) throws Exception {
        final long bytes = (long) n << 20;

        switch (kind) {
        case "direct":
            for (int i = 0; i < n; i++) kept.add(ByteBuffer.allocateDirect(1 << 20));
            break;
        case "small":
            for (long i = 0; i < bytes; i += 2048) kept.add(ByteBuffer.allocateDirect(2048));
            break;
        case "heap":
            for (int i = 0; i < n; i++) kept.add(new byte[1 << 20]);
            break;
        case "threads":
            for (int i = 0; i < n; i++) {
                final Thread thread = new Thread(() -> deep(2000), "held-" + i);
                thread.setDaemon(true);
                thread.start();
            }
            break;
        case "mapped":
            try (RandomAccessFile file = new RandomAccessFile("mapped.bin", "rw")) {
                file.setLength(bytes);
                final ByteBuffer map = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, bytes);
                for (int i = 0; i < bytes; i += 4096) map.put(i, (byte) 1);
                kept.add(map);
            }
            break;
        case "loaders":
            for (int i = 0; i < n; i++) {
                final ClassLoader loader = new URLClassLoader(new URL[0], OutsideHeap.class.getClassLoader());
                kept.add(Proxy.newProxyInstance(loader, new Class<?>[] {Runnable.class, List.class},
                        (proxy, method, values) -> null));
            }
            break;
        case "malloc":
            System.load(System.getProperty("library"));
            for (int i = 0; i < n; i++) allocate(1 << 20);
            break;
        case "freed":
            System.load(System.getProperty("library"));
            free(allocate(-bytes));
            break;
        default:
            throw new IllegalArgumentException(kind);
        }
    }

    /** Touches the pages of a stack, and stays there. */
    static void deep(int levels) {
        if (levels > 0) {
            deep(levels - 1);
            return;
        }
        try {
            Thread.sleep(600_000);
        } catch (InterruptedException e) {
            return;
        }
    }

    public static void main(String[] args) throws Exception {
        for (String word : args) {
            final String[] parts = word.split("=");
            hold(parts[0], Integer.parseInt(parts[1]));
        }
        Thread.sleep(300);
        System.out.println("ready");
        Thread.sleep(600_000);
    }
}
