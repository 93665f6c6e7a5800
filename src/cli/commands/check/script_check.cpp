// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/check/script_check.hpp"

#include "base/text.hpp"
#include "cli/hosts/interpreter.hpp"
#include "config/script/check_script.hpp"
#include "os/process.hpp"

#include <filesystem>

namespace ponk::cli {
namespace {

// Not the folders that variables name: they may be the project's.
constexpr const char* question = R"(import site, sys
try:
    site.addsitedir(site.getusersitepackages())
except Exception:
    pass
print("%d.%d.%d" % sys.version_info[:3])
print("\n".join(sys.path))
)";

// Nothing is known where no Python answers.
config::KnownPackages packages_of_user(const os::Path& project)
{
    config::ComputeTarget target;
    const auto python = find_interpreter(project, target);
    if (!python || python->owner != Interpreter::Owner::user) return {};
    const auto output =
        os::run({.argv = {python->program.string(), "-E", "-s", "-c", question}, .directory = "/"},
                after(std::chrono::seconds(20)),
                {});
    if (!output || output->exit.status() != 0) return {};
    auto lines = split(trim(output->out), '\n');
    const auto version = lines.front();
    std::vector<os::Path> folders;
    for (auto line = lines.begin() + 1; line != lines.end(); ++line) {
        if (line->starts_with('/')) folders.emplace_back(*line);
    }
    auto known = config::packages_in(
        folders, fmt::format("{} (Python {})", python->program.string(), version));
    known.versions["python"] = version;
    return known;
}

}  // namespace

bool is_script_name(const std::string& file)
{
    const auto extension = lower(os::Path(file).extension().native());
    return extension == ".py" || extension == ".pyw" || extension == ".ipynb";
}

Result<config::Diagnostics> check_script(Context& context, const std::string& file)
{
    std::error_code problem;
    const auto whole = std::filesystem::weakly_canonical(file, problem);
    if (!std::filesystem::is_regular_file(whole, problem)) {
        return tl::unexpected(Error(ErrorKind::not_found,
                                    "script " + os::in_quotes(file) + " does not exist",
                                    "Give existing files, relative to this folder."));
    }
    os::Path root = TRY(context.project());
    auto name = whole.lexically_relative(root);
    if (name.empty() || *name.begin() == "..") {
        root = whole.parent_path();
        name = whole.filename();
    }
    const auto script = TRY(config::read_script_files(root, name.native()));
    auto packages = config::packages_of_project(root, name.native());
    if (packages.source == config::KnownPackages::Source::unknown)
        packages = packages_of_user(root);
    if (packages.source == config::KnownPackages::Source::unknown) {
        context.note("the packages of this script are not known: no Python answers");
    } else {
        context.note("{}: {} {} of the project, compared with {}",
                     printable(file),
                     script.files.size(),
                     script.files.size() == 1 ? "file" : "files",
                     printable(packages.place));
    }
    if (!script.complete) context.note("not all modules that it imports could be read");
    return config::check_script(script, packages);
}

}  // namespace ponk::cli
