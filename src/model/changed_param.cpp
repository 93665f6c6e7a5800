// SPDX-License-Identifier: Apache-2.0
#include "model/changed_param.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk::model {

Error changed_param(std::string_view key,
                    std::string_view known,
                    std::string_view whose,
                    std::string_view value)
{
    return {ErrorKind::invalid_argument,
            fmt::format("Changing param values is not allowed. Param with key='{}' was already "
                        "logged with value='{}' for {}. Attempted logging new value '{}'.",
                        printable(key),
                        printable(known),
                        whose,
                        printable(value))};
}

}  // namespace ponk::model
