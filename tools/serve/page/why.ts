// Why a finding is a problem, in two sentences, and the view that leads on. By kind of a leak, by rule of triage.
import { Row } from "./api";
import { classPage } from "./parts";
import { linkTo } from "./route";

export const whyLeak: Record<string, string> = {
  suspect: "It retains a large share of the heap by itself. If it grows from dump to dump, it is what to look at first: what puts things in, and what should take them out?",
  leaking: "Its life is over, and yet something still refers to it. Whatever is first on the path and outlives it should let it go.",
  library: "A known fault of the platform or a library keeps it; the application can at most work round it.",
  unreachable: "Its life is over and no GC root reaches it. The next collection frees it: there is nothing to do.",
};

type Next = [string, string]; // title and link
const waste = (q: string, title: string): (() => Next[]) => () => [[title, linkTo("waste", { q })]];
const classOf = (row: Row): string => String(row.class ?? "").replace(/^class /, "");
const instances = (row: Row): Next[] => (row.class ? [["These objects", classPage(classOf(row))], ["What keeps them", classPage(classOf(row), "paths")]] : []);
const path = (row: Row): Next[] => (row.id ? [["Path to a GC root", linkTo("overview", { obj: String(row.id), tab: "path" })], ...below(row)] : instances(row));
const below = (row: Row): Next[] => (row.id ? [["Treemap of what it retains", linkTo("map", { by: "object", root: String(row.id), obj: undefined })]] : []);
const view = (name: string, title: string): (() => Next[]) => () => [[title, linkTo(name)]];

