// jars com.github.ben-manes.caffeine:caffeine:3.2.0 com.google.guava:guava:33.4.8-jre
// jars org.ehcache:ehcache:3.10.8! javax.cache:cache-api:1.1.1 org.slf4j:slf4j-nop:2.0.16
// jars org.springframework:spring-context:6.2.19
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.cache.CacheBuilder;
import java.util.function.BiConsumer;
import org.ehcache.config.builders.CacheConfigurationBuilder;
import org.ehcache.config.builders.CacheManagerBuilder;
import org.ehcache.config.builders.ResourcePoolsBuilder;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;

/** A cache of product pages of each library: with a limit, or without one. */
public class Caches {
	record Page(String title, byte[] html) {}

	static BiConsumer<String, Page> cache;

	static BiConsumer<String, Page> open(String which, boolean limited) {
		long most = limited ? 1500 : Long.MAX_VALUE;
		switch (which) {
		case "caffeine":
			var caffeine = Caffeine.newBuilder();
			return (limited ? caffeine.maximumSize(most) : caffeine).<String, Page>build()::put;
		case "guava":
			var guava = CacheBuilder.newBuilder();
			return (limited ? guava.maximumSize(most) : guava).<String, Page>build()::put;
		case "ehcache":
			var manager = CacheManagerBuilder.newCacheManagerBuilder().build(true);
			return manager.createCache("pages", CacheConfigurationBuilder.newCacheConfigurationBuilder(
				String.class, Page.class, ResourcePoolsBuilder.heap(limited ? 1500 : 1000_000)))::put;
		case "spring":
			var spring = new ConcurrentMapCacheManager("pages").getCache("pages");
			return spring::put;
		default:
			throw new IllegalArgumentException(which);
		}
	}

	public static void main(String[] args) throws Exception {
		boolean limited = args[1].endsWith("-ok");
		String which = args[1].replace("-ok", "");
		cache = open(which, limited);
		for (int i = 0; i < (which.equals("spring") && limited ? 100 : 20_000); i++)
			cache.accept("/product/" + i, new Page("Product " + i, new byte[1000]));
		Real.dump(args[0]);
	}
}
