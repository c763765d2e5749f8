package android.os;

/** What leak detectors ask of a device. */
public class Build {
	public static String MANUFACTURER = "Acme";
	public static String ID = "A1";

	public static class VERSION {
		public static int SDK_INT = 34;
	}
}
