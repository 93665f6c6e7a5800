// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/inputs.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "os/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::engine {

namespace {

using model::Input;

constexpr std::int64_t per_millisecond = 1'000'000;

Result<std::string> digest_of(int folder, const char* name, std::stop_token stop)
{
    const os::Fd file(::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() < 0) return fail_errno(errno, "read '{}'", printable(name));
    Sha256 hash;
    std::string buffer(std::size_t{1} << 20, '\0');
    for (;;) {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
        const auto count = ::read(file.get(), buffer.data(), buffer.size());
        if (count < 0) return fail_errno(errno, "read '{}'", printable(name));
        if (count == 0) return hash.finish().text();
        hash.update(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
    }
}

// Counts what is in one input. Links in it are not followed: they may lead anywhere.
class Measure {
public:
    Measure(Input& input, std::stop_token stop) : input_(input), stop_(std::move(stop))
    {
        input_.files = input_.bytes = input_.newest = 0;
        input_.digest.clear();
    }

    Result<> take()
    {
        const Path source(input_.source);
        const auto root = os::open_file(source, O_RDONLY | O_DIRECTORY);
        if (root) {
            TRY(add_tree(root->get()));
        } else {
            const auto parent = TRY(os::open_file(source.parent_path(), O_RDONLY | O_DIRECTORY));
            TRY(add_file(parent.get(), source.filename().native(), source.filename().native()));
        }
        if (input_.with_digest) {
            std::sort(lines_.begin(), lines_.end());
            input_.digest = sha256(join(lines_, "")).text();
        }
        return {};
    }

private:
    Result<> add_tree(int root)
    {
        std::vector<std::string> waiting{""};
        os::NameList list;
        while (!waiting.empty()) {
            const auto folder = std::move(waiting.back());
            waiting.pop_back();
            const os::Fd fd(os::open_folder_beneath(root, folder));
            if (fd.get() < 0) return fail_errno(-fd.get(), "list '{}'", printable(folder));
            if (const int failed = list.read(fd.get()); failed != 0)
                return fail_errno(failed, "list '{}'", printable(folder));
            for (const auto& name : list.names()) {
                if (stop_.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
                auto path = (folder.empty() ? "" : folder + "/") + std::string(name.text);
                if (name.type == DT_DIR) {
                    waiting.push_back(std::move(path));
                } else if (name.type == DT_REG) {
                    TRY(add_file(fd.get(), std::string(name.text), path));
                }
            }
        }
        return {};
    }

    Result<> add_file(int folder, const std::string& name, const std::string& path)
    {
        os::FileStatus status;
        if (const int failed = os::status_at(folder, name.c_str(), status); failed != 0) {
            if (failed == ENOENT) return {};
            return fail_errno(failed, "look at '{}'", printable(path));
        }
        ++input_.files;
        input_.bytes += static_cast<std::int64_t>(status.size);
        input_.newest = std::max(input_.newest, status.mtime_ns / per_millisecond);
        if (!input_.with_digest) return {};
        lines_.push_back(path + '\0' + TRY(digest_of(folder, name.c_str(), stop_)) + '\n');
        return {};
    }

    Input& input_;
    std::stop_token stop_;
    std::vector<std::string> lines_;
};

bool is_inside(const Path& path, const Path& folder)
{
    const auto relative = path.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != ".." && relative != ".";
}

tl::unexpected<Error> wrong(const std::string& word, const std::string& what, std::string hint)
{
    return tl::unexpected(Error(
        ErrorKind::invalid_argument, "input '" + printable(word) + "' " + what, std::move(hint)));
}

// Where the run sees it.
Result<std::string> place_of(const std::string& word, const std::string& place)
{
    auto path = Path(place).lexically_normal();
    if (!path.empty() && path.filename().empty()) path = path.parent_path();
    if (path.empty() || path.is_absolute() || path == "." || *path.begin() == "..")
        return wrong(word,
                     "has no place in the project",
                     "Write '--input PLACE=PATH', PLACE relative to the project's folder.");
    for (const auto* name : {"outputs", ".git", "azureml-logs", "azureml-setup"}) {
        if (*path.begin() == name)
            return wrong(word,
                         fmt::format("is in '{}', which is not for data", name),
                         "Choose another place.");
    }
    return path.native();
}

}  // namespace

Result<std::vector<Input>> resolve_inputs(const RunRequest& request,
                                          const config::RunConfiguration& configuration,
                                          const Path& project)
{
    std::vector<Input> inputs;
    const auto add = [&](const std::string& word, bool from_file) -> Result<> {
        const auto equals = word.starts_with('/') ? std::string::npos : word.find("=/");
        Input input;
        auto source = Path(equals == std::string::npos ? word : word.substr(equals + 1));
        if (source.is_relative()) source = project / source;
        source = source.lexically_normal();
        input.path =
            TRY(place_of(word,
                         equals != std::string::npos  ? word.substr(0, equals)
                         : is_inside(source, project) ? source.lexically_relative(project).native()
                                                      : std::string()));
        // The command line comes first and wins.
        const auto given = [&input](const Input& other) { return other.path == input.path; };
        if (std::any_of(inputs.begin(), inputs.end(), given)) return {};
        std::error_code problem;
        const auto real = std::filesystem::canonical(source, problem);
        if (problem)
            return wrong(word, "does not exist", "There is no " + os::in_quotes(source) + ".");
        const auto type = std::filesystem::status(real, problem).type();
        if (type != std::filesystem::file_type::directory &&
            type != std::filesystem::file_type::regular)
            return wrong(word, "is neither a folder nor a file", "");
        if (from_file && !is_inside(real, project))
            return wrong(word,
                         "leads out of the project, to " + os::in_quotes(real),
                         "A file of a project cannot give it that. Give it yourself: 'ponk submit "
                         "--input " +
                             shell_word(input.path + "=" + real.native()) + "'.");
        input.source = real.native();
        for (const auto& other : inputs) {
            if (is_inside(input.path, other.path) || is_inside(other.path, input.path))
                return wrong(word,
                             "and input '" + other.path + "' lie in each other",
                             "Give the outer one only.");
        }
        input.with_digest = request.input_digest;
        inputs.push_back(std::move(input));
        return {};
    };
    for (const auto& word : request.inputs)
        TRY(add(word, false));
    for (const auto& word : configuration.inputs)
        TRY(add(*word, true)
                .map_error(while_doing(
                    "{}:{}:{}", configuration.file, word.place.line, word.place.column)));
    return inputs;
}

Result<Input> measure(const Input& input, std::stop_token stop)
{
    auto now = input;
    std::error_code problem;
    if (std::filesystem::canonical(input.source, problem) != Path(input.source) || problem)
        return fail(ErrorKind::conflict,
                    "{} is not there any more, or leads elsewhere",
                    os::in_quotes(input.source));
    TRY(Measure(now, std::move(stop)).take());
    return now;
}

std::string difference(const Input& before, const Input& now)
{
    // What one of them has no digest of cannot differ by it, and equal contents are equal.
    const auto is_same = [](const std::string& left, const std::string& right) {
        return left.empty() || right.empty() || left == right;
    };
    auto as_before = now;
    as_before.tree = before.tree;
    if (before == as_before && is_same(before.tree, now.tree)) return "";
    if (!before.tree.empty() && before.tree == now.tree) return "";
    const auto size = [](const Input& input) {
        return fmt::format("{} file{}, {}",
                           input.files,
                           input.files == 1 ? "" : "s",
                           byte_size_text(static_cast<std::uint64_t>(input.bytes)));
    };
    auto text = fmt::format("input '{}' ", printable(now.path));
    if (before.files == now.files && size(before) == size(now) && before.bytes != now.bytes)
        return text + fmt::format("has {} bytes, before {}", now.bytes, before.bytes);
    if (before.files != now.files || before.bytes != now.bytes)
        return text + fmt::format("has {}, before {}", size(now), size(before));
    if (!is_same(before.digest, now.digest) || !is_same(before.tree, now.tree))
        return text + "has other contents";
    return text + fmt::format("has files changed at {}, before the newest was of {}",
                              utc_text(now.newest),
                              utc_text(before.newest));
}

}  // namespace ponk::engine
