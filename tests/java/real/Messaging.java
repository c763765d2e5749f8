// jars io.netty:netty-buffer:4.1.118.Final com.squareup.okhttp3:okhttp:4.12.0
// jars io.projectreactor:reactor-core:3.7.3 io.reactivex.rxjava3:rxjava:3.1.10 org.slf4j:slf4j-nop:2.0.16
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import reactor.core.publisher.Sinks;

/** Clients that have more to send than leaves, and streams that keep what nobody takes. */
public class Messaging {
	static final List<Object> kept = new ArrayList<>();

	/** A server that takes connections and never answers. */
	static int silent() throws Exception {
		var server = new ServerSocket(0);
		kept.add(server);
		return server.getLocalPort();
	}


	static void okhttp(int calls) throws Exception {
		var client = new OkHttpClient.Builder().readTimeout(10, TimeUnit.MINUTES).build();
		int port = silent();
		kept.add(client);
		for (int i = 0; i < calls; i++)
			client.newCall(new Request.Builder().url("http://127.0.0.1:" + port + "/order/" + i)
				.header("token", "t".repeat(500) + i).build()).enqueue(new Callback() {
					@Override
					public void onFailure(Call call, java.io.IOException e) {
						throw new IllegalStateException(e);
					}

					@Override
					public void onResponse(Call call, Response response) {
						response.close();
					}
				});
		Thread.sleep(300);
	}

	static void netty(int buffers, boolean direct) {
		var allocator = new PooledByteBufAllocator(direct);
		for (int i = 0; i < buffers; i++) {
			ByteBuf buffer = allocator.buffer(4096);
			buffer.writeInt(i);
			if (i % 2 == 0 || buffers < 100)
				buffer.release();
			else
				kept.add(buffer);
		}
		kept.add(allocator);
	}

	static void reactor(int items, boolean bounded) {
		Sinks.Many<byte[]> sink = bounded ? Sinks.many().replay().limit(100) : Sinks.many().replay().all();
		for (int i = 0; i < items; i++)
			sink.tryEmitNext(new byte[1000]);
		kept.add(sink);
	}

	static void rxjava(int items, boolean bounded) {
		var subject = bounded ? io.reactivex.rxjava3.subjects.ReplaySubject.<byte[]>createWithSize(100)
			: io.reactivex.rxjava3.subjects.ReplaySubject.<byte[]>create();
		for (int i = 0; i < items; i++)
			subject.onNext(new byte[1000]);
		kept.add(subject);
	}

	public static void main(String[] args) throws Exception {
		boolean ok = args[1].endsWith("-ok");
		switch (args[1].replace("-ok", "")) {
		case "okhttp" -> okhttp(ok ? 10 : 8000);
		case "netty-heap" -> netty(ok ? 50 : 8000, false);
		case "netty-direct" -> netty(ok ? 50 : 8000, true);
		case "reactor" -> reactor(20_000, ok);
		case "rxjava" -> rxjava(20_000, ok);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
