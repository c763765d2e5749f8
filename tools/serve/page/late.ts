// What the first screen does without: the views but for the overview, and the descriptions of queries. They are loaded
// when they are needed, or when the overview has what it asks for. A report has them inside.
import { describe } from "./api";
import { specs } from "./parts";

export let late: typeof import("./views") | undefined;
let loading: Promise<void> | undefined;

export function load(): Promise<void> {
  loading ??= Promise.all([describe(), import("./views")]).then(([all, views]) => {
    for (const spec of all) specs.set(spec.name, spec);
    late = views;
  });
  return loading;
}
