import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Runs `heapdb gate` and returns its checks. HeapBudgetTest turns each check into a test. This class can also be run
 * as a program, which prints the checks:
 *
 *   java HeapBudget.java DUMP BUDGET [BASELINE]
 */
public final class HeapBudget {
	/** A check. `failure` describes the failure and is null if the check passes. */
	public record Check(String name, String failure) {
	}

	private HeapBudget() {
	}

	/** Dumps the reachable objects of this VM. */
	public static void dump(Path file) throws IOException {
		Files.deleteIfExists(file);
		java.lang.management.ManagementFactory
			.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class)
			.dumpHeap(file.toString(), true);
	}

	/** Runs the checks of a budget on a dump. `baseline` may be null. */
	public static List<Check> run(Path dump, Path budget, Path baseline) throws Exception {
		List<String> command = new ArrayList<>(List.of("heapdb", "gate", dump.toString(), "--budget",
			budget.toString(), "--format", "junit", "--quiet"));
		List<Check> checks = new ArrayList<>();

		if (baseline != null)
			command.addAll(List.of("--baseline", baseline.toString()));
		Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
		byte[] report = process.getInputStream().readAllBytes();
		if (process.waitFor() > 1)
			throw new IOException("heapdb gate failed with exit code " + process.exitValue());
		NodeList cases = DocumentBuilderFactory.newInstance().newDocumentBuilder()
			.parse(new java.io.ByteArrayInputStream(report)).getElementsByTagName("testcase");
		for (int i = 0; i < cases.getLength(); i++) {
			Element one = (Element)cases.item(i);
			NodeList failures = one.getElementsByTagName("failure");

			checks.add(new Check(one.getAttribute("name"),
				failures.getLength() == 0 ? null : failures.item(0).getTextContent()));
		}
		return checks;
	}

	public static void main(String[] args) throws Exception {
		for (Check check : run(Path.of(args[0]), Path.of(args[1]), args.length > 2 ? Path.of(args[2]) : null))
			System.out.println(check.name() + ": " + (check.failure() == null ? "ok" : check.failure()));
	}
}
