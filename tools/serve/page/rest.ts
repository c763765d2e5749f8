// Everything the first screen does not need: all views except the overview, and the descriptions of queries. It is
// loaded on demand, or else after the overview. A report includes it.
import { describe } from "./api";
import { specs } from "./parts";

export let rest: typeof import("./views") | undefined;
let loading: Promise<void> | undefined;

export function load(): Promise<void> {
  loading ??= Promise.all([describe(), import("./views")]).then(
    ([all, views]) => {
      for (const spec of all) specs.set(spec.name, spec);
      rest = views;
    },
    (e) => {
      loading = undefined; // the next call tries again
      throw e;
    },
  );
  return loading;
}
