// tests/java/Big.java - makes a heap of millions of small objects and dumps it, for measurements.
//
//     java -Xmx6g tests/java/Big.java OUT.hprof [ENTRIES]
//
// A HashMap from names to records with lists and boxed numbers: 11 objects an entry. The default of
// 1,750,000 entries makes some 19.3 million objects and a dump of about 950 MB (live=true). Same
// contents at every run, of any scale.

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Big {
    record Account(String name, List<Long> payments, Double balance, long opened, long changed,
            long flags, int branch) {}

    static final Map<String, Account> ACCOUNTS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        int entries = args.length > 1 ? Integer.parseInt(args[1]) : 1_750_000;
        for (int i = 0; i < entries; i++) {
            String name = String.format("account-holder-%09d", i);
            List<Long> payments = new ArrayList<>();
            for (int k = 0; k < 4; k++) // new Longs: all are past the cache of small ones
                payments.add(1_000_000L + 4L * i + k);
            ACCOUNTS.put(name, new Account(name, payments, i / 8.0, 1_600_000_000L + i,
                    1_700_000_000L + i, i & 7, i % 997));
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
