/*
 * Dumps a graph of persons with random lists of friends.
 *
 *   java Social FILE.hprof [PERSONS]     3,750,000 persons: 19 M objects, 49 M references, 0.93 GB
 *
 * One list holds all persons. A person has its own name, a list of 0 to 12 friends, and a town and a
 * trade that it shares with others.
 */
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

public class Social {
	static class Person {
		final int number;
		final String name;
		final ArrayList<Person> friends;
		final String town;
		final String trade;

		Person(int number, int friends, String town, String trade) {
			this.number = number;
			this.name = "p" + number;
			this.friends = new ArrayList<>(friends);
			this.town = town;
			this.trade = trade;
		}
	}

	static final List<Person> PERSONS = new ArrayList<>();

	static String[] names(String what, int count) {
		String[] names = new String[count];
		for (int i = 0; i < count; i++)
			names[i] = what + " " + i;
		return names;
	}

	public static void main(String[] args) throws Exception {
		int count = args.length > 1 ? Integer.parseInt(args[1]) : 3_750_000;
		Random random = new Random(1);
		String[] towns = names("town", 20_000);
		String[] trades = names("trade", 300);
		int[] friends = new int[count];
		for (int i = 0; i < count; i++) {
			friends[i] = random.nextInt(13);
			PERSONS.add(new Person(i, friends[i], towns[random.nextInt(towns.length)],
					trades[random.nextInt(trades.length)]));
		}
		for (int i = 0; i < count; i++)
			for (int n = friends[i]; n > 0; n--)
				PERSONS.get(i).friends.add(PERSONS.get(random.nextInt(count)));
		Dump.write(args[0]);
		System.out.println(PERSONS.size() + " persons");
	}
}
