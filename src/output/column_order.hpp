// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output/table.hpp"

#include <vector>

namespace ponk::output {

// A table leaves out columns from the right. When these do not all fit, this puts those of the
// highest ranks (one for each column) there, as many as have to go; the others keep their order.
Columns order_by_rank(const Json& rows,
                      const Columns& columns,
                      const std::vector<int>& ranks,
                      const Terminal& terminal);

}  // namespace ponk::output
