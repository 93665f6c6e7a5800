// SPDX-License-Identifier: Apache-2.0
#include "cli/hosts/target_access.hpp"

#include "base/text.hpp"
#include "cli/hosts/host_login.hpp"
#include "cli/terminal/ask.hpp"
#include "os/identity.hpp"
#include "os/late_notice.hpp"
#include "os/variables.hpp"
#include "ssh/login.hpp"

namespace ponk::cli {

Result<ssh::Access> access_of(const os::Path& home, const config::ComputeTarget& target)
{
    const auto where = fmt::format("target '{}'", printable(target.name));
    if (target.address->empty()) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  where + " has no 'address'",
                  fmt::format("Set 'address' in aml_config/{}.compute.", target.name)));
    }
    ssh::Access access;
    access.home = home;
    access.address = TRY(
        ssh::parse_address(*target.address, *target.username).map_error(while_doing("{}", where)));
    access.environment = os::own_variables();
    if (target.port.given()) access.address.port = *target.port;
    // A reference to a store of 2017 is no file.
    const std::string& key = *target.private_key;
    if (key.starts_with('/')) access.private_key = key;
    if (key.starts_with("~/")) access.private_key = os::home_directory() / key.substr(2);
    return access;
}

Result<> ensure_attached(Context& context, const config::ComputeTarget& target)
{
    if (!config::is_another_machine(target)) return {};
    const auto access = TRY(access_of(TRY(context.home()), target));
    const auto attached = ssh::require_attached(access.home, access.address);
    if (attached) return {};
    if (!has_terminal()) return tl::unexpected(ssh::name_target(attached.error(), target.name));
    const auto& address = access.address;
    TRY(confirm(fmt::format("{}:{} names the machine '{}', port {}, user '{}', which is not "
                            "attached yet. Attach it and log in?",
                            printable(target.file),
                            target.address.place.line,
                            address.host,
                            address.port.value_or(22),
                            address.user.empty() ? "from the ssh configuration" : address.user)));
    auto login = TRY(HostLogin::make(context, access));
    TRY(login.log_in({}));
    return login.keep(TRY(context.project()) / target.file);
}

Result<ssh::Connection> reach_host(Context& context, const config::ComputeTarget& target)
{
    TRY(ensure_attached(context, target));
    const auto limit = std::chrono::seconds(60);
    auto connection = TRY(ssh::Connection::make(TRY(access_of(TRY(context.home()), target))));
    const auto reached = [&] {
        const os::LateNotice slow(std::chrono::seconds(3), [&] {
            context.note("'{}' has not answered yet; waiting up to {} s",
                         connection.client().address().text(),
                         limit.count());
        });
        return connection.try_connect(after(limit), {});
    }();
    if (reached) return connection;
    const bool asks = connection.client().settings().identity != ssh::Identity::own;
    if (reached.error().cause != ssh::Cause::denied || !asks || !has_terminal())
        return tl::unexpected(ssh::name_target(reached.error().error, target.name));
    const auto asked =
        ssh::open_as_user(connection.client(), ssh::Asking::terminal, after(3 * limit), {});
    if (!asked) return tl::unexpected(ssh::name_target(asked.error().error, target.name));
    return connection;
}

}  // namespace ponk::cli
