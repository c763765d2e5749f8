/*
 * Dumps the heap of Spark, driver and executor in one VM, with frames cached in memory.
 *
 *   java SparkFrames FILE.hprof [ROWS]      370,000 rows: 9 M objects, 0.58 GB
 *
 * Orders are cached twice, by column and as rows, and a fifth of them are also cached in groups. Customers
 * and sums by region are cached by column, and one of a hundred orders is held as the result of a query.
 */
import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat;
import static org.apache.spark.sql.functions.concat_ws;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.md5;
import static org.apache.spark.sql.functions.rand;
import static org.apache.spark.sql.functions.sha2;
import static org.apache.spark.sql.functions.timestamp_seconds;
import static org.apache.spark.sql.functions.when;

import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

public class SparkFrames {
	static final int CUSTOMERS = 50_000;

	static Column text(Column number) {
		return number.cast("string");
	}

	static Dataset<Row> orders(SparkSession spark, int count) {
		Column id = col("id");
		return spark.range(0, count, 1, 16).select(id,
				id.mod(CUSTOMERS).as("customer"),
				concat(lit("order-"), id).as("number"),
				rand(7).multiply(1000).as("amount"),
				timestamp_seconds(id.multiply(13).plus(1_700_000_000)).as("placed"),
				array(concat(lit("sku-"), id.mod(9973)), concat(lit("sku-"), id.mod(7919))).as("skus"),
				concat_ws(" ", md5(text(id)), md5(text(id.plus(1))), sha2(text(id), 256)).as("note"),
				when(id.mod(5).equalTo(0), lit("returned")).otherwise(lit("shipped")).as("state"));
	}

	static Dataset<Row> customers(SparkSession spark) {
		Column id = col("id");
		return spark.range(0, CUSTOMERS, 1, 4).select(id.as("customer"),
				concat(lit("Name "), id).as("name"), md5(text(id)).as("token"),
				id.mod(97).cast("int").as("region"));
	}

	public static void main(String[] args) throws Exception {
		int count = args.length > 1 ? Integer.parseInt(args[1]) : 370_000;
		SparkSession spark = SparkSession.builder().master("local[2]").appName("orders")
				.config("spark.sql.shuffle.partitions", "16").config("spark.ui.port", "0")
				.config("spark.driver.host", "127.0.0.1")
				.config("spark.driver.bindAddress", "127.0.0.1")
				.config("spark.memory.fraction", "0.8").getOrCreate();
		Dataset<Row> orders = orders(spark, count).persist(StorageLevel.MEMORY_ONLY());
		orders.createOrReplaceTempView("orders");
		customers(spark).createOrReplaceTempView("customers");
		spark.catalog().cacheTable("customers");
		JavaRDD<Row> rows = orders.javaRDD().persist(StorageLevel.MEMORY_ONLY());
		Dataset<Row> sums = spark.sql("select c.region, o.state, count(*) n, "
				+ "sum(o.amount) total, max(o.placed) last from orders o "
				+ "join customers c on o.customer = c.customer group by 1, 2").persist();
		JavaPairRDD<Long, Iterable<Row>> grouped = rows.sample(false, 0.2, 3)
				.mapToPair(row -> new Tuple2<>(row.getLong(1), row)).groupByKey(8)
				.persist(StorageLevel.MEMORY_ONLY());
		String cached = orders.count() + " orders in columns, " + rows.count() + " rows, " + sums.count()
				+ " sums, " + grouped.count() + " groups, ";
		List<Row> answer = spark.sql("select * from orders where amount > 990").collectAsList();
		for (int i = 0; i < 40; i++)
			spark.sql("select region, count(*) from customers where region > " + i + " group by region")
					.collect();
		Dump.write(args[0]);
		System.out.println(cached + answer.size() + " rows of an answer");
		spark.stop();
	}
}
