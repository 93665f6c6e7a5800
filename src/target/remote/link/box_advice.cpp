// SPDX-License-Identifier: Apache-2.0
#include "target/remote/link/box_advice.hpp"

#include "base/text.hpp"
#include "dockerapi/endpoint.hpp"
#include "ssh/failure.hpp"
#include "target/remote/link/box_pool.hpp"

namespace ponk::target::remote {

Error advise_for_box(const Error& error, const BoxAddress& box, const std::string& target)
{
    if (box.empty()) return error;
    if (!dockerapi::is_unreachable(error)) return ssh::name_target(error, target);
    const auto machine = name_of(box);
    const bool named = error.message().find(machine) != std::string::npos;
    const auto told = named ? error : error.within("on '" + machine + "'");
    const auto name = shell_word(target);
    return told.with_hint(fmt::format(
        "'ponk computetarget setup {}' gives the machine an engine and you the right to "
        "use it (Debian, Ubuntu), 'ponk computetarget check {}' looks again. By hand, on "
        "'{}': {}",
        name,
        name,
        machine,
        error.hint()));
}

}  // namespace ponk::target::remote
