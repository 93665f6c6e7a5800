# SPDX-License-Identifier: Apache-2.0
def clear_session():
    pass
