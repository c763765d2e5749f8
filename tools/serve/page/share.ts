// Saves the current view as one HTML file with its text, tables and pictures, without scripts, links and controls.
import { useEffect, useState } from "preact/hooks";
import { download } from "./export";

let sharing = false;
const notify = (on: boolean) => {
  sharing = on;
  dispatchEvent(new Event("sharing"));
};

// True while a view is being saved: tables then draw all loaded rows, not only the visible ones.
export function useSharing(): boolean {
  const [, redraw] = useState(0);
  useEffect(() => {
    const on = () => redraw((n) => n + 1);
    addEventListener("sharing", on);
    return () => removeEventListener("sharing", on);
  }, []);
  return sharing;
}

const REDRAW = 100; // milliseconds for tables to draw all rows
// Elements removed from the file. Counts and the selected tab stay, because they are text.
const REMOVED =
  "button, input, select, label, form, script, .acts, .tools > details, .crumbs, .rest, .unseen, .tabs a:not(.on)";

const element = (name: string, more: Record<string, string>): HTMLElement =>
  Object.assign(document.createElement(name), more);

// Canvases and server images become data URLs, because the file has no server.
function pictureOf(from: HTMLCanvasElement | HTMLImageElement): HTMLElement {
  const isCanvas = from instanceof HTMLCanvasElement,
    canvas = isCanvas ? from : document.createElement("canvas");
  if (!isCanvas) {
    canvas.width = from.naturalWidth || 1;
    canvas.height = from.naturalHeight || 1;
    canvas.getContext("2d")!.drawImage(from, 0, 0);
  }
  const alt = isCanvas ? (from.getAttribute("aria-label") ?? "") : from.alt,
    made = element("img", { src: canvas.toDataURL(), alt });
  made.style.width = isCanvas ? "100%" : `${from.width}px`;
  return made;
}

function copyOf(part: Element): Element {
  const copy = part.cloneNode(true) as Element,
    pictures = part.querySelectorAll<HTMLCanvasElement | HTMLImageElement>("canvas, img");
  copy.querySelectorAll("canvas, img").forEach((old, i) => old.replaceWith(pictureOf(pictures[i])));
  const texts = part.querySelectorAll("textarea");
  copy.querySelectorAll("textarea").forEach((old, i) => {
    old.replaceWith(element("pre", { className: "value", textContent: texts[i].value }));
  });
  for (const b of copy.querySelectorAll("th button")) b.replaceWith(b.textContent ?? "");
  for (const e of copy.querySelectorAll(REMOVED)) e.remove();
  for (const a of copy.querySelectorAll("a")) a.removeAttribute("href");
  for (const box of copy.querySelectorAll<HTMLElement>(".scroll")) box.style.height = "auto";
  return copy;
}

export async function shareView(database: string, view: string): Promise<void> {
  const style = await (await fetch("/app.css", { credentials: "same-origin" })).text();
  notify(true);
  await new Promise((done) => setTimeout(done, REDRAW));
  const page = document.implementation.createHTMLDocument(`${view} of ${database}`),
    policy = page.createElement("meta"),
    sheet = page.createElement("style"),
    charset = page.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  sheet.textContent = style;
  page.head.prepend(charset, policy);
  page.head.append(sheet);
  page.documentElement.lang = "en";
  const theme = document.documentElement.dataset.theme;
  if (theme) page.documentElement.dataset.theme = theme;
  const head = page.createElement("p");
  head.className = "dim";
  const now = new Date().toLocaleString();
  head.textContent = `${database}, ${now}. This file is a copy of one view and needs no server.`;
  const parts = [...document.querySelectorAll("main, aside.inspector")].map(copyOf);
  notify(false);
  parts[0].append(head);
  page.body.append(...parts.map((p) => page.importNode(p, true)));
  const words = `${database}-${view}`.toLowerCase().replace(/[^\w.-]+/g, "-");
  download(`<!doctype html>\n${page.documentElement.outerHTML}\n`, `${words}.html`);
}
