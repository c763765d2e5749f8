// jars org.apache.httpcomponents.client5:httpclient5:5.4.2 com.mchange:c3p0:0.10.1 org.hsqldb:hsqldb:2.7.4
// jars org.slf4j:slf4j-nop:2.0.16
import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;

/** Responses, connections and statements that are not closed. */
public class Pools {
	static final List<Object> kept = new ArrayList<>();

	interface Work {
		void run() throws Exception;
	}

	static void start(String name, Work work) {
		Thread thread = new Thread(() -> {
			try {
				work.run();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		}, name);
		thread.setDaemon(true);
		thread.start();
	}

	static void http(int callers, boolean closes) throws Exception {
		var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
		server.createContext("/", exchange -> {
			exchange.sendResponseHeaders(200, 100);
			exchange.getResponseBody().write(new byte[100]);
			exchange.close();
		});
		server.start();
		var manager = new PoolingHttpClientConnectionManager();
		manager.setDefaultMaxPerRoute(5);
		var client = HttpClients.custom().setConnectionManager(manager).build();
		kept.add(client);
		for (int i = 0; i < callers; i++)
			start("order-worker-" + i, () -> {
				var get = new HttpGet("http://127.0.0.1:" + server.getAddress().getPort() + "/");
				var response = client.executeOpen(null, get, null);
				if (closes)
					response.close();
			});
	}

	static void c3p0(int connections, boolean closes) throws Exception {
		var pool = new ComboPooledDataSource("orders");
		pool.setDriverClass("org.hsqldb.jdbc.JDBCDriver");
		pool.setJdbcUrl("jdbc:hsqldb:mem:shop");
		pool.setMaxPoolSize(connections);
		kept.add(pool);
		for (int i = 0; i < connections; i++) {
			Connection connection = pool.getConnection();
			if (closes)
				connection.close();
			else
				kept.add(connection);
		}
		for (int i = 0; i < 8 && !closes; i++)
			start("checkout-" + i, pool::getConnection);
	}

	static void statements(int count, boolean closes) throws Exception {
		Connection connection = DriverManager.getConnection("jdbc:hsqldb:mem:shop");
		kept.add(connection);
		connection.createStatement().execute("create table orders(id int primary key, customer varchar(100))");
		for (int i = 0; i < count; i++) {
			String sql = "select * from orders where customer = 'c" + i + "'";
			var statement = connection.prepareStatement(sql);
			statement.executeQuery();
			if (closes)
				statement.close();
		}
	}

	public static void main(String[] args) throws Exception {
		boolean ok = args[1].endsWith("-ok");
		switch (args[1].replace("-ok", "")) {
		case "http" -> http(ok ? 5 : 25, ok);
		case "c3p0" -> c3p0(15, ok);
		case "statements" -> statements(ok ? 500 : 6000, ok);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Thread.sleep(2000);
		Real.dump(args[0]);
	}
}
