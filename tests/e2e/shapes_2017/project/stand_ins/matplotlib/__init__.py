# SPDX-License-Identifier: Apache-2.0
def use(backend, **more):
    pass
