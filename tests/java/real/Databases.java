// jars com.h2database:h2:2.3.232 com.zaxxer:HikariCP:6.2.1 org.hsqldb:hsqldb:2.7.4 org.slf4j:slf4j-nop:2.0.16
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * h2, hsqldb: a table in memory that grows; h2-result: a result of all rows is read; hikari:
 * connections are not closed, three threads wait for one.
 */
public class Databases {
	static final List<Object> kept = new ArrayList<>();

	static void fill(Connection connection, String table, int rows) throws SQLException {
		try (var statement = connection.createStatement()) {
			statement.execute("CREATE TABLE " + table
				+ " (id INT PRIMARY KEY, customer VARCHAR(100), note VARCHAR(500))");
		}
		try (var insert = connection.prepareStatement("INSERT INTO " + table + " VALUES (?, ?, ?)")) {
			for (int i = 0; i < rows; i++) {
				insert.setInt(1, i);
				insert.setString(2, "customer " + i);
				insert.setString(3, "delivered to the door of number " + i);
				insert.addBatch();
				if (i % 1000 == 0)
					insert.executeBatch();
			}
			insert.executeBatch();
		}
	}

	static void leakConnections(String url, boolean leak) throws Exception {
		var config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setPoolName("orders-pool");
		config.setMaximumPoolSize(10);
		config.setConnectionTimeout(600_000);
		var source = new HikariDataSource(config);
		kept.add(source);
		for (int i = 0; i < 10; i++) {
			Connection connection = source.getConnection();
			fill(connection, "t" + i, 1);
			if (!leak)
				connection.close();
		}
		for (int i = 0; i < 3 && leak; i++)
			new Thread(() -> {
				try {
					source.getConnection();
				} catch (SQLException e) {
					throw new IllegalStateException(e);
				}
			}, "worker-" + i).start();
		Thread.sleep(500);
	}

	public static void main(String[] args) throws Exception {
		String h2 = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1";
		switch (args[1]) {
		case "h2", "h2-ok" -> {
			Connection connection = DriverManager.getConnection(h2);
			fill(connection, "orders", args[1].equals("h2") ? 60_000 : 100);
			kept.add(connection);
		}
		case "h2-result" -> {
			Connection connection = DriverManager.getConnection(h2);
			fill(connection, "orders", 30_000);
			ResultSet all = connection.createStatement().executeQuery("SELECT * FROM orders ORDER BY note");
			all.next();
			kept.add(all);
		}
		case "hsqldb", "hsqldb-ok" -> {
			Connection connection = DriverManager.getConnection("jdbc:hsqldb:mem:shop", "SA", "");
			fill(connection, "orders", args[1].equals("hsqldb") ? 60_000 : 100);
			kept.add(connection);
		}
		case "hikari", "hikari-ok" -> leakConnections(h2, args[1].equals("hikari"));
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
