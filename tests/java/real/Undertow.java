// jars io.undertow:undertow-servlet:2.3.18.Final
import io.undertow.Handlers;
import io.undertow.servlet.Servlets;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.net.InetSocketAddress;

/** sessions: every request without a cookie makes a session. */
public class Undertow {
	public static class Shop extends HttpServlet {
		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) {
			request.getSession().setAttribute("cart", new byte[2000]);
		}
	}

	public static void main(String[] args) throws Exception {
		var deployment = Servlets.defaultContainer().addDeployment(Servlets.deployment()
			.setClassLoader(Undertow.class.getClassLoader()).setContextPath("/shop")
			.setDeploymentName("shop.war")
			.addServlet(Servlets.servlet("shop", Shop.class).addMapping("/")));
		deployment.deploy();
		var server = io.undertow.Undertow.builder().addHttpListener(0, "127.0.0.1")
			.setHandler(Handlers.path().addPrefixPath("/shop", deployment.start())).build();
		server.start();
		var address = (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
		Real.get(address.getPort(), "/shop/", args[1].equals("sessions") ? 4000 : 20);
		Real.dump(args[0]);
	}
}
