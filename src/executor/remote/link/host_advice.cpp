// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/link/host_advice.hpp"

#include "base/text.hpp"
#include "dockerapi/endpoint.hpp"
#include "executor/remote/link/host_pool.hpp"
#include "ssh/failure.hpp"

namespace ponk::executor::remote {

Error advise_for_host(const Error& error, const HostAddress& host, const std::string& target)
{
    if (host.empty()) return error;
    if (!dockerapi::is_engine_missing(error)) return ssh::name_target(error, target);
    const auto machine = name_of(host);
    const bool named = error.message().find(machine) != std::string::npos;
    const auto told = named ? error : error.within("on '" + machine + "'");
    const auto name = shell_word(target);
    return told.with_hint(fmt::format(
        "'ponk computetarget setup {}' installs an engine and allows you to use it (Debian, "
        "Ubuntu), 'ponk computetarget check {}' checks again. By hand, on '{}': {}",
        name,
        name,
        machine,
        error.hint()));
}

}  // namespace ponk::executor::remote
