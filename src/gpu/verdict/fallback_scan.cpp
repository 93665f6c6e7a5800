// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "gpu/verdict/fallback.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <set>

namespace ponk::gpu {

namespace {

// A project may be large, and its text is somebody's: the scan is for a reason in a sentence, and
// ends where it would cost more than that.
constexpr std::size_t most_files = 500;
constexpr std::uint64_t largest_file = std::uint64_t{1} << 20;
constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;
constexpr std::size_t most_findings = 3;

constexpr std::array<std::string_view, 3> variables{
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};

// The value in `["NAME"] = "-1"`, `NAME=-1`, `("NAME", "")`; nullopt where nothing is assigned.
std::optional<std::string> assigned(std::string_view after)
{
    std::size_t at = 0;
    while (at < after.size() && std::string_view("\"'] \t").find(after[at]) != std::string::npos)
        ++at;
    if (at >= after.size() || std::string_view("=,:").find(after[at]) == std::string::npos)
        return std::nullopt;
    const bool argument = after[at] != '=';
    if (after.substr(at, 2) == "==") return std::nullopt;
    const auto value = trim(after.substr(at + 1));
    if (value.empty()) return argument ? std::nullopt : std::optional<std::string>("");
    if (value[0] == '"' || value[0] == '\'') {
        const auto end = value.find(value[0], 1);
        if (end == std::string_view::npos) return std::nullopt;
        return std::string(value.substr(1, end - 1));
    }
    // A shell's word; a name or a call of Python is told as it stands.
    auto word = value.substr(0, value.find_first_of(" \t;#,"));
    if (word.find('(') == std::string_view::npos) word = word.substr(0, word.find(')'));
    return std::string(word);
}

std::optional<std::string> hides(std::string_view line)
{
    const auto text = trim(line);
    if (text.empty() || text[0] == '#') return std::nullopt;
    for (const auto name : variables) {
        const auto at = text.find(name);
        if (at == std::string_view::npos) continue;
        if (const auto value = assigned(text.substr(at + name.size())))
            return fmt::format("sets {} to '{}'", name, printable(*value));
    }
    if (text.find("set_visible_devices([]") != std::string_view::npos)
        return "hides devices from TensorFlow by set_visible_devices([])";
    if (text.find("jax_platform") != std::string_view::npos &&
        (text.find("'cpu'") != std::string_view::npos ||
         text.find("\"cpu\"") != std::string_view::npos))
        return "keeps JAX on the CPU";
    return std::nullopt;
}

class Scan {
public:
    explicit Scan(os::Fd folder) : folder_(std::move(folder)) {}

    void file(const Path& relative)
    {
        const auto name = relative.lexically_normal().generic_string();
        if (is_done() || !seen_.insert(name).second) return;
        const auto text = os::read_in_root(folder_.get(), relative, largest_file);
        if (!text) return;
        bytes_ += text->size();
        ++files_;
        std::size_t number = 0;
        for (const auto& line : split(*text, '\n')) {
            ++number;
            follow(line, relative.parent_path());
            const auto what = hides(line);
            if (!what || findings_.size() >= most_findings) continue;
            findings_.push_back({"script-hides-devices",
                                 fmt::format("'{}:{}' {}", printable(name), number, *what),
                                 false,
                                 0});
        }
    }

    std::vector<Finding> take() { return std::move(findings_); }

private:
    [[nodiscard]] bool is_done() const
    {
        return files_ >= most_files || bytes_ >= most_bytes || findings_.size() >= most_findings;
    }
    // Modules that lie in the project: beside the file that names them, or below its folder.
    void follow(std::string_view line, const Path& beside)
    {
        auto text = trim(line);
        const bool from = text.starts_with("from ");
        if (!from && !text.starts_with("import ")) return;
        text.remove_prefix(from ? 5 : 7);
        for (const auto& part :
             split(text.substr(0, from ? text.find(" import") : text.size()), ',')) {
            auto name = std::string(trim(part));
            name = name.substr(0, name.find(' '));
            const auto first = name.find_first_not_of('.');
            if (first == std::string::npos) continue;
            name = name.substr(first);
            std::replace(name.begin(), name.end(), '.', '/');
            for (const auto& base : {beside, Path()}) {
                for (const auto* rest : {".py", "/__init__.py"})
                    file((base / (name + rest)).lexically_normal());
            }
        }
    }

    os::Fd folder_;
    std::set<std::string> seen_;
    std::size_t files_ = 0;
    std::uint64_t bytes_ = 0;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> scan_scripts(const Path& folder, const std::string& script)
{
    auto opened = os::open_file(folder, O_PATH | O_DIRECTORY);
    if (!opened) return {};
    Scan scan(std::move(*opened));
    if (!script.empty() && Path(script).is_relative()) scan.file(script);
    return scan.take();
}

}  // namespace ponk::gpu
