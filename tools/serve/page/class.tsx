// The view of one class: its objects, their sizes, fields and statics, subclasses, defining class loaders, what holds
// its objects, and its size in the other open databases.
import { Answer, Database, hasSql, Row } from "./api";
import { Notes } from "./notes";
import { numberOf, useInfo, when } from "./overview";
import { Marks, Nearest, useAnswer, useAnswers, Wait } from "./asking";
import { ClassName, classPage, Name, Obj, select } from "./objects";
import { Panel, specs } from "./parts";
import { Links } from "./line";
import { QueryTable } from "./query";
import { Table } from "./table";
import { change, href, linkTo, readRoute, Route } from "./route";
import { bytes, number, percent, splitName, visible } from "./text";

const total = (rows: Row[], name: string): number => rows.reduce((s, r) => s + Number(r[name] ?? 0), 0);
const text = (s: string) => `'${s.replace(/'/g, "''")}'`;

// ---- sizes ----

const STEPS = 44; // powers of two

// Histogram of retained sizes: one bar per power of two.
function Sizes({ db, target, retained }: { db?: string; target: string; retained: number }) {
  const step = Array.from({ length: STEPS }, (_, i) => `(retained >= ${2 ** (i + 3)})`).join(" + ");
  const reply = useAnswer(hasSql() ? "sql" : "", {
    db,
    limit: "100",
    q:
      `SELECT ${step} AS step, count(*) AS objects, sum(retained) AS bytes FROM objects WHERE class = ` +
      `${text(target)} AND reachable GROUP BY step ORDER BY step`,
  });
  if (!hasSql()) return <p class="empty">Sizes need SQL, and this heapdb was built without SQLite.</p>;
  if (!reply.answer) return <Wait reply={reply} what="sizes" />;
  const rows = reply.answer.rows,
    most = Math.max(1, ...rows.map((r) => Number(r.objects)));
  return (
    <>
      <p class="dim">
        Objects by retained size. A count opens these objects.
        {total(rows, "bytes") > retained && " Some of them retain others, so the sizes at the right overlap."}
      </p>
      <table class="bars" aria-label="Objects by retained size">
        <tbody>
          {rows.map((r) => {
            const from = 2 ** (Number(r.step) + 2),
              to = 2 * from;
            return (
              <tr>
                <th scope="row">{number(from) === "4" ? "less than 8 B" : `${bytes(from)} to ${bytes(to)}`}</th>
                <td>
                  <i style={{ width: `${(100 * Number(r.objects)) / most}%` }} />
                </td>
                <td class="n">
                  <a
                    href={linkTo("sql", {
                      sql:
                        `SELECT id, class, shallow, retained FROM objects WHERE class = ${text(target)} AND ` +
                        `retained >= ${from === 4 ? 0 : from} AND retained < ${to} ORDER BY retained DESC ` +
                        "LIMIT 1000",
                    })}
                  >
                    {number(Number(r.objects))}
                  </a>
                </td>
                <td class="n">{bytes(Number(r.bytes))}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length === 0 && <p class="empty">No object of this class is reachable.</p>}
    </>
  );
}

// ---- fields ----

// Links for the columns of the object table that are reference fields: each cell opens the object it refers to.
function referencesOf(fields: Row[]): Links {
  const own = new Set(specs.get("instances")?.columns.map((c) => c.name)),
    links: Links = {};
  for (const f of fields) {
    if (f.static || f.type !== "object") continue;
    for (const name of [String(f.field), `${splitName(String(f.declared_in))[1]}.${f.field}`])
      if (!own.has(name))
        links[name] = (row) =>
          row[name] === null
            ? undefined
            : linkTo("class", { ...readRoute().params, obj: `${row.id}.${name}`, tab: undefined });
  }
  return links;
}

function Fields({ db, target }: { db?: string; target: string }) {
  const each = (row: Row): Row => (row.ref ? { ...row, value_id: row.ref } : row);
  return (
    <QueryTable
      query="class"
      params={{ db, target }}
      what="fields"
      columns={["field", "type", "static", "value", "declared_in", "offset"]}
      each={each}
      empty={target.endsWith("[]") ? "An array has elements instead of fields." : "This class has no fields."}
    />
  );
}

// ---- the same class in the other databases ----

const sum = (answer: Answer | null | undefined, name: string): number => total(answer?.rows ?? [], name);

function Growth({ databases, target }: { databases: Database[]; target: string }) {
  const all = databases.map((d) => String(d.index)),
    infos = useAnswers(
      "info",
      all.map((db) => ({ db, limit: "500" })),
    ),
    counts = useAnswers(
      "histogram",
      all.map((db) => ({ db, target, limit: "1000" })),
    );
  if (counts.includes(undefined)) return <p class="wait" role="status" />;
  const timeOf = (info?: Answer | null) => info?.rows.find((r) => r.section === "dump" && r.key === "time");
  const now = Number(readRoute().params.db ?? 0);
  const rows = databases.map((d, i): Row => ({
    name: d.name,
    time: when(timeOf(infos[i])) || null,
    objects: sum(counts[i], "objects"),
    objects_delta: sum(counts[now], "objects") - sum(counts[i], "objects"),
    shallow: sum(counts[i], "shallow"),
    shallow_delta: sum(counts[now], "shallow") - sum(counts[i], "shallow"),
  }));
  const column = (name: string, title: string, type: string) => ({ name, title, type, help: "" });
  return (
    <>
      <p class="dim">
        One row for each open database. Differences are from that database to {visible(databases[now].name)}.
      </p>
      <Table
        columns={[
          column("name", "database", "text"),
          column("time", "dumped", "text"),
          column("objects", "objects", "count"),
          column("objects_delta", "+ objects", "int"),
          column("shallow", "shallow", "bytes"),
          column("shallow_delta", "+ shallow", "bytes"),
        ]}
        rows={rows}
        total={rows.length}
        what="databases"
        links={{
          name: (row) =>
            href("class", {
              ...readRoute().params,
              db: String(databases.find((d) => d.name === row.name)?.index || ""),
              obj: undefined,
            }),
        }}
      />
      {databases.length > 1 && (
        <p class="acts">
          {databases
            .filter((d) => d.index !== now)
            .map((d, i) => (
              <>
                {i > 0 && " · "}
                <a href={linkTo("compare", { before: String(d.index), o_by: "class" })}>
                  What else grew since {visible(d.name)}
                </a>
              </>
            ))}
        </p>
      )}
    </>
  );
}

// ---- the page ----

export function ClassPage({ route, databases }: { route: Route; databases: Database[] }) {
  const { db, target } = route.params;
  if (!target)
    return (
      <p class="empty">
        Which class? Press “/” to search for one, or choose one in the <a href={linkTo("histogram")}>histogram</a>.
      </p>
    );
  return <One key={`${db} ${target}`} route={route} databases={databases} db={db} target={target} />;
}

function One({ route, databases, db, target }: { route: Route; databases: Database[]; db?: string; target: string }) {
  const known = useAnswer("class", { db, target, limit: "1000" }),
    counted = useAnswer("histogram", { db, target, limit: "1000" });
  const { info } = useInfo(db),
    heap = info ? numberOf(info("objects", "reachable bytes")) : null;
  if (!known.answer)
    return (
      <Panel title={target}>
        <Wait reply={known} what="the class" />
        {known.code === "HDB_NOTFOUND" ? <Nearest word={target} db={db} /> : null}
      </Panel>
    );
  const f = known.answer.facts,
    definitions = f.id === undefined || f.id === null ? known.answer.rows : [],
    c = counted.answer ?? null;
  const objects = sum(c, "objects"),
    retained = sum(c, "retained"),
    unreachable = sum(c, "unreachable_objects"),
    supers = String(f.superclasses ?? "")
      .split(/,\s*|\s+<\s+|\s*>\s*/)
      .filter(Boolean);
  const tabs: [string, string][] = [
    ["objects", "Objects"],
    ["sizes", "Sizes"],
    ["fields", "Fields and statics"],
    ["holders", "Who holds them"],
    ["paths", "Merged paths"],
    ...(definitions.length ? [["loaders", `${number(definitions.length)} class loaders`] as [string, string]] : []),
    ...(definitions.length || Number(f.subclasses) > 0
      ? [
          ["subclasses", definitions.length ? "Subclasses" : `Subclasses (${number(Number(f.subclasses))})`] as [
            string,
            string,
          ],
        ]
      : []),
    ...(databases.length > 1 ? [["growth", "Growth"] as [string, string]] : []),
  ];
  const show = tabs.find(([name]) => name === route.params.show)?.[0] ?? (c && objects === 0 ? "fields" : "objects");
  const to = (name: string) => href("class", { ...route.params, show: name, sort: undefined, filter: undefined });
  return (
    <Panel title={<Name text={target} wrap />}>
      <Marks facts={f} />
      <Notes db={db} on={[target]} />
      <dl class="facts">
        <div>
          <dt>Objects</dt>
          <dd>
            {c ? <b>{number(objects)}</b> : "–"}
            {unreachable > 0 && (
              <>
                {" "}
                {" · "}
                <a href={linkTo("all", { q: "instances", target, o_unreachable: "1" })}>
                  {number(unreachable)} unreachable
                </a>
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Retained size</dt>
          <dd>
            {c && typeof c.rows[0]?.retained === "number" ? (
              <>
                <b>
                  {definitions.length ? "up to " : ""}
                  {bytes(retained)}
                </b>
                {heap ? ` · ${percent((100 * retained) / heap)} of the heap` : ""}
              </>
            ) : (
              "–"
            )}
          </dd>
        </div>
        <div>
          <dt>Shallow size</dt>
          <dd>
            {bytes(sum(c, "shallow"))}
            {typeof f.instance_bytes === "number" && !target.endsWith("[]")
              ? `, ${number(f.instance_bytes)} B each`
              : ""}
          </dd>
        </div>
        <div>
          <dt>Class loader</dt>
          <dd>
            {definitions.length ? (
              `${number(definitions.length)} class loaders define it`
            ) : f.loader_id && f.loader_id !== "0x0" ? (
              <Obj id={f.loader_id} text={f.loader} />
            ) : (
              visible(String(f.loader ?? "–"))
            )}
          </dd>
        </div>
        {supers.length > 0 && (
          <div>
            <dt>Superclasses</dt>
            <dd>
              {supers.map((name, i) => (
                <>
                  {i > 0 && " › "}
                  <ClassName name={name} />
                </>
              ))}
            </dd>
          </div>
        )}
        {typeof f.id === "string" && (
          <div>
            <dt>Class object</dt>
            <dd>
              <Obj id={f.id} text={f.id} />
              {typeof f.class_bytes === "number" && `, ${bytes(f.class_bytes)} with its statics`}
            </dd>
          </div>
        )}
      </dl>
      <nav class="tabs" aria-label="Parts of the class">
        {tabs.map(([name, title]) => (
          <a class={name === show ? "on" : ""} aria-current={name === show ? "page" : undefined} href={to(name)}>
            {title}
          </a>
        ))}
      </nav>
      {show === "objects" && (
        <QueryTable
          query="instances"
          params={{ db, target, sort: "retained" }}
          what="objects"
          sortKey="sort"
          hide={["reachable", "native", "retained_native"]}
          each={(row) => ({ ...row, label: row.label_value })}
          empty="No object of this class is reachable."
          onOpen={(row) => select(String(row.id))}
          links={definitions.length ? undefined : referencesOf(known.answer.rows)}
        />
      )}
      {show === "sizes" && <Sizes db={db} target={target} retained={retained} />}
      {show === "fields" &&
        (definitions.length ? (
          <p class="empty">
            Several class loaders define this class, each with its own statics. Open one under{" "}
            <a href={to("loaders")}>class loaders</a>.
          </p>
        ) : (
          <Fields db={db} target={target} />
        ))}
      {show === "holders" && (
        <QueryTable
          query="immediate-dominators"
          params={{ db, target }}
          what="who holds them"
          columns={["name", "objects", "dominated_objects", "dominated_shallow", "loader"]}
          titles={{
            name: "held by",
            objects: "holders",
            dominated_objects: "objects held",
            dominated_shallow: "their shallow size",
          }}
          links={{ name: (row) => (String(row.name).startsWith("<") ? undefined : classPage(String(row.name))) }}
          empty="No object of this class is reachable."
        />
      )}
      {show === "paths" && (
        <QueryTable
          query="merged-paths"
          params={{ db, target }}
          what="merged paths"
          columns={["level", "name", "below_objects", "percent", "below_shallow"]}
          titles={{ below_objects: "objects", below_shallow: "shallow" }}
          empty="No object of this class is reachable."
        />
      )}
      {show === "loaders" && (
        <Table
          columns={["loader", "id", "instances", "class_bytes"].map((name, i) => ({
            name,
            title: ["class loader", "class object", "objects", "bytes of the class"][i],
            help: "",
            type: ["text", "id", "count", "bytes"][i],
          }))}
          rows={definitions}
          total={definitions.length}
          what="class loaders"
          onOpen={(row) => change({ obj: String(row.id), tab: undefined })}
        />
      )}
      {show === "subclasses" && (
        <QueryTable
          query="class"
          params={{ db, target, subclasses: "1", list: "1" }}
          what="subclasses"
          columns={["class", "superclass", "instances", "instance_bytes", "loader"]}
          titles={{ instances: "objects", instance_bytes: "bytes each" }}
          empty="This class has no subclasses."
        />
      )}
      {show === "growth" && <Growth databases={databases} target={target} />}
    </Panel>
  );
}
