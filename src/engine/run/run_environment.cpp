// SPDX-License-Identifier: Apache-2.0
#include "engine/run/run_environment.hpp"

#include "base/hash.hpp"
#include "environment/installed/installed_packages.hpp"

#include <filesystem>
#include <system_error>

namespace ponk::engine {

namespace {

constexpr const char* kept_lock = "lock.json";
constexpr const char* wanted_lock = "wanted-lock.json";
constexpr std::uint64_t lock_limit = std::uint64_t{64} << 20;

// The script may write into its run's folder, so the text is checked against what history knows.
Result<std::string> read_lock(const os::Path& file, const std::string& digest)
{
    const auto text = TRY(os::read_file_if_any(file, lock_limit));
    const char* why = !text                            ? "is missing"
                      : sha256(*text).text() != digest ? "was changed"
                                                       : nullptr;
    if (why == nullptr) return std::move(*text);
    return tl::unexpected(
        Error(text ? ErrorKind::damaged : ErrorKind::not_found,
              fmt::format("the list of packages {} {}", os::in_quotes(file), why),
              "So exactly the same environment cannot be built again; submit the script again."));
}

// The Python of the earlier run, even if another one is first on PATH now.
Result<> pin_interpreter(const std::string& interpreter, RunSpec& spec)
{
    if (interpreter.empty()) return {};
    std::error_code problem;
    if (spec.location.kind == model::Location::Kind::here &&
        !std::filesystem::exists(interpreter, problem)) {
        return tl::unexpected(Error(
            ErrorKind::not_found,
            fmt::format("the Python of that run, {}, no longer exists", os::in_quotes(interpreter)),
            "Create that environment again, or submit the script again."));
    }
    spec.program.interpreter = interpreter;
    return {};
}

}  // namespace

Result<Json> keep_environment(const os::Path& directory, const executor::EnvironmentUsed& used)
{
    if (!used.lock.empty())
        TRY(os::replace_file(directory / kept_lock, used.lock, 0600, os::Durable::no));
    auto record = to_json(used);
    record.as_object().erase("lock");
    return record;
}

Result<std::string> read_kept_lock(const os::Path& directory, const model::Run& run)
{
    const auto digest = run.environment.text("lock_digest");
    if (digest.empty())
        return fail(ErrorKind::not_found, "run '{}' had no managed environment", run.id.text());
    return read_lock(directory / kept_lock, digest);
}

Result<> pin_environment(const os::Path& earlier_directory,
                         const model::Run& earlier,
                         const os::Path& directory,
                         RunSpec& spec)
{
    const auto& had = earlier.environment;
    if (!had.is_object()) return {};
    if (spec.runtime.container && spec.runtime.container->pinned.empty())
        spec.runtime.container->pinned = had.text("base_digest");
    if (spec.environment.file.empty() && !spec.runtime.container)
        TRY(pin_interpreter(had.text("interpreter"), spec));
    if (had.text("lock_digest").empty()) return {};
    const auto text = TRY(read_kept_lock(earlier_directory, earlier));
    TRY(os::make_directories(directory));
    TRY(os::replace_file(directory / wanted_lock, text, 0600, os::Durable::no));
    spec.environment.lock_digest = had.text("lock_digest");
    return {};
}

std::string changed_packages(const os::Path& directory,
                             const RunSpec& spec,
                             const executor::EnvironmentUsed& used)
{
    const auto& digest = spec.environment.lock_digest;
    if (!spec.environment.file.empty() || digest.empty() || digest == used.lock_digest) return "";
    const auto text = read_wanted_lock(directory, digest);
    const auto before = text ? environment::parse_lock(*text) : tl::unexpected(text.error());
    const auto now = environment::parse_lock(used.lock);
    return before && now ? environment::difference_between(*before, *now) : "";
}

Result<std::string> read_wanted_lock(const os::Path& directory, const std::string& digest)
{
    return read_lock(directory / wanted_lock, digest);
}

}  // namespace ponk::engine
