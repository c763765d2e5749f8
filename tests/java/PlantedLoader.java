// tests/java/PlantedLoader.java - plants a leak: class loaders that are closed but kept by the JDBC drivers that were
// loaded with them and never deregistered. Dumps itself to the first argument; the second is the folder of classes.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.util.Properties;
import java.util.logging.Logger;

public class PlantedLoader {
    /** A driver with much in a static field. */
    public static class PlantedDriver implements Driver {
        static final byte[][] POOL = new byte[3000][1000];

        public Connection connect(String url, Properties info) { return null; }
        public boolean acceptsURL(String url) { return false; }
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
            return new DriverPropertyInfo[0];
        }
        public int getMajorVersion() { return 1; }
        public int getMinorVersion() { return 0; }
        public boolean jdbcCompliant() { return false; }
        public Logger getParentLogger() { return null; }
    }

    public static void main(String[] args) throws Exception {
        URL[] classes = { Path.of(args[1]).toUri().toURL() };
        for (int i = 0; i < 4; i++) {
            URLClassLoader loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
            Class<?> driver = Class.forName("PlantedLoader$PlantedDriver", true, loader);
            DriverManager.registerDriver((Driver) driver.getDeclaredConstructor().newInstance());
            loader.close();
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
