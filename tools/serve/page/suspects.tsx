// Leak suspects and findings, ordered together by size. Each has one sentence, advice, the path from a GC root and
// what accumulates.
import { useState } from "preact/hooks";
import { countLink, nextOf, viewOf } from "./actions";
import { Advice } from "./advice";
import { Traces } from "./android";
import { hasSql, Params, report, Row } from "./api";
import { Card, largestOf, Path } from "./card";
import { noteItem, Notes } from "./notes";
import { Marks, useAnswer, Wait } from "./asking";
import { Breaking, ClassName, classPage, Item, Name, Obj } from "./objects";
import { linkTo, readRoute } from "./route";
import { bytes, capital, counted, number, visible } from "./text";

const text = (v: unknown) => (v === null || v === undefined ? "" : visible(String(v)));

// Prevents line breaks between numbers and units, and allows them before the parenthesis of a stack frame and between
// the words of a long class name.
const BREAK = "\u200b"; // visible() has escaped those of the dump
function Joined({ text: sentence }: { text: string }) {
  const marked = sentence
    .replace(/(\d) (%|[KMGTP]?i?B\b)/g, "$1\u00a0$2")
    .replace(/(\w)\((?=\w)/g, `$1${BREAK}(`)
    .replace(/([A-Za-z]\w*)\.(?=[A-Za-z])/g, `$1.${BREAK}`)
    .replace(/[\w$]{30,}/g, (name) => name.replace(/(?<=[a-z])(?=[A-Z$])/g, BREAK));
  return <Breaking text={marked} at={BREAK} />;
}

// The sentence of a suspect. The owner is a link to the object, and the number of retained objects to their list.
function Sentence({ head }: { head: Row }) {
  const sentence = text(head.short_text ?? head.text).replace(/[^.]$/, "$&."),
    owner = text(head.owner_text),
    held = text(head.held_text),
    to = countLink(head);
  // The sentence about a leaking object states why it leaks, not which object it is.
  if (head.id && /^(leaking|library)$/.test(String(head.kind)))
    return (
      <>
        <Obj id={head.id} text={head.label ?? head.class} wrap /> leaks: <Joined text={sentence} />
      </>
    );
  const at = held ? sentence.indexOf(held, owner.length) : -1;
  if (report || at < 0 || !sentence.startsWith(owner)) return <Joined text={sentence} />;
  return (
    <>
      {owner && head.id ? <Obj id={String(head.id)} text={owner} wrap /> : <Joined text={owner} />}
      <Joined text={sentence.slice(owner.length, at)} />
      {to && Number(head.held) > 1 ? (
        <a href={to}>
          <Joined text={held} />
        </a>
      ) : (
        <Joined text={held} />
      )}
      <Joined text={sentence.slice(at + held.length)} />
    </>
  );
}

// ---- groups ----

const SHARED = 50; // percent of a group's objects that must share a step for it to be shown

// The path shared by most objects of a class, for a group that no single object holds.
function SharedPath({ db, target }: { db?: string; target: string }) {
  const reply = useAnswer("merged-paths", { db, target, limit: "60" });
  if (!reply.answer) return <Wait reply={reply} what="paths" />;
  const chain: Row[] = [];
  for (const r of reply.answer.rows) if (Number(r.level) === chain.length && Number(r.percent) >= SHARED) chain.push(r);
  if (chain.length === 0)
    return <p class="dim">These objects have no common path: each one is held by a different object.</p>;
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
    // The link to threads is a name pattern, which may not match all of the group.
    all = head.action !== "threads" || head.held === head.objects ? countLink(head) : undefined;
  return (
    <>
      <details open>
        <summary>{largestOf(Number(head.objects))}</summary>
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
          <summary>Path shared by most of these objects</summary>
          {open && <SharedPath db={db} target={klass} />}
        </details>
      )}
    </>
  );
}

// ---- suspects ----

// The reason why a leak is a problem, by kind. For findings, the server sends the reason.
const whyLeak: Record<string, string> = {
  suspect:
    "It retains a large share of the heap by itself. If it grows from dump to dump, check it first: " +
    "what adds objects, and what should remove them?",
  leaking:
    "It was destroyed, but something still refers to it. " +
    "The first object on the path that outlives it should clear its reference.",
  library:
    "A known fault of the platform or a library keeps this object alive. The application can only work around it.",
  unreachable:
    "This object was destroyed and is not reachable. The next garbage collection frees it, so there is nothing to do.",
};

