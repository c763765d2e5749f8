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
 * Dumps the programs of a fleet in one VM. Each program is loaded by its own class loader, run, dumped and
 * released. "dump FILE": FILE has a tab-separated line for each dump with the directory of classes, the main class,
 * the build number and the output file. "compile FILE": a line for each directory of classes with its sources.
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

	/** Keeps the class alive until its heap has been written. */
	private static void write(String file, Class<?> program) throws IOException {
		Dump.write(file);
		if (program.getName().isEmpty())
			throw new IOException(file);
	}
}
