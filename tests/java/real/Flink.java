// jars org.apache.flink:flink-streaming-java:1.20.1 org.apache.flink:flink-clients:1.20.1 org.slf4j:slf4j-nop:1.7.36
// java --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED
import java.util.concurrent.CountDownLatch;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** State of keys that come once and are never seen again. */
public class Flink {
	static final CountDownLatch done = new CountDownLatch(1);
	static final int ORDERS = 20_000;

	static class Remember extends KeyedProcessFunction<Long, Long, Long> {
		final boolean clears;
		transient ValueState<byte[]> last;

		Remember(boolean clears) {
			this.clears = clears;
		}

		@Override
		public void open(Configuration parameters) {
			last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", byte[].class));
		}

		@Override
		public void processElement(Long order, Context context, Collector<Long> out) throws Exception {
			last.update(new byte[1000]);
			if (clears)
				last.clear();
			if (order < ORDERS)
				return;
			done.countDown();
			Thread.sleep(600_000);
		}
	}

	public static void main(String[] args) throws Exception {
		var environment = StreamExecutionEnvironment.createLocalEnvironment(1);
		environment.fromSequence(1, ORDERS).keyBy(n -> n).process(new Remember(args[1].endsWith("ok")));
		environment.executeAsync("shop");
		done.await();
		Real.dump(args[0]);
	}
}
