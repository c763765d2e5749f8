/*
 * Dumps the heap of H2 with an in-memory database.
 *
 *   java H2Tables FILE.hprof [ROWS]      350,000 rows: 4.8 M objects, 0.23 GB
 *
 * Of ten rows, one is a customer, three are orders and six are order lines. There are five indexes, an
 * open transaction, a partially read result and 200 cached queries.
 */
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;

public class H2Tables {
	static final String URL = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1";
	static final int BATCH = 1000;

	/** Returns the values of row NUMBER. */
	interface Row {
		Object[] values(int number);
	}

	static void create(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute("create table customer(id int primary key, name varchar(60), city "
					+ "varchar(30), since date, credit decimal(12,2))");
			statement.execute("create table orders(id bigint primary key, customer int, placed timestamp, "
					+ "state varchar(10), total decimal(12,2), note varchar(100))");
			statement.execute("create table line(orders bigint, item int, sku varchar(20), "
					+ "price decimal(10,2), data varbinary(20), primary key(orders, item))");
			statement.execute("create index on orders(customer)");
			statement.execute("create index on line(sku)");
		}
	}

	static void insert(Connection connection, String sql, int count, Row row) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			for (int i = 0; i < count; i++) {
				Object[] values = row.values(i);
				for (int k = 0; k < values.length; k++)
					statement.setObject(k + 1, values[k]);
				statement.addBatch();
				if (i % BATCH == BATCH - 1)
					statement.executeBatch();
			}
			statement.executeBatch();
		}
		connection.commit();
	}

	static void fill(Connection connection, int count) throws SQLException {
		int customers = count / 10;
		insert(connection, "insert into customer values(?,?,?,?,?)", customers, i -> new Object[] {
				i, "Customer " + i, "City " + i % 700,
				new Date(1_000_000_000_000L + i % 5800 * 86_400_000L), BigDecimal.valueOf(i, 2) });
		insert(connection, "insert into orders values(?,?,?,?,?,?)", count / 10 * 3, i -> new Object[] {
				(long) i, (int) (i * 7L % customers), new Timestamp(1_600_000_000_000L + i * 1000L),
				i % 3 == 0 ? "open" : "shipped", BigDecimal.valueOf(i * 3L, 2),
				i % 4 == 0 ? null : "note of order " + i });
		insert(connection, "insert into line values(?,?,?,?,?)", count / 10 * 6, i -> new Object[] {
				i / 2L, i % 2, "SKU-" + i % 5000, BigDecimal.valueOf(i % 10_000, 2),
				new byte[] { (byte) i, (byte) (i >> 8), 3, 4 } });
	}

	public static void main(String[] args) throws Exception {
		int count = args.length > 1 ? Integer.parseInt(args[1]) : 350_000;
		Connection writer = DriverManager.getConnection(URL);
		writer.setAutoCommit(false);
		create(writer);
		fill(writer, count);
		int late = writer.createStatement().executeUpdate(
				"update orders set state = 'late' where id < " + count / 100); /* not committed */
		Connection reader = DriverManager.getConnection(URL);
		ResultSet sums = reader.createStatement().executeQuery(
				"select o.id, c.name, sum(l.price) from orders o "
				+ "join customer c on c.id = o.customer join line l on l.orders = o.id "
				+ "group by o.id, c.name having sum(l.price) > 90");
		sums.next();
		for (int i = 0; i < 200; i++)
			reader.createStatement().executeQuery(
					"select count(*) from customer where city = 'City " + i + "'").next();
		Dump.write(args[0]);
		System.out.println(count + " rows, " + late + " of them changed, " + sums.getRow() + " sum read");
	}
}
