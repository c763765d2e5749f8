import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.tools.ToolProvider;

/**
 * Dumps of a fleet, all from one VM: each program is loaded by a loader of its own, run, dumped and
 * dropped. "dump FILE": FILE has a line for each dump: its classes, the main class, the build's number,
 * the file to write, separated by tabs. "compile FILE": a line for each folder of classes: it, its sources.
 */
public final class FleetDump {
	private FleetDump() {
	}

	public static void main(String[] arguments) throws Exception {
		for (String line : Files.readAllLines(Path.of(arguments[1]))) {
			List<String> parts = Arrays.asList(line.split("\t"));
			if (arguments[0].equals("compile"))
				compile(parts);
			else
				dump(Path.of(parts.get(0)), parts.get(1), Integer.parseInt(parts.get(2)), parts.get(3));
		}
	}

	private static void compile(List<String> parts) {
		List<String> options = new ArrayList<>(List.of("-proc:none", "-d"));
		options.addAll(parts);
		String[] all = options.toArray(new String[0]);
		if (ToolProvider.getSystemJavaCompiler().run(null, null, null, all) != 0)
			System.exit(1);
	}

	private static void dump(Path classes, String name, int build, String file) throws Exception {
		URL[] path = { classes.toUri().toURL() };

		try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
			Class<?> program = loader.loadClass(name);
			program.getMethod("start", int.class).invoke(null, build);
			write(file, program);
		}
	}

	/** The class is alive until its heap is written. */
	private static void write(String file, Class<?> program) throws IOException {
		Dump.write(file);
		if (program.getName().isEmpty())
			throw new IOException(file);
	}
}
