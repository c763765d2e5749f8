"""Progress bars, using tqdm if it is installed. In notebooks they are shown by default."""
import importlib.util
import sys

_DELAY = 0.5  # seconds before a bar is shown; most work is finished earlier


def in_notebook():
    """Returns whether this runs in a kernel that shows widgets: in Jupyter, but not in IPython in a terminal."""
    shell = sys.modules.get("IPython")
    shell = shell and shell.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def chosen(progress):
    """Returns the function to call with (stage, done, total, unit), or None. progress: True for a bar, False for
    nothing, None for a bar in notebooks only, or a function. Bars need tqdm.
    """
    if progress is None:
        progress = in_notebook()
    if not isinstance(progress, bool):
        return progress
    if not progress:
        return None
    try:
        # Without ipywidgets, tqdm.auto prints a warning and falls back to tqdm.tqdm.
        if importlib.util.find_spec("ipywidgets"):
            from tqdm.auto import tqdm
        else:
            from tqdm import tqdm
    except ImportError:
        return None
    return Bar(tqdm)


class Bar:
    """A progress bar for each stage of long work."""

    def __init__(self, tqdm):
        self.tqdm, self.stage, self.bar = tqdm, None, None

    def __call__(self, stage, done, total, unit):
        if stage != self.stage:
            self.close()
            self.stage = stage
            self.bar = self.tqdm(desc=stage, total=total, unit=f" {unit}" if unit else "", unit_scale=True,
                                 leave=False, delay=_DELAY)
        if total and self.bar.total != total:
            self.bar.total = total
        self.bar.update(max(0, done - self.bar.n))

    def close(self):
        """Ends the current bar, because its stage or the work has ended."""
        bar, self.bar, self.stage = self.bar, None, None
        if bar is not None:
            bar.close()
