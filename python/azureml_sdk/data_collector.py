# SPDX-License-Identifier: Apache-2.0
from azureml.sdk.data_collector import current_run

__all__ = ["current_run"]
