/*
 * Holds 42 secrets of 31 kinds, each in the way programs do, and dumps its own heap.
 *
 *   DATABASE_PASSWORD=... java Secrets.java FILE
 *
 * Prints a line for each: the rule that must find it, and the key or field it must name ("-": any).
 * The texts are put together when it runs: so no scanner of sources takes them for secrets, and no
 * constant holds them too.
 */
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import javax.crypto.spec.SecretKeySpec;

public class Secrets {
	static class Account {
		String name = "Ada";
		char[] password;
		String mail;
		AtomicReference<String> accessToken = new AtomicReference<>();
		StringBuilder sessionToken;
	}

	static class Vault {
		final Map<String, String> tokens = new HashMap<>();
		final Map<String, Object> settings = new ConcurrentHashMap<>();
		final Properties properties = new Properties();
		final List<Object> others = new ArrayList<>();
		final Account account = new Account();
		String pw;
		char[] pass;
		byte[] raw;
		String[] arguments;
		List<String> command, two, harmless, linked;
		final Queue<String> queue = new ConcurrentLinkedQueue<>();
		String cpw;
		StringBuilder built;
		Map<String, String> small;
	}

	/* Nodes of lists with the fields of Scala 2.13, Scala 2.12, vavr, and Clojure's list and Cons. */
	record Scala213(Object head, Object next) {
	}

	record Scala212(Object head, Object tl) {
	}

	record Vavr(Object head, Object tail) {
	}

	record PersistentList(Object _first, Object _rest) {
	}

	record Cons(Object _first, Object _more) {
	}

	static final Vault vault = new Vault();
	static String[] wide;
	static Object[] objects;

	static String digits(String alphabet, int count) {
		StringBuilder text = new StringBuilder();

		for (int i = 0; i < count; i++)
			text.append(alphabet.charAt((i * 7 + i / 5 * 3 + 1) % alphabet.length()));
		return text.toString();
	}

	static String join(String... parts) {
		return String.join("", parts);
	}

	static void expect(String rule, String key) {
		System.out.println(rule + "\t" + key);
	}

	static void token(String rule, String name, String text) {
		vault.tokens.put(name, text);
		expect(rule, "[\"" + name + "\"]");
	}

	public static void main(String[] args) throws Exception {
		com.sun.management.HotSpotDiagnosticMXBean bean = ManagementFactory
			.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class);
		String all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
		String upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", hex = "0123456789abcdef";
		Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();

