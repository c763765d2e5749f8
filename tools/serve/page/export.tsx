// Exports the filtered rows of a table. The server writes the file if it can compute the rows, otherwise the page does.
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

// Copies text. Returns false if it saved the text as a file instead. Over plain HTTP browsers have no
// navigator.clipboard, and after a long wait they refuse to write to it without a new click.
export async function copyText(text: string, name = "copied.txt"): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    download(text, name);
    return false;
  }
}

type Format = "csv" | "json" | "parquet" | "copy";

export interface Exported {
  what: string; // becomes the file name
  columns: Column[];
  total: number | null;
  file?: File; // for export by the server; if absent, the page has all rows
  // As many rows as the page can hold; whole: whether these are all rows.
  rows(): Promise<{ rows: Row[]; whole: boolean }>;
}

const STATUS = 4000; // milliseconds for which a status message is shown

const stepOf = (p: Progress, total: number | null): string =>
  p.rows
    ? `Writing: ${number(p.rows)}${total ? ` of ${number(total)}` : ""} rows`
    : p.state === "none"
      ? "Sending …"
      : `${p.stage || "Requesting all rows"} …`;

export function ExportMenu({ of }: { of: Exported }) {
  const [status, setStatus] = useState(""),
    [making, setMaking] = useState<(() => void) | null>(null),
    menu = useRef<HTMLDetailsElement>(null);
  const name = (ending: string) => `${of.what.replace(/[^\w.-]+/g, "-")}.${ending}`;
  // Written by the server, which has no row limit.
  const fetched = async (file: File, as: Format) => {
    const made = exportFile(file, as, (p) => setStatus(stepOf(p, of.total)));
    setMaking(() => made.cancel);
    const data = await made.file.finally(() => setMaking(null));
    download(data, name(as));
    setStatus(`Saved ${bytes(data.size)}`);
  };
  // Written by the page: only the shown columns.
  const written = async (as: Format) => {
    const { rows, whole } = await of.rows(),
      count = `${whole ? "" : "the first "}${counted(rows.length, "row")}`;
    const objects = () => rows.map((r) => Object.fromEntries(of.columns.map((c) => [c.name, r[c.name] ?? null])));
    const text = as === "json" ? JSON.stringify(objects(), null, 1) : csvOf(of.columns, rows);
    const file = name(as === "json" ? "json" : "csv"),
      isCopied = as === "copy" && (await copyText(text, file));
    if (as !== "copy") download(text, file);
    setStatus(`${isCopied ? "Copied" : "Saved"} ${count}`);
  };
  const make = async (as: Format) => {
    menu.current!.open = false;
    setStatus("Requesting all rows …");
    try {
      await (of.file && as !== "copy" ? fetched(of.file, as) : written(as));
    } catch (e) {
      setStatus((e as Error).message);
    }
    setTimeout(() => setStatus(""), STATUS);
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
      <span class="count said" role="status">
        {status}
      </span>
      {making && <button onClick={making}>Cancel</button>}
    </>
  );
}
