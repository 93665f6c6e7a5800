// SPDX-License-Identifier: Apache-2.0
#include "config/packages/package_file.hpp"

#include "base/text.hpp"
#include "config/files/package.hpp"
#include "config/packages/pyproject.hpp"
#include "config/packages/python_env.hpp"
#include "config/packages/uv_lock.hpp"
#include "config/project/config_file.hpp"
#include "config/text/toml_document.hpp"

#include <filesystem>

namespace ponk::config {

namespace {

constexpr std::uint64_t longest_text = std::uint64_t{16} << 20;

enum class Form { conda, pyproject, uv_lock, requirements, script };

Form form_of(const std::string& name)
{
    const os::Path file(name);
    const auto extension = lower(file.extension().native());
    if (file.filename() == "uv.lock") return Form::uv_lock;
    if (extension == ".toml") return Form::pyproject;
    if (extension == ".txt" || extension == ".in") return Form::requirements;
    return extension == ".py" || extension == ".pyw" ? Form::script : Form::conda;
}

std::optional<std::string> text_of(const os::Path& file, Report& report)
{
    auto text = os::read_file(file, longest_text);
    if (!text) {
        report.error({}, "unreadable", text.error().message());
        return std::nullopt;
    }
    return std::string(without_byte_order_mark(*text));
}

const Node* project_table(const Node& root)
{
    const auto* const project = root.find("project");
    return project != nullptr && project->is_map() ? project : nullptr;
}

}  // namespace

std::optional<CondaEnvironment>
read_package_file(const os::Path& root, const std::string& name, Report& report)
{
    const auto form = form_of(name);
    if (form == Form::conda) {
        const auto document = load_document(root, name, report);
        if (!document) return std::nullopt;
        if (is_python_env(name, *document)) return read_python_env(*document, report);
        return read_conda(*document, report);
    }
    if (form == Form::requirements) {
        CondaEnvironment environment;
        environment.pip.push_back(parse_package("-r " + name, {1, 1}, Installer::pip));
        return environment;
    }
    auto text = text_of(root / name, report);
    if (!text) return std::nullopt;
    if (form == Form::uv_lock) return read_uv_lock(*text, report);
    if (form == Form::script) text = script_metadata(*text).value_or("");
    const auto document = read_toml_document(*text, report);
    if (!document) return std::nullopt;
    if (form == Form::script) return read_requirements(*document, report);
    const auto* const table = project_table(*document);
    return table != nullptr ? read_requirements(*table, report) : CondaEnvironment();
}

bool names_packages(const os::Path& root, const std::string& name)
{
    std::error_code problem;
    if (!std::filesystem::is_regular_file(root / name, problem)) return false;
    const auto form = form_of(name);
    if (form != Form::pyproject && form != Form::script) return true;
    Report ignored(name);
    const auto text = text_of(root / name, ignored);
    if (!text) return true;
    if (form == Form::script) return script_metadata(*text).has_value();
    const auto document = read_toml_document(*text, ignored);
    if (!document) return true;
    const auto* const table = project_table(*document);
    if (table == nullptr) return false;
    const auto* const dependencies = table->find("dependencies");
    return dependencies != nullptr && !(dependencies->is_list() && dependencies->items.empty());
}

Diagnostics check_package_files(const os::Path& root, std::size_t& found)
{
    Diagnostics all;
    std::vector<std::string> names(std::begin(package_files), std::end(package_files));
    names.emplace_back(requirements_file);
    for (const auto& name : names) {
        if (!names_packages(root, name)) continue;
        ++found;
        if (form_of(name) == Form::uv_lock) continue;
        Report report(name);
        static_cast<void>(read_package_file(root, name, report));
        for (auto& remark : report.take())
            all.push_back(std::move(remark));
    }
    return all;
}

std::optional<std::string> own_modules(const os::Path& root)
{
    std::error_code problem;
    const auto is_file = [&](const char* name) {
        return std::filesystem::is_regular_file(root / name, problem);
    };
    bool is_package = is_file("setup.py");
    if (!is_package && is_file("pyproject.toml")) {
        Report ignored("pyproject.toml");
        const auto text = text_of(root / "pyproject.toml", ignored);
        const auto document = text ? read_toml_document(*text, ignored) : std::nullopt;
        is_package = document && document->find("build-system") != nullptr;
    }
    if (!is_package) return std::nullopt;
    return std::filesystem::is_directory(root / "src", problem) ? "src" : ".";
}

}  // namespace ponk::config
