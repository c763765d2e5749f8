"""Packages that only some calls need; in the wheel each is an extra: pip install 'WHEEL[pandas]'."""
import importlib.util

DISTRIBUTION = "heapdb-jvm"  # not on the Python Package Index: messages name packages that are
# extra: what it installs.
EXTRAS = {"arrow": ("pyarrow",), "pandas": ("pandas", "pyarrow"), "polars": ("polars",),
          "fleet": ("duckdb", "pyarrow"), "spark": ("pyspark>=4", "pyarrow")}


def need(extra, *modules):
    """Raises ModuleNotFoundError, which says how to install it, if a module is not installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            packages = " ".join(f"'{p}'" if ">" in p else p for p in EXTRAS[extra])
            raise ModuleNotFoundError(f"{module} is not installed: pip install {packages}", name=module)
