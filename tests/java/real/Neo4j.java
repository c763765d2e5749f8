// jars org.neo4j:neo4j:5.26.1 org.slf4j:slf4j-nop:2.0.16
// java --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED
// java --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/java.util.concurrent=ALL-UNNAMED
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.Label;

/** One transaction that changes many nodes and is not yet committed. */
public class Neo4j {
	static final List<Object> kept = new ArrayList<>();
	static final int ORDERS = 30_000, EACH = 1000;

	public static void main(String[] args) throws Exception {
		Path folder = Files.createTempDirectory(Path.of("").toAbsolutePath(), "neo4j");
		var service = new DatabaseManagementServiceBuilder(folder)
			.setConfig(GraphDatabaseSettings.pagecache_memory, 16L << 20).build();
		var database = service.database("neo4j");
		boolean commits = args[1].equals("ok");
		var transaction = database.beginTx();
		for (int i = 0; i < ORDERS; i++) {
			var node = transaction.createNode(Label.label("Order"));
			node.setProperty("no", i);
			node.setProperty("note", "order " + i + " of customer " + i % 700);
			if (commits && i % EACH == EACH - 1) {
				transaction.commit();
				transaction.close();
				transaction = database.beginTx();
			}
		}
		kept.add(commits ? service : transaction);
		Real.dump(args[0]);
	}
}
