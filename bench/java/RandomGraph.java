/*
 * Dumps a random graph under one object.
 *
 *   java RandomGraph FILE.hprof [NODES]  2,000,000 nodes: 4 M objects, 188 MB
 *
 * Every node has an array of 0 to 8 references to random nodes. Two static fields of one class refer to
 * two nodes, through which about 98 of 100 nodes are reachable. The others are garbage and not in the
 * dump. Nearly every node is immediately dominated by the class.
 */
import java.util.Random;

public class RandomGraph {
	static class Node {
		final int number;
		final Node[] next;

		Node(int number, int degree) {
			this.number = number;
			this.next = new Node[degree];
		}
	}

	static Node first;
	static Node second;

	static void grow(int count) {
		Random random = new Random(1);
		Node[] nodes = new Node[count];
		for (int i = 0; i < count; i++)
			nodes[i] = new Node(i, i < 2 ? 8 : random.nextInt(9));
		for (Node node : nodes)
			for (int i = 0; i < node.next.length; i++)
				node.next[i] = nodes[random.nextInt(count)];
		first = nodes[0];
		second = nodes[1];
	}

	public static void main(String[] args) throws Exception {
		int count = args.length > 1 ? Integer.parseInt(args[1]) : 2_000_000;
		grow(count); /* a method of its own: its local variables are gone when it returns */
		Dump.write(args[0]);
		System.out.println(count + " nodes");
	}
}
