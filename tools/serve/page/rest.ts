// Everything the first screen does not need: all views except the overview, and the descriptions of queries. It is
// loaded on demand, or else after the overview. A report includes it.
import { describe, Spec } from "./api";
import { specs } from "./parts";
import { forPage } from "./text";

export let rest: typeof import("./views") | undefined;
let loading: Promise<void> | undefined;

// Help texts name options as on the command line. On the page, options are form fields.
const plain = <T extends { help: string }>(all: T[]): T[] => all.map((one) => ({ ...one, help: forPage(one.help) }));
const withoutCommands = (spec: Spec): Spec => ({
  ...spec,
  options: plain(spec.options),
  columns: plain(spec.columns),
  facts: plain(spec.facts),
});

export function load(): Promise<void> {
  loading ??= Promise.all([describe(), import("./views")]).then(
    ([all, views]) => {
      for (const spec of all) specs.set(spec.name, withoutCommands(spec));
      rest = views;
    },
    (e) => {
      loading = undefined; // the next call tries again
      throw e;
    },
  );
  return loading;
}
