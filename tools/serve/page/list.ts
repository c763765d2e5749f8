// The list of views: names, groups and what each answers. What they show is in views.tsx, which the first screen does
// without.

// A view; `line`: what it answers; `inner`: is not in the list of views, for it needs something to show; `needs`: the
// answer that a report has for it, "-" if none.
export interface View {
  name: string;
  title: string;
  group: "Find" | "Explore" | "Waste" | "Tools";
  line: string;
  needs?: string;
  inner?: boolean;
  words?: string; // what else it is called
  files?: string[]; // answers of files beside the database, of which it shows at least one
}

const entry = (
  group: View["group"],
  name: string,
  title: string,
  line: string,
  needs: string | undefined = "-",
): View => ({ name, title, group, line, needs });

export const views: View[] = [
  {
    ...entry("Find", "overview", "Overview", "What holds the memory, and what to do about it."),
    needs: undefined,
  },
  entry(
    "Find",
    "leaks",
    "Leaks",
    "Objects that retain a large share of the heap, or that are destroyed but still reachable.",
  ),
  entry("Find", "android", "Android", "Leak traces, bitmaps and heaps of the application."),
  entry("Find", "compare", "Compare", "What grew between two dumps, and who holds it."),
  {
    ...entry("Find", "growth", "Growth", "What grew over time, steadily, and since when."),
    words: "series watch trend",
    files: ["growth"],
  },
  {
    ...entry("Find", "memory", "Memory outside the heap", "All memory of the process, of which the heap is one part."),
    words: "outside rss process malloc",
    files: ["memory"],
  },
  entry(
    "Explore",
    "map",
    "Map",
    "Where the memory is. The larger the area, the larger the retained size.",
    "dominator-tree?by=class",
  ),
  entry("Explore", "dominators", "Dominators", "What each object keeps alive, largest first."),
  entry("Explore", "histogram", "Histogram", "How many objects each class has, and how many bytes.", "histogram"),
  {
    ...entry("Explore", "class", "Class", "The objects of one class, their fields, and who holds them."),
    inner: true,
  },
  entry("Explore", "paths", "Merged paths", "Why the objects of a class are alive: all their paths in one tree."),
  entry(
    "Explore",
    "threads",
    "Threads",
    "What each thread runs, and what its stack keeps alive.",
    "threads?no-stack=1",
  ),
  entry(
    "Explore",
    "loaders",
    "Class loaders",
    "Class loaders, what they retain, and which may be left over.",
    "loaders",
  ),
  {
    ...entry("Explore", "allocations", "Allocations", "What allocated objects, from a Flight Recorder recording."),
    words: "jfr flight recorder recordings",
    files: ["jfr-site"],
  },
  {
    ...entry("Explore", "native", "Native memory", "Memory that Android counts outside the Java heap."),
    words: "meminfo heapprofd",
    files: ["meminfo", "native"],
  },
  entry(
    "Waste",
    "waste",
    "Waste by kind",
    "Memory that the same data does not need, and what holds it.",
    "collections",
  ),
  entry("Waste", "strings", "Strings", "Strings in the heap, with their number and size."),
  entry("Tools", "sql", "SQL", "Your own query, as a read-only statement."),
  entry("Tools", "all", "All queries", "Every query of the command line, with its options."),
  entry("Tools", "problems", "Problems", "What was damaged or missing in the dump file.", "problems"),
];
