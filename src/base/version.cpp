// SPDX-License-Identifier: Apache-2.0
// The only file that knows the version, so that another one costs one file and a link.
#include "base/version.hpp"

namespace ponk {

std::string_view own_version()
{
    return PONK_VERSION;
}

}  // namespace ponk
