// Rows as files: all that the filter leaves, made by the server where it has them.
import { useRef, useState } from "preact/hooks";
import { Cell, Column, exportFile, File, Progress, Row } from "./api";
import { bytes, counted, number } from "./text";

export function csvOf(columns: Column[], rows: Row[]): string {
  const cell = (v: Cell) => {
    const text = v === null || v === undefined ? "" : String(v);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const head = columns.map((c) => c.name).join(",");
  return [head, ...rows.map((r) => columns.map((c) => cell(r[c.name])).join(","))].join("\r\n");
}

const types: Record<string, string> = {
  json: "application/json",
  svg: "image/svg+xml",
  csv: "text/csv",
  html: "text/html",
};

export function download(data: string | Blob, name: string): void {
  const link = document.createElement("a"),
    type = types[name.slice(name.lastIndexOf(".") + 1)];
  const address = URL.createObjectURL(typeof data === "string" ? new Blob([data], { type }) : data);
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

type Format = "csv" | "json" | "parquet" | "copy";

export interface Exported {
  what: string; // the name of the file
  columns: Column[];
  total: number | null;
  file?: File; // all rows and columns, as the server writes them; none: `rows` are all there are
  rows(): Promise<{ rows: Row[]; whole: boolean }>; // all that can be held; whole: there are no more
}

const SAID = 4000; // milliseconds that it says what was done

const stepOf = (p: Progress, total: number | null): string =>
  p.rows
    ? `Writing: ${number(p.rows)}${total ? ` of ${number(total)}` : ""} rows`
    : p.state === "none"
      ? "Sending …"
      : `${p.stage || "Asking for all rows"} …`;

export function ExportMenu({ of }: { of: Exported }) {
  const [said, say] = useState(""),
    [making, setMaking] = useState<(() => void) | null>(null),
    menu = useRef<HTMLDetailsElement>(null);
  const name = (ending: string) => `${of.what.replace(/[^\w.-]+/g, "-")}.${ending}`;
  // Made by the server: all rows and columns, however many there are.
  const fetched = async (file: File, as: Format) => {
    const made = exportFile(file, as, (p) => say(stepOf(p, of.total)));
    setMaking(() => made.cancel);
    const data = await made.file.finally(() => setMaking(null));
    download(data, name(as));
    say(`Saved ${bytes(data.size)}`);
  };
  // Made here: what is shown, all rows of it.
  const written = async (as: Format) => {
    const { rows, whole } = await of.rows(),
      count = `${whole ? "" : "the first "}${counted(rows.length, "row")}`;
    const objects = () => rows.map((r) => Object.fromEntries(of.columns.map((c) => [c.name, r[c.name] ?? null])));
    const text = as === "json" ? JSON.stringify(objects(), null, 1) : csvOf(of.columns, rows);
    const keep = () => {
      download(text, name(as === "json" ? "json" : "csv"));
      say(`Saved ${count}`);
    };
    // After a long wait browsers want another click before they let a page write to the clipboard.
    if (as === "copy") await navigator.clipboard.writeText(text).then(() => say(`Copied ${count}`), keep);
    else keep();
  };
  const make = async (as: Format) => {
    menu.current!.open = false;
    say("Asking for all rows …");
    try {
      await (of.file && as !== "copy" ? fetched(of.file, as) : written(as));
    } catch (e) {
      say((e as Error).message);
    }
    setTimeout(() => say(""), SAID);
  };
  const item = (as: Format, title: string, help: string) => (
    <button disabled={making !== null} onClick={() => void make(as)} title={help}>
      {title}
    </button>
  );
  return (
    <>
      <details class="export" ref={menu}>
        <summary>Export</summary>
        <div>
          {item("csv", "CSV file", "All rows as CSV")}
          {item("json", "JSON file", "All rows as JSON")}
          {of.file && item("parquet", "Parquet file", "All rows as Parquet, for DuckDB, Spark, pandas")}
          {item("copy", "Copy as CSV", "All rows of the shown columns")}
        </div>
      </details>
      <span class="count" role="status">
        {said}
      </span>
      {making && <button onClick={making}>Cancel</button>}
    </>
  );
}
