// SPDX-License-Identifier: Apache-2.0
#include "api/native/asker.hpp"

#include "os/variables.hpp"

namespace ponk::api {

std::vector<std::string> environment_of(const Json& body)
{
    std::vector<std::string> words;
    if (const auto& list = body["environment"]; list.is_array()) {
        for (const auto& item : list.as_array()) {
            if (item.is_string()) words.push_back(item.as_string());
        }
        return words;
    }
    return os::own_variables();
}

}  // namespace ponk::api
