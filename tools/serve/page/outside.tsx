// Views of the files given with --with: a watch series, process memory, a Flight Recorder recording, native memory. The
// code of the commands growth, memory, jfr, allocations and meminfo computes these answers.
import { Answer, Cell, Column, hasFile, report, Row } from "./api";
import { useAnswer, Wait } from "./asking";
import { Card } from "./card";
import { Lines } from "./lines";
import { Choice, Panel } from "./parts";
import { change, linkTo, Route } from "./route";
import { Table } from "./table";
import { bytes, number, percent, forPage, visible } from "./text";

const text = (v: Cell | undefined): string => (v === null || v === undefined ? "" : visible(String(v)));

// Columns of an answer that has no description: "name" or "name:title", with "_" for spaces in titles.
function columnsOf(answer: Answer, columns: string): Column[] {
  return columns
    .split(" ")
    .map((c) => c.split(":"))
    .filter(([name]) => answer.columns.includes(name))
    .map(([name, title = name]) => ({
      name,
      title: title.replace(/_/g, " "),
      help: title.replace(/_/g, " "),
      type: answer.in_bytes?.includes(name)
        ? "bytes"
        : answer.rows.some((r) => typeof r[name] === "number")
          ? "count"
          : "text",
    }));
}

function OwnTable({ answer, columns, what }: { answer: Answer; columns: string; what: string }) {
  return (
    <Table
      columns={columnsOf(answer, columns)}
      rows={answer.rows}
      total={answer.total_rows}
      what={what}
      tree={columns.startsWith("level")}
    />
  );
}

// ---- growth ----

const time = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "short" });
const at = (ms: number): string => time.format(ms);

// Points of a chart, from the rows that have the value.
const pointsOf = (rows: Row[], name: string): [number, number][] =>
  rows.filter((r) => typeof r[name] === "number").map((r) => [Number(r.time), Number(r[name])]);

function Series({ answer, jvm }: { answer: Answer; jvm: string }) {
  const rows = answer.rows.filter((r) => r.jvm === jvm),
    samples = rows.filter((r) => r.kind === "sample"),
    classes = new Map<string, Row[]>();
  for (const r of rows)
    if (r.kind === "class") classes.set(String(r.name), [...(classes.get(String(r.name)) ?? []), r]);
  const marks = rows
    .filter((r) => r.kind === "event")
    .map((r) => ({ x: Number(r.time), text: `${text(r.name)}: ${text(r.text)}, ${at(Number(r.time))}` }));
  return (
    <>
      <Lines
        title="Memory"
        format={bytes}
        at={at}
        marks={marks}
        lines={[
          { name: "heap after GC", points: pointsOf(samples, "heap") },
          { name: "RSS", points: pointsOf(samples, "rss") },
          { name: "maximum heap", points: pointsOf(samples, "max"), isLimit: true },
          { name: "memory limit", points: pointsOf(samples, "limit"), isLimit: true },
        ]}
      />
      <Lines
        title="Time in garbage collections"
        format={percent}
        at={at}
        marks={marks}
        most={1}
        lines={[{ name: "share of time", points: pointsOf(samples, "gc") }]}
      />
      <Lines
        title="Classes"
        format={bytes}
        at={at}
        marks={marks}
        lines={[...classes].map(([name, list]) => ({ name, points: pointsOf(list, "bytes") }))}
      />
      {marks.length > 0 && (
        <ul class="parts">
          {marks.map((m) => (
            <li>{m.text}</li>
          ))}
        </ul>
      )}
    </>
  );
}

const growthColumns = "jvm:JVM program name bytes per_hour confidence:with_95_%_confidence since hours_left";
const signed = (n: number): string => `${n > 0 ? "+" : ""}${bytes(n)}`;
const growthRow = (r: Row): Row => ({
  ...r,
  per_hour: typeof r.hourly_delta === "number" ? signed(r.hourly_delta) : null,
  confidence: typeof r.low_delta === "number" ? `${signed(r.low_delta)} to ${signed(Number(r.high_delta))}` : null,
});

