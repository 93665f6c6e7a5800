// SPDX-License-Identifier: Apache-2.0
#include "config/script/check_script.hpp"

#include "base/text.hpp"
#include "config/script/modules.hpp"
#include "config/script/old_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ponk::config {

namespace {

class Check {
public:
    Check(const ScriptFile& file, const KnownPackages& packages) : file_(file), packages_(packages)
    {
    }

    void check_names()
    {
        for (const auto& import : file_.names.imports) {
            if (import.dots == 0) check_name(import.whole(), import.place, severity_of(import));
        }
        for (const auto& use : file_.names.uses)
            check_name(use.name, use.place, Severity::warning);
    }

    void check_import(const PythonImport& import)
    {
        const auto top = import.module.substr(0, import.module.find('.'));
        if (is_in_standard_library(top) || is_in_every_run(import.whole()) ||
            is_in_every_run(import.module) || find_old_name(import.whole()) != nullptr ||
            packages_.source == KnownPackages::Source::unknown || packages_.has(import.module) ||
            !missing_.insert(top).second)
            return;
        const auto distribution = distribution_of(import.module);
        if (packages_.source == KnownPackages::Source::installed) {
            add(severity_of(import),
                import.place,
                "module-missing",
                fmt::format("module '{}' is not installed in {}", top, packages_.place),
                fmt::format("Install the package '{}'.", distribution));
        } else {
            add(Severity::notice,
                import.place,
                "module-missing",
                fmt::format("'{}' names no package for module '{}'", packages_.place, top),
                fmt::format("Add '{}', unless another package brings it.", distribution));
        }
    }

    Diagnostics take() { return std::move(out_); }

private:
    static Severity severity_of(const PythonImport& import)
    {
        return import.kind == PythonImport::Kind::attempted ? Severity::notice : Severity::warning;
    }

    void check_name(const std::string& name, Place place, Severity severity)
    {
        const auto* const old = find_old_name(name);
        if (old == nullptr || is_in_every_run(name)) return;
        // A method of any value: only pandas had it.
        if (old->name.starts_with('.') && !file_.names.imports_package("pandas")) return;
        if (!old->since.empty()) {
            const auto version = packages_.version_of(old->package);
            if (!version.empty() && is_earlier(version, old->since)) return;
        }
        // `import a.b` and each use of it say the same: the first is enough.
        if (!told_.insert(std::string(old->name)).second) return;
        add(severity, place, "old-name", what_became_of(*old), advice_on(*old));
    }

    void
    add(Severity severity, Place place, const char* code, std::string message, std::string hint)
    {
        auto file = file_.name;
        // Places of a notebook count within their cell.
        const auto cell = std::find_if(file_.cells.rbegin(),
                                       file_.cells.rend(),
                                       [&](const auto& each) { return each.first <= place.line; });
        if (cell != file_.cells.rend()) {
            file += fmt::format(", cell {}", cell->second);
            place.line -= cell->first - 1;
        }
        out_.push_back(
            {file, place.line, place.column, severity, code, std::move(message), std::move(hint)});
    }

    const ScriptFile& file_;
    const KnownPackages& packages_;
    std::set<std::string> told_;
    std::set<std::string> missing_;
    Diagnostics out_;
};

}  // namespace

Diagnostics check_script(const ScriptFiles& script, const KnownPackages& packages)
{
    Diagnostics all;
    for (std::size_t i = 0; i < script.files.size(); ++i) {
        Check check(script.files[i], packages);
        check.check_names();
        for (const auto& [file, import] : script.elsewhere) {
            if (file == i) check.check_import(script.files[i].names.imports[import]);
        }
        auto remarks = check.take();
        all.insert(all.end(),
                   std::make_move_iterator(remarks.begin()),
                   std::make_move_iterator(remarks.end()));
    }
    sort_and_unify(all);
    return all;
}

}  // namespace ponk::config
