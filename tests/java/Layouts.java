import java.io.PrintWriter;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

import jdk.internal.vm.annotation.Contended;

/**
 * What the VM itself says of object sizes: an instance of nearly every class of some modules, of
 * the classes that are loaded anyhow, and of classes made to be hard to lay out; then a dump.
 * Arguments: OUT (writes OUT.sizes, OUT.offsets and OUT.hprof), then modules.
 *
 * OUT.sizes has a line "NAME, tab, size of an instance, tab, size of the class object" (0: not
 * known), and for arrays "NAME#length, tab, size, tab, 0". OUT.offsets: "NAME, tab, field, tab,
 * offset".
 */
public class Layouts {
	static Instrumentation instrumentation;
	static final List<Object> kept = new ArrayList<>();
	static final TreeMap<String, String> sizes = new TreeMap<>();
	static final StringBuilder offsets = new StringBuilder();

	public static void premain(String args, Instrumentation i) {
		instrumentation = i;
	}

	static class Empty { }
	static class EmptySub extends Empty { boolean z; }
	static class EmptySubSub extends EmptySub { Object o; }
	static class Bytes1 { byte a; }
	static class Bytes2 extends Bytes1 { byte a; }
	static class Bytes3 extends Bytes2 { long a; byte b; }
	static class Bytes4 extends Bytes3 { short a; Object b; }
	static class Bytes5 extends Bytes4 { int a; byte b, c, d; char e; }
	static class Long1 { long a; }
	static class Long2 extends Long1 { int a; }
	static class Long3 extends Long2 { Object a; }
	static class Long4 extends Long3 { double a; boolean b; }
	static class Long5 extends Long4 { short a; byte b; long c; Object d; }
	static class Mixed1 { char a; boolean b, c; }
	static class Mixed2 extends Mixed1 { Object a, b; long c; }
	static class Mixed3 extends Mixed1 { Object a, b; long c; int d; boolean e; }
	static class Mixed4 extends Mixed3 { byte a; short b; int c; long d; Object e; }
	static class Mixed5 extends Mixed4 { boolean a; }
	static class Mixed6 extends Mixed5 { double a; }
	static class Mixed7 extends Mixed6 { byte a, b, c; }
	static class Mixed8 extends Mixed7 { float a; short b; byte c; }
	static class Odd1 { byte a, b, c, d, e; }
	static class Odd2 extends Odd1 { char a; }
	static class Odd3 extends Odd2 { Object a; byte b; }
	static class Odd4 extends Odd3 { long a; }
	static class Odd5 extends Odd4 { byte a, b, c, d, e, f, g; }
	static class Odd6 extends Odd5 { int a; long b; char c; Object d, e, f; }
	static class Statics1 { static byte a; static Object b = new Object(); }
	static class Statics2 { static long a = System.nanoTime(); static byte b; static int c; }
	static class Statics3 {
		static Object a, b, c;
		static double d = 1;
		static short e;
		static boolean f;
	}

	/* Padded with -XX:-RestrictContended alone; a dump does not have annotations. */
	@Contended static class Padded { int a; Object b; }
	static class PaddedSub extends Padded { byte a; }
	static class PaddedField { int a; @Contended long b; }
	static class PaddedGroup { @Contended("g") int a; @Contended("g") int b; Object c; }

	static final Class<?>[] own = {
		Empty.class, EmptySub.class, EmptySubSub.class, Bytes1.class, Bytes2.class, Bytes3.class,
		Bytes4.class, Bytes5.class, Long1.class, Long2.class, Long3.class, Long4.class, Long5.class,
		Mixed1.class, Mixed2.class, Mixed3.class, Mixed4.class, Mixed5.class, Mixed6.class,
		Mixed7.class, Mixed8.class, Odd1.class, Odd2.class, Odd3.class, Odd4.class, Odd5.class,
		Odd6.class, Statics1.class, Statics2.class, Statics3.class, Padded.class, PaddedSub.class,
		PaddedField.class, PaddedGroup.class,
	};

