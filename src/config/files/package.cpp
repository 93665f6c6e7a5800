// SPDX-License-Identifier: Apache-2.0
#include "config/files/package.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "config/files/retired.hpp"

#include <algorithm>
#include <cctype>

namespace ponk::config {

namespace {

// PEP 503: runs of "-", "_" and "." are one dash.
std::string normal_name(std::string_view name)
{
    std::string normal;
    for (const char c : lower(name)) {
        const bool separator = c == '-' || c == '_' || c == '.';
        if (!separator) {
            normal += c;
        } else if (!normal.empty() && normal.back() != '-') {
            normal += '-';
        }
    }
    return normal;
}

std::string_view file_of(std::string_view address)
{
    address = address.substr(0, address.find_first_of("?#"));
    const std::size_t slash = address.find_last_of("/\\");
    return slash == std::string_view::npos ? address : address.substr(slash + 1);
}

bool is_path(std::string_view text)
{
    return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
           text.starts_with("file:") || text.ends_with(".whl") ||
           (text.size() > 2 && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
            text[1] == ':' && (text[2] == '\\' || text[2] == '/'));
}

void read_name_and_version(Package& package, std::string_view text, Installer installer)
{
    if (const std::size_t channel = text.find("::");
        installer == Installer::conda && channel != std::string_view::npos) {
        package.channel = text.substr(0, channel);
        text.remove_prefix(channel + 2);
    }
    const std::size_t end = std::min(text.find_first_of("=<>!~[; \t"), text.size());
    package.name = normal_name(text.substr(0, end));
    const std::size_t version = text.find_first_of("=<>!~", end);
    if (version == std::string_view::npos) return;
    package.version = trim(text.substr(version, text.find(';', version) - version));
}

}  // namespace

Package parse_package(std::string_view text, Place place, Installer installer)
{
    text = trim(text);
    Package package;
    package.text = text;
    package.place = place;
    const auto tags = wheel_tags(text);
    if (text.starts_with('-')) {
        package.kind = Package::Kind::option;
    } else if (text.find("://") != std::string_view::npos) {
        package.kind = Package::Kind::url;
        if (tags) package.name = normal_name(tags->name);
    } else if (is_path(text)) {
        package.kind = Package::Kind::path;
        if (tags) package.name = normal_name(tags->name);
    } else {
        read_name_and_version(package, text, installer);
    }
    return package;
}

std::optional<WheelTags> wheel_tags(std::string_view address)
{
    auto file = file_of(trim(address));
    if (!file.ends_with(".whl")) return std::nullopt;
    file.remove_suffix(4);
    const auto parts = split(file, '-');
    if (parts.size() < 5 || parts.size() > 6) return std::nullopt;
    const std::size_t count = parts.size();
    return WheelTags{parts[0], parts[1], parts[count - 3], parts[count - 2], parts[count - 1]};
}

bool wheel_fits_python(const WheelTags& tags, std::string_view python_version)
{
    const auto parts = split(python_version, '.');
    if (parts.size() < 2 || parts[0].empty() || parts[1].empty()) return true;
    const std::string digits = parts[0] + parts[1];
    const auto wanted = parse_integer(digits);
    for (const auto& tag : split(tags.python, '.')) {
        if (tag == "py" + parts[0] || tag == "py" + digits || tag == "cp" + digits ||
            tag == "cp" + parts[0]) {
            return true;
        }
        const auto built = tag.size() > 2 ? parse_integer(tag.substr(2)) : std::nullopt;
        if (tags.abi == "abi3" && built && wanted && *built <= *wanted) return true;
    }
    return false;
}

bool wheel_fits_linux(const WheelTags& tags)
{
    const auto platforms = split(tags.platform, '.');
    return std::any_of(platforms.begin(), platforms.end(), [](const std::string& platform) {
        return platform == "any" || platform.find("linux") != std::string::npos;
    });
}

namespace {

class PackageCheck {
public:
    PackageCheck(const Package& package, Installer installer, Report& report)
        : package_(package), installer_(installer), report_(report)
    {
    }

    void check()
    {
        switch (package_.kind) {
        case Package::Kind::option:
            return check_option();
        case Package::Kind::url:
            return check_url();
        case Package::Kind::path:
            return check_path();
        case Package::Kind::name:
            return check_name();
        }
    }

private:
    void warn(std::string_view code, std::string message, std::string hint)
    {
        report_.warning(package_.place, code, std::move(message), std::move(hint));
    }

    void check_option()
    {
        if (installer_ == Installer::conda) {
            warn("pip-item-in-conda-list",
                 fmt::format("'{}' is an option of pip, which conda cannot read",
                             printable(package_.text)),
                 "Put it into the list below 'pip:'.");
            return;
        }
        const std::size_t address = package_.text.find("://");
        if (address == std::string::npos) return;
        const std::size_t start = package_.text.find_last_of(" =", address) + 1;
        check_host(std::string_view(package_.text).substr(start), "the package index");
    }

