// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/doctor.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "executor/supervisor/embedded.hpp"
#include "secrets/keyring.hpp"
#include "snapshot/garbage.hpp"

#include <fmt/format.h>

#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

namespace ponk::engine {

namespace {

constexpr const char* damage_hint =
    "The next command starts a daemon that sets the file aside and restores the newest backup.";
constexpr std::uint64_t little_space = std::uint64_t{2} << 30;

Check disk(const Path& home)
{
    const auto space = os::free_space(home);
    if (!space)
        return {"disk", "fail", space.error().message(), "Set PONK_HOME to another folder."};
    const auto text = byte_size_text(*space) + " free at " + os::in_quotes(home);
    if (*space < little_space)
        return {"disk",
                "warn",
                text,
                "Free some space: 'ponk disk' shows what takes it, 'ponk prune' removes what runs "
                "left."};
    return {"disk", "ok", text, ""};
}

// Locks and the write-ahead log need a local file system.
Check file_system(const Path& home)
{
    struct statfs info {};
    if (::statfs(home.c_str(), &info) != 0)
        return {"file system",
                "warn",
                os::in_quotes(home) + " cannot be checked",
                "Set PONK_HOME to a folder on a local disk."};
    constexpr long nfs = 0x6969;
    constexpr long smb = 0x517b;
    constexpr long smb2 = static_cast<long>(0xfe534d42);
    constexpr long cifs = static_cast<long>(0xff534d42);
    if (info.f_type == nfs || info.f_type == smb || info.f_type == smb2 || info.f_type == cifs) {
        return {"file system",
                "fail",
                os::in_quotes(home) + " is on a network file system",
                "Set PONK_HOME to a folder on a local disk."};
    }
    return {"file system", "ok", os::in_quotes(home) + " is on a local file system", ""};
}

Check unchecked(const store::History& history)
{
    return {"database",
            "warn",
            history.opening().notice,
            "The check takes minutes if the history is large; other commands work meanwhile."};
}

// Damage ends the daemon; the next one sets the file aside and begins with the newest sound backup.
Check database(store::History& history, Depth depth)
{
    if (const auto failure = history.failure())
        return {"database", "fail", failure->message(), failure->hint()};
    if (depth == Depth::full) {
        if (const auto checked = history.check_integrity(); !checked)
            return {"database", "fail", checked.error().message(), damage_hint};
    }
    const auto& opening = history.opening();
    const auto checked = history.last_integrity_check().value_or(0);
    if (opening.checked_in_part) {
        if (checked < opening.time) return unchecked(history);
    } else if (!opening.notice.empty()) {
        return {"database",
                "warn",
                opening.notice,
                "Check 'ponk history list --all-projects': what is missing was not in the backup."};
    }
    const auto sizes = history.sizes();
    const auto when = checked == 0 ? "never checked completely"
                                   : "last complete check: " + utc_text(checked).substr(0, 10);
    return {"database", "ok", byte_size_text(sizes.database + sizes.log) + ", " + when, ""};
}

// The first run that names it; empty when none does.
std::string run_with(const store::History& history, const std::string& manifest)
{
    store::RunFilter filter;
    filter.hidden = store::RunFilter::Hidden::include;
    filter.limit = 1000;
    for (;;) {
        const auto page = history.list_runs(filter);
        if (!page) return "";
        for (const auto& run : page->runs)
            if (run.snapshot == manifest || run.outputs == manifest) return run.id.brief();
        if (!page->next) return "";
        filter.before = page->next;
    }
}

// What the collector of garbage could not read last.
Check snapshots(const Context& context)
{
    const auto noted = snapshot::noted_unreadable(context.objects);
    if (!noted)
        return {"snapshots",
                "warn",
                noted.error().message(),
                "Make yourself the owner of 'store' in ponk's folder again."};
    if (noted->empty())
        return {"snapshots", "ok", "all manifests that garbage collection read are intact", ""};
    const auto first = noted->front().text();
    const auto run = run_with(context.history, first);
    return {"snapshots",
            "fail",
            fmt::format("{} cannot be read: '{}'{}",
                        noted->size() == 1 ? std::string("one manifest")
                                           : fmt::format("{} manifests", noted->size()),
                        first,
                        run.empty() ? "" : " of run '" + run + "'"),
            "Unused files are not deleted while it is unreadable. Restore the folder 'store' from "
            "a backup, submit the same files again, or delete the project of that run."};
}

Check keyring(const Path& home)
{
    if (secrets::Keyring::is_there())
        return {"secrets", "ok", "new secrets are stored in the desktop's keyring", ""};
    return {"secrets",
            "ok",
            "no desktop keyring answers: new secrets are stored encrypted in " +
                os::in_quotes(home / "secrets"),
            ""};
}

// Rewrites what differs from what this version carries.
Check programs(const Path& home)
{
    const auto lib = home / "lib";
    const auto repaired = executor::repair_installed(lib);
    if (!repaired)
        return {"programs",
                "fail",
                repaired.error().message(),
                "No run can start without them. Free some space, or make yourself the owner of " +
                    os::in_quotes(lib) + " again."};
    if (repaired->empty())
        return {"programs", "ok", "what runs need in " + os::in_quotes(lib) + " is intact", ""};
    std::string names;
    for (const auto& path : *repaired)
        names += (names.empty() ? "'" : ", '") + path.filename().native() + "'";
    return {"programs",
            "warn",
            fmt::format("{} in {} {} damaged and {} written again",
                        names,
                        os::in_quotes(lib),
                        repaired->size() == 1 ? "was" : "were",
                        repaired->size() == 1 ? "was" : "were"),
            "Runs that began with the damaged ones may have failed: submit them again. Find out "
            "what changed that folder, and check the disk."};
}

Check open_files()
{
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const auto text = fmt::format("up to {} open files", limit.rlim_cur);
    if (limit.rlim_cur < 1024)
        return {"open files", "warn", text, "Raise the limit with 'ulimit -n 4096'."};
    return {"open files", "ok", text, ""};
}

Check kernel()
{
    utsname name{};
    ::uname(&name);
    return {"kernel", "ok", fmt::format("{} {} {}", name.sysname, name.release, name.machine), ""};
}

}  // namespace

std::vector<Check> examine(const Context& context, Depth depth)
{
    return {
        kernel(),
        disk(context.home),
        file_system(context.home),
        database(context.history, depth),
        snapshots(context),
        programs(context.home),
        open_files(),
        keyring(context.home),
    };
}

}  // namespace ponk::engine
