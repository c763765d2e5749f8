// What holds the memory: leak suspects and findings in one order, by bytes. Each with one sentence, what to do, the
// path from a GC root and what accumulates.
import { useState } from "preact/hooks";
import { countLink, nextOf } from "./actions";
import { Advice } from "./advice";
import { Traces } from "./android";
import { hasSql, Params, report, Row } from "./api";
import { Notes } from "./notes";
import { Marks, useAnswer, Wait } from "./asking";
import { ClassName, classPage, Name, Obj } from "./objects";
import { linkTo, readRoute } from "./route";
import { bytes, counted, number, percent, visible } from "./text";

const text = (v: unknown) => (v === null || v === undefined ? "" : visible(String(v)));

// Numbers stay beside their units.
const joined = (sentence: string): string => sentence.replace(/(\d) (%|[KMGTP]?i?B\b)/g, "$1\u00a0$2");

// The sentence of a suspect: its owner leads to the object, the number of what is held to these. Both are parts of it.
function Sentence({ head }: { head: Row }) {
  const sentence = text(head.text),
    owner = text(head.owner_text),
    held = text(head.held_text),
    to = countLink(head);
  const at = held ? sentence.indexOf(held, owner.length) : -1;
  if (report || at < 0 || !sentence.startsWith(owner)) return <>{joined(sentence)}</>;
  return (
    <>
      {owner && head.id ? <Obj id={String(head.id)} text={owner} wrap /> : owner}
      {joined(sentence.slice(owner.length, at))}
      {to && Number(head.held) > 1 ? <a href={to}>{joined(held)}</a> : joined(held)}
      {joined(sentence.slice(at + held.length))}
    </>
  );
}

// ---- paths ----

const ENDS = 4; // steps that are shown at the end of a long path

export function Chain({ rows, short }: { rows: Row[]; short?: boolean }) {
  const [whole, setWhole] = useState(!short || report !== null || rows.length <= ENDS + 2);
  const step = (r: Row, i: number) => {
    const notes = [r.root ? `GC root: ${text(r.root)}` : "", text(r.short_text)].filter((note) => note).join("; ");
    return (
      <li value={i + 1} class={r.is_suspect_reference ? "doubt" : undefined}>
        {typeof r.retained === "number" && (
          <span class="right" title="retained size">
            {bytes(r.retained)}
          </span>
        )}
        <Obj id={r.id} text={r.label} wrap />
        {r.field ? (
          <span class="by">
            .{text(r.field)}
            {r.owner_kind === "static field" ? " (static)" : ""} →
          </span>
        ) : null}
        {notes ? <small> ({notes})</small> : r.kind === "gap" ? <small> ({text(r.text)})</small> : null}
      </li>
    );
  };
  if (whole) return <ol class="chain">{rows.map(step)}</ol>;
  return (
    <ol class="chain">
      {step(rows[0], 0)}
      <li class="gap">
        <button onClick={() => setWhole(true)}>{number(rows.length - ENDS - 1)} more steps</button>
      </li>
      {rows.slice(-ENDS).map((r, i) => step(r, rows.length - ENDS + i))}
    </ol>
  );
}

const SHARED = 50; // percent of a group that comes by a step of the path that is shown

// The way that most objects of a class have in common, of a group that no single object holds.
function SharedPath({ db, target }: { db?: string; target: string }) {
  const asked = useAnswer("merged-paths", { db, target, limit: "60" });
  if (!asked.answer) return <Wait asked={asked} what="paths" />;
  const chain: Row[] = [];
  for (const r of asked.answer.rows) if (Number(r.level) === chain.length && Number(r.percent) >= SHARED) chain.push(r);
  if (chain.length === 0) return <p class="dim">They have no path in common: something else holds each of them.</p>;
  return (
    <ol class="chain">
      {chain.map((r) => (
        <li>
          <span class="right">{number(Number(r.below_objects))} of them</span>
          <ClassName name={text(r.name)} wrap />
        </li>
      ))}
    </ol>
  );
}

