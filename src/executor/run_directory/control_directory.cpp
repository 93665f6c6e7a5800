// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/control_directory.hpp"

#include "base/text.hpp"
#include "os/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

void add_entry(std::string& out, std::string_view key, std::string_view value)
{
    out += fmt::format("{} {}\n", key, value.size());
    out += value;
    out += '\n';
}

// Takes "KEY LENGTH\nBYTES\n" from the front of `text`.
std::optional<std::pair<std::string_view, std::string_view>> take_entry(std::string_view& text)
{
    const auto space = text.find(' ');
    const auto line_end = text.find('\n');
    if (space == std::string_view::npos || line_end == std::string_view::npos || space > line_end)
        return std::nullopt;
    const auto size = parse_integer(text.substr(space + 1, line_end - space - 1));
    const auto rest = text.substr(line_end + 1);
    if (!size || *size < 0 || static_cast<std::uint64_t>(*size) >= rest.size()) return std::nullopt;
    const auto length = static_cast<std::size_t>(*size);
    if (rest[length] != '\n') return std::nullopt;
    const auto key = text.substr(0, space);
    text = rest.substr(length + 1);
    return std::pair(key, rest.substr(0, length));
}

std::int64_t number_or_zero(std::string_view text)
{
    return parse_integer(text).value_or(0);
}

// "KEY WORD WORD…" lines between the first line and "end".
Result<std::vector<std::vector<std::string>>> read_lines(std::string_view text,
                                                         std::string_view first)
{
    auto lines = split(text, '\n');
    if (lines.size() < 3 || lines.front() != first || lines[lines.size() - 2] != "end")
        return fail(ErrorKind::damaged, "no '{}' text, or cut off", first);
    std::vector<std::vector<std::string>> out;
    for (std::size_t i = 1; i + 2 < lines.size(); ++i) {
        const auto space = std::min(lines[i].find(' '), lines[i].size());
        auto words = std::vector{lines[i].substr(0, space)};
        for (auto& word : split(std::string_view(lines[i]).substr(space), ' ')) {
            if (!word.empty()) words.push_back(std::move(word));
        }
        words.resize(std::max<std::size_t>(words.size(), 3));
        out.push_back(std::move(words));
    }
    return out;
}

}  // namespace

std::string to_text(const StubSpec& spec)
{
    std::string out = "ponk-spec 1\n";
    add_entry(out, "run", spec.run);
    add_entry(out, "token", spec.token);
    add_entry(out, "directory", spec.directory);
    add_entry(out, "program", spec.program);
    if (!spec.other_program.empty()) add_entry(out, "program", spec.other_program);
    add_entry(out, "umask", fmt::format("{:o}", spec.umask));
    add_entry(out, "time-limit-ms", fmt::format("{}", spec.time_limit.count()));
    add_entry(out, "grace-ms", fmt::format("{}", spec.grace.count()));
    for (const auto& word : spec.argv)
        add_entry(out, "arg", word);
    if (!spec.relay.empty()) add_entry(out, "relay", spec.relay);
    if (!spec.input.empty()) add_entry(out, "input", spec.input);
    if (spec.term_reaches_all) add_entry(out, "term-reaches-all", "1");
    for (const auto& file : spec.holds)
        add_entry(out, "hold", file);
    add_entry(out, "end", "");
    return out;
}

Result<StubSpec> parse_stub_spec(std::string_view text)
{
    constexpr std::string_view first_line = "ponk-spec 1\n";
    if (!text.starts_with(first_line))
        return fail(ErrorKind::damaged, "file 'spec' has another version");
    text.remove_prefix(first_line.size());
    StubSpec spec;
    while (const auto entry = take_entry(text)) {
        const auto& [key, value] = *entry;
        if (key == "run") spec.run = value;
        if (key == "token") spec.token = value;
        if (key == "directory") spec.directory = value;
        if (key == "program") (spec.program.empty() ? spec.program : spec.other_program) = value;
        if (key == "umask")
            spec.umask = static_cast<mode_t>(std::strtoul(std::string(value).c_str(), nullptr, 8));
        if (key == "time-limit-ms")
            spec.time_limit = std::chrono::milliseconds(number_or_zero(value));
        if (key == "grace-ms") spec.grace = std::chrono::milliseconds(number_or_zero(value));
        if (key == "arg") spec.argv.emplace_back(value);
        if (key == "relay") spec.relay = value;
        if (key == "input") spec.input = value;
        if (key == "hold") spec.holds.emplace_back(value);
        if (key == "term-reaches-all") spec.term_reaches_all = value == "1";
        if (key == "end") return spec;
    }
    return fail(ErrorKind::damaged, "file 'spec' is cut off");
}

