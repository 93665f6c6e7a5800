// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

namespace ponk::net {

// PEM files, readable by their owner alone.
struct CertificateFiles {
    os::Path certificate;
    os::Path key;
};

// A certificate that only this home has, for "localhost" and the loopback addresses: a
// client that trusts it and nothing else talks to this home's daemon or to no one. Kept in
// `folder`; made when there is none, when the two files do not belong together, and when it is not
// valid for another month.
Result<CertificateFiles> keep_own_certificate(const os::Path& folder);

}  // namespace ponk::net
