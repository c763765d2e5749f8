/*
 * Dumps the heap of two Hazelcast members of one cluster in one VM.
 *
 *   java HazelcastMaps FILE.hprof [ENTRIES]      85,000 entries: 7.3 M objects, 0.38 GB
 *
 * There are a map of objects with two indexes and a map of serialized objects with a near cache, each with
 * ENTRIES entries and a backup on the other member, and a smaller queue, multimap and replicated map.
 */
import com.hazelcast.collection.IQueue;
import com.hazelcast.config.Config;
import com.hazelcast.config.InMemoryFormat;
import com.hazelcast.config.IndexConfig;
import com.hazelcast.config.IndexType;
import com.hazelcast.config.MapConfig;
import com.hazelcast.config.NearCacheConfig;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import com.hazelcast.multimap.MultiMap;
import com.hazelcast.replicatedmap.ReplicatedMap;
import java.io.Serializable;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class HazelcastMaps {
	static class Address implements Serializable {
		String street;
		String city;
		int zip;
	}

	static class Customer implements Serializable {
		long number;
		String name;
		String mail;
		Address home = new Address();
		List<String> tags = new ArrayList<>();
		Map<String, Object> more = new HashMap<>();
		Date since;
		BigDecimal credit;

		public int getZip() {
			return home.zip;
		}

		public String getCity() {
			return home.city;
		}
	}

	static Customer customer(int number) {
		Customer customer = new Customer();
		customer.number = number;
		customer.name = "Customer " + number;
		customer.mail = "c" + number + "@example.org";
		customer.home.street = number % 200 + " Main Street";
		customer.home.city = "City " + number % 1000;
		customer.home.zip = number % 99_999;
		for (int i = 0; i < number % 4; i++)
			customer.tags.add("tag" + (number + i) % 100);
		if (number % 3 == 0) {
			customer.more.put("score", number * 0.5);
			customer.more.put("visits", (long) number);
		}
		customer.since = new Date(1_500_000_000_000L + number * 1000L);
		customer.credit = BigDecimal.valueOf(number, 2);
		return customer;
	}

	/** A member that communicates only with members on this machine. */
	static HazelcastInstance member(String name) {
		Config config = new Config(name);
		config.setClusterName("shop");
		config.setProperty("hazelcast.phone.home.enabled", "false");
		config.setProperty("hazelcast.logging.type", "jdk");
		NetworkConfig network = config.getNetworkConfig();
		network.setPort(5901).getInterfaces().setEnabled(true).addInterface("127.0.0.1");
		network.getJoin().getMulticastConfig().setEnabled(false);
		network.getJoin().getAutoDetectionConfig().setEnabled(false);
		network.getJoin().getTcpIpConfig().setEnabled(true).addMember("127.0.0.1");
		config.addMapConfig(new MapConfig("customers").setInMemoryFormat(InMemoryFormat.OBJECT)
				.setBackupCount(1)
				.addIndexConfig(new IndexConfig(IndexType.SORTED, "zip"))
				.addIndexConfig(new IndexConfig(IndexType.HASH, "city")));
		config.addMapConfig(new MapConfig("sessions").setInMemoryFormat(InMemoryFormat.BINARY)
				.setBackupCount(1).setTimeToLiveSeconds(36_000)
				.setNearCacheConfig(new NearCacheConfig().setInMemoryFormat(InMemoryFormat.OBJECT)));
		return Hazelcast.newHazelcastInstance(config);
	}

	static void fillCustomers(IMap<Long, Customer> customers, int count) {
		Map<Long, Customer> batch = new HashMap<>();
		for (int i = 0; i < count; i++) {
			batch.put((long) i, customer(i));
			if (batch.size() == 2000 || i == count - 1) {
				customers.putAll(batch);
				batch.clear();
			}
		}
	}

	static String session(int number) {
		return "s" + Integer.toHexString(number * 31);
	}

	/** Also reads every tenth entry, which puts it into the near cache. */
	static void fillSessions(IMap<String, Map<String, String>> sessions, int count) {
		for (int i = 0; i < count; i++) {
			Map<String, String> values = new HashMap<>();
			values.put("user", "c" + i);
			values.put("page", "/p/" + i % 500);
			sessions.set(session(i), values);
		}
		for (int i = 0; i < count / 10; i++)
			sessions.get(session(i));
	}

	public static void main(String[] args) throws Exception {
		int count = args.length > 1 ? Integer.parseInt(args[1]) : 85_000;
		HazelcastInstance one = member("one");
		HazelcastInstance two = member("two");
		fillCustomers(one.getMap("customers"), count);
		fillSessions(two.getMap("sessions"), count);
		IQueue<String> jobs = one.getQueue("jobs");
		MultiMap<String, Integer> orders = one.getMultiMap("orders");
		ReplicatedMap<String, Date> prices = one.getReplicatedMap("prices");
		for (int i = 0; i < count / 20; i++) {
			jobs.offer("job " + i);
			prices.put("p" + i, new Date(i));
		}
		for (int i = 0; i < count / 10; i++)
			orders.put("c" + i % 5000, i);
		Dump.write(args[0]);
		System.out.println(one.getMap("customers").size() + " customers, " + two.getMap("sessions").size()
				+ " sessions, " + jobs.size() + " jobs, " + orders.size() + " orders");
		Hazelcast.shutdownAll();
	}
}
