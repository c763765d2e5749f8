// jars org.apache.poi:poi-ooxml:5.3.0 org.apache.logging.log4j:log4j-api:2.24.3
// jars org.apache.camel:camel-core:4.14.7 org.ehcache:ehcache:3.10.8!
// jars net.sf.ehcache:ehcache:2.10.9.2 io.prometheus:simpleclient:0.16.0 ch.qos.logback:logback-classic:1.5.16
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import io.prometheus.client.Histogram;
import java.io.ByteArrayInputStream;
import net.sf.ehcache.CacheManager;
import net.sf.ehcache.Element;
import net.sf.ehcache.config.CacheConfiguration;
import net.sf.ehcache.config.Configuration;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.processor.aggregate.GroupedBodyAggregationStrategy;
import org.apache.poi.xssf.usermodel.XSSFWorkbook;
import org.ehcache.config.builders.CacheConfigurationBuilder;
import org.ehcache.config.builders.CacheManagerBuilder;
import org.ehcache.config.builders.ResourcePoolsBuilder;
import org.ehcache.config.units.EntryUnit;
import org.ehcache.config.units.MemoryUnit;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** A workbook in memory, messages that wait for others, caches, label values and appenders without a limit. */
public class Documents {
	static Object kept;

	static void workbook(int rows) {
		var book = new XSSFWorkbook();
		kept = book;
		var sheet = book.createSheet("orders");
		for (int i = 0; i < rows; i++) {
			var row = sheet.createRow(i);
			for (int column = 0; column < 6; column++)
				row.createCell(column).setCellValue(i * column);
		}
	}

	static void aggregations(int orders) throws Exception {
		var context = new DefaultCamelContext();
		kept = context;
		context.addRoutes(new RouteBuilder() {
			@Override
			public void configure() {
				from("direct:orders").aggregate(header("order"), new GroupedBodyAggregationStrategy())
					.completionSize(2).to("log:done");
			}
		});
		context.start();
		var template = context.createProducerTemplate();
		for (int i = 0; i < orders; i++)
			template.sendBodyAndHeader("direct:orders", new byte[500], "order", "o-" + i);
	}

	static void offheap(int megabytes) {
		var pools = ResourcePoolsBuilder.newResourcePoolsBuilder().heap(10, EntryUnit.ENTRIES)
			.offheap(megabytes, MemoryUnit.MB);
		var cache = CacheConfigurationBuilder.newCacheConfigurationBuilder(Integer.class, byte[].class, pools);
		var manager = CacheManagerBuilder.newCacheManagerBuilder().withCache("products", cache).build(true);
		kept = manager;
		for (int i = 0; i < 500; i++)
			manager.getCache("products", Integer.class, byte[].class).put(i, new byte[8000]);
	}

	static void ehcache2(int elements, int limit) {
		var manager = new CacheManager(new Configuration().name("shop")
			.cache(new CacheConfiguration("products", limit).eternal(limit == 0)));
		kept = manager;
		for (int i = 0; i < elements; i++)
			manager.getCache("products").put(new Element("p" + i, new byte[1000]));
	}

	static void labels(int paths) {
		var latency = Histogram.build().name("latency").help("Latency").labelNames("path").register();
		for (int i = 0; i < paths; i++)
			latency.labels("/orders/" + (100_000 + i)).observe(0.1);
	}

	static void appenders(int users) throws Exception {
		var context = (LoggerContext) LoggerFactory.getILoggerFactory();
		var joran = new JoranConfigurator();
		joran.setContext(context);
		context.reset();
		joran.doConfigure(new ByteArrayInputStream(("<configuration>"
			+ "<appender name='SIFT' class='ch.qos.logback.classic.sift.SiftingAppender'>"
			+ "<discriminator><key>user</key><defaultValue>x</defaultValue></discriminator>"
			+ "<timeout>24 hours</timeout><sift>"
			+ "<appender name='OUT-${user}' class='ch.qos.logback.core.FileAppender'><file>/dev/null</file>"
			+ "<prudent>false</prudent><encoder><pattern>%m%n</pattern></encoder></appender>"
			+ "</sift></appender><root level='INFO'><appender-ref ref='SIFT'/></root>"
			+ "</configuration>").getBytes()));
		for (int i = 0; i < users; i++) {
			MDC.put("user", "user-" + i);
			context.getLogger("orders").info("order");
		}
		MDC.clear();
	}

	public static void main(String[] args) throws Exception {
		boolean ok = args[1].endsWith("-ok");
		switch (args[1].replace("-ok", "")) {
		case "workbook" -> workbook(ok ? 20 : 10_000);
		case "aggregations" -> aggregations(ok ? 20 : 8000);
		case "offheap" -> offheap(ok ? 30 : 200);
		case "ehcache2" -> ehcache2(ok ? 800 : 20_000, ok ? 1000 : 0);
		case "labels" -> labels(ok ? 60 : 20_000);
		case "appenders" -> appenders(ok ? 5 : 1500);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
