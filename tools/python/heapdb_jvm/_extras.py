"""Packages that only some calls need. An extra of this distribution brings each."""
import importlib.util

DISTRIBUTION = "heapdb-jvm"
# extra: what it installs.
EXTRAS = {"arrow": ("pyarrow",), "pandas": ("pandas", "pyarrow"), "polars": ("polars",),
          "fleet": ("duckdb", "pyarrow"), "spark": ("pyspark>=4", "pyarrow")}


def need(extra, *modules):
    """Raises ModuleNotFoundError, which names the extra, if a module is not installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(f"{module} is not installed: "
                                      f"pip install '{DISTRIBUTION}[{extra}]'", name=module)
