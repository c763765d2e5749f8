/*
 * Dumps the heap of the Kotlin compiler while it writes the first classes. The heap contains syntax trees,
 * resolved declarations and the intermediate representation of all files.
 *
 *   java KotlinHeap FILE.hprof OPTIONS-OF-KOTLINC...      okhttp and kotlinpoet: 4.5 M objects, 0.3 GB
 *
 * A second thread examines the stack of the compiler's thread until it contains code generation. The
 * progress of the compiler at this time, and therefore the dump, differs slightly from run to run.
 */
import java.io.IOException;
import java.util.Arrays;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;

public class KotlinHeap {
	static boolean generating(Thread compiler) {
		for (StackTraceElement frame : compiler.getStackTrace())
			if (frame.getClassName().endsWith(".ClassCodegen"))
				return true;
		return false;
	}

	/** Ends the VM after it has written the dump. */
	static void watch(Thread compiler, String file) {
		try {
			while (!generating(compiler))
				Thread.sleep(5);
			Dump.write(file);
			System.out.println("dumped in code generation");
			Runtime.getRuntime().halt(0);
		} catch (IOException | InterruptedException problem) {
			problem.printStackTrace();
			Runtime.getRuntime().halt(1);
		}
	}

	public static void main(String[] args) {
		Thread compiler = Thread.currentThread();
		Thread watcher = new Thread(() -> watch(compiler, args[0]), "watcher");
		watcher.setDaemon(true);
		watcher.start();
		Object code = new K2JVMCompiler().exec(System.err, Arrays.copyOfRange(args, 1, args.length));
		System.err.println("the compiler ended before it was dumped: " + code);
		System.exit(1);
	}
}
