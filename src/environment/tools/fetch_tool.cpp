// SPDX-License-Identifier: Apache-2.0
#include "environment/tools/fetch_tool.hpp"

#include "base/text.hpp"
#include "environment/address/address.hpp"
#include "environment/tools/embedded_scripts.hpp"
#include "os/file_lock.hpp"

#include <unistd.h>

namespace ponk::environment {

Result<ToolAddress> parse_tool_address(const std::string& text)
{
    const auto mark = text.find("#sha256=");
    Digest digest;
    if (mark == std::string::npos ||
        !parse_digest(std::string_view(text).substr(mark + 8), digest)) {
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format("PONK_CONDA is '{}', without a checksum", printable(without_secrets(text))),
            "Add '#sha256=' and 64 hex digits to the address."));
    }
    ToolAddress address{text.substr(0, mark), digest.text(), "conda"};
    const auto path = lower(address.url.substr(0, address.url.find('?')));
    for (const auto builder : {Builder::micromamba, Builder::mamba, Builder::pixi}) {
        if (path.find(to_string(builder)) == std::string::npos) continue;
        address.name = to_string(builder);
        break;
    }
    return address;
}

Result<Path>
fetch_tool(const ToolAddress& address, const Python& carrier, const BuildContext& context)
{
    const auto folder = context.settings.home / "tools" / address.digest.substr(0, 16);
    const auto program = folder / address.name;
    TRY(os::make_directories(folder));
    const auto lock = TRY(os::FileLock::take(
        folder / "lock", os::FileLock::Kind::exclusive, context.deadline, context.stop));
    if (::access(program.c_str(), X_OK) == 0) return program;
    const auto script = folder / "fetch_tool.py";
    TRY(os::replace_file(script, fetch_tool_script(), 0600, os::Durable::no));
    Redactor redactor;
    redactor.add_secrets_of(address.url);
    auto own = context;
    own.folder = folder;
    own.held_lock = lock.fd();
    TRY(own.run("fetch",
                {carrier.program.string(), script.string(), address.digest, program.string()},
                {"PONK_FETCH_ADDRESS=" + address.url})
            .map_error([&](const Error& error) {
                return Error(error.kind(),
                             fmt::format("fetch '{}' of PONK_CONDA: {}",
                                         without_secrets(address.url),
                                         redactor.clean(error.message())),
                             error.hint());
            }));
    return program;
}

}  // namespace ponk::environment
