/*
 * Dumps the heap of a Cassandra node whose writes have not been flushed yet.
 *
 *   java CassandraNode FILE.hprof [EVENTS]      350,000 events: 7.8 M objects, 0.5 GB
 *
 * There are three tables, one of which has an index and cached rows, and one user for five events. Nearly
 * all rows are in memtables on the heap. A tenth of the users are in tables on disk, for which the node
 * keeps data in memory. real.sh provides the configuration.
 */
import java.util.Arrays;
import java.util.Date;
import java.util.HashSet;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.service.EmbeddedCassandraService;
import org.apache.cassandra.utils.TimeUUID;

public class CassandraNode {
	static final String[] SCHEMA = {
		"create keyspace shop with replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"create table shop.users(id bigint primary key, name text, mail text, tags set<text>, since timestamp) "
				+ "with caching = {'keys': 'ALL', 'rows_per_partition': '10'}",
		"create table shop.events(user bigint, at timeuuid, kind text, body text, amount double, "
				+ "primary key(user, at))",
		"create table shop.totals(user bigint primary key, n counter)",
		"create index on shop.users(mail)",
	};

	static void insertUser(int number) {
		QueryProcessor.executeInternal("insert into shop.users(id, name, mail, tags, since) "
				+ "values(?, ?, ?, ?, ?)", (long) number, "User " + number,
				"u" + number + "@example.org",
				new HashSet<>(Arrays.asList("t" + number % 10, "x" + number % 7)),
				new Date(1_600_000_000_000L + number));
	}

	static void insertEvent(int number, long user) {
		QueryProcessor.executeInternal("insert into shop.events(user, at, kind, body, amount) "
				+ "values(?, ?, ?, ?, ?)", user, TimeUUID.Generator.nextTimeUUID(),
				number % 3 == 0 ? "click" : "view", "event number " + number, number * 0.25);
	}

	public static void main(String[] args) throws Exception {
		int count = args.length > 1 ? Integer.parseInt(args[1]) : 350_000;
		int active = Math.max(count / 20, 1);
		new EmbeddedCassandraService().start();
		for (String statement : SCHEMA)
			QueryProcessor.process(statement, ConsistencyLevel.ONE);
		for (int i = 0; i < count; i++) {
			if (i % 5 == 0)
				insertUser(i);
			insertEvent(i, i % active);
			if (i == count / 10)
				ColumnFamilyStore.getIfExists("shop", "users")
						.forceBlockingFlush(ColumnFamilyStore.FlushReason.UNIT_TESTS);
		}
		for (int i = 0; i < active; i++)
			QueryProcessor.executeInternal("select * from shop.users where id = ?", i * 5L);
		UntypedResultSet found = QueryProcessor.executeInternal(
				"select * from shop.events where user in (1, 2, 3)");
		Dump.write(args[0]);
		System.out.println(count + " events, " + found.size() + " of three users");
		Runtime.getRuntime().halt(0); /* the node's threads would go on */
	}
}