const rules: Record<string, [string, (row: Row) => Next[]]> = {
  "out-of-memory": ["The program wanted an object for which there was no room. What is in the dump is what it held at that moment, so the largest suspect is the likeliest cause.", () => [...view("leaks", "Leak suspects")(), ...view("threads", "Threads")()]],
  "leak-suspect": ["One object or class alone keeps so much alive that little else matters. If it is not meant to be that large, everything below it is a leak.", (r) => [...view("leaks", "Leak suspects")(), ...below(r)]],
  "heap-full": ["The collector runs more and more often and frees less each time. The program becomes slow long before it ends with OutOfMemoryError.", view("leaks", "Leak suspects")],
  "leaking-objects": ["Android has destroyed them, so nobody will use them again. Each keeps its views, bitmaps and context as long as something refers to it.", view("android", "Leak traces")],
  "thread-pin": ["What a method's variables hold lives until the method returns. A thread that never comes back from it keeps all of that.", view("threads", "Threads with their locals")],
  "thread-local": ["A value of a ThreadLocal lives as long as its thread, and threads of a pool do not end. Each thread has a copy of its own.", (r) => [...path(r), ...view("threads", "Threads")()]],
  "thread-local-stale": ["The ThreadLocal itself is gone, so no code can reach or remove the value. It stays until the thread ends or happens to clean its table.", (r) => [...path(r), ...view("threads", "Threads")()]],
  "loader-closed": ["A class loader keeps all of its classes and their static fields. One reference from outside to any object of it keeps the whole application alive.", (r) => [...path(r), ...view("loaders", "Class loaders")()]],
  "loader-twins": ["Each deployment has loaded its classes anew, and an earlier one was not let go. With every further one the heap and the metaspace grow.", (r) => [...path(r), ...view("loaders", "Class loaders")()]],
  loaders: ["Class loaders are large: each has tables, packages and classes of its own. Thousands of them are mostly made by scripts, proxies or redeployments that never end.", view("loaders", "Class loaders")],
  classes: ["Classes take memory outside of the heap, too, and are freed only with their loader. So many are mostly generated, and made again where they could be kept.", () => [["Classes by class loader", linkTo("histogram", { o_by: "loader" })]]],
  threads: ["Each thread has a stack of its own outside of the heap, a megabyte by default. So many mostly wait for something that never comes.", view("threads", "Threads")],
  "direct-buffers": ["Their memory is not in the heap, so the heap looks small while the process grows. It is freed only when the small object in the heap is collected.", () => [["Direct buffers", linkTo("all", { q: "direct-buffers" })]]],
  "mapped-files": ["They take address space until the collector finds the buffers dead. The pages themselves belong to the file and can be dropped.", () => [["Direct buffers", linkTo("all", { q: "direct-buffers" })]]],
  "finalizer-backlog": ["One thread runs all finalizers, one after the other. What waits for it, and everything that those objects hold, cannot be freed.", waste("finalizers", "Finalizers")],
  "weak-leak": ["The map lets an entry go when nothing but the map refers to its key. Here the value refers to the key, so that never happens.", path],
  "weak-only": ["Nothing but caches and the like holds them. The collector may free them, soft ones only when memory is short.", waste("reference-stats", "References by strength")],
  "jni-globals": ["Native code has to give each of these references back. What it forgets is never collected.", () => [["GC roots of native code", linkTo("all", { q: "roots", o_kind: "JNI global" })]]],
  sessions: ["Every user leaves one behind until it expires. A short visit then costs memory for hours.", instances],
  connections: ["Each has buffers and mostly a socket of the operating system. So many are a pool without a bound, or are not closed.", instances],
  listeners: ["A listener keeps everything that it refers to as long as it is registered. So many are registered again and again and never removed.", instances],
  "listeners-field": ["A listener keeps everything that it refers to as long as it is registered. One place has them all: see who registers there.", path],
  "task-queue": ["Each waiting task keeps what it will work on. If more come than are done, the queue grows until memory ends.", (r) => [...path(r), ...view("threads", "Threads")()]],
  "delete-on-exit": ["The names are kept until the VM ends, even of files that were deleted long ago. A server that runs for weeks collects millions.", path],
  statements: ["Each keeps its text, parameters and buffers, and often a cursor on the database's side. They are freed when they are closed.", instances],
  "zip-native": ["Each has memory of the zlib library outside of the heap, tens of kilobytes. It is freed by end() or close(), or much later by the collector.", instances],
  exceptions: ["Each has a stack trace, and keeps the exceptions that caused it. Kept in a list or a field they are seldom looked at.", instances],
  "hash-collisions": ["All keys fall into few places of the table. A look-up that should take one step takes thousands.", waste("collections", "Collections")],
  "big-collection": ["A collection without a bound grows as long as the program runs. If it is a cache, it needs a limit and a rule what goes first.", path],
  "big-array": ["One piece of that size needs as much free room in one piece. Mostly a whole file or answer was read into memory.", path],
  "many-small-objects": ["Every object has a header of 8 to 16 bytes and a reference to it. For small ones that is as much as what they contain.", instances],
  "boxed-values": ["A boxed number takes 16 bytes or more and a reference, where the number itself takes 4 or 8. Collections of primitive values avoid that.", instances],
  "duplicate-strings": ["The same characters are stored again and again. One copy would do: intern them, or let the collector share them.", waste("duplicates", "Duplicates and who holds them")],
  "sparse-collections": ["The places that are free take memory, too. Collections that no longer grow can be trimmed or made with the right size.", waste("collections", "Collections by fill ratio")],
  "empty-collections": ["Each takes memory and holds nothing. Made only when the first element comes, most would never be there.", waste("collections", "Collections")],
  reflection: ["Each call of getMethods() and the like copies all of them. Code that asks often should keep the answer.", instances],
  garbage: ["These objects were dead already and only not yet collected. They say how busy the program was, not what leaks.", waste("unreachable", "Unreachable objects")],
  "gc-fillers": ["The collector itself puts arrays into gaps between objects. They belong to nobody and cost the application nothing.", waste("unreachable", "Unreachable objects")],
};

export function whyFinding(row: Row): { why: string | null; next: Next[] } {
  const rule = rules[String(row.rule)];
  return rule ? { why: rule[0], next: rule[1](row) } : { why: null, next: path(row) };
}