const below = (id: string) => linkTo("map", { by: "object", root: id, obj: undefined });
const here = (params: Record<string, string>) => linkTo(readRoute().view, { ...readRoute().params, ...params });

// Main action and menu of a suspect. The action lists the objects it holds; without such a list it opens the treemap.
function actsOf(head: Row): { act: Item; more: Item[] } {
  const id = head.id ? String(head.id) : null,
    held = countLink(head),
    count = Number(head.held ?? 0);
  const steps: Item[] = id
    ? [
        ["Treemap of what it retains", below(id)],
        ["Path to a GC root", here({ obj: id, tab: "path" })],
        ["Who refers to it", here({ obj: id, tab: "referrers" })],
        ["Others of its class", classPage(String(head.class))],
      ]
    : [
        ["Treemap with these objects", linkTo("map", { by: "class", find: String(head.class), obj: undefined })],
        ["Who holds them", classPage(String(head.class), "holders")],
        ["Their class", classPage(String(head.class))],
      ];
  const all: Item[] = held && count > 1 ? [[`Show the ${text(head.held_text)}`, held], ...steps] : steps;
  return { act: all[0], more: [...all.slice(1), ...noteItem([head.signature, id, head.class])] };
}

function Accumulated({ head, parts, open }: { head: Row; parts: Row[]; open: boolean }) {
  return (
    <details open={open}>
      <summary>What accumulates</summary>
      <ul class="parts">
        {parts.map((r) => {
          // The sentence already counts the entries of a map, so omit their number here.
          const count =
              head.action === "entries" && /\$(Node|Entry)$/.test(String(r.class)) ? 0 : Number(r.objects ?? 0),
            to = r.class && r.class === head.held_class && count === Number(head.held) ? countLink(head) : undefined;
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
  );
}

function Contents({ rows }: { rows: Row[] }) {
  return (
    <details>
      <summary>All retained objects, by class</summary>
      <ul class="parts">
        {rows.map((r) => (
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
  );
}

function Stack({ rows }: { rows: Row[] }) {
  return (
    <details>
      <summary>Thread</summary>
      <ul class="parts">
        {rows.map((r) => (
          <li>{r.id ? <Obj id={r.id} text={r.label ?? r.text} /> : text(r.text ?? r.label)}</li>
        ))}
      </ul>
    </details>
  );
}

function Why({ words }: { words: string }) {
  if (report) return null;
  return (
    <details>
      <summary>Why is this a problem?</summary>
      <p>{words}</p>
    </details>
  );
}

interface SuspectProps {
  db?: string;
  rows: Row[];
  brief?: boolean;
  first?: boolean;
  also?: Row[];
}

function Suspect({ db, rows, brief, first, also = [] }: SuspectProps) {
  const head = rows[0],
    of = (kind: string) => rows.filter((r) => r.kind === kind);
  const path = [...of("path"), ...of("trace"), ...of("gap")].sort((a, b) => Number(a.step) - Number(b.step));
  const parts = of("element").length > 0 ? of("element") : of("child");
  const stack = [...of("thread"), ...of("frame"), ...of("local")],
    members = of("member"),
    hasExplanation = of("explanation").length > 0;
  const kind = whyLeak[String(head.kind)] ? String(head.kind) : "suspect",
    id = head.id ? String(head.id) : null;
  return (
    <Card
      kind="suspect"
      figure={typeof head.retained === "number" ? bytes(head.retained) : "–"}
      share={typeof head.percent === "number" ? head.percent : null}
      sentence={<Sentence head={head} />}
      first={first}
      {...actsOf(head)}
    >
      <Notes db={db} on={[head.signature, id, head.class]} quiet />
      {of("explanation").map((r) => (
        <p>{text(r.text)}</p>
      ))}
      {!hasExplanation && also.map((r) => <p>{capital(text(r.text))}.</p>)}
      {of("advice").map((r) => (
        <Advice row={r} words={r.short_text ?? r.text} />
      ))}
      {of("advice").length === 0 &&
        also.map((r) => (r.advice ? <Advice row={r} words={r.advice_words ?? r.advice} /> : null))}
      {path.length > 0 && <Path rows={path} />}
      {members.length > 0 && <Group db={db} head={head} members={members} />}
      {parts.length > 0 && <Accumulated head={head} parts={parts} open={first || !brief} />}
      {!brief && of("content").length > 0 && <Contents rows={of("content")} />}
      {stack.length > 0 && <Stack rows={stack} />}
      <Why words={whyLeak[kind]} />
    </Card>
  );
}

// Findings whose number is stated by the view of the query that shows more.
const STATED = ["duplicate-strings", "empty-collections", "sparse-collections"];

// The number of a finding is a link if its view states it, or if it counts exactly the objects of a class.
function Counted({ db, row, words }: { db?: string; row: Row; words: string }) {
  const isStated = !report && STATED.includes(String(row.rule)),
    name = report || isStated || row.id || !row.class ? "" : String(row.class);
  const reply = useAnswer(name ? "histogram" : "", { db, target: name, shallow: "1", limit: "2" }),
    isSame = reply.answer?.row_count === 1 && reply.answer.rows[0].objects === row.count;
  if (isStated) return <a href={viewOf(String(row.see ?? row.action))[1]}>{words}</a>;
  return isSame ? <a href={classPage(name)}>{words}</a> : <>{words}</>;
}

export function Finding({ db, row: r, first }: { db?: string; row: Row; first?: boolean }) {
  const next = nextOf(r),
    count = Number(r.count ?? 0),
    size = typeof r.bytes === "number" && r.bytes > 0 ? r.bytes : null,
    words = text(r.text),
    unit = text(r.unit ?? "objects");
  // In "9 leaking objects: objects are still reachable", the first "objects" is omitted.
  const isSaid = ` ${unit} `.endsWith(` ${words.split(" ")[0]} `);
  // The last step is the view of the query that shows more, if there is one.
  const act = next[next.length - 1];
  return (
    <Card
      kind={`finding ${text(r.severity)}${first ? " suspect" : ""}`}
      figure={size !== null ? bytes(size) : capital(text(r.severity))}
      share={typeof r.percent === "number" && size !== null ? r.percent : null}
      of={`of ${text(r.share_of ?? "the heap")}`}
      first={first}
      sentence={
        <>
          {count > 1 ? <Counted db={db} row={r} words={`${number(count)} ${unit}`} /> : null}
          {count <= 1 ? capital(words) : isSaid ? words.slice(words.indexOf(" ")) : `: ${words}`}
          {/[.?]$/.test(words) ? "" : "."}
        </>
      }
      act={act}
      more={[...next.slice(0, -1), ...noteItem([r.id, r.class])]}
    >
      <Notes db={db} on={[r.id, r.class]} quiet />
      {r.advice ? <Advice row={r} words={r.advice_words ?? r.advice} /> : null}
      {(r.id || r.class || r.detail) && (
        <p class="dim">
          {r.id ? (
            <>
              {count > 1 && "For example "}
              <Obj id={r.id} text={r.label ?? r.class} />
            </>
          ) : r.class ? (
            <ClassName name={String(r.class)} />
          ) : null}
          {r.detail ? (
            <>
              {(r.id || r.class) && " · "}
              {text(r.detail)}
            </>
          ) : null}
        </p>
      )}
      {r.why && <Why words={text(r.why)} />}
    </Card>
  );
}

// Groups the rows of `leaks` by suspect.
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
      No single object or class retains more than {bytes(threshold)}, so nothing looks like a leak.
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
  const reply = useAnswer("leaks", { db, limit: "5000", ...more });
  if (!reply.answer) return <Wait reply={reply} what="leak suspects" />;
  const all = groupsOf(reply.answer.rows);
  return (
    <>
      <Marks facts={reply.answer.facts} />
      {all.length === 0 && <Nothing threshold={Number(reply.answer.facts.threshold ?? 0)} />}
      {all.map((rows) => (
        <Suspect db={db} rows={rows} />
      ))}
    </>
  );
}

const BRIEF = 5; // number of suspects and findings shown expanded in the overview

// Findings without a size, for example an OutOfMemoryError, come first if they are critical and last otherwise. "Heap
// is full" also comes last: what fills the heap is more useful.
const isFirst = (f: Row) => f.bytes === null && f.severity === "critical";

export function Ranked({ db, android }: { db?: string; android?: boolean }) {
  const leaks = useAnswer("leaks", { db, limit: "5000" }),
    triage = useAnswer("triage", { db, limit: "200" });
  if (!leaks.answer) return <Wait reply={leaks} what="leak suspects" />;
  if (!triage.answer && !triage.error) return <Wait reply={triage} what="findings" />;
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
  // A finding about the contents of a suspect is shown on the suspect's card.
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
      {triage.error && <Wait reply={triage} what="findings" />}
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
            {suspects.length === 1 ? "The suspect" : `All ${number(suspects.length)} suspects`} in full
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
