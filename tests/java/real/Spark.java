// jars org.apache.spark:spark-core_2.13:3.5.5
// java --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED
// java --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED
// java --add-opens=java.base/java.util.concurrent=ALL-UNNAMED --add-opens=java.base/java.net=ALL-UNNAMED
// java --add-opens=java.base/java.lang.invoke=ALL-UNNAMED --add-opens=java.base/sun.util.calendar=ALL-UNNAMED
// java --add-opens=java.base/java.io=ALL-UNNAMED --add-opens=java.base/sun.nio.cs=ALL-UNNAMED
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;

/** Cached partitions, and broadcasts, that nobody unpersists. */
public class Spark {
	static final List<Object> kept = new ArrayList<>();

	record Order(int no, byte[] data) implements java.io.Serializable {}

	public static void main(String[] args) throws Exception {
		var spark = new JavaSparkContext(new SparkConf().setAppName("shop").setMaster("local[2]")
			.set("spark.ui.enabled", "false").set("spark.driver.host", "127.0.0.1"));
		var numbers = spark.parallelize(IntStream.range(0, 2000).boxed().toList(), 4);
		for (int i = 0; i < 10; i++) {
			if (args[1].startsWith("cache")) {
				var orders = numbers.map(n -> new Order(n, new byte[1000]))
					.persist(StorageLevel.MEMORY_ONLY());
				orders.count();
				kept.add(orders);
				if (args[1].endsWith("ok"))
					orders.unpersist(true);
			} else {
				var table = spark.broadcast(new byte[2_000_000]);
				numbers.map(n -> table.value().length + n).count();
				if (args[1].endsWith("ok"))
					table.destroy(true);
				else
					kept.add(table);
			}
		}
		kept.add(spark);
		Real.dump(args[0]);
	}
}
