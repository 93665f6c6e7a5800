// SPDX-License-Identifier: Apache-2.0
#include "config/script/old_names.hpp"

#include <algorithm>

namespace ponk::config {

const OldName* find_old_name(std::string_view name)
{
    const auto names = old_names();
    const auto before = [](const OldName& each, std::string_view n) { return each.name < n; };
    for (;;) {
        const auto* const found =
            std::lower_bound(names.data(), names.data() + names.size(), name, before);
        if (found != names.data() + names.size() && found->name == name) return found;
        const auto dot = name.rfind('.');
        if (dot == std::string_view::npos || dot == 0) return nullptr;
        name = name.substr(0, dot);
    }
}

std::string what_became_of(const OldName& old)
{
    auto text = "'" + std::string(old.name) + "' ";
    if (!old.what.empty()) return text.append(old.what);
    if (old.since.empty()) return text.append("is not in current versions of ").append(old.package);
    return text.append("was removed in ").append(old.package).append(" ").append(old.since);
}

std::string advice_on(const OldName& old)
{
    if (!old.instead.empty()) return std::string(old.instead);
    const std::string compat = "tensorflow.compat.v1";
    const auto below = old.name.substr(old.name.find('.'));
    return "Use '" + compat + std::string(below) + "' after '" + compat +
           ".disable_v2_behavior()'.";
}

}  // namespace ponk::config
