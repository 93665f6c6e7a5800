# SPDX-License-Identifier: Apache-2.0
"""The predecessor's data preparation packages needed its desktop application; these calls say so
instead of failing in an odd place."""
