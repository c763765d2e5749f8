// jars org.quartz-scheduler:quartz:2.3.2 org.mockito:mockito-core:5.14.2 org.wiremock:wiremock:3.10.0
// jars io.opentelemetry:opentelemetry-sdk-testing:1.44.1 io.opentelemetry:opentelemetry-sdk:1.44.1
// jars org.apache.groovy:groovy:4.0.24 org.mybatis:mybatis:3.5.17 com.h2database:h2:2.3.232
// jars io.netty:netty-common:4.1.118.Final org.slf4j:slf4j-nop:2.0.16
import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.WireMock;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import groovy.lang.GroovyShell;
import io.netty.util.HashedWheelTimer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.metrics.InstrumentSelector;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.View;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.datasource.unpooled.UnpooledDataSource;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.mockito.Mockito;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/** Tools that remember what they did: many times, or a few. */
public class Tools {
	public interface Orders {
		String find(String id);
	}

	public interface Rows {
		@Select("select * from t where id < #{most}")
		List<Map<String, Object>> below(int most);
	}

	public static class Reminder implements org.quartz.Job {
		public void execute(JobExecutionContext context) {}
	}

	static List<Object> kept = new ArrayList<>();

	static void quartz(int times) throws Exception {
		Properties settings = new Properties();
		settings.put("org.quartz.threadPool.threadCount", "2");
		settings.put("org.quartz.jobStore.class", "org.quartz.simpl.RAMJobStore");
		var scheduler = new StdSchedulerFactory(settings).getScheduler();
		for (int i = 0; i < times; i++)
			scheduler.scheduleJob(JobBuilder.newJob(Reminder.class).withIdentity("job " + i).build(),
				TriggerBuilder.newTrigger()
					.startAt(new Date(System.currentTimeMillis() + 86400000L + i)).build());
		kept.add(scheduler);
	}

	static void wiremock(int times) throws Exception {
		var server = new WireMockServer(WireMockConfiguration.options().dynamicPort());
		server.start();
		server.stubFor(WireMock.any(WireMock.anyUrl()).willReturn(WireMock.ok("x".repeat(1000))));
		Real.get(server.port(), "/orders", times);
		kept.add(server);
	}

	static void spans(int times) {
		var exporter = InMemorySpanExporter.create();
		var provider = SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter))
			.build();
		for (int i = 0; i < times; i++)
			provider.get("shop").spanBuilder("GET").setAttribute("user", "user " + i).startSpan().end();
		kept.add(exporter);
		kept.add(provider);
	}

	static void attributes(int times) {
		var view = View.builder().setCardinalityLimit(1000000).build();
		var provider = SdkMeterProvider.builder().registerMetricReader(InMemoryMetricReader.create())
			.registerView(InstrumentSelector.builder().setName("*").build(), view).build();
		var counter = provider.get("shop").counterBuilder("requests").build();
		for (int i = 0; i < times; i++)
			counter.add(1, Attributes.of(AttributeKey.stringKey("user"), "user " + i));
		kept.add(provider);
	}

	static void mybatis(int times) throws Exception {
		var source = new UnpooledDataSource("org.h2.Driver", "jdbc:h2:mem:x;DB_CLOSE_DELAY=-1", "sa", "");
		try (var connection = source.getConnection(); var statement = connection.createStatement()) {
			statement.execute("create table t as select x as id, 'name ' || x as name"
				+ " from system_range(1, 40)");
		}
		var settings = new Configuration(new Environment("e", new JdbcTransactionFactory(), source));
		settings.addMapper(Rows.class);
		var session = new SqlSessionFactoryBuilder().build(settings).openSession();
		for (int i = 0; i < times; i++)
			session.getMapper(Rows.class).below(1000 + i);
		kept.add(session);
	}

	static void timeouts(int times) throws Exception {
		var timer = new HashedWheelTimer();
		for (int i = 0; i < times; i++) {
			byte[] request = new byte[700];
			timer.newTimeout(timeout -> kept.add(request), 10, TimeUnit.HOURS);
		}
		kept.add(timer);
		Thread.sleep(1000);
	}

	public static void main(String[] args) throws Exception {
		boolean few = args[1].endsWith("-ok");
		switch (args[1].replace("-ok", "")) {
		case "quartz" -> quartz(few ? 20 : 15000);
		case "mockito" -> {
			Orders orders = Mockito.mock(Orders.class);
			for (int i = 0; i < (few ? 20 : 12000); i++)
				orders.find("order " + i);
			kept.add(orders);
		}
		case "wiremock" -> wiremock(few ? 20 : 3000);
		case "spans" -> spans(few ? 20 : 15000);
		case "attributes" -> attributes(few ? 20 : 20000);
		case "groovy" -> {
			var shell = new GroovyShell();
			for (int i = 0; i < (few ? 20 : 400); i++)
				kept.add(shell.evaluate("def x = " + i + "; [a: x, b: 'price ' + x]"));
			kept.add(shell);
		}
		case "mybatis" -> mybatis(few ? 20 : 4000);
		case "timeouts" -> timeouts(few ? 20 : 15000);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
