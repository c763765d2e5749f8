// jars org.eclipse.jetty.ee10:jetty-ee10-servlet:12.1.14
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** sessions: every request without a cookie makes a session. */
public class Jetty {
	public static class Shop extends HttpServlet {
		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) {
			request.getSession().setAttribute("cart", new byte[2000]);
		}
	}

	public static void main(String[] args) throws Exception {
		var server = new Server(0);
		var context = new ServletContextHandler("/shop", ServletContextHandler.SESSIONS);
		context.addServlet(Shop.class, "/");
		server.setHandler(context);
		server.start();
		Real.get(((ServerConnector) server.getConnectors()[0]).getLocalPort(), "/shop/",
			args[1].equals("sessions") ? 4000 : 20);
		Real.dump(args[0]);
	}
}