function Group({ db, head, members }: { db?: string; head: Row; members: Row[] }) {
  const klass = String(head.class),
    [open, setOpen] = useState(false),
    // Threads are linked by the names that most of them have: not always all.
    all = head.action !== "threads" || head.held === head.objects ? countLink(head) : undefined;
  return (
    <>
      <details open>
        <summary>Largest of {number(Number(head.objects))}</summary>
        <ul class="parts">
          {members.map((r) => (
            <li>
              <span class="right">{typeof r.retained === "number" && bytes(r.retained)}</span>
              <Obj id={r.id} text={r.label} />
            </li>
          ))}
          {!report && Number(head.objects) > members.length && (
            <li>
              <a href={all ?? classPage(klass)}>{all ? `All ${number(Number(head.objects))}` : "Their class"}</a>
            </li>
          )}
        </ul>
      </details>
      {!report && (
        <details onToggle={(e) => setOpen((e.target as HTMLDetailsElement).open)}>
          <summary>Path that most of them share</summary>
          {open && <SharedPath db={db} target={klass} />}
        </details>
      )}
    </>
  );
}

// ---- suspects ----

// Why a leak is a problem, by its kind; why a finding is one comes with it.
const whyLeak: Record<string, string> = {
  suspect:
    "It retains a large share of the heap by itself. If it grows from dump to dump, it is what to look at first: " +
    "what puts things in, and what should take them out?",
  leaking:
    "Its life is over, and yet something still refers to it. " +
    "Whatever is first on the path and outlives it should let it go.",
  library: "A known fault of the platform or a library keeps it; the application can at most work round it.",
  unreachable: "Its life is over and no GC root reaches it. The next collection frees it: there is nothing to do.",
};

const below = (id: string) => linkTo("map", { by: "object", root: id, obj: undefined });
const here = (params: Record<string, string>) => linkTo(readRoute().view, { ...readRoute().params, ...params });

function Suspect({
  db,
  rows,
  brief,
  first,
  also = [],
}: {
  db?: string;
  rows: Row[];
  brief?: boolean;
  first?: boolean;
  also?: Row[];
}) {
  const head = rows[0],
    of = (kind: string) => rows.filter((r) => r.kind === kind);
  const path = [...of("path"), ...of("trace"), ...of("gap")].sort((a, b) => Number(a.step) - Number(b.step));
  const element = of("element").length > 0,
    parts = element ? of("element") : of("child");
  const stack = [...of("thread"), ...of("frame"), ...of("local")],
    contents = of("content"),
    members = of("member");
  const kind = whyLeak[String(head.kind)] ? String(head.kind) : "suspect",
    id = head.id ? String(head.id) : null;
  return (
    <article class={first ? "suspect first" : "suspect"}>
      <h2>
        <span class="right">
          {typeof head.retained === "number" && <b>{bytes(head.retained)}</b>}
          {typeof head.percent === "number" && ` · ${percent(head.percent)}`}
        </span>
        <Sentence head={head} />
      </h2>
      {typeof head.percent === "number" && (
        <div class="share">
          <i style={{ width: `${Math.min(100, head.percent)}%` }} />
        </div>
      )}
      <Notes db={db} on={[head.signature, id, head.class]} />
      {of("explanation").map((r) => (
        <p>{text(r.verdict === "large" ? r.short_text : r.text)}</p>
      ))}
      {of("advice").map((r) => (
        <Advice row={r} words={r.short_text ?? r.text} />
      ))}
      {also.map((r) => (
        <>
          <p>
            <b>Known problem:</b> {text(r.text)}.
          </p>
          {r.advice && of("advice").length === 0 && <Advice row={r} words={r.advice_words ?? r.advice} />}
        </>
      ))}
      <p class="dim">
        <span class="tag">{head.suspect === null ? "" : text(head.suspect)}</span>{" "}
        {id ? (
          <>
            It is in <Obj id={id} text={head.label ?? head.class} />
          </>
        ) : (
          <>
            A group of <ClassName name={String(head.class)} />
          </>
        )}
      </p>
      {path.length > 0 && (
        <details open>
          <summary>Path from a GC root</summary>
          <Chain rows={path} short={brief} />
        </details>
      )}
      {members.length > 0 && <Group db={db} head={head} members={members} />}
      {parts.length > 0 && (
        <details open>
          <summary>What accumulates</summary>
          <ul class="parts">
            {parts.map((r) => {
              const count = Number(r.objects ?? 0),
                to =
                  r.class && r.class === head.held_class && count === Number(head.held) ? countLink(head) : undefined;
              return (
                <li>
                  <span class="right">
                    {count > 0 && (to ? <a href={to}>{counted(count, "object")}</a> : counted(count, "object"))}
                    {count > 0 && " · "}
                    {typeof r.retained === "number" && bytes(r.retained)}
                  </span>
                  {r.class ? <ClassName name={String(r.class)} wrap /> : <Name text={text(r.label ?? "others")} wrap />}
                </li>
              );
            })}
          </ul>
        </details>
      )}
      {!brief && contents.length > 0 && (
        <details>
          <summary>All that it retains, by class</summary>
          <ul class="parts">
            {contents.map((r) => (
              <li>
                <span class="right">
                  {typeof r.objects === "number" && `${counted(r.objects, "object")} · `}
                  {typeof r.shallow === "number" && bytes(r.shallow)}
                </span>
                {r.class ? <ClassName name={String(r.class)} wrap /> : <Name text={text(r.label ?? "others")} wrap />}
              </li>
            ))}
          </ul>
        </details>
      )}
      {stack.length > 0 && (
        <details>
          <summary>Thread</summary>
          <ul class="parts">
            {stack.map((r) => (
              <li>{r.id ? <Obj id={r.id} text={r.label ?? r.text} /> : text(r.text ?? r.label)}</li>
            ))}
          </ul>
        </details>
      )}
      <details>
        <summary>Why is this a problem?</summary>
        <p>{whyLeak[kind]}</p>
      </details>
      {!report && (
        <p class="acts">
          {id ? (
            <>
              <a href={below(id)}>Treemap of what it retains</a> ·{" "}
              <a href={here({ obj: id, tab: "path" })}>path to a GC root</a> ·{" "}
              <a href={here({ obj: id, tab: "referrers" })}>who refers to it</a>
            </>
          ) : (
            <>
              <a href={linkTo("map", { by: "class", find: String(head.class), obj: undefined })}>Treemap with them</a>
              {" · "}
              <a href={classPage(String(head.class), "holders")}>who holds them</a>
            </>
          )}
        </p>
      )}
    </article>
  );
}

