# SPDX-License-Identifier: Apache-2.0
"""What is called and gives nothing that matters: layers, plots, graphs."""


class Nothing(object):
    def __init__(self, *words, **named):
        self.words, self.named = words, named

    def __call__(self, *words, **named):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return False

    def __iter__(self):
        return iter((self, self))

    def __reduce__(self):
        return (Nothing, ())

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __matmul__ = __call__
