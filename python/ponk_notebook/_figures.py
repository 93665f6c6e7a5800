# SPDX-License-Identifier: Apache-2.0
"""A backend of matplotlib: draws without a screen, and what is shown becomes an output of the cell."""
import sys

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

FigureCanvas = FigureCanvasAgg
FigureManager = FigureManagerBase


def new_figure_manager_given_figure(number, figure):
    return FigureManagerBase(FigureCanvasAgg(figure), number)


def new_figure_manager(number, *words, **options):
    make = options.pop("FigureClass", Figure)
    return new_figure_manager_given_figure(number, make(*words, **options))


def show(*_words, **_options):
    """Shows and closes every open figure; outside a cell, as in a child process, nothing."""
    running = sys.modules.get("ponk_notebook._run")
    shell = running and running.current
    if not shell:
        return
    from matplotlib import _pylab_helpers
    import matplotlib.pyplot
    for manager in _pylab_helpers.Gcf.get_all_fig_managers():
        shell.display(manager.canvas.figure)
    matplotlib.pyplot.close("all")
