// The card used for every finding (leak suspects, Android leaks, growth): a figure at the left, a sentence, the path as
// a breadcrumb, one main action, and a menu with further actions.
import { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { report, Row } from "./api";
import { copyText } from "./export";
import { Item, More, Obj } from "./objects";
import { bytes, counted, number, percent, visible } from "./text";

const text = (v: unknown) => (v === null || v === undefined ? "" : visible(String(v)));

interface CardProps {
  kind: string; // CSS classes: suspect or finding, and severity
  figure: string;
  share?: number | null; // percent
  of?: string; // the whole, for example "of the heap"
  sentence: ComponentChildren;
  first?: boolean;
  act?: Item; // main action
  more: Item[];
  children?: ComponentChildren;
}

export function Card({ kind, figure, share, of = "of the heap", sentence, first, act, more, children }: CardProps) {
  const hasShare = typeof share === "number" && Math.abs(share - 100) >= 0.05;
  return (
    <article class={`card ${kind}${first ? " first" : ""}`}>
      <p class="figure">
        <b>{figure}</b>
        {hasShare && (
          <small>
            {percent(share)} {of}
          </small>
        )}
        {typeof share === "number" && share >= 0 && (
          <span class="share">
            <i style={{ width: `${Math.max(0, Math.min(100, share))}%` }} />
          </span>
        )}
      </p>
      <div class="what">
        <h2>{sentence}</h2>
        {children}
        {!report && (
          <p class="acts">
            {act && (
              <a class="go" href={String(act[1])}>
                {act[0]}
              </a>
            )}
            {more.length > 0 && <More label="More actions" items={more} />}
          </p>
        )}
      </div>
    </article>
  );
}

// ---- paths ----

const ENDS = 3; // number of steps shown at the end of a breadcrumb

// The reference to the next step: a field, an element, or the key of an entry.
function referenceOf(r: Row): string {
  const field = text(r.field ?? r.name ?? r.via_field).replace(/^static (.*)/, "$1 (static)");
  if (!field || field.startsWith("[")) return field;
  return r.reference_type === "entry" ? `[${field}]` : `${field.startsWith("key [") ? " " : "."}${field}`;
}

// One step of a path: an object and its reference to the next one.
function Step({ row: r }: { row: Row }) {
  const by = referenceOf(r);
  return (
    <>
      <Obj id={r.id} text={r.label ?? r.class} wrap />
      {by && <span class="by">{by}</span>}
    </>
  );
}

const SAID = 2000; // milliseconds for which the button shows the result of copying

// A path as lines of text, for a ticket or a chat.
export function CopyPath({ rows }: { rows: Row[] }) {
  const [said, say] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => say(""), SAID);
    return () => clearTimeout(timer);
  }, [said]);
  const line = (r: Row, i: number) =>
    (r.root ? `GC root: ${text(r.root)}\n` : "") +
    (i ? `  ${referenceOf(rows[i - 1])} → ` : "") +
    text(r.label ?? r.class ?? r.text) +
    (typeof r.retained === "number" ? `, ${bytes(r.retained)}` : "") +
    (r.reason ? ` (${text(r.status)}: ${text(r.reason)})` : "");
  const copy = () =>
    void copyText(
      rows
        .map(line)
        .join("\n")
        .replace(/\u00a0/g, " "),
      "path.txt",
    ).then((isCopied) => say(isCopied ? "Copied" : "Saved"));
  return (
    <button class="link" onClick={copy}>
      {said || "Copy the path"}
    </button>
  );
}

const rootOf = (r: Row) => (r.root ? <small>{text(r.root)}: </small> : null);
const isSuspectStep = (r: Row) => r.is_suspect_reference === true || r.suspect === true;

function Breadcrumb({ rows, onAll }: { rows: Row[]; onAll(): void }) {
  const isLong = rows.length > ENDS + 2,
    ends = isLong ? rows.slice(-ENDS) : rows.slice(1);
  const one = (r: Row) => (
    <li class={isSuspectStep(r) ? "suspected" : undefined}>
      {rootOf(r)}
      <Step row={r} />
    </li>
  );
  return (
    <ol class="chain crumb">
      {rows.length > 0 && one(rows[0])}
      {isLong && (
        <li class="gap">
          <button aria-label="All steps of the path" onClick={onAll}>
            …
          </button>
        </li>
      )}
      {ends.map(one)}
    </ol>
  );
}

// A path from a GC root, one step per line, with sizes and remarks.
export function Chain({ rows }: { rows: Row[] }) {
  return (
    <ol class="chain">
      {rows.map((r, i) => {
        const isTrace = r.status !== undefined && r.status !== null && r.step !== undefined && "labels" in r,
          notes = [r.root && !isTrace ? `GC root: ${text(r.root)}` : "", text(r.short_text)].filter(Boolean).join("; ");
        return (
          <li value={i + 1} class={isSuspectStep(r) ? "suspected" : undefined}>
            {typeof r.retained === "number" && (
              <span class="right" title="retained size">
                {bytes(r.retained)}
              </span>
            )}
            {isTrace && rootOf(r)}
            <Step row={r} />
            {r.owner_kind === "static field" ? " (static)" : ""}
            {referenceOf(r) && i + 1 < rows.length ? " →" : ""}
            {isTrace && <small class={`status-${String(r.status).replace(" ", "-")}`}> {text(r.status)}</small>}
            {isTrace && r.reason ? <small> ({text(r.reason)})</small> : null}
            {notes ? <small> ({notes})</small> : r.kind === "gap" ? <small> ({text(r.text)})</small> : null}
            {r.labels ? <div class="dim">{text(r.labels)}</div> : null}
          </li>
        );
      })}
    </ol>
  );
}

// A path as a breadcrumb that expands to one step per line.
export function Path({ rows }: { rows: Row[] }) {
  const [whole, setWhole] = useState(false);
  return (
    <div class="path">
      {whole ? <Chain rows={rows} /> : <Breadcrumb rows={rows} onAll={() => setWhole(true)} />}
      {!report && rows.length > 1 && (
        <>
          <button class="link" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? "As one line" : counted(rows.length, "step")}
          </button>
          {" · "}
          <CopyPath rows={rows} />
        </>
      )}
    </div>
  );
}

export const largestOf = (n: number): string => `Largest of ${number(n)}`;
