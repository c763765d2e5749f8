package okio;

import java.util.concurrent.Callable;

/* Stands for a library, in a package of a real one: a frame of it is not the application's. */
public class Source {
    public static Object read(Callable<?> call) throws Exception {
        return call.call();
    }
}
