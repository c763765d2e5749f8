// Any query: its options as a form, and its answer as a table. Views without their own layout use it.
import { useState } from "preact/hooks";
import { Params, report, Row, Spec } from "./api";
import { useAnswer, Wait } from "./asking";
import { classPage, Name } from "./objects";
import { Choice, Panel, specs } from "./parts";
import { Links } from "./line";
import { QueryTable } from "./query";
import { change, href, linkTo, readRoute, Route } from "./route";
import { bytes, number, visible } from "./text";

export function words(argument: string | null): string[] | null {
  return argument && /^[a-z-]+(\|[a-z-]+)+$/.test(argument) ? argument.split("|") : null;
}

function Field({ option, route }: { option: Spec["options"][number]; route: Route }) {
  const { name, argument, default_value: usual } = option,
    help = option.help.replace(/[^.]$/, "$&.") + (usual ? ` Default: ${usual}.` : ""),
    choice = words(argument),
    key = `o_${name}`,
    value = route.params[key] ?? "";
  const set = (v: string) => change({ [key]: v || undefined });
  if (choice)
    return (
      <span title={help}>
        <Choice
          label={name}
          value={value}
          choices={[
            ["", usual && choice.includes(usual) ? usual : "default"],
            ...choice.filter((c) => c !== usual).map((c) => [c]),
          ]}
          onChange={set}
        />
      </span>
    );
  if (!argument)
    return (
      <label title={help}>
        <input
          type="checkbox"
          checked={value === "1"}
          onChange={(e) => set((e.target as HTMLInputElement).checked ? "1" : "")}
        />{" "}
        {name}
      </label>
    );
  return (
    <label title={help}>
      {name}{" "}
      <input
        size={Math.max(10, Math.min(24, (usual ?? argument).length))}
        value={value}
        placeholder={usual ?? argument.toLowerCase()}
        onChange={(e) => set((e.target as HTMLInputElement).value)}
      />
      {argument === "PERCENT" && " %"}
    </label>
  );
}

// The form shows the target and the options that are set. Other options are under "Options".
export function Form({
  spec,
  route,
  first = [],
  without = [],
}: {
  spec: Spec;
  route: Route;
  first?: string[];
  without?: string[];
}) {
  const p = route.params,
    all = spec.options.filter((o) => !["fail-if", "only-names", ...without].includes(o.name)),
    isVisible = (o: Spec["options"][number]) => first.includes(o.name) || p[`o_${o.name}`];
  const [open] = useState(() => new Set(all.filter(isVisible).map((o) => o.name)));
  const shown = all.filter((o) => open.has(o.name)),
    rest = all.filter((o) => !open.has(o.name)),
    set = rest.filter((o) => p[`o_${o.name}`]).length;
  if (report || (!spec.targets && all.length === 0)) return null;
  const isOptional = spec.targets.startsWith("["),
    target = spec.targets && <TargetField key={p.target} spec={spec} value={p.target ?? ""} />;
  return (
    <form class="tools form" onSubmit={(e) => e.preventDefault()}>
      {!isOptional && target}
      {isOptional && p.target && (
        <button type="button" title="Show all" onClick={() => change({ target: undefined })}>
          only <b>{visible(p.target)}</b> ×
        </button>
      )}
      {shown.map((o) => (
        <Field option={o} route={route} />
      ))}
      {(rest.length > 0 || isOptional) && (
        <details class="options">
          <summary>Options{set ? ` (${number(set)} set)` : ""}</summary>
          <div class="tools">
            {isOptional && target}
            {rest.map((o) => (
              <Field option={o} route={route} />
            ))}
          </div>
        </details>
      )}
    </form>
  );
}

