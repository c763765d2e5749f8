import static org.junit.jupiter.api.Assertions.fail;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Dumps the heap after the preceding tests and runs each check of heap-budget.yaml as a test. */
class HeapBudgetTest {
	@TestFactory
	Stream<DynamicTest> heapBudget() throws Exception {
		Path dump = Path.of("build", "after.hprof");

		HeapBudget.dump(dump);
		return HeapBudget.run(dump, Path.of("heap-budget.yaml"), null).stream()
			.map(check -> DynamicTest.dynamicTest(check.name(), () -> {
				if (check.failure() != null)
					fail(check.failure());
			}));
	}
}
