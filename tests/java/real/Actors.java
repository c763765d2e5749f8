// jars org.apache.pekko:pekko-actor-typed_2.13:1.1.3 io.vertx:vertx-core:4.5.11 org.slf4j:slf4j-nop:2.0.16
// jars org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.9.0
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CoroutineStart;
import kotlinx.coroutines.DelayKt;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.GlobalScope;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** An actor slower than its senders, timers that nobody cancels, coroutines that wait. */
public class Actors {
	record Order(int no, byte[] data) {}

	static final List<Object> kept = new ArrayList<>();

	static void mailbox(int orders) {
		var system = ActorSystem.create(Behaviors.<Order>receiveMessage(order -> {
			Thread.sleep(600_000);
			return Behaviors.same();
		}), "shop");
		for (int i = 0; i < orders; i++)
			system.tell(new Order(i, new byte[1000]));
		kept.add(system);
	}

	static void timers(int timers) {
		var vertx = Vertx.vertx();
		for (int i = 0; i < timers; i++) {
			Order order = new Order(i, new byte[1000]);
			vertx.setTimer(3600_000, id -> kept.add(order));
		}
		kept.add(vertx);
	}

	static void coroutines(int jobs) throws Exception {
		for (int i = 0; i < jobs; i++) {
			Order order = new Order(i, new byte[1000]);
			BuildersKt.launch(GlobalScope.INSTANCE, Dispatchers.getDefault(), CoroutineStart.DEFAULT,
				(scope, continuation) -> DelayKt.delay(3600_000L + order.no() % 2, continuation));
		}
		Thread.sleep(1000);
	}

	public static void main(String[] args) throws Exception {
		boolean ok = args[1].endsWith("-ok");
		int count = ok ? 5 : 8000;
		switch (args[1].replace("-ok", "")) {
		case "mailbox" -> mailbox(count);
		case "timers" -> timers(count);
		case "coroutines" -> coroutines(count);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Thread.sleep(200);
		Real.dump(args[0]);
	}
}
