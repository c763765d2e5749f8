/*
 * Dumps its own heap with class loaders in every state.
 *
 *   java Loading FILE
 *
 * Ten loaders of class Loading$L have defined Loading$Plugin: those with even numbers hold an
 * instance of it each, the others none. "child" is a loader whose parent is the first; it defines
 * nothing.
 */
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

public class Loading {
	public static class Plugin {
	}

	static class L extends ClassLoader {
		Object instance;

		L(String name, ClassLoader parent) {
			super(name, parent);
		}

		Class<?> plugin() throws Exception {
			try (InputStream in = Loading.class.getResourceAsStream("Loading$Plugin.class")) {
				byte[] bytes = in.readAllBytes();
				return defineClass("Loading$Plugin", bytes, 0, bytes.length);
			}
		}
	}

	static final List<L> KEPT = new ArrayList<>();

	public static void main(String[] args) throws Exception {
		com.sun.management.HotSpotDiagnosticMXBean bean = ManagementFactory
			.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);

		for (int i = 0; i < 10; i++) {
			L loader = new L("loader-" + i, Loading.class.getClassLoader());
			Class<?> plugin = loader.plugin();

			if (i % 2 == 0)
				loader.instance = plugin.getDeclaredConstructor().newInstance();
			KEPT.add(loader);
		}
		KEPT.add(new L("child", KEPT.get(0)));
		bean.dumpHeap(args[0], true);
	}
}
