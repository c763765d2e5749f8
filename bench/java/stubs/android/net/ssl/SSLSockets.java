package android.net.ssl;

import javax.net.ssl.SSLSocket;

public class SSLSockets {
	public static boolean isSupportedSocket(SSLSocket socket) {
		return true;
	}

	public static void setUseSessionTickets(SSLSocket socket, boolean use) {
	}
}
