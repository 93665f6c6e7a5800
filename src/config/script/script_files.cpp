// SPDX-License-Identifier: Apache-2.0
#include "config/script/script_files.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace ponk::config {

namespace {

constexpr std::uint64_t longest_file = std::uint64_t{1} << 20;
constexpr std::uint64_t longest_notebook = std::uint64_t{16} << 20;
constexpr std::size_t most_files = 500;

std::string text_of_cell(const Json& cell)
{
    const auto& source = cell["source"];
    if (source.is_string()) return source.as_string();
    std::string text;
    if (source.is_array()) {
        for (const auto& line : source.as_array())
            text += line.is_string() ? line.as_string() : "";
    }
    return text;
}

// The code of a notebook as one text, without lines that are not Python's.
std::string code_of_notebook(const Json& notebook, ScriptFile& file)
{
    std::string code;
    std::uint32_t line = 1;
    std::size_t number = 0;
    const auto& cells = notebook["cells"];
    if (!cells.is_array()) return code;
    for (const auto& cell : cells.as_array()) {
        if (cell.text("cell_type") != "code") continue;
        file.cells.emplace_back(line, ++number);
        for (const auto& each : split(text_of_cell(cell), '\n')) {
            const auto word = trim(each);
            if (!word.starts_with('%') && !word.starts_with('!')) code += each;
            code += '\n';
            ++line;
        }
    }
    return code;
}

class Reading {
public:
    explicit Reading(const os::Path& root) : root_(root) {}

    Result<ScriptFiles> run(const std::string& script)
    {
        TRY(read(script));
        top_ = os::Path(script).parent_path();
        for (std::size_t next = 0; next < out_.files.size(); ++next) {
            // Reading more moves the files.
            const auto imports = out_.files[next].names.imports;
            const auto folder = os::Path(out_.files[next].name).parent_path();
            for (std::size_t i = 0; i < imports.size(); ++i) {
                if (!follow(imports[i], folder)) out_.elsewhere.emplace_back(next, i);
            }
        }
        return std::move(out_);
    }

private:
    Result<> read(const std::string& name)
    {
        if (!known_.insert(name).second) return {};
        if (out_.files.size() >= most_files) {
            out_.complete = false;
            return {};
        }
        const bool is_notebook = lower(os::Path(name).extension().native()) == ".ipynb";
        const auto file = TRY(os::open_regular(root_ / name, os::Links::follow));
        auto text = TRY(os::read_at(file.get(), 0, is_notebook ? longest_notebook : longest_file));
        ScriptFile found;
        found.name = name;
        if (is_notebook)
            text = code_of_notebook(
                TRY(parse_json(without_byte_order_mark(text), {.odd_numbers = true})
                        .map_error(while_doing("{}", name))),
                found);
        found.names = python_names(text);
        out_.files.push_back(std::move(found));
        return {};
    }

    // Whether the module is the project's; its files are read then.
    bool follow(const PythonImport& import, const os::Path& folder)
    {
        std::vector<os::Path> places;
        if (import.dots > 0) {
            auto place = folder;
            for (auto i = import.dots; i > 1; --i)
                place = place.parent_path();
            places = {place};
        } else {
            places = {top_, "", "src"};
        }
        auto module = import.module;
        std::replace(module.begin(), module.end(), '.', '/');
        for (const auto& place : places) {
            if (read_module(place, module, import.name)) return true;
        }
        return import.dots > 0;
    }

    bool read_module(const os::Path& place, const std::string& module, const std::string& name)
    {
        // Each package on the way is executed by an import.
        bool found = false;
        auto path = place;
        for (const auto& part : os::Path(module)) {
            path /= part;
            const bool here = read_one(path);
            if (!here && !found) return false;
            found = true;
        }
        if (!name.empty() && name != "*") found = read_one(path / name) || found;
        return found;
    }

    bool read_one(const os::Path& path)
    {
        const auto name = path.lexically_normal().native();
        std::error_code problem;
        for (const auto& file : {name + ".py", name + "/__init__.py"}) {
            if (!std::filesystem::is_regular_file(root_ / file, problem)) continue;
            if (!read(file)) out_.complete = false;
            return true;
        }
        // A folder without a file of its own is a package, if any module is in it.
        if (!std::filesystem::is_directory(root_ / name, problem)) return false;
        for (const auto& entry : std::filesystem::directory_iterator(root_ / name, problem)) {
            if (entry.path().extension() == ".py") return true;
        }
        return false;
    }

    os::Path root_;
    os::Path top_;  // Python looks beside the script first
    std::set<std::string> known_;
    ScriptFiles out_;
};

}  // namespace

Result<ScriptFiles> read_script_files(const os::Path& root, const std::string& script)
{
    return Reading(root).run(script);
}

bool imports_package(const ScriptFiles& files, std::string_view package)
{
    return std::any_of(files.files.begin(), files.files.end(), [&](const ScriptFile& file) {
        return file.names.imports_package(package);
    });
}

}  // namespace ponk::config
