// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ponk::api {

// What a route needs: nothing, or a role. A higher one includes the lower ones. The Unix socket
// admits its owner only, who may do everything; elsewhere a token has a role. A route without a
// permission does not compile, so that none is forgotten.
//
// `write` changes history and never reaches further: what starts programs, reads or writes files
// that a caller names, or touches secrets needs `administer`. `promote` decides what others get
// when they load a registered model by an alias or a stage: who logs need not have that right.
//
// `owner`: the Unix socket and sessions that were made by it. The files of projects are for them: a
// token of whatever role is for history and runs.
//
// `login` is for calls whose body, or first message, says who asks: they need no token, but come
// from a page of ours or from none.
enum class Permission { open, login, read, write, promote, administer, owner };

}  // namespace ponk::api
