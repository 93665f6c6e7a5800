# SPDX-License-Identifier: Apache-2.0


class BadRequestException(Exception):
    """What a scoring script raises for a request that it cannot answer."""
    status_code = 400