export function Growth({ route }: { route: Route }) {
  const growth = useAnswer("growth", {}),
    series = useAnswer("series", {});
  if (!growth.answer || !series.answer) return <Wait reply={growth.answer ? series : growth} what="the series" />;
  const growing = growth.answer.rows.filter((r) => r.grows),
    fastest = growing.find((r) => r.name === "heap after GC") ?? growing[0];
  const jvms = new Map<string, string>();
  for (const r of series.answer.rows)
    if (r.kind === "sample") jvms.set(String(r.jvm), `${text(r.program) || "JVM"} ${text(r.jvm).replace(/-.*/, "")}`);
  const names = [...jvms.keys()],
    jvm = jvms.has(route.params.jvm) ? route.params.jvm : names[names.length - 1];
  const answer = {
    ...growth.answer,
    columns: [...growth.answer.columns, "per_hour", "confidence"],
    rows: growth.answer.rows.map(growthRow),
  };
  return (
    <div class="flow">
      <Panel>
        <Card
          kind="finding"
          first
          figure={fastest ? `${signed(Number(fastest.hourly_delta))}/h` : "steady"}
          sentence={text(growth.answer.facts.summary).replace(/^./, (c) => c.toUpperCase()) + "."}
          act={growing.some((r) => r.name !== "heap after GC") ? ["Leaks in this dump", linkTo("leaks")] : undefined}
          more={[]}
        />
      </Panel>
      <Panel>
        {names.length > 1 && !report && (
          <div class="tools">
            <Choice label="JVM" value={jvm} choices={[...jvms]} onChange={(v) => change({ jvm: v })} />
          </div>
        )}
        {jvm && <Series answer={series.answer} jvm={jvm} />}
      </Panel>
      <Panel title="Measurements">
        <OwnTable answer={answer} columns={growthColumns} what="growth" />
      </Panel>
    </div>
  );
}

// ---- memory of the process ----

const memoryColumns = "level: name:part resident committed used count estimated shared swap";

// For each part of the memory, the view that explains it.
const leads: Record<string, [string, string]> = {
  "Java heap": ["What holds the heap", "overview"],
  "direct memory": ["Who owns the buffers", "waste"],
  metaspace: ["Class loaders", "loaders"],
  "thread stacks": ["Threads", "threads"],
};

export function Outside() {
  const reply = useAnswer("memory", {}),
    a = reply.answer;
  if (!a) return <Wait reply={reply} what="the memory of the process" />;
  const parts = a.rows.filter((r) => !r.detail),
    rss = Number(a.facts.rss),
    limit = typeof a.facts.limit === "number" ? a.facts.limit : null,
    largest = parts[0];
  const hue = (i: number) => ({ "--hue": String((210 + i * 137) % 360) });
  const next = ["next", "next_2", "next_3"].map((key) => forPage(text(a.facts[key]))).filter(Boolean);
  const tree = {
    ...a,
    columns: [...a.columns, "name", "level"],
    rows: a.rows.map((r) => ({ ...r, name: r.detail || r.part, level: r.detail ? 1 : 0 })),
  };
  const lead = leads[String(largest?.part)];
  return (
    <div class="flow">
      <Panel>
        <Card
          kind="finding"
          first
          figure={bytes(rss)}
          share={limit ? (100 * rss) / limit : null}
          of="of the limit"
          sentence={
            `${text(a.facts.process) || "The process"} has ${bytes(rss)} in memory (RSS)` +
            (limit ? ` of a limit of ${bytes(limit)}` : "") +
            (largest ? `; the largest part is ${text(largest.part)}, ${bytes(Number(largest.resident))}.` : ".")
          }
          act={lead ? [lead[0], linkTo(lead[1], lead[1] === "waste" ? { q: "direct-buffers" } : {})] : undefined}
          more={[]}
        >
          {next.map((line) => (
            <p class="dim">{line}</p>
          ))}
        </Card>
      </Panel>
      <Panel>
        <div
          class="account"
          role="img"
          aria-label={parts.map((r) => `${r.part} ${bytes(Number(r.resident))}`).join(", ")}
        >
          {parts.map((r, i) => (
            <span
              title={`${text(r.part)}: ${bytes(Number(r.resident))}, ${percent((100 * Number(r.resident)) / rss)}`}
              style={{ ...hue(i), width: `${(100 * Number(r.resident)) / rss}%` }}
            />
          ))}
        </div>
        <p class="legend">
          {parts.map((r, i) => (
            <span>
              <i class="key" style={hue(i)} />
              {text(r.part)} <b>{bytes(Number(r.resident))}</b> {percent((100 * Number(r.resident)) / rss)}
            </span>
          ))}
        </p>
        <p class="dim">
          The parts add up to RSS; {percent(Number(a.facts.explained))} of it is explained. Native Memory Tracking:{" "}
          {text(a.facts.nmt)}.{a.facts.missing ? ` For more detail: ${text(a.facts.missing)}.` : ""}
        </p>
      </Panel>
      <Panel title="Parts and details">
        <OwnTable answer={tree} columns={memoryColumns} what="parts" />
      </Panel>
    </div>
  );
}

