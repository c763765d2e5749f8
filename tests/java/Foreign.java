import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Memory outside of the heap in known amounts, on JDK 22 and later: segments of arenas that are
 * open and closed, mappings with thousands of slices, direct buffers. Argument: the dump.
 */
public class Foreign {
	static final Arena shared = Arena.ofShared(), confined = Arena.ofConfined();
	static final Arena auto = Arena.ofAuto(), closed = Arena.ofShared();
	static final List<MemorySegment> slices = new ArrayList<>(), orphans = new ArrayList<>();
	static MemorySegment big, one, automatic, gone, all, map;
	static ByteBuffer direct, seen;

	public static void main(String[] args) throws Exception {
		Path file = Files.createTempFile("foreign", ".bin");

		big = shared.allocate(1 << 20);
		for (int i = 0; i < 1000; i++)
			slices.add(big.asSlice(i * 1024, 1024));
		one = confined.allocate(4096);
		automatic = auto.allocate(65536);
		all = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
		gone = closed.allocate(1 << 22);
		closed.close();
		try (FileChannel c = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			map = c.map(FileChannel.MapMode.READ_WRITE, 0, 8 << 20, shared);
			for (int i = 0; i < 2000; i++)
				slices.add(map.asSlice(i * 4096L, 4096));
			// A mapping of which only parts are left.
			MemorySegment lost = c.map(FileChannel.MapMode.READ_WRITE, 0, 2 << 20, Arena.ofAuto());
			for (int i = 0; i < 3; i++)
				orphans.add(lost.asSlice(i * (512L << 10), 512 << 10));
		}
		seen = big.asByteBuffer();
		direct = ByteBuffer.allocateDirect(12345);
		ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class)
			.dumpHeap(args[0], true);
		Files.delete(file);
	}
}
