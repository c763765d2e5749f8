// jars org.eclipse.jetty.ee10:jetty-ee10-webapp:12.1.14 org.apache.felix:org.apache.felix.framework:7.0.5
// jars org.jboss.modules:jboss-modules:2.1.6.Final org.springframework.boot:spring-boot-devtools:3.4.1
import java.io.OutputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;
import org.eclipse.jetty.ee10.webapp.WebAppContext;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.ContextHandlerCollection;
import org.jboss.modules.DependencySpec;
import org.jboss.modules.ModuleFinder;
import org.jboss.modules.ModuleLoader;
import org.jboss.modules.ModuleSpec;
import org.jboss.modules.ResourceLoaderSpec;
import org.jboss.modules.ResourceLoaders;
import org.osgi.framework.wiring.FrameworkWiring;
import org.springframework.boot.devtools.restart.classloader.RestartClassLoader;

/** An application whose thread does not end, deployed and undeployed three times, in containers. */
public class Redeploy {
	static final String START = """
		package shop;
		public class Start {
			static final byte[][] PRICES = new byte[500][2000];
			public static void start() {
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
	static boolean leaky;

	static void start(Class<?> start) throws Exception {
		if (leaky)
			start.getMethod("start").invoke(null);
		else
			Class.forName(start.getName(), true, start.getClassLoader());
	}

	static void jetty(Path base) throws Exception {
		var server = new Server(0);
		var applications = new ContextHandlerCollection();
		server.setHandler(applications);
		server.start();
		for (int i = 0; i < 3; i++) {
			var context = new WebAppContext();
			context.setContextPath("/prices");
			context.setWar(base.toString());
			applications.addHandler(context);
			context.start();
			start(context.getClassLoader().loadClass("shop.Start"));
			context.stop();
			applications.removeHandler(context);
		}
	}

	static Path jar(Path base) throws Exception {
		var manifest = new Manifest();
		manifest.getMainAttributes().putValue("Manifest-Version", "1.0");
		manifest.getMainAttributes().putValue("Bundle-ManifestVersion", "2");
		manifest.getMainAttributes().putValue("Bundle-SymbolicName", "shop.prices");
		Path jar = base.resolve("prices.jar");
		try (OutputStream out = Files.newOutputStream(jar); var zip = new JarOutputStream(out, manifest)) {
			zip.putNextEntry(new ZipEntry("shop/Start.class"));
			zip.write(Files.readAllBytes(base.resolve("WEB-INF/classes/shop/Start.class")));
		}
		return jar;
	}

	static void osgi(Path base) throws Exception {
		String url = jar(base).toUri().toString();
		var framework = new org.apache.felix.framework.FrameworkFactory()
			.newFramework(Map.of("org.osgi.framework.storage", base + "/bundles"));
		framework.start();
		for (int i = 0; i < 3; i++) {
			var bundle = framework.getBundleContext().installBundle(url);
			bundle.start();
			start(bundle.loadClass("shop.Start"));
			bundle.uninstall();
			framework.adapt(FrameworkWiring.class).refreshBundles(null);
			Thread.sleep(500);
		}
	}

	static class Deployments extends ModuleLoader {
		Deployments(ModuleFinder finder) {
			super(finder);
		}

		void deploy() throws Exception {
			var module = loadModule("deployment.prices.war");
			start(module.getClassLoader().loadClass("shop.Start"));
			unloadModuleLocal(module.getName(), module);
		}
	}

	static void jboss(Path base) throws Exception {
		var classes = ResourceLoaders.createPathResourceLoader("classes", base.resolve("WEB-INF/classes"));
		var deployments = new Deployments(new ModuleFinder() {
			@Override
			public ModuleSpec findModule(String name, ModuleLoader loader) {
				return ModuleSpec.build(name)
					.addResourceRoot(ResourceLoaderSpec.createResourceLoaderSpec(classes))
					.addDependency(DependencySpec.OWN_DEPENDENCY).create();
			}
		});
		for (int i = 0; i < 3; i++)
			deployments.deploy();
	}

	static void devtools(Path base) throws Exception {
		var urls = new URL[] { base.resolve("WEB-INF/classes").toUri().toURL() };
		for (int i = 0; i < 3; i++)
			start(new RestartClassLoader(Redeploy.class.getClassLoader(), urls).loadClass("shop.Start"));
	}

	public static void main(String[] args) throws Exception {
		Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
			e.printStackTrace();
			Runtime.getRuntime().halt(1);
		});
		Path base = Files.createTempDirectory(Path.of("").toAbsolutePath(), "prices");
		Path classes = Files.createDirectories(base.resolve("WEB-INF/classes"));
		Path source = Files.writeString(base.resolve("Start.java"), START);
		ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", classes.toString(), source.toString());
		leaky = !args[1].endsWith("-ok");
		switch (args[1].replace("-ok", "")) {
		case "jetty" -> jetty(base);
		case "felix" -> osgi(base);
		case "jboss" -> jboss(base);
		case "devtools" -> devtools(base);
		default -> throw new IllegalArgumentException(args[1]);
		}
		Real.dump(args[0]);
	}
}
