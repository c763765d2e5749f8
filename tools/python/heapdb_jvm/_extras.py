"""Optional packages that only some calls need. Each is an extra of the wheel: pip install 'WHEEL[pandas]'."""
import importlib.util

# This package is not on the Python Package Index, so messages name the missing packages instead of an extra.
DISTRIBUTION = "heapdb-jvm"
# Packages of each extra.
EXTRAS = {"arrow": ("pyarrow",), "pandas": ("pandas", "pyarrow"), "polars": ("polars",),
          "fleet": ("duckdb", "pyarrow"), "spark": ("pyspark>=4", "pyarrow")}


def need(extra, *modules):
    """Raises ModuleNotFoundError with an installation command if a module is not installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            packages = " ".join(f"'{p}'" if ">" in p else p for p in EXTRAS[extra])
            raise ModuleNotFoundError(f"{module} is not installed: pip install {packages}", name=module)
