// jars io.projectreactor:reactor-core:3.7.3 io.reactivex.rxjava3:rxjava:3.1.10 io.vertx:vertx-core:4.5.11
// jars org.apache.pekko:pekko-actor-typed_2.13:1.1.3 org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.9.0
// jars com.google.protobuf:protobuf-java:4.33.3 org.slf4j:slf4j-nop:2.0.16
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.netty.channel.embedded.EmbeddedChannel;
import io.reactivex.rxjava3.core.Single;
import io.reactivex.rxjava3.disposables.CompositeDisposable;
import io.reactivex.rxjava3.subjects.PublishSubject;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import kotlin.Unit;
import kotlinx.coroutines.JobKt;
import kotlinx.coroutines.SupervisorKt;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import reactor.core.publisher.Sinks;

/** Subscriptions, listeners, groups, actors and jobs that nobody ends; views of messages. */
public class Flows {
	record Order(int no, byte[] data) {
		Order(int no) {
			this(no, new byte[900]);
		}
	}

	static Object kept;
	static final Map<ByteString, Integer> seen = new ConcurrentHashMap<>();

	static void groups(int keys) {
		var sink = Sinks.many().unicast().<Order>onBackpressureBuffer();
		kept = sink;
		sink.asFlux().groupBy(Order::no).flatMap(group -> group.map(Order::data), Integer.MAX_VALUE)
			.subscribe();
		for (int i = 0; i < keys; i++)
			sink.tryEmitNext(new Order(i)).orThrow();
	}

	static void disposables(int count) {
		var all = new CompositeDisposable();
		kept = all;
		for (int i = 0; i < count; i++) {
			Order order = new Order(i);
			all.add(Single.just(i).subscribe(no -> order.data()[0]++, error -> { }));
		}
	}

	static void subject(int subscribers) {
		var prices = PublishSubject.<Integer>create();
		kept = prices;
		for (int i = 0; i < subscribers; i++) {
			Order order = new Order(i);
			prices.subscribe(price -> order.data()[0]++);
		}
	}

	static void consumers(int addresses) {
		var vertx = Vertx.vertx();
		kept = vertx;
		for (int i = 0; i < addresses; i++) {
			Order order = new Order(i);
			vertx.eventBus().consumer("orders.reply." + i, message -> order.data()[0]++);
		}
	}

	static Behavior<Integer> order(Order order) {
		return Behaviors.receiveMessage(message -> {
			order.data()[0]++;
			return Behaviors.same();
		});
	}

	static void actors(int count) throws Exception {
		var system = ActorSystem.create(Behaviors.<Integer>setup(context -> Behaviors.receiveMessage(no -> {
			context.spawn(order(new Order(no)), "order-" + no);
			return Behaviors.same();
		})), "shop");
		kept = system;
		for (int i = 0; i < count; i++)
			system.tell(i);
		Thread.sleep(3000);
	}

	static void jobs(int count) {
		var parent = SupervisorKt.SupervisorJob(null);
		kept = parent;
		for (int i = 0; i < count; i++) {
			Order order = new Order(i);
			JobKt.Job(parent).invokeOnCompletion(error -> {
				order.data()[0]++;
				return Unit.INSTANCE;
			});
		}
	}

	static void listeners(int requests) {
		var channel = new EmbeddedChannel();
		kept = channel;
		for (int i = 0; i < requests; i++) {
			Order order = new Order(i);
			channel.closeFuture().addListener(future -> order.data()[0]++);
		}
	}

	static void views(boolean copies) {
		for (int i = 0; i < 2000; i++) {
			byte[] bytes = ByteBuffer.allocate(20_000).putInt(0, i).array();
			ByteString message = UnsafeByteOperations.unsafeWrap(bytes);
			ByteString key = message.substring(0, 16);
			seen.put(copies ? ByteString.copyFrom(key.toByteArray()) : key, i);
		}
	}

	public static void main(String[] args) throws Exception {
		boolean ok = args[1].endsWith("-ok");
		int count = ok ? 20 : 12_000;
		switch (args[1].replace("-ok", "")) {
		case "groups" -> groups(count);
		case "disposables" -> disposables(count);
		case "subject" -> subject(count);
		case "consumers" -> consumers(count);
		case "actors" -> actors(count);
		case "jobs" -> jobs(count);
		case "listeners" -> listeners(count);
		case "views" -> views(ok);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
