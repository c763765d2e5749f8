// jars org.apache.kafka:kafka_2.13:3.9.1 org.slf4j:slf4j-nop:1.7.36
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;

/** A broker with its cleaner's buffer; a producer that does not send; a consumer that does not poll. */
public class Kafka {
	static final List<Object> kept = new ArrayList<>();
	static final String SERVER = "127.0.0.1:19092";

	static void broker(boolean cleans) throws Exception {
		Path folder = Files.createTempDirectory(Path.of("."), "kafka");
		var p = new Properties();
		p.putAll(Map.of("process.roles", "broker,controller", "node.id", "1",
			"controller.quorum.voters", "1@127.0.0.1:19093", "controller.listener.names", "CONTROLLER",
			"listeners", "PLAINTEXT://" + SERVER + ",CONTROLLER://127.0.0.1:19093",
			"advertised.listeners", "PLAINTEXT://" + SERVER,
			"listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
			"log.dirs", folder + "/log", "offsets.topic.replication.factor", "1",
			"log.cleaner.enable", Boolean.toString(cleans)));
		var file = folder.resolve("server.properties");
		try (var out = Files.newBufferedWriter(file)) {
			p.store(out, null);
		}
		String id = Uuid.randomUuid().toString();
		StorageTool.execute(new String[] { "format", "-t", id, "-c", file.toString() },
			new java.io.PrintStream(java.io.OutputStream.nullOutputStream()));
		var server = new KafkaRaftServer(KafkaConfig.fromProps(p, false), Time.SYSTEM);
		server.startup();
		kept.add(server);
	}

	static KafkaProducer<byte[], byte[]> send(int orders, int linger) {
		var bytes = new ByteArraySerializer();
		var producer = new KafkaProducer<>(Map.of("bootstrap.servers", SERVER, "linger.ms", linger,
			"batch.size", linger > 0 ? 1 << 18 : 16384), bytes, bytes);
		for (int i = 0; i < orders; i++)
			producer.send(new ProducerRecord<>("orders", new byte[1000]));
		return producer;
	}

	static void consumer(int perPoll) {
		send(20_000, 0).close();
		var bytes = new ByteArrayDeserializer();
		var consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", SERVER, "group.id", "shop",
			"auto.offset.reset", "earliest", "max.poll.records", perPoll,
			"fetch.max.bytes", 50 << 20, "max.partition.fetch.bytes", 20 << 20), bytes, bytes);
		consumer.subscribe(List.of("orders"));
		int seen = 0;
		while (seen < Math.min(perPoll, 20_000))
			seen += consumer.poll(Duration.ofSeconds(1)).count();
		if (perPoll > 1)
			consumer.poll(Duration.ofMillis(100));
		kept.add(consumer);
	}

	public static void main(String[] args) throws Exception {
		broker(args[1].equals("cleaner"));
		switch (args[1]) {
		case "cleaner", "ok" -> { }
		case "producer" -> kept.add(send(20_000, 600_000));
		case "producer-ok" -> {
			var producer = send(20_000, 0);
			producer.flush();
			kept.add(producer);
		}
		case "consumer" -> consumer(1);
		case "consumer-ok" -> consumer(20_000);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
