// SPDX-License-Identifier: Apache-2.0
#include "engine/secrets/run_secrets.hpp"

#include "base/seal.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace ponk::engine {

namespace {

namespace fs = std::filesystem;

// Everything below the folder, what is deepest first.
Result<std::vector<Path>> everything_below(const Path& folder)
{
    std::vector<Path> found;
    std::error_code problem;
    for (fs::recursive_directory_iterator at(folder, problem), end; at != end && !problem;
         at.increment(problem))
        found.push_back(at->path());
    if (problem) return fail_errno(problem.value(), "read {}", os::in_quotes(folder));
    std::reverse(found.begin(), found.end());
    return found;
}

bool is_taken(const Path& path)
{
    std::error_code problem;
    return fs::symlink_status(path, problem).type() != fs::file_type::not_found;
}

Path free_name(const Path& wanted)
{
    Path name = wanted;
    for (int i = 2; is_taken(name); ++i)
        name = Path(fmt::format("{}-{}", wanted.native(), i));
    return name;
}

}  // namespace

Result<RunSecrets> RunSecrets::load(const Context& context, const RunSpec& spec)
{
    RunSecrets loaded;
    const auto names = secret_names(spec);
    if (names.empty()) return loaded;
    auto values = TRY(context.secrets.values_for_redaction(names));
    auto patterns = secrets::shared_patterns(values);
    if (!patterns->empty()) loaded.patterns_ = std::move(patterns);
    for (const auto& value : values) {
        const auto text = trim(value);
        double number = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (loaded.patterns_ && text.size() >= secrets::shortest_redacted &&
            problem == std::errc() && end == text.data() + text.size())
            loaded.numbers_.push_back(number);
    }
    for (auto& value : values)
        wipe(value);
    return loaded;
}

Result<RunSecrets> RunSecrets::load(const Context& context, const model::Run& run)
{
    if (run.configuration.is_null()) return RunSecrets();
    return load(context, TRY(model::parse_run_spec(run.configuration)));
}

std::string RunSecrets::hide(std::string_view text) const
{
    if (!patterns_) return std::string(text);
    secrets::Redactor redactor(patterns_);
    std::string out(redactor.feed(text));
    out += redactor.finish();
    return out;
}

Error RunSecrets::hide(const Error& error) const
{
    return {error.kind(), hide(error.message()), hide(error.hint())};
}

void RunSecrets::hide(std::string& name,
                      std::vector<std::pair<std::string, std::string>>& tags) const
{
    if (!patterns_) return;
    name = hide(name);
    for (auto& [key, value] : tags) {
        key = hide(key);
        value = hide(value);
    }
}

void RunSecrets::hide(model::JournalPiece& piece) const
{
    if (!patterns_) return;
    for (auto& point : piece.points) {
        point.key = hide(point.key);
        if (point.text) point.text = hide(*point.text);
        const bool told =
            std::find(numbers_.begin(), numbers_.end(), point.value) != numbers_.end();
        if (!point.text && told) point.text = secrets::Redactor::mask;
    }
    for (auto* words : {&piece.params, &piece.tags}) {
        for (auto& [key, value] : *words) {
            key = hide(key);
            value = hide(value);
        }
    }
    for (auto& artifact : piece.artifacts)
        artifact.path = hide(artifact.path);
    for (auto* records : {&piece.tracked, &piece.asks}) {
        for (auto& record : *records)
            record = parse_json(hide(to_json(record))).value_or(Json());
    }
}

Result<> RunSecrets::hide_names(const Path& folder) const
{
    std::error_code problem;
    if (!patterns_ || fs::symlink_status(folder, problem).type() != fs::file_type::directory)
        return {};
    for (const auto& path : TRY(everything_below(folder))) {
        const auto status = fs::symlink_status(path, problem);
        const auto name = path.lexically_relative(folder).native();
        if (fs::is_symlink(status)) {
            const auto leads_to = fs::read_symlink(path, problem).native();
            if (const auto hidden = hide(leads_to); !problem && hidden != leads_to) {
                fs::remove(path, problem);
                if (!problem) fs::create_symlink(hidden, path, problem);
            }
        }
        const auto hidden = hide(name);
        if (!problem && hidden != name) {
            // The whole path, since a secret with a slash in it makes folders.
            const auto target = free_name(folder / hidden);
            if (fs::is_directory(status) && fs::is_empty(path, problem)) {
                fs::remove(path, problem);
            } else if (!fs::is_directory(status)) {
                fs::create_directories(target.parent_path(), problem);
                if (!problem) fs::rename(path, target, problem);
            }
        }
        if (problem) return fail_errno(problem.value(), "hide the name of '{}'", printable(hidden));
    }
    return {};
}

}  // namespace ponk::engine
