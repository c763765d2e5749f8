// Links from answers to views. The server names the next query in the row; this file chooses the view that shows it.
import { hasSql, isAndroid, report, Row } from "./api";
import { classPage } from "./objects";
import { linkTo, readRoute } from "./route";

export type Next = [title: string, address: string];

// Queries that have their own view, with its title. All others open in the general view "all".
const views: Record<string, [title: string, view: string, params?: Record<string, string>]> = {
  leaks: ["Leaks", "leaks"],
  "leak-traces": ["Android", "android"], // only for Android dumps
  threads: ["Threads", "threads"],
  loaders: ["Class loaders", "loaders"],
  histogram: ["Histogram", "histogram"],
  strings: ["Strings", "strings"],
  duplicates: ["Duplicates and who holds them", "waste", { q: "duplicates" }],
  collections: ["Collections", "waste", { q: "collections" }],
  finalizers: ["Finalizers", "waste", { q: "finalizers" }],
  "reference-stats": ["References by strength", "waste", { q: "reference-stats" }],
  arrays: ["Arrays", "waste", { q: "arrays" }],
  substrings: ["Strings that share an array", "waste", { q: "substrings" }],
  "direct-buffers": ["Direct buffers", "waste", { q: "direct-buffers" }],
  path: ["Path to a GC root", "all", { q: "path" }],
  entries: ["Entries", "all", { q: "entries" }],
  instances: ["These objects", "all", { q: "instances" }],
  sql: ["These objects", "sql"],
  "merged-paths": ["Merged paths", "all", { q: "merged-paths" }],
  dominators: ["Dominators", "dominators"],
  diff: ["Compare", "compare"],
  problems: ["Problems", "problems"],
  unreachable: ["Unreachable objects", "waste", { q: "unreachable" }],
};

export function viewOf(query: string): Next {
  const isAbsent = query === "leak-traces" && !isAndroid(readRoute().params.db);
  const [title, view, params] = (isAbsent ? undefined : views[query]) ?? [
    query.replace(/-/g, " "),
    "all",
    { q: query },
  ];
  return [title[0].toUpperCase() + title.slice(1), linkTo(view, { ...params, obj: undefined })];
}

// Link to the query that a row names in `action`. It lists the objects that the sentence counts, or is the next step
// that the advice suggests.
export function actionLink(row: Row): string | undefined {
  const action = String(row.action ?? ""),
    target = String(row.target ?? ""),
    [name, value] = String(row.action_option ?? "").split("=");
  const option = name ? { [`o_${name}`]: value } : {};
  if (report || !action) return undefined;
  if (action === "sql") return hasSql() ? linkTo("sql", { sql: target }) : undefined;
  if (action === "instances") return classPage(target);
  if (action === "path") return linkTo(readRoute().view, { ...readRoute().params, obj: target, tab: "path" });
  if (["leaks", "histogram"].includes(action) || (action === "threads" && !target))
    return linkTo(action, { target, ...option });
  return linkTo("all", { q: action, target, sort: action === "entries" ? "retained" : undefined, ...option });
}

// Link to the objects that a number counts. Threads get one row each, without frames.
export function countLink(row: Row): string | undefined {
  if (report || row.action !== "threads" || !row.target) return actionLink(row);
  return linkTo("all", { q: "threads", target: String(row.target), "o_no-stack": "1" });
}

// Next steps of a finding: its object or the objects of its class, then the view of the query that shows more.
export function nextOf(row: Row): Next[] {
  const name = String(row.class ?? "").replace(/^class /, "");
  const own: Next[] = row.id
    ? [
        ["Path to a GC root", linkTo("overview", { obj: String(row.id), tab: "path" })],
        ["Treemap of what it retains", linkTo("map", { by: "object", root: String(row.id), obj: undefined })],
      ]
    : name
      ? [
          ["These objects", classPage(name)],
          ["What holds them", classPage(name, "paths")],
        ]
      : [];
  return row.see ? [...own, viewOf(String(row.see))] : own;
}
