// SPDX-License-Identifier: Apache-2.0
#include "gpu/process_facts.hpp"

#include "base/text.hpp"
#include "os/tree.hpp"

#include <climits>

#include <algorithm>
#include <fcntl.h>
#include <set>
#include <unistd.h>

namespace ponk::gpu {

namespace {

constexpr std::size_t largest = std::size_t{16} << 20;

// Files of /proc have no size: they are read until nothing more comes.
std::optional<std::string> read_proc(const Path& proc, pid_t pid, const char* name)
{
    const auto file = os::open_file(proc / std::to_string(pid) / name, O_RDONLY | O_NONBLOCK);
    if (!file) return std::nullopt;
    std::string text;
    char piece[16384];
    while (text.size() < largest) {
        const auto got = ::read(file->get(), piece, sizeof piece);
        if (got < 0) return std::nullopt;
        if (got == 0) break;
        text.append(piece, static_cast<std::size_t>(got));
    }
    return text;
}

std::optional<pid_t> parse_pid(std::string_view text)
{
    const auto number = parse_integer(text);
    if (!number || *number <= 0 || *number > INT_MAX) return std::nullopt;
    return static_cast<pid_t>(*number);
}

}  // namespace

std::optional<ProcessStat> find_stat(const Path& proc, pid_t pid)
{
    const auto text = read_proc(proc, pid, "stat");
    if (!text) return std::nullopt;
    // The name may hold blanks and brackets: the last one ends it.
    const auto open = text->find('(');
    const auto close = text->rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open)
        return std::nullopt;
    const auto fields = split(std::string_view(*text).substr(close + 1), ' ');
    // fields[0] is empty, then "state ppid …"; the start time is the 20th after the name.
    if (fields.size() < 21 || fields[1].size() != 1) return std::nullopt;
    const auto parent = parse_integer(fields[2]);
    const auto start = parse_integer(trim(fields[20]));
    if (!parent || !start) return std::nullopt;
    return ProcessStat{.pid = pid,
                       .parent = static_cast<pid_t>(*parent),
                       .name = text->substr(open + 1, close - open - 1),
                       .state = fields[1][0],
                       .start_ticks = static_cast<std::uint64_t>(*start)};
}

std::vector<ProcessEntry> list_processes(const Path& proc)
{
    std::vector<ProcessEntry> out;
    const auto folder = os::open_file(proc, O_RDONLY | O_DIRECTORY);
    os::NameList list;
    if (!folder || list.read(folder->get()) != 0) return out;
    for (const auto& name : list.names())
        if (const auto pid = parse_pid(name.text)) out.push_back({*pid, name.inode});
    return out;
}

std::vector<std::string> cgroups_of(const Path& proc, pid_t pid)
{
    std::vector<std::string> out;
    const auto text = read_proc(proc, pid, "cgroup");
    if (!text) return out;
    for (const auto& line : split(*text, '\n')) {
        // "0::/path", "5:memory,cpu:/path"; the path may hold colons
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second != std::string::npos) out.push_back(line.substr(second + 1));
    }
    return out;
}

std::optional<std::uint64_t> find_pid_namespace(const Path& proc, pid_t pid)
{
    std::error_code failed;
    const auto link = std::filesystem::read_symlink(proc / std::to_string(pid) / "ns/pid", failed);
    const auto text = link.string();  // "pid:[4026531836]"
    if (failed || text.size() < 7 || !text.starts_with("pid:[")) return std::nullopt;
    const auto inode = parse_integer(std::string_view(text).substr(5, text.size() - 6));
    if (!inode) return std::nullopt;
    return static_cast<std::uint64_t>(*inode);
}

std::optional<pid_t> find_inner_pid(const Path& proc, pid_t pid)
{
    const auto text = read_proc(proc, pid, "status");
    if (!text) return std::nullopt;
    for (const auto& line : split(*text, '\n'))
        if (line.starts_with("NSpid:")) return parse_pid(trim(line.substr(line.rfind('\t') + 1)));
    return std::nullopt;
}

std::optional<std::vector<std::string>> find_environment(const Path& proc, pid_t pid)
{
    const auto text = read_proc(proc, pid, "environ");
    if (!text) return std::nullopt;
    auto words = split(*text, '\0');
    std::erase(words, "");
    return words;
}

std::vector<std::string> parse_mapped_files(std::string_view maps)
{
    std::set<std::string> files;
    for (const auto& line : split(maps, '\n')) {
        // address, rights, offset, device, inode, then blanks and the name
        const auto at = line.find(" /");
        if (at == std::string::npos) continue;
        auto name = line.substr(at + 1);
        constexpr std::string_view deleted = " (deleted)";
        if (name.ends_with(deleted)) name.resize(name.size() - deleted.size());
        files.insert(std::move(name));
    }
    return {files.begin(), files.end()};
}

std::optional<std::vector<std::string>> find_mapped_files(const Path& proc, pid_t pid)
{
    const auto text = read_proc(proc, pid, "maps");
    if (!text) return std::nullopt;
    return parse_mapped_files(*text);
}

std::optional<Credentials> find_credentials(const Path& proc, pid_t pid)
{
    const auto text = read_proc(proc, pid, "status");
    if (!text) return std::nullopt;
    Credentials credentials;
    bool known = false;
    for (auto line : split(*text, '\n')) {
        std::replace(line.begin(), line.end(), '\t', ' ');
        auto words = split(line, ' ');
        std::erase(words, "");
        // "Uid: real effective saved file-system"; the last one counts for opening files
        if (words.size() >= 5 && words[0] == "Uid:") {
            const auto user = parse_integer(words[4]);
            known = user.has_value();
            credentials.user = static_cast<uid_t>(user.value_or(0));
        } else if (words.size() >= 5 && words[0] == "Gid:") {
            credentials.groups.push_back(static_cast<gid_t>(parse_integer(words[4]).value_or(-1)));
        } else if (!words.empty() && words[0] == "Groups:") {
            for (std::size_t i = 1; i < words.size(); ++i)
                if (const auto group = parse_integer(words[i]))
                    credentials.groups.push_back(static_cast<gid_t>(*group));
        }
    }
    if (!known) return std::nullopt;
    return credentials;
}

}  // namespace ponk::gpu
