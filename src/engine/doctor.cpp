// SPDX-License-Identifier: Apache-2.0
#include "engine/doctor.hpp"

#include "base/text.hpp"
#include "os/process.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

namespace ponk::engine {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t little_space = std::uint64_t{2} << 30;

Check disk(const Path& home)
{
    const auto space = os::free_space(home);
    if (!space)
        return {"disk", "error", space.error().message(), "Set PONK_HOME to another folder."};
    const auto text = byte_size_text(*space) + " free at " + os::in_quotes(home);
    if (*space < little_space)
        return {"disk",
                "warning",
                text,
                "Free some space: 'ponk experiment clean' removes working copies."};
    return {"disk", "ok", text, ""};
}

// Locks and the write-ahead log need a local file system.
Check file_system(const Path& home)
{
    struct statfs info {};
    if (::statfs(home.c_str(), &info) != 0)
        return {"file system", "warning", "cannot be asked", ""};
    constexpr long nfs = 0x6969;
    constexpr long smb = 0x517b;
    constexpr long smb2 = static_cast<long>(0xfe534d42);
    constexpr long cifs = static_cast<long>(0xff534d42);
    if (info.f_type == nfs || info.f_type == smb || info.f_type == smb2 || info.f_type == cifs) {
        return {"file system",
                "error",
                os::in_quotes(home) + " is on a network file system",
                "Set PONK_HOME to a folder on a local disk."};
    }
    return {"file system", "ok", os::in_quotes(home) + " is on a local file system", ""};
}

Check program(const std::string& name,
              const std::vector<std::string>& version_words,
              const std::string& hint)
{
    const char* path = ::getenv("PATH");
    const auto found = os::find_program(name, path ? path : "/usr/bin:/bin");
    if (!found) return {name, "warning", "not found on the path", hint};
    std::vector<std::string> argv{found->native()};
    argv.insert(argv.end(), version_words.begin(), version_words.end());
    const auto output = os::run({.argv = argv}, after(5s), {});
    if (!output) return {name, "warning", output.error().message(), hint};
    const auto text = output->out.empty() ? output->err : output->out;
    return {
        name, "ok", found->native() + ": " + printable(trim(text.substr(0, text.find('\n')))), ""};
}

Check database(const store::History& history)
{
    if (const auto failure = history.failure())
        return {"database", "error", failure->message(), failure->hint()};
    if (!history.opening().notice.empty())
        return {"database", "warning", history.opening().notice, ""};
    const auto sizes = history.sizes();
    return {"database", "ok", byte_size_text(sizes.database + sizes.log), ""};
}

Check open_files()
{
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const auto text = fmt::format("up to {} open files", limit.rlim_cur);
    if (limit.rlim_cur < 1024)
        return {"open files", "warning", text, "Raise it with 'ulimit -n 4096'."};
    return {"open files", "ok", text, ""};
}

Check kernel()
{
    utsname name{};
    ::uname(&name);
    return {"kernel", "ok", fmt::format("{} {} {}", name.sysname, name.release, name.machine), ""};
}

}  // namespace

std::vector<Check> examine(const Context& context)
{
    return {
        kernel(),
        disk(context.home),
        file_system(context.home),
        database(context.history),
        open_files(),
        program(
            "python3", {"--version"}, "Install python3, or set pythonLocation in local.compute."),
        program("git", {"--version"}, "Without git, runs do not record a commit."),
        program(
            "spark-submit", {"--version"}, "Only PySpark runs need it: 'pip install pyspark'.")};
}

}  // namespace ponk::engine
