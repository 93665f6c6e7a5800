# SPDX-License-Identifier: Apache-2.0
def rentals(day):
    return 10 * day
