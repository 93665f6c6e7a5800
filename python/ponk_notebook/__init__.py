# SPDX-License-Identifier: Apache-2.0
"""Executes a notebook as a run: python -m ponk_notebook NOTEBOOK [ARGUMENT...]

A package of its own, beside `ponk`: a project may have a folder or module called `ponk`. Plain Python 3.5 and the
standard library; a kernel (ipykernel) is used where the interpreter has one. See docs/design/notebooks.md.
"""
