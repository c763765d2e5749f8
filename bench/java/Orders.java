/*
 * Dumps a heap of records, like that of a service that keeps its orders in memory.
 *
 *   java Orders FILE.hprof [ORDERS]      810,000 orders: 19.3 M objects, 0.92 GB
 *
 * A HashMap maps boxed numbers to orders. An order has its own string, a customer shared with some 20
 * other orders, and a list of 1 to 9 lines, each with its own boxed numbers. Two of three orders are also
 * in one LinkedList, in a different order than that of creation, so its nodes form a doubly linked chain
 * of 540,000 nodes.
 */
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Random;

public class Orders {
	record Customer(String name, int region) {
	}

	record Line(Integer article, int count, Long cents, long weight, double discount) {
	}

	record Order(long placed, Customer customer, String note, List<Line> lines, Long total,
			double tax) {
	}

	static final Map<Long, Order> ORDERS = new HashMap<>();
	static final LinkedList<Order> WAITING = new LinkedList<>();

	static Order order(Random random, Customer[] customers, int number) {
		List<Line> lines = new ArrayList<>();
		long total = 0;
		for (int n = 1 + random.nextInt(9); n > 0; n--) {
			long cents = 1000 + random.nextInt(1_000_000);
			total += cents;
			lines.add(new Line(1000 + random.nextInt(50_000), 1 + random.nextInt(5), cents,
					random.nextInt(20_000), random.nextDouble()));
		}
		Customer customer = customers[random.nextInt(customers.length)];
		String note = "order " + number + ", to be left with the neighbours at number "
				+ random.nextInt(300);
		return new Order(1_700_000_000_000L + number * 1000L, customer, note, lines, total,
				total * 0.19);
	}

	public static void main(String[] args) throws Exception {
		int count = args.length > 1 ? Integer.parseInt(args[1]) : 810_000;
		Random random = new Random(1);
		Customer[] customers = new Customer[count / 20 + 1];
		for (int i = 0; i < customers.length; i++)
			customers[i] = new Customer("customer " + i, random.nextInt(16));
		Order[] shuffled = new Order[count];
		for (int i = 0; i < count; i++) {
			shuffled[i] = order(random, customers, i);
			ORDERS.put(1000L + i * 7L, shuffled[i]);
		}
		for (int i = count - 1; i > 0; i--) {
			int j = random.nextInt(i + 1);
			Order other = shuffled[i];
			shuffled[i] = shuffled[j];
			shuffled[j] = other;
		}
		for (int i = 0; i < count / 3 * 2; i++)
			WAITING.add(shuffled[i]);
		shuffled = null;
		Dump.write(args[0]);
		System.out.println(ORDERS.size() + " orders, " + WAITING.size() + " wait");
	}
}
