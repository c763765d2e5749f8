// The overview: key figures, leak suspects and findings, treemap, biggest objects.
import { useEffect, useRef } from "preact/hooks";
import { Database, isCounted, report, Row } from "./api";
import { MapView } from "./map";
import { AllNotes } from "./notes";
import { Marks, useAnswer, usePrevious, Wait } from "./asking";
import { Obj } from "./objects";
import { Meter, Panel } from "./parts";
import { linkTo, Route } from "./route";
import { Ranked } from "./suspects";
import { forPage, bytes, counted, number, percent, visible } from "./text";

const text = (v: unknown) => (v === null || v === undefined ? "" : visible(String(v)));

// ---- figures ----

export type Info = (section: string, key: string) => Row | undefined;

const FIRST_PAUSE = 1000,
  LONGEST_PAUSE = 8000; // maximum number of milliseconds between two requests

// Facts about the dump. They are requested again until the server, while answering other queries, has counted the heap.
export function useInfo(db?: string): { info?: Info; rows: Row[]; wait: preact.JSX.Element | null; facts?: Row } {
  const reply = usePrevious("info", { db, limit: "500" }, db ?? ""),
    rows = reply.answer?.rows ?? [],
    pause = useRef(FIRST_PAUSE);
  useEffect(() => {
    if (report || !reply.answer || reply.late || isCounted(reply.answer)) return;
    const timer = setTimeout(reply.retry, pause.current);
    pause.current = Math.min(LONGEST_PAUSE, 2 * pause.current);
    return () => clearTimeout(timer);
  }, [reply.answer, reply.late]);
  return {
    rows,
    facts: reply.answer?.facts,
    wait: reply.answer ? null : <Wait reply={reply} what="facts about the dump" />,
    info: reply.answer ? (section, key) => rows.find((r) => r.section === section && r.key === key) : undefined,
  };
}

export const numberOf = (row?: Row): number | null => (typeof row?.number === "number" ? row.number : null);

export function when(row?: Row): string {
  const at = Date.parse(String(row?.value ?? ""));
  return Number.isNaN(at) ? "" : new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function vmOf(info: Info): string {
  const android = info("vm", "android"),
    java = info("vm", "java"),
    name = info("vm", "name");
  if (android) return `Android ${text(android.value)}`;
  return java && java.value !== "0" ? `Java ${text(java.value)}` : text(name?.value ?? info("dump", "runtime")?.value);
}

function Strip({ db }: { db?: string }) {
  const { info, wait } = useInfo(db);
  if (!info) return <div class="strip">{wait}</div>;
  const size = numberOf(info("objects", "reachable bytes")),
    most = numberOf(info("vm", "max heap")),
    objects = numberOf(info("objects", "reachable"));
  const unreachable = numberOf(info("objects", "unreachable bytes")),
    problems = numberOf(info("dump", "problems"));
  const parts: [string, string, string?][] = [
    [
      "Heap",
      size === null ? "–" : bytes(size),
      most && size !== null ? `${percent((100 * size) / most)} of ${bytes(most)}` : "reachable",
    ],
    ["Objects", objects === null ? "–" : number(objects), `${text(info("objects", "classes")?.value)} classes`],
    [
      "Unreachable",
      unreachable === null ? "–" : bytes(unreachable),
      unreachable === null ? undefined : counted(numberOf(info("objects", "unreachable")) ?? 0, "object"),
    ],
    [
      "Threads",
      text(info("objects", "threads")?.value || "–"),
      info("objects", "virtual threads") ? `${text(info("objects", "virtual threads")?.value)} virtual` : undefined,
    ],
    ["VM", vmOf(info) || "–", text(info("vm", "device")?.value ?? info("vm", "name")?.value)],
    ["Dumped", when(info("dump", "time")) || "–", `${bytes(numberOf(info("dump", "bytes")) ?? 0)} file`],
  ];
  return (
    <dl class="strip" aria-label="The heap in figures">
      {parts.map(([name, value, more]) => (
        <div>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            {more ? <small>{more}</small> : null}
          </dd>
        </div>
      ))}
      {problems ? (
        <div>
          <dt>Problems</dt>
          <dd>
            <a href={linkTo("problems")}>{number(problems)}</a>
            <small>in the dump</small>
          </dd>
        </div>
      ) : null}
    </dl>
  );
}

function Figures({ db }: { db?: string }) {
  const { rows, wait, facts } = useInfo(db);
  if (wait || !facts) return wait;
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = String(row.section);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name)!.push(row);
  }
  return (
    <>
      <Marks facts={facts} />
      <div class="figures">
        {[...groups].map(([name, rows]) => (
          <details open={report ? ["dump", "vm", "objects"].includes(name) : name === "vm"}>
            <summary>{name}</summary>
            <dl>
              {rows.map((r) => (
                <div title={forPage(text(r.help))}>
                  <dt>{text(r.key)}</dt>
                  <dd>
                    {typeof r.number === "number" && /^[\d,]+$/.test(String(r.value))
                      ? number(r.number)
                      : text(r.value)}
                  </dd>
                </div>
              ))}
            </dl>
          </details>
        ))}
      </div>
    </>
  );
}

const BIGGEST = 12;

function Biggest({ db }: { db?: string }) {
  const reply = useAnswer("top", { db, limit: String(BIGGEST) }),
    a = reply.answer;
  if (!a) return <Wait reply={reply} what="biggest objects" />;
  return (
    <>
      <ol class="parts biggest">
        {a.rows.map((r) => (
          <li>
            <span class="held">
              <Obj id={r.id} text={r.label} />
            </span>
            <span class="right">
              {bytes(Number(r.retained ?? 0))} <small class="pc">{percent(Number(r.percent ?? 0))}</small>
              <Meter part={Number(r.percent ?? 0)} />
            </span>
          </li>
        ))}
      </ol>
      <p class="dim">
        {number(a.row_count)} of {a.total_rows === null ? "many" : number(a.total_rows)} objects that no other object
        dominates.
      </p>
    </>
  );
}

export function Overview({ route, databases }: { route: Route; databases: Database[] }) {
  const db = route.params.db;
  const findings = (
    <section class="panel" aria-label="What holds the memory">
      <Ranked db={db} android={databases[Number(db ?? 0)]?.android} />
    </section>
  );
  const notes = <AllNotes db={db} />;
  const dump = (
    <Panel title="The dump and the heap">
      <Figures db={db} />
    </Panel>
  );
  if (report)
    return (
      <>
        <Strip db={db} />
        {findings}
        {notes}
        {dump}
      </>
    );
  return (
    <>
      <Strip db={db} />
      <div class="two">
        <div class="flow">{findings}</div>
        <div class="flow">
          <div class="reserved">
            <MapView route={{ ...route, params: { db: db ?? "" } }} fixed={{ shape: "treemap", by: "class" }} small />
          </div>
          <Panel title="Biggest objects" right={<a href={linkTo("dominators")}>Dominators</a>}>
            <Biggest db={db} />
          </Panel>
          {notes}
          {dump}
        </div>
      </div>
    </>
  );
}