	/*
	 * Classes whose initialisation starts threads, opens windows, needs native libraries or
	 * ends the VM.
	 */
	static final String[] avoided = {
		"java.awt.", "sun.awt.", "sun.java2d.", "javax.swing.", "com.sun.java.swing.", "sun.swing.",
		"sun.font.", "sun.print.", "javax.sound.", "com.sun.media.", "sun.lwawt.", "com.sun.imageio.",
		"javax.print.", "com.sun.beans.", "jdk.internal.org.jline.", "jdk.internal.misc.VM",
		"java.lang.Shutdown", "sun.launcher.", "jdk.internal.crac.", "java.lang.ref.",
		"jdk.internal.vm.StackChunk", "java.lang.invoke.VarHandle", "sun.net.www.protocol.",
		"sun.nio.ch.sctp.", "jdk.internal.misc.CDS", "java.applet.", "sun.applet.",
	};

	static boolean isAvoided(String name) {
		for (String prefix : avoided)
			if (name.startsWith(prefix))
				return true;
		return name.contains("Thread") || name.contains("Cleaner") || name.contains("Reference");
	}

	static void addOffsets(sun.misc.Unsafe unsafe, Class<?> c) {
		for (Field f : c.getDeclaredFields()) {
			if (Modifier.isStatic(f.getModifiers()))
				continue;
			try {
				long offset = unsafe.objectFieldOffset(f);

				offsets.append(c.getName()).append('\t').append(f.getName()).append('\t')
					.append(offset).append('\n');
			} catch (UnsupportedOperationException e) {
				// records and hidden classes
			}
		}
	}

	static void add(sun.misc.Unsafe unsafe, Class<?> c) {
		long instance = 0;

		if (sizes.containsKey(c.getName()) || c.isArray() || c.isPrimitive() || c.isHidden() || c.isSynthetic())
			return;
		try {
			if (!c.isInterface() && !Modifier.isAbstract(c.getModifiers()) && c != Class.class) {
				Object o = unsafe.allocateInstance(c);

				kept.add(o);
				instance = instrumentation.getObjectSize(o);
			} else {
				Class.forName(c.getName(), true, c.getClassLoader());
			}
			addOffsets(unsafe, c);
		} catch (Throwable e) {
			return;
		}
		sizes.put(c.getName(), instance + "\t" + instrumentation.getObjectSize(c));
	}

	static List<String> classes(String module) throws Exception {
		FileSystem fs = FileSystems.getFileSystem(URI.create("jrt:/"));
		Path root = fs.getPath("/modules", module);
		List<String> names = new ArrayList<>();

		try (Stream<Path> files = Files.walk(root)) {
			files.filter(p -> p.toString().endsWith(".class")).forEach(p -> {
				String name = root.relativize(p).toString();

				names.add(name.substring(0, name.length() - 6).replace('/', '.'));
			});
		}
		names.sort(null);
		return names;
	}

	static void addArrays() {
		Class<?>[] elements = { boolean.class, byte.class, char.class, short.class, int.class, long.class,
			float.class, double.class, Object.class, String.class };

		for (Class<?> c : elements) {
			for (int n = 0; n < 40; n++) {
				Object o = Array.newInstance(c, n);

				kept.add(o);
				sizes.put(o.getClass().getTypeName() + "#" + n,
					instrumentation.getObjectSize(o) + "\t0");
			}
		}
	}

	public static void main(String[] args) throws Exception {
		Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");

		field.setAccessible(true);
		sun.misc.Unsafe unsafe = (sun.misc.Unsafe) field.get(null);
		for (Class<?> c : own)
			add(unsafe, c);
		for (int m = 1; m < args.length; m++) {
			for (String name : classes(args[m])) {
				if (isAvoided(name) || name.endsWith("-info"))
					continue;
				try {
					add(unsafe, Class.forName(name, false, ClassLoader.getSystemClassLoader()));
				} catch (Throwable e) {
					// not for this platform
				}
			}
		}
		for (Class<?> c : instrumentation.getAllLoadedClasses()) {
			if (c.getClassLoader() == null && !isAvoided(c.getName()))
				add(unsafe, c);
		}
		addArrays();
		try (PrintWriter w = new PrintWriter(args[0] + ".sizes")) {
			sizes.forEach((name, size) -> w.println(name + "\t" + size));
		}
		try (PrintWriter w = new PrintWriter(args[0] + ".offsets")) {
			w.print(offsets);
		}
		ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class)
			.dumpHeap(args[0] + ".hprof", true);
		System.out.println(sizes.size());
		Runtime.getRuntime().halt(0);
	}
}
