// Every view has a URL, #/view?name=value, so the browser's back and forward buttons work.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  view: string;
  params: Record<string, string>;
}

export function readRoute(): Route {
  const [view, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { view: view || "overview", params: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export function href(view: string, params: Record<string, string | undefined>): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) text.append(name, value);
  return `#/${view}${text.size ? `?${text}` : ""}`;
}

// Changes parameters of the current view; undefined removes a parameter.
export function change(params: Record<string, string | undefined>, replaces = false): void {
  const now = readRoute();
  const to = href(now.view, { ...now.params, ...params });
  if (replaces) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = to;
}

export function useRoute(): Route {
  const [route, set] = useState(readRoute());
  useEffect(() => {
    const on = () => set(readRoute());
    addEventListener("hashchange", on);
    return () => removeEventListener("hashchange", on);
  }, []);
  return route;
}

// Link to a view that keeps the database and the selected object.
export function linkTo(view: string, params: Record<string, string | undefined> = {}): string {
  const { db, obj } = readRoute().params;
  return href(view, { db, obj, ...params });
}