// The field for a query's target. An optional target is listed under "Options", because the table has a filter.
function TargetField({ spec: { targets }, value }: { spec: Spec; value: string }) {
  const title = targets
      .split("|")[0]
      .toLowerCase()
      .replace(/[[\].]/g, "")
      .replace("-", " "),
    example =
      targets === "[PATTERN]"
        ? "as java.util.* or *Session"
        : /CLASS/.test(targets)
          ? "as java.util.HashMap"
          : /OBJECT/.test(targets)
            ? "as 0x12c4"
            : "name";
  return (
    <label>
      {title}{" "}
      <input
        value={value}
        size={28}
        placeholder={example}
        onChange={(e) => change({ target: (e.target as HTMLInputElement).value || undefined })}
      />
    </label>
  );
}

export function paramsOf(route: Route, spec: Spec): Params {
  const params: Params = { db: route.params.db, target: route.params.target };
  for (const o of spec.options) if (route.params[`o_${o.name}`]) params[o.name] = route.params[`o_${o.name}`];
  return params;
}

// Links from numbers to the rows that were counted or added up.
const toInstances =
  (name: string, more: Record<string, string> = {}) =>
  (row: Row) =>
    row[name] ? linkTo("all", { q: "instances", target: String(row[name]), ...more }) : undefined;
