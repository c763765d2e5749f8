/*
 * Dumps the heap of javac after it has parsed and attributed sources: trees, symbols, types, names.
 *
 *   java JavacHeap FILE.hprof SOURCE-DIR
 *
 * SOURCE-DIR contains sources of java.base from the JDK that runs this program. make.sh unpacks enough
 * of them from the JDK's src.zip for about 4 M objects and 0.4 GB.
 */
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

public class JavacHeap {
	static JavacTask task;
	static final List<CompilationUnitTree> TREES = new ArrayList<>();

	public static void main(String[] args) throws Exception {
		Path folder = Path.of(args[1]);
		List<Path> files;
		try (Stream<Path> walk = Files.walk(folder)) {
			files = walk.filter(p -> p.toString().endsWith(".java") && !p.endsWith("module-info.java")
					&& !p.endsWith("package-info.java"))
					.sorted()
					.collect(Collectors.toList());
		}
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null);
		task = (JavacTask) compiler.getTask(null, manager, problem -> { }, List.of("-proc:none",
				"--patch-module", "java.base=" + folder), null,
				manager.getJavaFileObjectsFromPaths(files));
		for (CompilationUnitTree tree : task.parse())
			TREES.add(tree);
		task.analyze();
		Dump.write(args[0]);
		System.out.println(TREES.size() + " files");
	}
}
