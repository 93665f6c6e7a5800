// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "cli/client/daemon.hpp"
#include "cli/client/entry.hpp"
#include "cli/syntax/exit_code.hpp"
#include "cli/syntax/parse.hpp"
#include "cli/terminal/terminal_filter.hpp"
#include "output/render.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>

namespace ponk::cli {

// What a table shows instead of the whole document: its own rows (null: the document's) and
// columns. TSV has the same columns with values that programs can read: `exact` (null: the
// document's).
struct View {
    Json rows = {};
    output::Columns columns = {};
    Json exact = {};
};

// What a command works with: global options, the project, the daemon, and the way to print.
class Context {
public:
    static Result<Context> make(const Entry& entry, const Invocation& words);

    [[nodiscard]] const Entry& entry() const noexcept { return entry_; }
    // The format asked for by -o, if one was.
    [[nodiscard]] std::optional<output::Format> asked_format() const noexcept { return format_; }
    // That, else a table on a terminal and JSON in a pipe.
    [[nodiscard]] output::Format format() const;
    [[nodiscard]] bool has_query() const noexcept { return !query_.empty(); }
    [[nodiscard]] bool verbose() const noexcept { return verbose_; }

    // The project's folder: -p, else the current one or the project above it, which is told once.
    // Absolute, without links.
    Result<os::Path> project();
    // The current folder as seen from the project that was found above it; else empty.
    Result<std::string> folder_in_project();
    Result<os::Path> home() const;
    // The daemon, started when it is not there; or the server that --server or PONK_SERVER names.
    Result<Daemon*> daemon();
    [[nodiscard]] bool asks_server() const noexcept { return server_.has_value(); }
    // No project is chosen: on a server the current folder means none.
    [[nodiscard]] bool spans_projects() const noexcept { return server_ && project_.empty(); }
    // The id under which history knows the project; empty when it does not yet, or on a server when
    // none is chosen.
    Result<std::string> project_id();
    // GET on a run that the user named by id, part of an id, its number, or "last".
    Result<Json> run(std::string_view name);
    // Says so when a run's new name means something else wherever a run is named.
    void warn_of_run_name(std::string_view name) const;

    // The result on standard output, through --query and -o.
    Outcome print(const Json& document, const View& view = {});
    // The next part of a result that is too long to be held; it is in the format asked for already.
    Result<> print_part(std::string_view text);
    // A result that is text for people; in JSON it is {"message": …} with the given fields.
    Outcome done(const std::string& message, JsonObject fields = {});
    static Result<> print_text(std::string_view text, Passing passing = Passing::colours);
    // Whether a document is on standard output already: a second one would spoil it.
    [[nodiscard]] bool has_printed() const noexcept { return printed_; }

    // A line on standard error.
    template <class... Args>
    void note(fmt::format_string<Args...> format, Args&&... args) const
    {
        note_line(fmt::format(format, std::forward<Args>(args)...));
    }
    template <class... Args>
    void detail(fmt::format_string<Args...> format, Args&&... args) const
    {
        if (verbose_) note_line(fmt::format(format, std::forward<Args>(args)...));
    }

private:
    explicit Context(const Entry& entry) : entry_(entry) {}
    void note_line(const std::string& text) const;
    bool is_known(const os::Path& folder);

    Entry entry_;
    std::optional<output::Format> format_;
    std::string query_;
    std::string project_;
    bool verbose_ = false;
    bool debug_ = false;
    bool printed_ = false;
    std::optional<ServerAddress> server_;
    std::optional<Daemon> daemon_;
    std::optional<std::string> project_id_;
    std::optional<Daemon> asked_;  // for a question only: it may be of another version
    std::optional<os::Path> found_project_;
    std::string folder_in_project_;
};

// Only tables and JSON have colours, and show controls in what they hold.
Passing passing_of(output::Format format);

// RUN as positional, or -r/--run as in 2017, or "last" when `otherwise` allows it.
tl::expected<std::string, Failure> run_name(const Invocation& words,
                                            std::string_view otherwise = {});

}  // namespace ponk::cli
