// The list of views. Their components are in views.tsx, which the first screen does not load.
import { Database } from "./api";
import { Route } from "./route";

// Properties passed to every view.
export type Props = { route: Route; databases: Database[] };

// A view. `line` describes the view in one line. `inner` views are not listed because they need a target. `needs` is
// the answer that a report must have to show the view; "-" means that reports never show it.
export interface View {
  name: string;
  title: string;
  group: "Find" | "Explore" | "Waste" | "Tools";
  line: string;
  needs?: string;
  inner?: boolean;
  words?: string; // synonyms for the search
  files?: string[]; // answers from --with files; the view is listed if one of them exists
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
    ...entry("Find", "growth", "Growth", "What grew steadily over time, and since when."),
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
  entry("Explore", "histogram", "Histogram", "Number and size of the objects of each class.", "histogram"),
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
    "Class loaders, what they retain, and which ones may have leaked.",
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
  entry("Waste", "waste", "Waste by kind", "Memory that could be saved, and what holds it.", "collections"),
  entry("Waste", "strings", "Strings", "Strings in the heap, with their number and size."),
  entry("Tools", "sql", "SQL", "Your own query in SQL. Statements cannot change anything."),
  entry("Tools", "all", "All queries", "Every query of the command line, with its options."),
  entry("Tools", "problems", "Problems", "What was damaged or missing in the dump file.", "problems"),
];
