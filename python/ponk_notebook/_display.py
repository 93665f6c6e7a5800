# SPDX-License-Identifier: Apache-2.0
"""What a value looks like in a notebook, and a stand-in for IPython.display where there is no IPython."""
import base64
import pprint
import sys
import types

_METHODS = [("_repr_html_", "text/html"), ("_repr_markdown_", "text/markdown"), ("_repr_latex_", "text/latex"),
            ("_repr_svg_", "image/svg+xml"), ("_repr_png_", "image/png"), ("_repr_jpeg_", "image/jpeg"),
            ("_repr_javascript_", "application/javascript"), ("_repr_json_", "application/json")]


def _plain(value):
    # Only these: a subclass may have a representation of its own.
    return pprint.pformat(value) if type(value) in (dict, list, tuple, set) else repr(value)


def _data(made):
    """The data of what a _repr_ method returned, which may be a pair with metadata; bytes as base64."""
    if isinstance(made, tuple):
        made = made[0]
    return base64.b64encode(made).decode("ascii") if isinstance(made, bytes) else made


def bundle(value):
    """{media type: data}; a method that fails leaves its type out."""
    data = {"text/plain": _plain(value)}
    if isinstance(value, type):
        return data
    try:
        several = getattr(value, "_repr_mimebundle_", None)
        made = several() if callable(several) else None
        made = made[0] if isinstance(made, tuple) else made
        for kind, each in (made or {}).items():
            data[kind] = _data(each)
    except Exception:
        pass
    for name, kind in _METHODS:
        try:
            method = getattr(value, name, None)
            made = method() if callable(method) else None
        except Exception:
            continue
        if made is not None:
            data.setdefault(kind, _data(made))
    if "image/png" not in data and type(value).__module__.startswith("matplotlib.") and hasattr(value, "savefig"):
        data["image/png"] = figure_png(value)
    return data


def figure_png(figure):
    import io
    file = io.BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight")
    return base64.b64encode(file.getvalue()).decode("ascii")


class _Shown(object):
    """HTML("<b>x</b>"), Image("a.png"): data of one media type."""
    kind = None

    def __init__(self, data=None, filename=None, url=None, **options):
        if filename is None and self.endings and isinstance(data, str) and data.lower().endswith(self.endings):
            data, filename = None, data
        if filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data = url if data is None else data

    endings = ()

    def __repr__(self):
        return "<%s object>" % type(self).__name__

    def _repr_mimebundle_(self, **_):
        data = self.data
        if isinstance(data, bytes) and not self.kind.startswith("image/p"):
            data = data.decode("utf-8", "replace")
        return {self.kind: data} if data is not None else {}


def _shown(name, kind, endings=()):
    return type(name, (_Shown,), {"kind": kind, "endings": endings})


class _Image(_Shown):
    endings = (".png", ".jpg", ".jpeg", ".gif")

    def _repr_mimebundle_(self, **_):
        if not isinstance(self.data, bytes):
            return {"text/html": '<img src="%s"/>' % self.data}
        kind = ("image/jpeg" if self.data.startswith(b"\xff\xd8") else
                "image/gif" if self.data.startswith(b"GIF8") else "image/png")
        return {kind: self.data}


def _display_module(shell):
    module = types.ModuleType("IPython.display")
    module.display = shell.display
    module.clear_output = shell.clear_output
    module.Image = _Image
    for name, kind, endings in [("HTML", "text/html", (".html",)), ("Markdown", "text/markdown", (".md",)),
                                ("Latex", "text/latex", ()), ("Math", "text/latex", ()),
                                ("SVG", "image/svg+xml", (".svg",)), ("JSON", "application/json", (".json",)),
                                ("Javascript", "application/javascript", (".js",)), ("Pretty", "text/plain", ())]:
        setattr(module, name, _shown(name, kind, endings))
    return module


def stand_in_for_ipython(shell):
    """So that 'from IPython.display import display, HTML' works without the package."""
    try:
        import IPython  # noqa: F401
        return
    except ImportError:
        pass
    module = types.ModuleType("IPython", "The part of IPython that notebooks run by ponk use.")
    module.__path__ = []
    module.get_ipython = lambda: shell
    module.version_info = (8, 24, 0, "")  # that which matplotlib asks for before it looks at its backend
    module.__version__ = "8.24.0"
    module.display = _display_module(shell)
    core = types.ModuleType("IPython.core")
    core.__path__ = []
    core.display = module.display
    sys.modules.update({"IPython": module, "IPython.display": module.display, "IPython.core": core,
                        "IPython.core.display": module.display})
