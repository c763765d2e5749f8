// jars org.apache.logging.log4j:log4j-core:2.24.3 com.lmax:disruptor:4.0.0
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.appender.AsyncAppender;
import org.apache.logging.log4j.core.config.AppenderRef;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilderFactory;

/** Log events faster than they are written: an appender's queue, the ring of asynchronous loggers. */
public class Log4j {
	static class Slow extends AbstractAppender {
		Slow() {
			super("slow", null, null, true, Property.EMPTY_ARRAY);
		}

		@Override
		public void append(LogEvent event) {
			try {
				Thread.sleep(600_000);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		boolean ring = args[1].startsWith("ring");
		if (ring)
			System.setProperty("log4j2.contextSelector",
				"org.apache.logging.log4j.core.async.AsyncLoggerContextSelector");
		var builder = ConfigurationBuilderFactory.newConfigurationBuilder();
		builder.add(builder.newRootLogger(Level.INFO));
		LoggerContext context = Configurator.initialize(builder.build());
		var configuration = context.getConfiguration();
		var slow = new Slow();
		slow.start();
		configuration.addAppender(slow);
		if (ring) {
			configuration.getRootLogger().addAppender(slow, Level.INFO, null);
		} else {
			var async = AsyncAppender.newBuilder().setName("async").setConfiguration(configuration)
				.setBufferSize(50_000).setAppenderRefs(new AppenderRef[] {
					AppenderRef.createAppenderRef("slow", Level.INFO, null) }).build();
			async.start();
			configuration.getRootLogger().addAppender(async, Level.INFO, null);
		}
		context.updateLoggers();
		var logger = LogManager.getLogger("orders");
		int events = args[1].endsWith("ok") ? 20 : ring ? 4000 : 20_000;
		for (int i = 0; i < events; i++)
			logger.info("order {}: {}", i, "x".repeat(500));
		Real.dump(args[0]);
	}
}
