// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/history/code_diff.hpp"

#include "base/text.hpp"
#include "net/target.hpp"
#include "os/file.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

namespace ponk::cli {
namespace {

Result<std::string> content_of(Daemon& daemon, const std::string& run, const std::string& path)
{
    std::string content;
    TRY(daemon.stream(
        fmt::format("/runs/{}/snapshot/file?path={}", run, net::percent_encode(path)),
        [&content](std::string_view bytes) {
            content += bytes;
            return true;
        },
        answer_limit));
    return content;
}

bool is_binary(std::string_view content)
{
    constexpr std::size_t looked_at = 8000;
    return content.substr(0, looked_at).find('\0') != std::string_view::npos;
}

// Removed with all it holds.
struct Folder {
    os::Path path;
    ~Folder() { static_cast<void>(os::remove_tree(path)); }
};

}  // namespace

Result<std::string> unified_diff(Daemon& daemon,
                                 const std::string& first_run,
                                 const std::string& second_run,
                                 const FileChange& change)
{
    const auto shown = printable(change.path);
    const auto no_text = fmt::format("{}: no text, or more than 1 MiB\n", shown);
    if (!change.text) return no_text;
    std::string before;
    std::string after;
    if (change.before) before = TRY(content_of(daemon, first_run, change.path));
    if (change.after) after = TRY(content_of(daemon, second_run, change.path));
    if (is_binary(before) || is_binary(after)) return no_text;
    const Folder folder{
        TRY(os::make_temporary_directory(std::filesystem::temp_directory_path(), "ponk-diff-"))};
    TRY(os::replace_file(folder.path / "before", before));
    TRY(os::replace_file(folder.path / "after", after));
    os::Command command;
    command.argv = {"diff",
                    "-u",
                    "--label",
                    change.before ? "a/" + shown : "/dev/null",
                    "--label",
                    change.after ? "b/" + shown : "/dev/null",
                    (folder.path / "before").native(),
                    (folder.path / "after").native()};
    const auto done = os::run(command, ponk::after(answer_limit), {}).map_error([](Error error) {
        return error.with_hint("'--diff' needs the program 'diff'; install 'diffutils'.");
    });
    if (!done) return tl::unexpected(done.error());
    if (done->exit.status() > 1)
        return fail(ErrorKind::unavailable, "'diff' of '{}': {}", shown, trim(done->err));
    // Only its rights.
    if (done->out.empty()) return fmt::format("{}: mode changed\n", shown);
    return done->out;
}

}  // namespace ponk::cli
