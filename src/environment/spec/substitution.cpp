// SPDX-License-Identifier: Apache-2.0
#include "environment/spec/substitution.hpp"

#include "base/text.hpp"
#include "config/files/package.hpp"
#include "config/files/retired.hpp"
#include "environment/address/address.hpp"
#include "environment/spec/python_version.hpp"

#include <optional>

namespace ponk::environment {

namespace {

using config::Installer;
using config::Package;
using config::Retired;

// The oldest Python that today's packages still install on.
constexpr const char* oldest_python = "3.9";

struct Answer {
    std::string to;  // empty: the line goes
    std::string why;
};

std::optional<Answer> answer_from(const Retired* gone, Installer installer, std::string_view what)
{
    if (gone == nullptr || gone->substitute.empty()) return std::nullopt;
    Answer answer;
    answer.why = fmt::format("{} '{}' {}", what, gone->name, gone->what);
    if (gone->substitute == Retired::nothing) return answer;
    answer.to = gone->substitute;
    // Extras are pip's; conda's package of that name has them in its builds.
    if (installer == Installer::conda) answer.to = answer.to.substr(0, answer.to.find('['));
    return answer;
}

std::string_view address_in(std::string_view text)
{
    const auto colon = text.find("://");
    if (colon == std::string_view::npos) return {};
    const auto before = text.find_last_of(" =", colon);
    return text.substr(before == std::string_view::npos ? 0 : before + 1);
}

std::optional<Answer> answer_for_pip_name(const Package& package)
{
    if (config::is_standard_module(package.name) && package.version.empty())
        return Answer{{}, fmt::format("'{}' is a module of Python itself", package.name)};
    const auto& version = package.version;
    const bool single = version.size() > 1 && version[0] == '=' && version[1] != '=';
    const auto distribution = config::distribution_for_import(package.name);
    if (!distribution.empty()) {
        return Answer{std::string(distribution),
                      fmt::format("'{}' is the import name", package.name)};
    }
    if (single) {
        const auto equals = package.text.find('=');
        return Answer{package.text.substr(0, equals) + "=" + package.text.substr(equals),
                      "pip needs '==' before a version"};
    }
    return std::nullopt;
}

// Without a GPU the same package, less what is for GPUs alone.
void leave_out_cuda(Answer& answer)
{
    constexpr std::string_view extra = "[and-cuda]";
    const auto at = answer.to.find(extra);
    if (at == std::string::npos) return;
    answer.to.erase(at, extra.size());
    answer.why += ", and this target has no GPU";
}

std::optional<Answer> answer_for(const Package& package, Installer installer)
{
    if (package.kind == Package::Kind::url || package.kind == Package::Kind::option)
        return answer_from(
            config::find_retired_host(address_in(package.text)), installer, "the server");
    if (package.kind != Package::Kind::name) return std::nullopt;
    if (installer == Installer::pip) {
        if (auto answer = answer_for_pip_name(package)) return answer;
    }
    return answer_from(config::find_retired_package(package.name), installer, "the package");
}

std::vector<Package> replaced(const std::vector<Package>& packages,
                              Installer installer,
                              Gpus gpus,
                              std::vector<Substitution>& done)
{
    std::vector<Package> kept;
    for (const auto& package : packages) {
        auto answer = answer_for(package, installer);
        if (!answer) {
            kept.push_back(package);
            continue;
        }
        if (gpus == Gpus::none) leave_out_cuda(*answer);
        done.push_back({package.place, without_secrets(package.text), answer->to, answer->why});
        if (!answer->to.empty())
            kept.push_back(config::parse_package(answer->to, package.place, installer));
    }
    return kept;
}

void replace_old_python(config::CondaEnvironment& environment, std::vector<Substitution>& done)
{
    const auto version = *environment.python_version;
    if (version.empty() || compare_releases(version, oldest_python) >= 0) return;
    for (auto& package : environment.conda) {
        if (package.name != "python") continue;
        done.push_back({package.place,
                        package.text,
                        "python",
                        fmt::format("current packages do not install on Python {}", version)});
        package = config::parse_package("python", package.place, Installer::conda);
    }
    environment.python_version = {};
}

}  // namespace

std::string to_text(const Substitution& substitution, const std::string& file)
{
    const auto from = printable(substitution.from);
    const auto change = substitution.to.empty()
                            ? fmt::format("'{}' is removed", from)
                            : fmt::format("'{}' instead of '{}'", substitution.to, from);
    return fmt::format("{}:{}:{}: {}: {}",
                       file,
                       substitution.place.line,
                       substitution.place.column,
                       change,
                       substitution.why);
}

Json to_json(const std::vector<Substitution>& substitutions)
{
    JsonArray list;
    for (const auto& item : substitutions) {
        list.push_back(JsonObject{{"line", item.place.line},
                                  {"from", item.from},
                                  {"to", item.to.empty() ? Json() : Json(item.to)},
                                  {"why", item.why}});
    }
    return list;
}

std::vector<Substitution> substitute(config::CondaEnvironment& environment, Gpus gpus)
{
    std::vector<Substitution> done;
    replace_old_python(environment, done);
    environment.conda = replaced(environment.conda, Installer::conda, gpus, done);
    environment.pip = replaced(environment.pip, Installer::pip, gpus, done);
    return done;
}

}  // namespace ponk::environment