Result<RunProcesses> parse_processes(std::string_view text)
{
    RunProcesses out;
    const auto lines = TRY(read_lines(text, "ponk-pid 1"));
    std::string boot;
    for (const auto& words : lines) {
        const auto process =
            os::ProcessIdentity{static_cast<pid_t>(number_or_zero(words[1])),
                                static_cast<std::uint64_t>(number_or_zero(words[2])),
                                {}};
        if (words[0] == "stub") out.stub = process;
        if (words[0] == "guard") out.guard = process;
        if (words[0] == "main") out.main = process;
        if (words[0] == "boot") boot = words[1];
        if (words[0] == "machine") out.machine = words[1];
        if (words[0] == "pid-namespace")
            out.pid_namespace = static_cast<std::uint64_t>(number_or_zero(words[1]));
        if (words[0] == "cgroup") out.cgroup = words[1];
        if (words[0] == "started") out.started = number_or_zero(words[1]);
        if (words[0] == "started-boot") out.started_boot = number_or_zero(words[1]);
    }
    out.stub.boot_id = out.guard.boot_id = out.main.boot_id = boot;
    if (out.main.pid <= 0) return fail(ErrorKind::damaged, "file 'pid' has no process id");
    return out;
}

Result<EarlyEnd> parse_early_end(std::string_view text)
{
    EarlyEnd out;
    const auto lines = TRY(read_lines(text, "ponk-ended 1"));
    bool has_code = false;
    for (const auto& words : lines) {
        has_code = has_code || words[0] == "code";
        if (words[0] == "code") out.code = static_cast<int>(number_or_zero(words[1]));
        if (words[0] == "signal") out.signal = static_cast<int>(number_or_zero(words[1]));
        if (words[0] == "cause") out.cause = words[1];
        if (words[0] == "ended") out.ended = number_or_zero(words[1]);
    }
    if (!has_code) return fail(ErrorKind::damaged, "file 'ended' has no code");
    return out;
}

void open_up(const RunDirectory& directory)
{
    auto folder = directory.root();
    open_up(folder);
    for (const auto& part : RunDirectory::task_part())
        open_up(folder /= part);
}

void open_up(const Path& folder)
{
    struct stat info {};
    if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_uid != ::geteuid() || (info.st_mode & S_IRWXU) == S_IRWXU)
        return;
    // Through a descriptor of that very folder: by now the name could be a link.
    const os::Fd opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened) return;
    ::chmod(fmt::format("/proc/self/fd/{}", opened.get()).c_str(),
            (info.st_mode & 07777U) | S_IRWXU);
}

std::string take_input(const Path& pipe, const Path& task)
{
    if (pipe.empty()) return {};
    struct stat info {};
    if (::lstat(pipe.c_str(), &info) != 0 || !S_ISFIFO(info.st_mode)) return {};
    return ::rename(pipe.c_str(), (task / control::input).c_str()) == 0 ? control::input : "";
}

bool is_there(const Path& path)
{
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0;
}

Result<> request_end(const Path& directory, std::chrono::seconds grace)
{
    const auto text = fmt::format("{}", std::chrono::milliseconds(grace).count());
    return os::replace_file(directory / control::cancel, text, 0600, os::Durable::no);
}

bool is_locked(const Path& directory, const char* name)
{
    const auto lock = os::open_file(directory / name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!lock) return false;
    struct flock whole {};
    whole.l_type = F_WRLCK;
    return ::fcntl(lock->get(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

}  // namespace ponk::executor
