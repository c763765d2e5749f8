// Android: leak traces, bitmaps, heaps, and facts about the application and device.
import { hasSql, Row } from "./api";
import { Card, Path } from "./card";
import { copyText } from "./export";
import { noteItem, Notes } from "./notes";
import { Marks, useAnswer, Wait } from "./asking";
import { classPage, Item, Obj } from "./objects";
import { Choice, Panel, specs } from "./parts";
import { QueryTable } from "./query";
import { Table } from "./table";
import { change, linkTo, readRoute, Route } from "./route";
import { forPage, bytes, counted, number, visible } from "./text";

const text = (v: unknown) => (v === null || v === undefined ? "" : visible(String(v)));

const kindsOfLeaks: Record<string, string> = {
  library: "A known fault of Android or a library.",
  unreachable: "Nothing keeps this object alive: the next garbage collection frees it.",
};

function Trace({ db, rows, first }: { db?: string; rows: Row[]; first?: boolean }) {
  const last = rows[rows.length - 1],
    head = rows[0],
    id = String(last.id),
    on = [head.signature, last.id, last.class],
    isGone = head.kind === "unreachable",
    fingerprint = head.signature ? String(head.signature) : null;
  const more: Item[] = [
    ["Who refers to it", linkTo(readRoute().view, { ...readRoute().params, obj: id, tab: "referrers" })],
    ["Treemap of what it retains", linkTo("map", { by: "object", root: id, obj: undefined })],
    ["Others of its class", classPage(String(last.class))],
  ];
  if (fingerprint) more.push(["Copy the leak fingerprint", () => void copyText(fingerprint)]);
  return (
    <Card
      kind="suspect"
      figure={typeof last.retained === "number" ? bytes(last.retained) : isGone ? "Unreachable" : "Leak"}
      sentence={
        <>
          <Obj id={last.id} text={last.class} wrap /> {isGone ? "was destroyed" : "leaks"}
          {last.reason ? `: ${text(last.reason)}` : ""}.
        </>
      }
      first={first}
      act={["Show the object", linkTo(readRoute().view, { ...readRoute().params, obj: id, tab: undefined })]}
      more={[...more, ...noteItem(on)]}
    >
      <p class="dim">
        {kindsOfLeaks[String(head.kind)] ?? "A leak of the application."}
        {fingerprint ? (
          <>
            {" "}
            Leak fingerprint <code>{fingerprint.slice(0, 12)}</code>
          </>
        ) : null}
      </p>
      <Notes db={db} on={on} quiet />
      {head.library ? <p>{text(head.library)}</p> : null}
      <Path rows={rows} />
    </Card>
  );
}

export function Traces({ db, watched }: { db?: string; watched?: string }) {
  const reply = useAnswer("leak-traces", { db, watched, limit: "5000" });
  const a = reply.answer;
  if (!a) return <Wait reply={reply} what="leak traces" />;
  const groups: Row[][] = [];
  for (const row of a.rows) {
    if (Number(row.step) === 0) groups.push([]);
    groups[groups.length - 1]?.push(row);
  }
  return (
    <>
      <Marks facts={a.facts} />
      <p hidden={groups.length === 0 && !a.facts.held_by_others}>
        {counted(Number(a.facts.leaking ?? 0), "leaking object")}, {counted(Number(a.facts.leaks ?? 0), "leak")}
        {Number(a.facts.library_leaks) ? `, ${number(Number(a.facts.library_leaks))} of them in libraries` : ""}
        {Number(a.facts.unreachable) ? `; ${counted(Number(a.facts.unreachable), "object")} already unreachable` : ""}
        {Number(a.facts.held_by_others) ? `; ${number(Number(a.facts.held_by_others))} more are retained by these` : ""}
        .
      </p>
      {groups.length === 0 && <p class="empty">No destroyed object is still in the heap.</p>}
      {groups.map((rows, i) => (
        <Trace db={db} rows={rows} first={i === 0} />
      ))}
    </>
  );
}

const withPng = () => specs.has("bitmaps");

// Address of a bitmap's image: raw pixels are converted to PNG, encoded files are sent unchanged. Null if the dump has
// neither.
export function sourceOf(row: Row, db?: string): string | null {
  const pixel = ({ ARGB_8888: 4, RGB_565: 2, ALPHA_8: 1 } as Record<string, number>)[String(row.config)];
  if (!row.buffer || !row.encoding || (row.encoding === "pixels" && !pixel)) return null;
  const what = row.encoding === "pixels" ? `&width=${row.width}&height=${row.height}&pixel=${pixel}` : "";
  return `/api/bitmap?db=${db ?? 0}&id=${row.buffer}${what}`;
}