// ---- allocations and native memory ----

const callColumns = "name thread objects bytes allocations deallocations:freed allocated deallocated:freed_bytes";

function Calls({ query, what }: { query: string; what: string }) {
  const reply = useAnswer(query, {});
  if (!reply.answer) return <Wait reply={reply} what={what} />;
  return <OwnTable answer={reply.answer} columns={callColumns} what={what} />;
}

const BUSIEST = 5; // maximum number of threads in the chart

// Heap size after garbage collections, and CPU time of threads.
function OverTime() {
  const gc = useAnswer("jfr-gc", {}),
    cpu = useAnswer("jfr-cpu", {});
  if (!gc.answer || !cpu.answer) return <Wait reply={gc.answer ? cpu : gc} what="the recording" />;
  const timed = (a: Answer): Row[] =>
    a.rows.map((r) => ({
      ...r,
      time: Date.parse(`${text(r.time).slice(0, 23)}Z`),
      load: Number(r.user ?? 0) + Number(r.system ?? 0),
    }));
  const after = timed(gc.answer).filter((r) => r.when === "After GC"),
    loads = timed(cpu.answer),
    sums = new Map<string, number>();
  for (const r of loads) sums.set(text(r.thread), (sums.get(text(r.thread)) ?? 0) + Number(r.load));
  const busiest = [...sums].sort((a, b) => b[1] - a[1]).slice(0, BUSIEST);
  if (after.length + loads.length === 0) return null;
  return (
    <Panel>
      <Lines
        title="Heap after garbage collections"
        format={bytes}
        at={at}
        lines={[
          { name: "used", points: pointsOf(after, "heap_used") },
          { name: "committed", points: pointsOf(after, "committed"), isLimit: true },
        ]}
      />
      <Lines
        title="CPU time of the busiest threads, as a share of all processors"
        format={percent}
        at={at}
        lines={busiest.map(([name]) => ({
          name,
          points: pointsOf(
            loads.filter((r) => text(r.thread) === name),
            "load",
          ),
        }))}
      />
      {[gc.answer, cpu.answer].some((a) => a.rows.length < (a.total_rows ?? 0)) && (
        <p class="dim">Only the first {number(gc.answer.rows.length)} events are drawn.</p>
      )}
    </Panel>
  );
}

const recorded: [string, string][] = [
  ["jfr-site", "sites"],
  ["jfr-class", "classes"],
  ["jfr-thread", "threads"],
  ["jfr-live", "sites of objects still alive"],
];

export function Allocations({ route }: { route: Route }) {
  const now = recorded.find(([name]) => name === route.params.q)?.[0] ?? recorded[0][0];
  return (
    <>
      {!report && (
        <nav class="tabs" aria-label="Group by">
          {recorded.map(([name, title]) => (
            <a
              class={now === name ? "on" : ""}
              aria-current={now === name ? "page" : undefined}
              href={linkTo("allocations", { q: name })}
            >
              {title}
            </a>
          ))}
        </nav>
      )}
      <Panel>
        <p class="dim">
          {now === "jfr-live"
            ? "Samples of objects that were still alive when the recording ended, by the method that allocated them."
            : "Samples of the recording. Sizes are estimates, and a site is the allocating method."}
        </p>
        <Calls key={now} query={now} what="allocations" />
      </Panel>
      <OverTime />
    </>
  );
}

const meminfoColumns =
  "section name process pss:Pss private_dirty private_clean swap rss:Rss heap_size heap_alloc heap_free size count";

function Meminfo() {
  const reply = useAnswer("meminfo", {});
  if (!reply.answer) return <Wait reply={reply} what="meminfo" />;
  return (
    <Panel title="Kinds of memory">
      <p class="dim">{text(reply.answer.facts.summary)}</p>
      <OwnTable answer={reply.answer} columns={meminfoColumns} what="kinds of memory" />
    </Panel>
  );
}

export function Native() {
  return (
    <div class="flow">
      {hasFile("meminfo") && <Meminfo />}
      {hasFile("native") && (
        <Panel title="Native allocations by site">
          <Calls query="native" what="native allocations" />
        </Panel>
      )}
    </div>
  );
}