    void check_host(std::string_view url, const char* what)
    {
        const auto* gone = find_retired_host(url);
        if (gone == nullptr) return;
        warn("url-gone",
             fmt::format("{} '{}' {}", what, gone->name, gone->what),
             std::string(gone->instead));
    }

    void check_url()
    {
        const std::string_view url = package_.text;
        if (installer_ == Installer::conda && wheel_tags(url)) warn_wheel_in_conda_list();
        const std::size_t query = std::min(url.find('?'), url.size());
        const bool is_signed = url.find("sig=", query) != std::string_view::npos ||
                               url.find("ignature=", query) != std::string_view::npos;
        if (!is_signed) return check_host(url, "the server");
        const auto* gone = find_retired_host(url);
        const auto file = printable(file_of(url));
        if (gone != nullptr || has_expired(url.substr(query))) {
            warn("signed-url",
                 fmt::format("the signed address of '{}' no longer works", file),
                 gone != nullptr ? std::string(gone->instead)
                                 : "Use a version from PyPI, or remove the line.");
            return;
        }
        warn("signed-url",
             fmt::format("the address of '{}' works only as long as its signature", file),
             "Keep the file on your own package index. Note that anyone who reads this line can "
             "use the signature.");
    }

    // "se=2018-06-03T…": the day a shared access signature ends.
    static bool has_expired(std::string_view query)
    {
        const std::size_t end = std::min(query.find("&se="), query.find("?se="));
        if (end == std::string_view::npos) return false;
        const auto day = query.substr(end + 4, 10);
        return day.size() == 10 &&
               day < std::string_view(utc_text(wall_milliseconds())).substr(0, 10);
    }

    void warn_wheel_in_conda_list()
    {
        warn("pip-item-in-conda-list",
             fmt::format("the wheel '{}' cannot be installed by conda",
                         printable(file_of(package_.text))),
             "Put it into the list below 'pip:'.");
    }

    void check_path()
    {
        if (installer_ == Installer::conda) return warn_wheel_in_conda_list();
        // One that is named relative to the project travels with it.
        if (package_.text.find_first_of("/~") != 0 && !package_.text.starts_with("file:")) return;
        report_.notice(
            package_.place,
            "local-path",
            fmt::format("'{}' must exist on the machine that builds the environment",
                        printable(package_.text)),
            "Keep the file in the project, and write its path relative to the project's folder.");
    }

    // For what has one right answer, which need not be written down.
    static std::string with_offer(std::string_view hint)
    {
        return fmt::format("{} '--substitute' of 'submit' and 'experiment prepare' does so without "
                           "changing the file.",
                           hint);
    }

    void check_name()
    {
        if (package_.text.find('#') != std::string::npos) {
            warn("comment-without-blank",
                 fmt::format("'#' without a space before it is part of '{}', not a comment",
                             printable(package_.text)),
                 "Put a space before the '#'.");
        }
        if (is_standard_module(package_.name) && package_.version.empty()) {
            warn("stdlib-package",
                 fmt::format("'{}' is a module of Python itself, not a package", package_.name),
                 with_offer("Remove the line."));
            return;
        }
        if (installer_ == Installer::pip) check_pip_name();
        const auto* gone = find_retired_package(package_.name);
        if (gone == nullptr) return;
        auto message = fmt::format("the package '{}' {}", package_.name, gone->what);
        auto hint =
            gone->substitute.empty() ? std::string(gone->instead) : with_offer(gone->instead);
        if (gone->installs) {
            report_.notice(package_.place, "package-gone", std::move(message), std::move(hint));
        } else {
            warn("package-gone", std::move(message), std::move(hint));
        }
    }

    void check_pip_name()
    {
        const auto distribution = distribution_for_import(package_.name);
        if (!distribution.empty()) {
            warn("wrong-package-name",
                 fmt::format("'{}' is the import name; the package is called '{}'",
                             package_.name,
                             distribution),
                 with_offer(fmt::format("Write '{}'.", distribution)));
        }
        if (package_.version.size() > 1 && package_.version[0] == '=' &&
            package_.version[1] != '=') {
            warn("pip-single-equals",
                 fmt::format("pip cannot read '{}': write versions with '=='",
                             printable(package_.text)),
                 with_offer(fmt::format("Write '{}={}'.",
                                        printable(package_.text.substr(0, package_.text.find('='))),
                                        printable(package_.version))));
        }
    }

    const Package& package_;
    Installer installer_;
    Report& report_;
};

}  // namespace

void check_package(const Package& package, Installer installer, Report& report)
{
    PackageCheck(package, installer, report).check();
}

}  // namespace ponk::config
