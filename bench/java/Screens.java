/*
 * Dumps the heap of an application that holds 20 activities after they were destroyed.
 *
 *   java Screens FILE.hprof [ROWS]      1,330,000 rows: 8 M objects, 0.5 GB
 *
 * Android's classes are replaced by stubs (stubs/) with the names and fields that leak detectors examine.
 * A row has its own string and a boxed number, and every hundredth row has a view. A map refers to all
 * rows by boxed numbers. Each of the 20 activities is held by a different field and holds 500 other rows.
 */
import android.app.Activity;
import android.view.View;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Screens {
	static final class Row {
		Activity screen;
		View view;
		String text;
		Long number;
	}

	static final class Screen extends Activity {
		List<Row> rows = new ArrayList<>();
	}

	/** One field for each leak, so that each leak has a different fingerprint. */
	static final class Listeners {
		Object a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t;
	}

	static final Map<Long, Row> ROWS = new HashMap<>();
	static final Listeners LISTENERS = new Listeners();
	static final Screen SHOWN = new Screen();

	static Row row(Screen screen, int number) {
		Row row = new Row();
		row.screen = screen;
		row.text = "row number " + number + " of the list, with what it says to whom it may concern, "
				+ "and to all others who look at this screen";
		row.number = 1_000_000L + number;
		if (number % 100 == 0) {
			row.view = new View();
			row.view.mContext = screen;
		}
		return row;
	}

	public static void main(String[] args) throws Exception {
		int count = args.length > 1 ? Integer.parseInt(args[1]) : 1_330_000;
		for (int i = 0; i < count; i++)
			ROWS.put(1000L + i, row(SHOWN, i));
		int leaks = 0;
		for (var field : Listeners.class.getDeclaredFields()) {
			Screen screen = new Screen();
			screen.mDestroyed = true;
			for (int i = 0; i < 500; i++)
				screen.rows.add(row(screen, i));
			field.set(LISTENERS, screen);
			leaks++;
		}
		/* Use the classes, because the dump contains only loaded classes. */
		String device = android.os.Build.MANUFACTURER + " " + android.os.Build.VERSION.SDK_INT;
		Dump.write(args[0]);
		System.out.println(ROWS.size() + " rows, " + leaks + " leaks, " + device);
	}
}
