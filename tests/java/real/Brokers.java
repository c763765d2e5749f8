// jars org.apache.activemq:artemis-server:2.40.0 org.apache.activemq:artemis-core-client:2.40.0
// jars org.apache.zookeeper:zookeeper:3.9.5 org.apache.mina:mina-core:2.2.4 org.apache.kafka:kafka-clients:3.9.1
// jars io.dropwizard.metrics:metrics-core:4.2.30 org.xerial.snappy:snappy-java:1.1.10.5 org.slf4j:slf4j-nop:2.0.16
import java.io.File;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.mina.core.buffer.IoBuffer;
import org.apache.mina.core.service.IoHandlerAdapter;
import org.apache.mina.core.session.IoSession;
import org.apache.mina.transport.socket.nio.NioSocketAcceptor;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** Messages that nobody takes, nodes and watches that stay, producers that are not closed. */
public class Brokers {
	static Object kept;

	static void artemis(int messages) throws Exception {
		var broker = new EmbeddedActiveMQ();
		broker.setConfiguration(new ConfigurationImpl().setPersistenceEnabled(false)
			.setSecurityEnabled(false).addAcceptorConfiguration("vm", "vm://0"));
		broker.start();
		kept = broker;
		var session = ActiveMQClient.createServerLocator("vm://0").createSessionFactory().createSession();
		session.createQueue(QueueConfiguration.of("orders").setAddress("orders").setDurable(false));
		var producer = session.createProducer("orders");
		for (int i = 0; i < messages; i++) {
			var message = session.createMessage(false);
			message.getBodyBuffer().writeBytes(new byte[800]);
			producer.send(message);
		}
		Thread.sleep(500);
	}

	static ZooKeeper zookeeper(int nodes) throws Exception {
		File folder = Files.createTempDirectory("zookeeper").toFile();
		folder.deleteOnExit();
		var factory = ServerCnxnFactory.createFactory(new InetSocketAddress("127.0.0.1", 0), 100);
		factory.startup(new ZooKeeperServer(folder, folder, 2000));
		var client = new ZooKeeper("127.0.0.1:" + factory.getLocalPort(), 60_000, event -> { });
		kept = List.of(factory, client);
		client.create("/locks", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
		var done = new CountDownLatch(nodes);
		for (int i = 0; i < nodes; i++)
			client.create("/locks/order-", new byte[300], ZooDefs.Ids.OPEN_ACL_UNSAFE,
				CreateMode.PERSISTENT_SEQUENTIAL, (code, path, context, name) -> done.countDown(),
				null);
		done.await();
		return client;
	}

	static void watches(int paths) throws Exception {
		ZooKeeper client = zookeeper(3);
		var done = new CountDownLatch(paths);
		for (int i = 0; i < paths; i++) {
			byte[] order = new byte[500];
			client.exists("/locks/done-" + i, event -> order[0]++,
				(code, path, context, stat) -> done.countDown(), null);
		}
		done.await();
	}

	static void mina(int messages) throws Exception {
		var acceptor = new NioSocketAcceptor();
		var opened = new CompletableFuture<IoSession>();
		acceptor.setHandler(new IoHandlerAdapter() {
			@Override
			public void sessionOpened(IoSession session) {
				opened.complete(session);
			}
		});
		acceptor.bind(new InetSocketAddress("127.0.0.1", 0));
		kept = List.of(acceptor, new Socket("127.0.0.1", acceptor.getLocalAddress().getPort()));
		for (int i = 0; i < messages; i++)
			opened.get().write(IoBuffer.wrap(new byte[1000]));
		Thread.sleep(500);
	}

	static void producers(int count) throws Exception {
		var server = new ServerSocket(0);
		for (int i = 0; i < count; i++)
			new KafkaProducer<>(Map.of("bootstrap.servers", "127.0.0.1:" + server.getLocalPort()),
				new StringSerializer(), new StringSerializer());
		kept = server;
	}

	public static void main(String[] args) throws Exception {
		boolean ok = args[1].endsWith("-ok");
		switch (args[1].replace("-ok", "")) {
		case "artemis" -> artemis(ok ? 5 : 12_000);
		case "zookeeper" -> zookeeper(ok ? 20 : 30_000);
		case "watches" -> watches(ok ? 20 : 20_000);
		case "mina" -> mina(ok ? 20 : 20_000);
		case "producers" -> producers(ok ? 2 : 80);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
