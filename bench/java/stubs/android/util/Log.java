package android.util;

public class Log {
	public static final int DEBUG = 3;
	public static final int INFO = 4;
	public static final int WARN = 5;

	public static boolean isLoggable(String tag, int level) {
		return false;
	}

	public static int println(int priority, String tag, String message) {
		return 0;
	}

	public static String getStackTraceString(Throwable problem) {
		return "";
	}
}
