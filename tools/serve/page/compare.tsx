// Compare: what grew between two dumps, and over all open dumps.
import { useEffect, useState } from "preact/hooks";
import { ask, Database, Row } from "./api";
import { Card } from "./card";
import { useAnswer, Wait } from "./asking";
import { Lines } from "./lines";
import { MapView } from "./map";
import { classPage, Name, Obj } from "./objects";
import { Choice, Panel } from "./parts";
import { change, href, linkTo, readRoute } from "./route";
import { bytes, capital, counted, number, visible } from "./text";
import { General } from "./general";
import { Props } from "./list";

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
const CARDS = 3; // number of owners shown as cards

// Retained size of an owner, now and before.
function Owner({ row: r, before }: { row: Row; before: number }) {
  const id = r.id ? String(r.id) : null,
    objects = Number(r.objects ?? 0),
    was = Number(r.objects_before ?? 0),
    // "the VM" and "a GC root" lose their article; other names are fields
    name = String(r.name).replace(/^(the|an?) /, capital);
  return (
    <Card
      kind="finding"
      figure={signed(Number(r.retained_delta))}
      share={typeof r.percent === "number" ? r.percent : null}
      of={`of ${bytes(before)}`}
      sentence={
        <>
          {id ? <Obj id={id} text={name} wrap /> : visible(name)}
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
        of={`of ${bytes(was)}`}
        sentence={
          `The heap ${is > was ? "grew" : is < was ? "shrank" : "went"} from ${bytes(was)} to ${bytes(is)}, ` +
          `${more >= 0 ? "+" : ""}${number(more)} objects.`
        }
        first
        more={[]}
      />
      {owners ? (
        owners.map((row) => <Owner row={row} before={was} />)
      ) : (
        <Wait reply={reply} what="the owners that grew" />
      )}
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

const OWNERS = 6; // number of lines in the chart

// Names of the lines. If an owner has several rows, as "the VM" often does, the name includes the class that changed,
// and names that are still equal are numbered.
function lineNames(rows: Row[]): string[] {
  const among = (names: string[], name: string) => names.filter((n) => n === name).length;
  const owners = rows.map((r) => String(r.name)),
    names = rows.map((r, i) => (among(owners, owners[i]) > 1 && r.held ? `${r.name}: ${r.held}` : owners[i]));
  return names.map((name, i) => (among(names, name) > 1 ? `${name} (${among(names.slice(0, i + 1), name)})` : name));
}

const steps = (row: Row): [number, number][] =>
  String(row.steps ?? "")
    .split(" ")
    .filter(Boolean)
    .map((v, i) => [i, Number(v)]);

// Retained size of the owners that changed most, over all open dumps. `order`: indexes of the dumps, oldest first.
function Owners({ order, names }: { order: number[]; names: string[] }) {
  const last = order[order.length - 1];
  const reply = useAnswer("diff", {
    db: String(last),
    before: order.slice(0, -1).map(String),
    by: "owner",
    limit: "100",
  });
  if (!reply.answer) return <Wait reply={reply} what="owners over all dumps" />;
  const rows = reply.answer.rows.slice(0, OWNERS),
    lines = lineNames(rows);
  return (
    <Panel title={`Owners over ${number(order.length)} dumps`}>
      {rows.length === 0 ? (
        <p class="empty">No owner changed between these dumps.</p>
      ) : (
        <Lines
          title="Retained size"
          format={bytes}
          at={(i) => visible(names[order[Math.round(i)]] ?? "")}
          lines={rows.map((r, i) => ({ name: lines[i], points: steps(r) }))}
        />
      )}
    </Panel>
  );
}

export function Compare({ route, databases }: Props) {
  const now = Number(route.params.db ?? 0),
    asked = route.params.before,
    // otherwise, the default pair is shown
    before = databases[Number(asked)] && Number(asked) !== now ? asked : undefined,
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