// In comparisons, hidden classes are named by a pattern, because their addresses differ between runs.
const toClass = (row: Row) =>
  !row.name || /^[<(]/.test(String(row.name))
    ? undefined
    : String(row.name).endsWith("*")
      ? linkTo("histogram", { target: String(row.name) })
      : classPage(String(row.name));
export function linksOf(query: string, route: Route): Links {
  const by = route.params.o_by ?? "class",
    here = (params: Record<string, string>) => href(readRoute().view, { ...readRoute().params, ...params });
  const texts = (row: Row) =>
    typeof row.text === "string" && row.text !== "" && Number(row.length ?? 0) < 500
      ? linkTo("strings", { o_equals: row.text, o_objects: "1" })
      : undefined;
  if (query === "histogram" && by === "class")
    return {
      name: toClass,
      objects: toInstances("name"),
      retained: (row) => classPage(String(row.name), "holders"),
      unreachable_objects: toInstances("name", { o_unreachable: "1" }),
    };
  if (query === "histogram" && by === "superclass")
    return { name: toClass, objects: toInstances("name", { o_subclasses: "1" }) };
  if (query === "histogram" && by === "package")
    return {
      objects: (row) =>
        /^[\w.$]+$/.test(String(row.name)) ? linkTo("histogram", { target: `${row.name}.*` }) : undefined,
    };
  if (query === "diff" && by === "class") return { name: toClass, objects: toInstances("name") };
  if (query === "diff" && by === "package")
    return { objects: (row) => here({ o_by: "class", o_only: `${row.name}.*` }) };
  if (query === "strings" && !route.params.o_objects && ["", "text"].includes(route.params.o_by ?? ""))
    return { objects: texts };
  if (query === "duplicates") return { objects: texts };
  if (query === "collections" || query === "arrays") return { objects: toInstances("class") };
  if (query === "immediate-dominators") return { name: toClass };
  if (query === "unreachable" && by === "class")
    return { name: toClass, objects: toInstances("name", { o_unreachable: "1" }) };
  return {};
}

export const emptyTexts: Record<string, string> = {
  problems: "No record of this dump is damaged or missing.",
  strings:
    "No string matches. The pattern is a regular expression and is case-sensitive; start it with (?i) to ignore case.",
  duplicates: "No string or array occurs more than once.",
  finalizers: "No object of this heap waits for its finalizer.",
  unreachable: "Every object of the dump is reachable, so a full garbage collection probably ran before the dump.",
  substrings: "No two strings share an array.",
  "duplicate-classes": "No class was defined by more than one class loader.",
  "alloc-sites": "The dump has no records of allocation sites.",
  "object-sites":
    "The dump does not record where its objects were allocated. A Flight Recorder recording of the same program " +
    "does, and the command jfr reads it.",
  "call-tree": "The dump does not record where its objects were allocated.",
  dangling: "Every reference leads to an object in the dump.",
  bitmaps: "There are no bitmaps. Only Android dumps contain them.",
  native: "The dump has no record of native memory.",
  explain: "No rule explains a large object of this heap.",
  "reference-leaks": "No soft, weak or phantom reference also holds its referent strongly.",
  secrets: "No token, key or password was recognized.",
  "direct-buffers": "This heap has no direct buffers and no foreign-memory segments.",
  diff: "Nothing of this kind differs between the two databases.",
  "leak-traces": "No destroyed object of an Android application is in this heap.",
  "cpu-samples": "The dump has no CPU samples. Only dumps of the hprof agent of Java 8 and earlier contain them.",
  "heap-summaries": "The dump has no heap summaries. Only dumps of the hprof agent of Java 8 and earlier contain them.",
};

// Offers the largest objects or classes if a query needs a target.
function Start({ route, isClass }: { route: Route; isClass: boolean }) {
  const reply = useAnswer("top", { db: route.params.db, by: isClass ? "class" : undefined, limit: "15" });
  if (!reply.answer) return <Wait reply={reply} what="the largest objects" />;
  return (
    <>
      <p class="dim">
        {isClass
          ? "The classes that retain the most. Enter any other class above."
          : "The objects that retain the most. Enter any other object above."}
      </p>
      <ul class="parts">
        {reply.answer.rows.map((r) => (
          <li>
            <span class="right">{bytes(Number(r.retained ?? 0))}</span>
            <a
              href={href(route.view, {
                ...route.params,
                target: String(isClass ? (r.class ?? r.name ?? r.label) : r.id),
              })}
            >
              <Name text={String(r.label ?? r.name ?? r.class)} wrap />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

// Keys and values that are not objects (primitive collections) have no label; show the value itself.
const named = (row: Row): Row => ({
  ...row,
  key_label: row.key_label ?? row.key,
  value_label: row.value_label ?? row.value,
});

// Columns by which the server orders the rows of a query.
const orders: Record<string, string> = {
  "direct-buffers": "capacity",
  histogram: "shallow",
  duplicates: "wasted",
  collections: "wasted",
  arrays: "shallow",
  strings: "shallow",
};

// Queries whose sums are shown above the table, and facts that Marks shows or that are the same in each view.
const SUMMED = ["collections", "duplicates", "arrays", "substrings", "finalizers", "direct-buffers", "strings"];
const COVERAGE = /^(counted|unreachable_|cut|heap_)/;

export function General({
  route,
  query,
  title,
  extra,
  first,
  without,
  front,
}: {
  route: Route;
  query: string;
  title?: string;
  extra?: Params;
  first?: string[];
  without?: string[];
  front?: string[];
}) {
  const spec = specs.get(query);
  if (!spec)
    return (
      <p class="empty">
        There is no query “{visible(query)}”. <a href={linkTo("all")}>All queries</a>
      </p>
    );
  const needs = spec.targets && !spec.targets.startsWith("[") && !route.params.target;
  const sentence = spec.summary[0].toUpperCase() + spec.summary.slice(1),
    isOfClasses = query === "histogram" && (route.params.o_by ?? "class") === "class";
  return (
    <Panel title={title}>
      {title && (
        <p class="dim">
          {sentence}
          {sentence.endsWith(".") ? "" : "."}
        </p>
      )}
      <Form key={query} spec={spec} route={route} first={first} without={without} />
      {needs ? (
        <Start route={route} isClass={/CLASS/.test(spec.targets)} />
      ) : (
        <QueryTable
          query={query}
          params={{ ...paramsOf(route, spec), ...extra }}
          what={spec.name}
          sortKey="sort"
          links={linksOf(query, route)}
          empty={emptyTexts[query]}
          first={front}
          each={query === "entries" ? named : undefined}
          order={orders[query]}
          sums={SUMMED.includes(query) ? spec.facts.filter((c) => !COVERAGE.test(c.name)) : undefined}
          ofClasses={isOfClasses}
          onOpen={isOfClasses ? (row) => (location.hash = classPage(String(row.name))) : undefined}
        />
      )}
    </Panel>
  );
}
