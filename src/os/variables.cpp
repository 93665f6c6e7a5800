// SPDX-License-Identifier: Apache-2.0
#include "os/variables.hpp"

#include <unistd.h>

namespace ponk::os {

std::string variable(const std::vector<std::string>& environment, std::string_view name)
{
    for (const auto& word : environment) {
        if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
            return word.substr(name.size() + 1);
    }
    return {};
}

std::vector<std::string> own_variables()
{
    std::vector<std::string> words;
    for (char** word = environ; word != nullptr && *word != nullptr; ++word)
        words.emplace_back(*word);
    return words;
}

}  // namespace ponk::os