// The number of a finding leads to the page of its class if it counts all objects of that class and nothing else.
function Counted({ db, row, words }: { db?: string; row: Row; words: string }) {
  const name = report || row.id || !row.class ? "" : String(row.class);
  const asked = useAnswer(name ? "histogram" : "", { db, target: name, shallow: "1", limit: "2" }),
    isSame = asked.answer?.row_count === 1 && asked.answer.rows[0].objects === row.count;
  return isSame ? <a href={classPage(name)}>{words}</a> : <>{words}</>;
}

export function Finding({ db, row: r, first }: { db?: string; row: Row; first?: boolean }) {
  const next = nextOf(r),
    count = Number(r.count ?? 0),
    units = text(r.unit ?? "objects");
  const many =
    count > 1 ? (
      <>
        <Counted db={db} row={r} words={`${number(count)} ${units}`} />
        {typeof r.bytes === "number" && r.bytes ? " hold " : ""}
      </>
    ) : null;
  const size =
    typeof r.bytes === "number" && r.bytes ? (
      <>
        {bytes(r.bytes)}
        {typeof r.percent === "number" && r.percent && r.percent < 99.95
          ? `, ${percent(r.percent)} of ${text(r.share_of ?? "the heap")}`
          : ""}
      </>
    ) : null;
  const Head = first ? "h2" : "p";
  return (
    <article class={`finding ${text(r.severity)}${first ? " first suspect" : ""}`}>
      <Head class="sentence">
        {many || size ? (
          <>
            {many}
            {size}:{" "}
          </>
        ) : (
          <b class="severity">{text(r.severity)}: </b>
        )}
        {text(r.text)}
        {/[.?]$/.test(String(r.text)) ? "" : "."}
      </Head>
      {first && typeof r.percent === "number" && (
        <div class="share">
          <i style={{ width: `${Math.min(100, r.percent)}%` }} />
        </div>
      )}
      {r.advice ? <Advice row={r} words={r.advice_words ?? r.advice} /> : null}
      <p class="dim">
        <b class="severity">{text(r.severity)}</b>
        {r.id ? (
          <>
            {" "}
            · {count > 1 && "for example "}
            <Obj id={r.id} text={r.label ?? r.class} />
          </>
        ) : r.class ? (
          <>
            {" "}
            · <ClassName name={String(r.class)} />
          </>
        ) : null}
        {r.detail ? <> · {text(r.detail)}</> : null}
      </p>
      {r.why && (
        <details>
          <summary>Why is this a problem?</summary>
          <p>{text(r.why)}</p>
        </details>
      )}
      {!report && next.length > 0 && (
        <p class="acts">
          {next.map(([name, href], i) => (
            <>
              {i > 0 && " · "}
              <a href={href}>{name}</a>
            </>
          ))}
        </p>
      )}
    </article>
  );
}

