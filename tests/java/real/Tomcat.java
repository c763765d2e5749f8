// jars org.apache.tomcat.embed:tomcat-embed-core:11.0.27
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.ContextConfig;

/**
 * sessions: every request without a cookie makes a session of 30 minutes. redeploy: a web
 * application whose thread does not end is deployed and undeployed three times.
 */
public class Tomcat {
	static class Shop extends HttpServlet {
		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) {
			request.getSession().setAttribute("cart", new byte[2000]);
		}
	}

	static final String LISTENER = """
		package shop;
		public class Start implements jakarta.servlet.ServletContextListener {
			static final byte[][] PRICES = new byte[500][2000];
			public void contextInitialized(jakarta.servlet.ServletContextEvent event) {
				if (Boolean.getBoolean("leaky"))
					new Thread(Start::refresh, "price-refresh").start();
			}
			static void refresh() {
				try {
					Thread.sleep(PRICES.length * 1000_000L);
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			}
		}
		""";

	static void deploy(org.apache.catalina.startup.Tomcat tomcat, Path application) throws Exception {
		var context = new StandardContext();
		context.setPath("/prices");
		context.setDocBase(application.toString());
		context.addLifecycleListener(new ContextConfig());
		context.addApplicationListener("shop.Start");
		tomcat.getHost().addChild(context);
		tomcat.getHost().removeChild(context);
		context.destroy();
	}

	public static void main(String[] args) throws Exception {
		Path base = Files.createTempDirectory("tomcat");
		var tomcat = new org.apache.catalina.startup.Tomcat();
		tomcat.setBaseDir(base.toString());
		tomcat.setPort(0);
		var context = tomcat.addContext("/shop", base.toString());
		org.apache.catalina.startup.Tomcat.addServlet(context, "shop", new Shop());
		context.addServletMappingDecoded("/", "shop");
		tomcat.start();
		if (args[1].startsWith("redeploy")) {
			Path classes = Files.createDirectories(base.resolve("prices/WEB-INF/classes"));
			Path source = Files.writeString(base.resolve("Start.java"), LISTENER);
			ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", classes.toString(), "-cp",
				System.getProperty("java.class.path"), source.toString());
			System.setProperty("leaky", String.valueOf(args[1].equals("redeploy")));
			for (int i = 0; i < 3; i++)
				deploy(tomcat, base.resolve("prices"));
		} else {
			Real.get(tomcat.getConnector().getLocalPort(), "/shop/",
				args[1].equals("sessions") ? 4000 : 20);
		}
		Real.dump(args[0]);
	}
}
