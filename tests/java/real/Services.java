// jars org.apache.ignite:ignite-core:2.16.0 io.grpc:grpc-netty-shaded:1.68.2 io.grpc:grpc-stub:1.68.2
// java --add-opens=java.base/jdk.internal.access=ALL-UNNAMED --add-opens=java.base/jdk.internal.misc=ALL-UNNAMED
// java --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/sun.util.calendar=ALL-UNNAMED
// java --add-opens=java.management/com.sun.jmx.mbeanserver=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED
// java --add-opens=jdk.internal.jvmstat/sun.jvmstat.monitor=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED
// java --add-opens=java.base/sun.reflect.generics.reflectiveObjects=ALL-UNNAMED
// java --add-opens=java.base/java.time=ALL-UNNAMED
// java --add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED
// java --add-opens=java.base/java.util.concurrent=ALL-UNNAMED
// java --add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED
// java --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.invoke=ALL-UNNAMED
// java --add-opens=java.base/java.math=ALL-UNNAMED --add-opens=java.sql/java.sql=ALL-UNNAMED
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.ignite.Ignition;
import org.apache.ignite.cache.eviction.lru.LruEvictionPolicyFactory;
import org.apache.ignite.configuration.CacheConfiguration;
import org.apache.ignite.configuration.IgniteConfiguration;
import org.apache.ignite.spi.discovery.tcp.TcpDiscoverySpi;
import org.apache.ignite.spi.discovery.tcp.ipfinder.vm.TcpDiscoveryVmIpFinder;

/** A cache of Ignite on the heap; calls of gRPC that wait for a server that does not answer. */
public class Services {
	static final List<Object> kept = new ArrayList<>();

	static void ignite(boolean limited) {
		System.setProperty("IGNITE_QUIET", "true");
		System.setProperty("IGNITE_NO_SHUTDOWN_HOOK", "true");
		var finder = new TcpDiscoveryVmIpFinder();
		finder.setAddresses(Set.of("127.0.0.1:47500"));
		var ignite = Ignition.start(new IgniteConfiguration().setLocalHost("127.0.0.1")
			.setMetricsLogFrequency(0).setDiscoverySpi(new TcpDiscoverySpi().setIpFinder(finder)));
		var configuration = new CacheConfiguration<String, byte[]>("orders").setOnheapCacheEnabled(true);
		if (limited)
			configuration.setEvictionPolicyFactory(new LruEvictionPolicyFactory<>(500));
		var cache = ignite.createCache(configuration);
		for (int i = 0; i < 20_000; i++)
			cache.put("order " + i, new byte[1000]);
		kept.add(ignite);
	}

	static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
		@Override
		public InputStream stream(byte[] value) {
			return new ByteArrayInputStream(value);
		}

		@Override
		public byte[] parse(InputStream stream) {
			return new byte[0];
		}
	}

	static void grpc(int calls) throws Exception {
		var server = new ServerSocket(0);
		ManagedChannel channel = ManagedChannelBuilder.forAddress("127.0.0.1", server.getLocalPort())
			.usePlaintext().build();
		var method = MethodDescriptor.<byte[], byte[]>newBuilder(new Bytes(), new Bytes())
			.setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("shop/order").build();
		for (int i = 0; i < calls; i++)
			ClientCalls.asyncUnaryCall(channel.newCall(method, CallOptions.DEFAULT), new byte[1000],
				new StreamObserver<>() {
					@Override
					public void onNext(byte[] value) {}

					@Override
					public void onError(Throwable error) {}

					@Override
					public void onCompleted() {}
				});
		kept.add(channel);
		kept.add(server);
		Thread.sleep(500);
	}

	public static void main(String[] args) throws Exception {
		switch (args[1]) {
		case "ignite", "ignite-ok" -> ignite(args[1].endsWith("-ok"));
		case "grpc", "grpc-ok" -> grpc(args[1].endsWith("-ok") ? 3 : 5000);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