// Rows of `leaks`, one list for each suspect.
function groupsOf(rows: Row[]): Row[][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.suspect === null) continue;
    groups.set(String(row.suspect), [...(groups.get(String(row.suspect)) ?? []), row]);
  }
  return [...groups.values()];
}

function Nothing({ threshold }: { threshold: number }) {
  return (
    <p class="empty">
      No single object or class retains more than {bytes(threshold)}: nothing here looks like a leak.
      {!report && (
        <>
          {" "}
          Look at <a href={linkTo("map")}>where the memory is</a>.
        </>
      )}
    </p>
  );
}

export function Leaks({ db, more }: { db?: string; more?: Params }) {
  const asked = useAnswer("leaks", { db, limit: "5000", ...more });
  if (!asked.answer) return <Wait asked={asked} what="leak suspects" />;
  const all = groupsOf(asked.answer.rows);
  return (
    <>
      <Marks facts={asked.answer.facts} />
      {all.length === 0 && <Nothing threshold={Number(asked.answer.facts.threshold ?? 0)} />}
      {all.map((rows) => (
        <Suspect db={db} rows={rows} />
      ))}
    </>
  );
}

const BRIEF = 5; // suspects and findings of the overview that are open

// Suspects and findings by bytes; what has none, as an OutOfMemoryError, comes first if it is critical, else last,
// and so does that the heap is full: who fills it comes before.
const isFirst = (f: Row) => f.bytes === null && f.severity === "critical";

export function Ranked({ db, android }: { db?: string; android?: boolean }) {
  const leaks = useAnswer("leaks", { db, limit: "5000" }),
    triage = useAnswer("triage", { db, limit: "200" });
  if (!leaks.answer) return <Wait asked={leaks} what="leak suspects" />;
  if (!triage.answer && !triage.error) return <Wait asked={triage} what="findings" />;
  const traced = android && !report;
  const suspects = groupsOf(leaks.answer.rows)
    .filter((rows) => !traced || rows[0].kind === "suspect")
    .map((rows): [number, Row[], Row?] => [Number(rows[0].retained ?? 0), rows]);
  const findings = (triage.answer?.rows ?? [])
    .filter((r) => r.rule !== "leak-suspect" && (!traced || r.rule !== "leaking-objects"))
    .map((r): [number, Row[], Row?] => [
      isFirst(r) ? Infinity : r.rule === "heap-full" ? 0 : Number(r.bytes ?? 0),
      [],
      r,
    ]);
  // A finding about what a suspect holds is shown there.
  const isOf = (rows: Row[], f: Row) =>
    !isFirst(f) &&
    rows.some(
      (r) =>
        (r.kind === "element" && r.class === f.class && r.objects === f.count && !f.id) ||
        (r.kind === "suspect" && f.id !== null && r.id === f.id),
    );
  const all = [...suspects, ...findings.filter(([, , f]) => !suspects.some(([, rows]) => isOf(rows, f!)))].sort(
      (a, b) => b[0] - a[0],
    ),
    brief = !report;
  const one = ([, rows, finding]: [number, Row[], Row?], i: number) =>
    finding ? (
      <Finding db={db} row={finding} first={i === 0 && !traced} />
    ) : (
      <Suspect
        db={db}
        rows={rows}
        brief={brief}
        first={i === 0 && !traced}
        also={findings.map(([, , f]) => f!).filter((f) => isOf(rows, f))}
      />
    );
  const shown = report ? all : all.slice(0, BRIEF),
    rest = all.slice(shown.length);
  return (
    <>
      <Marks facts={{ ...leaks.answer.facts, stale: null, incomplete: null }} />
      {triage.error && <Wait asked={triage} what="findings" />}
      {traced && <Traces db={db} />}
      {all.length === 0 && !traced && <Nothing threshold={Number(leaks.answer.facts.threshold ?? 0)} />}
      {shown.map(one)}
      {rest.length > 0 && (
        <details>
          <summary>{number(rest.length)} more</summary>
          {rest.map((r, i) => one(r, i + shown.length))}
        </details>
      )}
      {!report && suspects.length > 0 && (
        <p class="acts">
          <a href={linkTo("leaks")}>
            {suspects.length === 1 ? "The suspect" : `All ${number(suspects.length)} suspects`} with all that they
            retain
          </a>
          {hasSql() ? (
            <>
              {" "}
              · <a href={linkTo("sql")}>ask in SQL</a>
            </>
          ) : null}
        </p>
      )}
    </>
  );
}
