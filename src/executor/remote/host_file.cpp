// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/host_file.hpp"

#include "base/hash.hpp"
#include "executor/remote/link/host_pool.hpp"
#include "executor/remote/wire/message.hpp"
#include "os/directory.hpp"

#include <unistd.h>

namespace ponk::executor::remote {

namespace {

constexpr const char* host_file = "host";

std::string brief(const std::string& text)
{
    return sha256(text).text().substr(0, 16);
}

Path place_of(const Path& home, const std::string& type, const HostAddress& host)
{
    return home / "hosts" / type / brief(name_of(host) + "\n" + host.scratch);
}

}  // namespace

Result<> write_host(const RunDirectory& directory, const HostAddress& host)
{
    const auto text = to_json(to_json(host)) + "\n";
    const auto there = TRY(os::read_file_if_any(directory.root() / host_file, 1 << 16));
    if (there == text) return {};
    return os::replace_file(directory.root() / host_file, text);
}

Result<HostAddress> read_host(const RunDirectory& directory)
{
    const auto text = TRY(os::read_file_if_any(directory.root() / host_file, 1 << 16));
    if (!text) {
        return fail(ErrorKind::not_found,
                    "the run in {} was not given to a machine",
                    os::in_quotes(directory.root()));
    }
    const auto doing = while_doing("read {}", os::in_quotes(directory.root() / host_file));
    return parse_host(TRY(parse_json(*text).map_error(doing))).map_error(doing);
}

Result<> remember_host(const Path& home, const std::string& type, const HostAddress& host)
{
    const auto file = place_of(home, type, host);
    const auto text = to_json(to_json(host)) + "\n";
    if (TRY(os::read_file_if_any(file, 1 << 16)) == text) return {};
    TRY(os::make_directories(file.parent_path()));
    return os::replace_file(file, text, 0600, os::Durable::no);
}

void forget_host(const Path& home, const std::string& type, const HostAddress& host)
{
    ::unlink(place_of(home, type, host).c_str());
}

std::vector<HostAddress> known_hosts(const Path& home, const std::string& type)
{
    std::vector<HostAddress> out;
    const auto folder = home / "hosts" / type;
    const auto entries = os::list_directory(folder);
    if (!entries) return out;
    for (const auto& entry : *entries) {
        const auto text = os::read_file(folder / entry.name, 1 << 16);
        const auto value = text ? parse_json(*text) : Result<Json>(Json());
        if (!value) continue;
        if (auto host = parse_host(*value)) out.push_back(std::move(*host));
    }
    return out;
}

Path last_manifest_file(const Path& home, const HostAddress& host, const Path& source)
{
    return home / "cache" / "hosts" / brief(name_of(host) + "\n" + host.scratch) /
           brief(source.native());
}

}  // namespace ponk::executor::remote