		System.getenv("PATH");
		token("aws-access-key", "cloud", join("AK", "IA", digits(upper, 16)));
		token("github-token", "source", join("gh", "p_", digits(all, 36)));
		token("slack-bot-token", "chat", join("xo", "xb-", digits("0123456789", 12), "-", digits(all, 24)));
		token("google-key", "maps", join("AI", "za", digits(all, 35)));
		token("stripe-key", "pay", join("sk_", "live_", digits(all, 24)));
		token("openai-key", "model", join("sk-", "proj-", digits(all, 64)));
		token("jwt", "session", base64.encodeToString("{\"alg\":\"HS256\"}".getBytes()) + "." +
			base64.encodeToString("{\"sub\":\"1234567890\"}".getBytes()) + "." + digits(all, 43));
		token("bcrypt", "hashed", join("$2", "a$10$", digits(all, 53)));
		token("private-key", "pem", join("-----BEGIN RSA PRIVATE", " KEY-----\n", digits(all, 64)));
		vault.others.add(join("jdbc:postgresql://app:", "hunter", "2@db.example:5432/app"));
		expect("url-password", "-");
		vault.others.add("Authorization: Basic " +
			Base64.getEncoder().encodeToString("ada:swordfish".getBytes()));
		expect("authorization-basic", "-");
		vault.others.add("Authorization: Bearer " + digits(all, 32));
		expect("authorization-bearer", "-");
		vault.others.add(join("4111 1111", " 1111 1111"));
		expect("card-number", "-");
		vault.others.add(join("DE89 3704 0044", " 0532 0130 00"));
		expect("iban", "-");
		vault.others.add(join("078-05", "-1120"));
		expect("us-social-security-number", "-");
		vault.account.mail = join("ada", "@", "lovelace.example");
		expect("mail-address", "mail");
		vault.account.password = ("tr0ub4dor" + args.length).toCharArray();
		expect("password", "password");
		vault.settings.put("spring.datasource.password", "correct" + "horse" + args.length);
		expect("password", "spring.datasource.password");
		vault.properties.setProperty("db.password", "battery" + "staple" + args.length);
		expect("password", "db.password");
		vault.settings.put("aws.secretAccessKey", digits(all + "/+", 40));
		expect("aws-secret-key", "aws.secretAccessKey");
		expect("password", "DATABASE_PASSWORD");
		vault.account.accessToken.set(digits(all, 31));
		expect("token", "accessToken");
		vault.account.sessionToken = new StringBuilder(digits(all, 33));
		expect("token", "sessionToken");
		vault.settings.put("VAULT_TOKEN", digits(all, 23));
		expect("other-token", "VAULT_TOKEN");
		vault.pw = "mountain" + "breeze" + args.length;
		expect("password", "pw");
		vault.pass = ("pebble" + "harbor" + args.length).toCharArray();
		expect("password", "pass");
		vault.settings.put("mail.password", join("pepper", " saffron ginger"));
		expect("password", "mail.password");
		vault.settings.put("label.password", join("Enter the", " new one"));
		vault.settings.put("ldap.pw", "copper" + "kettle" + args.length);
		expect("password", "ldap.pw");
		vault.arguments = new String[] { "serve", "--db-password", "violet" + "thunder" + args.length,
			"--port", "8080" };
		expect("password", "--db-password");
		vault.command = new ArrayList<>(List.of("curl", "--proxy-passwd",
			"silver" + "lantern" + args.length, "-v"));
		expect("password", "--proxy-passwd");
		vault.two = List.of("-passphrase", "walnut" + "harbour" + args.length);
		expect("password", "-passphrase");
		vault.linked = new LinkedList<>(List.of("mysqldump", "--admin-password",
			"quartz" + "meadow" + args.length, "db"));
		expect("password", "--admin-password");
		vault.queue.addAll(List.of("--store-password", "granite" + "willow" + args.length));
		expect("password", "--store-password");
		vault.others.add(new Scala213("--s-password", new Scala213("marble" + "spruce" + args.length, null)));
		expect("password", "--s-password");
		vault.others.add(new Scala212("--s2-password", new Scala212("marble" + "cedar" + args.length, null)));
		expect("password", "--s2-password");
		vault.others.add(new Vavr("--v-password", new Vavr("marble" + "maple" + args.length, null)));
		expect("password", "--v-password");
		vault.others.add(new PersistentList("--c-password",
			new PersistentList("marble" + "beech" + args.length, null)));
		expect("password", "--c-password");
		vault.others.add(new Cons("--d-password", new Cons("marble" + "birch" + args.length, null)));
		expect("password", "--d-password");
		/* An array of any objects in a static field, which is not the array of a class's constants. */
		objects = new Object[] { "--vault-password", "marble" + "orchard" + args.length };
		expect("password", "--vault-password");
		/* Neither an option and its value, nor a name. */
		vault.harmless = List.of("admin.password", "harmless" + args.length, "--password", "--port",
			"password");
		vault.cpw = "harmless" + "word" + args.length;
		vault.others.add("java -jar app.jar " + "--api-token " + digits(all, 21) + " --port 80");
		expect("token", "--api-token");
		vault.raw = join("gl", "pat-", digits(all, 20)).getBytes(StandardCharsets.UTF_8);
		expect("gitlab-token", "raw");
		vault.built = new StringBuilder("url?").append("client_secret=").append(digits(all, 30));
		expect("client-secret", "client_secret");
		vault.small = Map.of("api.key", digits(all, 32), "other", "x");
		expect("api-key", "api.key");
		wide = new String[] { join("np", "m_", digits(all, 36), " \u4e2d") };
		expect("npm-token", "-");
		/* In StandardSession: a string literal, whose parts javac joins, and which nothing else holds. */
		expect("gitlab-trigger-token", "constant");
		byte[] bytes = new byte[32];
		for (int i = 0; i < bytes.length; i++)
			bytes[i] = (byte) (i * 37 + 129);
		vault.others.add(new SecretKeySpec(bytes, "AES"));
		expect("secret-key", "key");
		java.security.KeyPairGenerator pairs = java.security.KeyPairGenerator.getInstance("RSA");
		pairs.initialize(1024);
		vault.others.add(pairs.generateKeyPair().getPrivate());
		expect("private-key-object", "-");
		/* Text that is not ASCII, outside strings. */
		String wall = new String(new char[] { '\u0441', '\u0442', '\u0435', '\u043d', '\u0430' });
		vault.others.add(new StringBuilder(wall));
		vault.others.add(wall.getBytes(StandardCharsets.UTF_8));
		Class<?> session = Class.forName("org.apache.catalina.session.StandardSession");
		for (int i = 0; i < 3; i++)
			vault.others.add(session.getConstructor(String.class).newInstance(digits(hex, 32) + i));
		expect("session-id", "id");
		bean.dumpHeap(args[0], true);
	}
}
