// jars com.hazelcast:hazelcast:5.4.0 org.infinispan:infinispan-core:15.0.13.Final org.apache.lucene:lucene-core:9.12.1
// jars org.slf4j:slf4j-nop:2.0.16
// java --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED
import com.hazelcast.config.Config;
import com.hazelcast.config.EvictionPolicy;
import com.hazelcast.config.MaxSizePolicy;
import com.hazelcast.core.Hazelcast;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.infinispan.configuration.cache.ConfigurationBuilder;
import org.infinispan.manager.DefaultCacheManager;

/** Maps of data grids with a limit and without one; an index in memory, and one that is written. */
public class Grids {
	static final List<Object> kept = new ArrayList<>();

	static Map<String, byte[]> hazelcast(boolean limited) {
		var config = new Config();
		config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
		config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
		config.setProperty("hazelcast.logging.type", "none");
		config.setProperty("hazelcast.phone.home.enabled", "false");
		if (limited)
			config.getMapConfig("orders").getEvictionConfig().setEvictionPolicy(EvictionPolicy.LRU)
				.setMaxSizePolicy(MaxSizePolicy.PER_NODE).setSize(1000);
		return Hazelcast.newHazelcastInstance(config).getMap("orders");
	}

	static Map<String, byte[]> infinispan(boolean limited) {
		var manager = new DefaultCacheManager();
		var builder = new ConfigurationBuilder();
		if (limited)
			builder.memory().maxCount(1000);
		manager.defineConfiguration("orders", builder.build());
		kept.add(manager);
		return manager.getCache("orders");
	}

	static void lucene(int documents, boolean isCommitted) throws Exception {
		var directory = new ByteBuffersDirectory();
		var writer = new IndexWriter(directory,
			new IndexWriterConfig(new StandardAnalyzer()).setRAMBufferSizeMB(256));
		for (int i = 0; i < documents; i++) {
			var document = new Document();
			document.add(new TextField("note", "order " + i + " of customer " + i * 7 + " word" + i * 31,
				Field.Store.YES));
			writer.addDocument(document);
		}
		if (isCommitted)
			writer.commit();
		kept.add(writer);
	}

	public static void main(String[] args) throws Exception {
		boolean ok = args[1].endsWith("-ok");
		Map<String, byte[]> map = null;
		switch (args[1].replace("-ok", "")) {
		case "hazelcast" -> map = hazelcast(ok);
		case "infinispan" -> map = infinispan(ok);
		case "lucene" -> lucene(ok ? 10 : 60_000, false);
		case "lucene-memory" -> lucene(ok ? 10 : 60_000, true);
		default -> throw new IllegalArgumentException(args[1]);
		}
		for (int i = 0; i < 20_000 && map != null; i++)
			map.put("order " + i, new byte[1000]);
		kept.add(map);
		Real.dump(args[0]);
	}
}
