// The views except the overview. Queries without their own view use `General`.
import { hasSql, report, Spec } from "./api";
import { useAnswer, Wait } from "./asking";
import { MapView } from "./map";
import { Choice, Panel, specs } from "./parts";
import { QueryTable } from "./query";
import { Table } from "./table";
import { change, linkTo } from "./route";
import { emptyTexts, Form, General, linksOf, paramsOf } from "./general";
import { Props } from "./list";
import { Android } from "./android";
import { ClassPage } from "./class";
import { Dominators } from "./dominators";
import { Loaders } from "./loaders";
import { Allocations, Growth, Native, Outside } from "./outside";
import { Help } from "./help";
import { FieldTarget, Inspector } from "./inspector";
import { shipped, Sql, stored } from "./sql";
import { Leaks } from "./suspects";
import { Threads } from "./threads";
import { WasteSum } from "./waste";
import { Compare } from "./compare";

declare const REPORT: boolean; // see api.ts

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
      {!q ? <WasteSum db={route.params.db} /> : <General key={q} route={route} query={q} title={titleOf(q)} />}
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
        <General key={by} route={route} query="histogram" without={["by"]} />
      )}
    </>
  );
}

function Paths({ route }: Props) {
  return <General route={route} query="merged-paths" first={["by", "exclude"]} />;
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

// Views that reports never show ("-" in list.ts). The script of reports omits them.
const served: typeof shows = REPORT
  ? {}
  : {
      leaks: (p) => <LeaksView {...p} />,
      android: (p) => <Android route={p.route} />,
      compare: (p) => <Compare {...p} />,
      dominators: (p) => <Dominators route={p.route} />,
      class: (p) => <ClassPage {...p} />,
      paths: (p) => <Paths {...p} />,
      strings: (p) => <Strings {...p} />,
      sql: (p) => <Sql route={p.route} />,
      all: (p) => <All {...p} />,
    };

// The component of each view in list.ts, by name.
export const shows: Record<string, (p: Props) => preact.JSX.Element> = {
  ...served,
  growth: (p) => <Growth route={p.route} />,
  memory: () => <Outside />,
  map: maps,
  histogram: (p) => <Histogram {...p} />,
  threads: (p) => <Threads route={p.route} />,
  loaders: (p) => (report ? <General route={p.route} query="loaders" /> : <Loaders route={p.route} />),
  allocations: (p) => <Allocations route={p.route} />,
  native: () => <Native />,
  waste: (p) => <Waste {...p} />,
  problems: (p) => <General route={p.route} query="problems" />,
};

// Other parts that neither the first screen nor a report needs.
export const extra = REPORT ? undefined : { Help, Inspector, FieldTarget, shipped, stored };