function Picture({ row, source }: { row: Row; source: string }) {
  const id = String(row.id);
  return (
    <figure>
      <a href={source}>
        <img
          loading="lazy"
          src={source}
          alt={`bitmap ${id}`}
          width={96}
          height={96}
          onError={(e) => {
            (e.target as HTMLElement).hidden = true;
          }}
        />
      </a>
      <figcaption>
        <Obj id={id} text={`${text(row.width)} × ${text(row.height)}`} />{" "}
        <small>
          {typeof row.bytes === "number" ? bytes(row.bytes) : ""}
          {Number(row.copies) > 1 ? `, ${number(Number(row.copies))} copies` : ""}
        </small>
      </figcaption>
    </figure>
  );
}

const PICTURES = 100;

function Bitmaps({ db }: { db?: string }) {
  const reply = useAnswer(withPng() ? "bitmaps" : "", { db, limit: "200" });
  if (!withPng())
    return <QueryTable query="instances" params={{ db, target: "android.graphics.Bitmap" }} what="bitmaps" />;
  if (!reply.answer) return <Wait reply={reply} what="bitmaps" />;
  const drawn = reply.answer.rows
    .map((row) => [row, sourceOf(row, db)] as [Row, string | null])
    .filter(([, source]) => source)
    .slice(0, PICTURES);
  const all = reply.answer.total_rows ?? reply.answer.row_count;
  if (all === 0) return <p class="empty">The dump has no bitmaps.</p>;
  return (
    <>
      <p>
        {drawn.length === all
          ? `All ${number(all)} bitmaps are shown.`
          : `${number(drawn.length)} of ${number(all)} bitmaps are shown: ` +
            `${drawn.length === PICTURES ? "the first that have" : "the dump has no"} ` +
            `pixels${drawn.length === PICTURES ? "" : " of the others"}.`}
      </p>
      <div class="gallery">
        {drawn.map(([row, source]) => (
          <Picture row={row} source={source!} />
        ))}
      </div>
      <QueryTable query="bitmaps" params={{ db }} what="bitmaps" />
    </>
  );
}

function Heaps({ db }: { db?: string }) {
  const reply = useAnswer(hasSql() ? "sql" : "", {
    db,
    limit: "50",
    q:
      "SELECT coalesce(heap, '–') AS heap, count(*) AS objects, sum(shallow) AS bytes FROM objects WHERE " +
      "reachable GROUP BY heap ORDER BY bytes DESC",
  });
  if (!hasSql()) return <p class="empty">Bytes by heap need SQL, and this heapdb was built without SQLite.</p>;
  if (!reply.answer) return <Wait reply={reply} what="heaps" />;
  return (
    <Table
      columns={[
        { name: "heap", title: "heap", help: "app, zygote, image", type: "text" },
        { name: "objects", title: "objects", help: "number of reachable objects", type: "count" },
        { name: "bytes", title: "bytes", help: "shallow size of these objects", type: "bytes" },
      ]}
      rows={reply.answer.rows}
      total={reply.answer.row_count}
      what="heaps"
      links={{ objects: (row) => linkTo("histogram", { o_heap: String(row.heap) }) }}
    />
  );
}

// "large_bitmap_bytes" -> "Large bitmap bytes".
const titleOf = (key: string): string => {
  const words = key.replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export function Android({ route }: { route: Route }) {
  const { db, watched } = route.params;
  const reply = useAnswer("app", { db, limit: "50" });
  if (!reply.answer) return <Wait reply={reply} what="the application" />;
  return (
    <>
      <Panel title="Leak traces">
        <div class="tools">
          <Choice
            label="Objects"
            value={watched ?? ""}
            choices={[
              ["", "all destroyed objects"],
              ["1", "only those that ObjectWatcher watches"],
            ]}
            onChange={(v) => change({ watched: v || undefined })}
          />
        </div>
        <Traces db={db} watched={watched} />
      </Panel>
      <Panel title="Bitmaps">
        <Bitmaps db={db} />
      </Panel>
      <Panel title="Heaps">
        <Heaps db={db} />
      </Panel>
      <Panel title="Application and device">
        <dl>
          {reply.answer.rows
            .filter((r) => r.value !== null || r.number !== null)
            .map((r) => (
              <div title={forPage(text(r.help))}>
                <dt>{titleOf(text(r.key))}</dt>
                <dd>{text(r.value ?? (/_bytes$/.test(String(r.key)) ? bytes : number)(Number(r.number)))}</dd>
              </div>
            ))}
        </dl>
      </Panel>
    </>
  );
}
