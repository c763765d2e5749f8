// The views except the overview. Queries without their own view use `General`.
import { useEffect, useState } from "preact/hooks";
import { Android } from "./android";
import { ask, Database, hasSql, Params, report, Row, Spec } from "./api";
import { Card } from "./card";
import { ClassPage } from "./class";
import { Dominators } from "./dominators";
import { Loaders } from "./loaders";
import { Choice, MapView } from "./map";
import { Allocations, Growth, Native, Outside, Owners } from "./outside";
import { useAnswer, Wait } from "./asking";
import { classPage, Name, Obj } from "./objects";
import { Panel, specs } from "./parts";
import { Links, QueryTable, Table } from "./table";
import { change, href, linkTo, readRoute, Route } from "./route";
import { Sql } from "./sql";
import { Leaks } from "./suspects";
import { bytes, counted, number, visible } from "./text";
import { Threads } from "./threads";
import { WasteSum } from "./waste";

type Props = { route: Route; databases: Database[] };

// ---- any query, with its options as a form ----

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
    </label>
  );
}

// The form shows the target and the options that are set; the others are under "Options".
function Form({
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
  const p = route.params;
  if (report) return null;
  const all = spec.options.filter((o) => !["fail-if", "only-names", ...without].includes(o.name)),
    isVisible = (o: Spec["options"][number]) => first.includes(o.name) || p[`o_${o.name}`];
  const [open] = useState(() => new Set(all.filter(isVisible).map((o) => o.name)));
  const shown = all.filter((o) => open.has(o.name)),
    rest = all.filter((o) => !open.has(o.name)),
    set = rest.filter((o) => p[`o_${o.name}`]).length;
  if (!spec.targets && all.length === 0) return null;
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

function paramsOf(route: Route, spec: Spec): Params {
  const params: Params = { db: route.params.db, target: route.params.target };
  for (const o of spec.options) if (route.params[`o_${o.name}`]) params[o.name] = route.params[`o_${o.name}`];
  return params;
}

// Links from numbers to the rows that were counted or added up.
const toInstances =
  (name: string, more: Record<string, string> = {}) =>
  (row: Row) =>
    row[name] ? linkTo("all", { q: "instances", target: String(row[name]), ...more }) : undefined;
const toClass = (row: Row) => (row.name && /^[^<(]/.test(String(row.name)) ? classPage(String(row.name)) : undefined);
function linksOf(query: string, route: Route): Links {
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

const emptyTexts: Record<string, string> = {
  problems: "No record of this dump is damaged or missing.",
  strings:
    "No string matches. The pattern is a regular expression and is case-sensitive; start it with (?i) to ignore case.",
  duplicates: "No string or array occurs more than once.",
  finalizers: "No object of this heap waits for its finalizer.",
  unreachable: "Every object of the dump is reachable, so the dump was taken after a full collection.",
  substrings: "No two strings share an array.",
  "duplicate-classes": "No class was defined by more than one class loader.",
  "alloc-sites": "The dump has no records of allocation sites.",
  "object-sites":
    "The dump does not record where its objects were allocated. A Flight Recorder recording of the same program " +
    "does: the command jfr reads it.",
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

export function General({
  route,
  query,
  title,
  extra,
  first,
  without,
  hide,
  front,
}: {
  route: Route;
  query: string;
  title?: string;
  extra?: Params;
  first?: string[];
  without?: string[];
  hide?: string[];
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
          hide={query === "entries" ? ["key", "value", "key_id", "value_id"] : hide}
          first={query === "entries" ? ["no", "key_label", "value_label", "retained"] : front}
          each={query === "entries" ? named : undefined}
          ofClasses={isOfClasses}
          onOpen={isOfClasses ? (row) => (location.hash = classPage(String(row.name))) : undefined}
        />
      )}
    </Panel>
  );
}

const waste: [string, string][] = [
  ["duplicates", "duplicate strings"],
  ["collections", "collections"],
  ["arrays", "arrays"],
  ["substrings", "shared strings"],
  ["bitmaps", "bitmaps"],
  ["reference-stats", "references"],
  ["finalizers", "finalizers"],
  ["unreachable", "unreachable"],
  ["direct-buffers", "direct buffers"],
];

function Waste({ route, databases }: Props) {
  const android = databases[Number(route.params.db ?? 0)]?.android;
  const available = waste.filter(([w]) => (report ? report.answers[w] : specs.has(w)) && (w !== "bitmaps" || android));
  const q = available.find(([w]) => w === route.params.q)?.[0],
    titleOf = (query: string) => available.find(([w]) => w === query)![1].replace(/^./, (c) => c.toUpperCase());
  if (report)
    return (
      <>
        {available.map(([w]) => (
          <General route={route} query={w} title={titleOf(w)} />
        ))}
      </>
    );
  const tab = (name: string | undefined, title: string) => (
    <a
      class={name === q ? "on" : ""}
      aria-current={name === q ? "page" : undefined}
      href={linkTo("waste", { q: name })}
    >
      {title}
    </a>
  );
  return (
    <>
      <nav class="tabs" aria-label="Kinds of waste">
        {tab(undefined, "sum")}
        {available.map(([w, title]) => tab(w, title))}
      </nav>
      {!q ? (
        <WasteSum db={route.params.db} />
      ) : (
        <General
          key={q}
          route={route}
          query={q}
          title={titleOf(q)}
          front={q === "duplicates" ? ["text", "wasted", "objects", "holder"] : undefined}
        />
      )}
    </>
  );
}

// The histogram by class, superclass, package or class loader; for Android dumps also by heap, which is counted in SQL.
function Histogram({ route, databases }: Props) {
  const db = Number(route.params.db ?? 0),
    heaps = route.params.heaps === "1",
    available = databases[db]?.android && hasSql();
  const reply = useAnswer(heaps && available ? "sql" : "", {
    db: route.params.db,
    limit: "50",
    q:
      "SELECT coalesce(heap, '–') AS heap, count(*) AS objects, sum(shallow) AS shallow FROM objects WHERE " +
      "reachable GROUP BY heap ORDER BY shallow DESC",
  });
  const by = route.params.o_by ?? "class",
    now = heaps ? "heap" : by;
  const tab = (name: string, title: string) => (
    <a
      class={now === name ? "on" : ""}
      aria-current={now === name ? "page" : undefined}
      href={linkTo(
        "histogram",
        name === "heap" ? { heaps: "1" } : { o_by: name === "class" ? undefined : name, target: route.params.target },
      )}
    >
      {title}
    </a>
  );
  return (
    <>
      {!report && (
        <nav class="tabs" aria-label="Group by">
          {tab("class", "classes")}
          {tab("superclass", "superclasses")}
          {tab("package", "packages")}
          {tab("loader", "class loaders")}
          {available && tab("heap", "heaps")}
        </nav>
      )}
      {heaps && available ? (
        <Panel>
          <Wait reply={reply} what="heaps" />
          {reply.answer && (
            <Table
              columns={["heap", "objects", "shallow"].map((name, i) => ({
                name,
                title: name,
                help: "",
                type: ["text", "count", "bytes"][i],
              }))}
              links={{ objects: (row) => linkTo("histogram", { o_heap: String(row.heap) }) }}
              rows={reply.answer.rows}
              total={reply.answer.row_count}
              what="heaps"
            />
          )}
        </Panel>
      ) : (
        <General key={by} route={route} query="histogram" without={["by"]} hide={["id"]} />
      )}
    </>
  );
}

function Paths({ route }: Props) {
  return (
    <General
      route={route}
      query="merged-paths"
      first={["by", "exclude"]}
      hide={["id"]}
      front={["name", "below_objects", "percent", "below_shallow"]}
    />
  );
}

function Strings({ route }: Props) {
  const p = route.params,
    spec = specs.get("strings")!;
  return (
    <Panel>
      <div class="tools">
        <Choice
          label="Group by"
          value={p.o_objects ? "objects" : (p.o_by ?? "text")}
          choices={[["text"], ["prefix"], ["length"], ["encoding"], ["objects", "nothing: each object"]]}
          onChange={(v) =>
            change({
              o_by: v === "objects" || v === "text" ? undefined : v,
              o_objects: v === "objects" ? "1" : undefined,
            })
          }
        />
      </div>
      <Form key="strings" spec={{ ...spec, targets: "" }} route={route} without={["by", "objects"]} />
      <QueryTable
        query="strings"
        params={paramsOf(route, spec)}
        what="strings"
        sortKey="sort"
        first={["text"]}
        links={linksOf("strings", route)}
        empty={emptyTexts.strings}
      />
    </Panel>
  );
}

function LeaksView({ route }: Props) {
  const spec = specs.get("leaks")!;
  return (
    <Panel>
      <Form key="leaks" spec={spec} route={route} first={["threshold"]} without={["brief"]} />
      <Leaks db={route.params.db} more={paramsOf(route, spec)} />
    </Panel>
  );
}

const growth: [string, string][] = [
  ["owner", "what grew"],
  ["class", "classes"],
  ["package", "packages"],
  ["loader", "class loaders"],
  ["object", "new and removed objects"],
  ["path", "growth by path"],
  ["dominator", "growth by dominator"],
  ["suspect", "suspects"],
];

const signed = (n: number): string => `${n >= 0 ? "+" : ""}${bytes(n)}`;
const CARDS = 3; // owners shown as cards

// What an owner retains now and retained before.
function Owner({ row: r }: { row: Row }) {
  const id = r.id ? String(r.id) : null,
    objects = Number(r.objects ?? 0),
    was = Number(r.objects_before ?? 0);
  return (
    <Card
      kind="finding"
      figure={signed(Number(r.retained_delta))}
      share={typeof r.percent === "number" ? r.percent : null}
      of="of the heap before"
      sentence={
        <>
          {id ? <Obj id={id} text={r.name} wrap /> : visible(String(r.name))}
          {` ${r.status === "new" ? "is new and holds" : "holds"} ${bytes(Number(r.retained))}`}
          {r.held ? (
            <>
              {" of "}
              <Name text={String(r.held).replace(/^.*\./, "")} wrap />
            </>
          ) : null}
          {r.status === "new" ? "" : `, ${bytes(Number(r.retained_before))} before`}
          {objects === was ? "." : `: ${counted(objects, "object")}, ${number(was)} before.`}
        </>
      }
      act={
        id
          ? ["Path to a GC root", linkTo("compare", { ...readRoute().params, obj: id, tab: "path" })]
          : ["Its class", classPage(String(r.held ?? r.name))]
      }
      more={id ? [["Treemap of what it retains", linkTo("map", { by: "object", root: id, obj: undefined })]] : []}
    />
  );
}

// Growth of the heap in one sentence, with cards for the owners that grew most. The answer for the map arrives first
// and has the same sums.
function Grew({ db, before }: { db?: string; before: string }) {
  const reply = useAnswer("diff", { db, before, by: "owner", limit: "1000" }),
    sums = useAnswer("diff", { db, before, by: "dominator", limit: "100000" }),
    f = (reply.answer ?? sums.answer)?.facts;
  if (!f) return <Wait reply={reply} what="what changed" />;
  const was = Number(f.heap_shallow_before ?? 0),
    is = Number(f.heap_shallow ?? 0),
    more = Number(f.heap_objects ?? 0) - Number(f.heap_objects_before ?? 0);
  const owners = reply.answer?.rows.filter((r) => Number(r.retained_delta) > 0).slice(0, CARDS);
  return (
    <>
      <Card
        kind="finding sum"
        figure={signed(is - was)}
        share={was ? (100 * (is - was)) / was : null}
        of="of the heap before"
        sentence={
          `The heap ${is > was ? "grew" : is < was ? "shrank" : "went"} from ${bytes(was)} to ${bytes(is)}, ` +
          `${more >= 0 ? "+" : ""}${number(more)} objects.`
        }
        first
        more={[]}
      />
      {owners ? owners.map((row) => <Owner row={row} />) : <Wait reply={reply} what="the owners that grew" />}
    </>
  );
}

// Milliseconds. Dumps with a smaller distance count as simultaneous, for example dumps of two processes taken together.
const SIMULTANEOUS = 60000;

// Orders the dumps by time if all record it, otherwise as on the command line, which is BEFORE AFTER.
function orderOf(times: number[]): number[] {
  const isTimed = !times.some(Number.isNaN);
  return times
    .map((_, i) => i)
    .sort((a, b) => (isTimed && Math.abs(times[a] - times[b]) > SIMULTANEOUS ? times[a] - times[b] : a - b));
}

// The default pair to compare: the selected dump and the one before it, or the first two.
function pairOf(times: number[], now: number): { before: number; now: number } {
  const order = orderOf(times),
    place = Math.max(1, order.indexOf(now));
  return { before: order[place - 1], now: order[place] };
}

// Times of the dumps; NaN if a dump does not record it. Null: still loading.
function useTimes(databases: Database[]): number[] | null {
  const [times, set] = useState<number[] | null>(null);
  useEffect(() => {
    const questions = databases.map((d) => ask("info", { db: String(d.index), limit: "500" }));
    const timeOf = (rows: Row[]) => rows.find((r) => r.section === "dump" && r.key === "time")?.value;
    let live = true;
    void Promise.all(
      questions.map((q) =>
        q.answer.then(
          (a) => Date.parse(String(timeOf(a.rows) ?? "")),
          () => NaN,
        ),
      ),
    ).then((found) => live && set(found));
    return () => {
      live = false;
    };
  }, [databases]);
  return times;
}

function Compare({ route, databases }: Props) {
  const now = Number(route.params.db ?? 0),
    before = route.params.before,
    times = useTimes(databases);
  useEffect(() => {
    if (before !== undefined || !times || times.length < 2) return;
    const pair = pairOf(times, now);
    change({ before: String(pair.before), db: pair.now ? String(pair.now) : undefined }, true);
  }, [before, times, now]);
  if (databases.length < 2)
    return (
      <p class="empty">
        Only one database is open. Start the server with two dumps, before and after, to compare them.
      </p>
    );
  if (before === undefined) return null;
  const by = route.params.o_by ?? "owner",
    with_ = { ...route, params: { ...route.params, before } };
  const front =
    by === "owner"
      ? ["name", "held", "retained_delta", "percent", "objects_before", "objects"]
      : ["name", "retained_delta", "percent", "shallow_delta", "objects_delta"];
  return (
    <div class="flow">
      <Panel>
        <div class="tools">
          <Choice
            label="Before"
            value={before}
            choices={databases.filter((d) => d.index !== now).map((d) => [String(d.index), d.name])}
            onChange={(before) => change({ before, zoom: undefined })}
          />{" "}
          <span>
            now: <b>{databases[now]?.name}</b>
          </span>
          <a
            href={href("compare", {
              ...route.params,
              db: before,
              before: String(now),
              zoom: undefined,
              obj: undefined,
            })}
          >
            Swap
          </a>
        </div>
        <Grew db={route.params.db} before={before} />
      </Panel>
      {databases.length > 2 && times && (
        <Owners order={orderOf(times)} names={databases.map((d) => d.name.replace(/\.heapdb$/, ""))} />
      )}
      <nav class="tabs" aria-label="Compare by">
        {growth.map(([name, title]) => (
          <a
            class={by === name ? "on" : ""}
            aria-current={by === name ? "page" : undefined}
            href={linkTo("compare", {
              before: route.params.before,
              shape: route.params.shape,
              area: route.params.area,
              o_by: name === "owner" ? undefined : name,
            })}
          >
            {title}
          </a>
        ))}
      </nav>
      <General
        key={by}
        route={{ ...with_, params: { ...with_.params, o_by: by } }}
        query="diff"
        extra={{ before }}
        without={["by"]}
        front={front}
      />
      <MapView route={with_} compare />
    </div>
  );
}

function All({ route, databases }: Props) {
  if (route.params.q === "diff") return <Compare route={route} databases={databases} />;
  if (route.params.q) return <General route={route} query={route.params.q} title={route.params.q} />;
  const groups = new Map<string, Spec[]>();
  for (const s of specs.values()) groups.set(s.group, [...(groups.get(s.group) ?? []), s]);
  return (
    <>
      {[...groups].map(([group, list]) => (
        <Panel title={group}>
          <ul class="parts">
            {list.map((s) => (
              <li>
                <a href={linkTo("all", { q: s.name })}>{s.name}</a> <span class="dim">{s.summary}</span>
              </li>
            ))}
          </ul>
        </Panel>
      ))}
    </>
  );
}

const maps = (p: Props) =>
  report ? (
    <>
      <MapView route={p.route} fixed={{ shape: "treemap", by: "class" }} />
      <MapView route={p.route} fixed={{ shape: "icicle", by: "package" }} />
    </>
  ) : (
    <MapView route={p.route} />
  );

// The component of each view in list.ts, by name.
export const shows: Record<string, (p: Props) => preact.JSX.Element> = {
  leaks: (p) => <LeaksView {...p} />,
  android: (p) => <Android route={p.route} />,
  compare: (p) => <Compare {...p} />,
  growth: (p) => <Growth route={p.route} />,
  memory: () => <Outside />,
  map: maps,
  dominators: (p) => <Dominators route={p.route} />,
  histogram: (p) => <Histogram {...p} />,
  class: (p) => <ClassPage {...p} />,
  paths: (p) => <Paths {...p} />,
  threads: (p) => <Threads route={p.route} />,
  loaders: (p) =>
    report ? <General route={p.route} query="loaders" hide={["id", "parent"]} /> : <Loaders route={p.route} />,
  allocations: (p) => <Allocations route={p.route} />,
  native: () => <Native />,
  waste: (p) => <Waste {...p} />,
  strings: (p) => <Strings {...p} />,
  sql: (p) => <Sql route={p.route} />,
  all: (p) => <All {...p} />,
  problems: (p) => <General route={p.route} query="problems" />,
};

// Other parts that the first screen does not need.
export { Help } from "./help";
export { Inspector, FieldTarget } from "./inspector";
export { shipped, stored } from "./sql";
