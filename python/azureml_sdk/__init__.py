# SPDX-License-Identifier: Apache-2.0
"""azureml.sdk under its first name."""
