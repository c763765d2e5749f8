// jars ch.qos.logback:logback-classic:1.5.16 org.apache.commons:commons-pool2:2.12.0
// jars org.apache.commons:commons-dbcp2:2.13.0 com.h2database:h2:2.3.232
import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.apache.commons.dbcp2.BasicDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Log events faster than they are written; the MDC of a pool's threads; a pool of connections. */
public class Logging {
	static BasicDataSource kept;

	static class Slow extends AppenderBase<ILoggingEvent> {
		@Override
		protected void append(ILoggingEvent event) {
			try {
				Thread.sleep(600_000);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	static void async(LoggerContext context, int events) {
		var async = new AsyncAppender();
		async.setContext(context);
		async.setQueueSize(100_000);
		async.setDiscardingThreshold(0);
		var slow = new Slow();
		slow.setContext(context);
		slow.start();
		async.addAppender(slow);
		async.start();
		var logger = context.getLogger("orders");
		logger.setAdditive(false);
		logger.addAppender(async);
		for (int i = 0; i < events; i++)
			logger.info("order {} of customer {}: {}", i, "customer " + i, "x".repeat(500));
	}

	static void mdc(boolean isLeaking) throws Exception {
		var pool = Executors.newFixedThreadPool(4);
		var done = new CountDownLatch(4);
		for (int i = 0; i < 4; i++)
			pool.submit(() -> {
				for (int k = 0; k < 3000; k++) {
					MDC.put("order-" + k, "o".repeat(300) + k);
					if (!isLeaking)
						MDC.remove("order-" + k);
				}
				done.countDown();
			});
		done.await();
	}

	public static void main(String[] args) throws Exception {
		var context = (LoggerContext) LoggerFactory.getILoggerFactory();
		context.getLogger(Logger.ROOT_LOGGER_NAME).detachAndStopAllAppenders();
		switch (args[1]) {
		case "async", "async-ok" -> async(context, args[1].equals("async") ? 20_000 : 20);
		case "mdc", "mdc-ok" -> mdc(args[1].equals("mdc"));
		case "dbcp", "dbcp-ok" -> {
			var source = new BasicDataSource();
			kept = source;
			source.setUrl("jdbc:h2:mem:shop");
			for (int i = 0; i < 8; i++) {
				var connection = source.getConnection();
				if (args[1].endsWith("-ok"))
					connection.close();
			}
		}
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
