import static org.junit.jupiter.api.Assertions.fail;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** A test for each check of heap-budget.yaml, of the heap that the tests before it leave. */
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
