// jars com.rabbitmq:amqp-client:5.25.0 org.slf4j:slf4j-nop:1.7.36
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.impl.AMQImpl;
import com.rabbitmq.client.impl.Frame;
import com.rabbitmq.client.impl.LongStringHelper;
import com.rabbitmq.client.impl.Method;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Publishes with confirms to a broker that confirms nothing, or all. */
public class Rabbit {
	static final List<Object> kept = new ArrayList<>();

	/** As much of a broker as a publisher needs. */
	static void serve(ServerSocket server, boolean confirms) throws Exception {
		var socket = server.accept();
		var in = new DataInputStream(socket.getInputStream());
		var out = new DataOutputStream(socket.getOutputStream());
		long published = 0;
		in.readFully(new byte[8]);
		write(out, 0, new AMQImpl.Connection.Start(0, 9, Map.of(), LongStringHelper.asLongString("PLAIN"),
			LongStringHelper.asLongString("en_US")));
		while (true) {
			var frame = Frame.readFrom(in, 1 << 20);
			if (frame == null || frame.type != 1)
				continue;
			var bytes = new ByteArrayInputStream(frame.getPayload());
			var method = AMQImpl.readMethodFrom(new DataInputStream(bytes));
			if (method instanceof AMQImpl.Connection.StartOk)
				write(out, 0, new AMQImpl.Connection.Tune(10, 131072, 0));
			else if (method instanceof AMQImpl.Connection.Open)
				write(out, 0, new AMQImpl.Connection.OpenOk(""));
			else if (method instanceof AMQImpl.Channel.Open)
				write(out, frame.channel,
					new AMQImpl.Channel.OpenOk(LongStringHelper.asLongString("")));
			else if (method instanceof AMQImpl.Confirm.Select)
				write(out, frame.channel, new AMQImpl.Confirm.SelectOk());
			else if (method instanceof AMQImpl.Basic.Publish && ++published % 100 == 0 && confirms)
				write(out, frame.channel, new AMQImpl.Basic.Ack(published, true));
		}
	}

	static void write(DataOutputStream out, int channel, Method method) throws Exception {
		method.toFrame(channel).writeTo(out);
		out.flush();
	}

	public static void main(String[] args) throws Exception {
		var server = new ServerSocket(0);
		var thread = new Thread(() -> {
			try {
				serve(server, args[1].equals("ok"));
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		});
		thread.setDaemon(true);
		thread.start();
		var factory = new ConnectionFactory();
		factory.setPort(server.getLocalPort());
		var channel = factory.newConnection().createChannel();
		channel.confirmSelect();
		for (int i = 0; i < 20_000; i++)
			channel.basicPublish("", "orders", null, new byte[1000]);
		if (args[1].equals("ok"))
			channel.waitForConfirms();
		kept.add(channel);
		Real.dump(args[0]);
	}
}
