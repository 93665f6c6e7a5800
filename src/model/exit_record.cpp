// SPDX-License-Identifier: Apache-2.0
#include "model/exit_record.hpp"

#include "base/text.hpp"

#include <array>
#include <variant>

namespace ponk::model {

namespace {

constexpr std::string_view first_line = "ponk-exit 1";
constexpr std::string_view last_line = "end";

using Field = std::variant<int ExitRecord::*,
                           std::int64_t ExitRecord::*,
                           std::uint64_t ExitRecord::*,
                           std::string ExitRecord::*>;
struct NamedField {
    std::string_view name;
    Field field;
};

// The order is the order of the lines.
const std::array<NamedField, 19>& fields()
{
    static const std::array<NamedField, 19> list{{
        {"code", &ExitRecord::code},
        {"signal", &ExitRecord::signal},
        {"by", &ExitRecord::by},
        {"cause", &ExitRecord::cause},
        {"message", &ExitRecord::message},
        {"started", &ExitRecord::started},
        {"ended", &ExitRecord::ended},
        {"duration-ms", &ExitRecord::duration_ms},
        {"log-length", &ExitRecord::log_length},
        {"log-sha256", &ExitRecord::log_sha256},
        {"user-ms", &ExitRecord::user_ms},
        {"system-ms", &ExitRecord::system_ms},
        {"max-rss-kib", &ExitRecord::max_rss_kib},
        {"oom-kills", &ExitRecord::oom_kills},
        {"oom-evidence", &ExitRecord::oom_evidence},
        {"survivors", &ExitRecord::survivors},
        {"survivor-commands", &ExitRecord::survivor_commands},
        {"unkillable", &ExitRecord::unkillable},
        {"disk-full", &ExitRecord::disk_full},
    }};
    return list;
}

// One line each, whatever the text holds.
std::string as_one_line(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
    return out;
}

std::string from_one_line(std::string_view line)
{
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\\' || i + 1 == line.size()) {
            out += line[i];
            continue;
        }
        ++i;
        out += line[i] == 'n' ? '\n' : line[i];
    }
    return out;
}

Result<> read_field(const NamedField& known, std::string_view value, ExitRecord& record)
{
    if (const auto* text = std::get_if<std::string ExitRecord::*>(&known.field)) {
        record.*(*text) = from_one_line(value);
        // Its name in files of the first version.
        if (known.name == "by" && record.by == "side") record.by = "monitor";
        return {};
    }
    const auto number = parse_integer(value);
    if (!number || (known.name == "code" && (*number < 0 || *number > 255)) ||
        (known.name == "signal" && (*number < 0 || *number > 127)) ||
        (known.name == "log-length" && *number < 0)) {
        return fail(ErrorKind::damaged,
                    "exit record: '{}' is not a value for '{}'",
                    printable(value),
                    known.name);
    }
    if (const auto* small = std::get_if<int ExitRecord::*>(&known.field))
        record.*(*small) = static_cast<int>(*number);
    if (const auto* wide = std::get_if<std::int64_t ExitRecord::*>(&known.field))
        record.*(*wide) = *number;
    if (const auto* size = std::get_if<std::uint64_t ExitRecord::*>(&known.field))
        record.*(*size) = static_cast<std::uint64_t>(*number);
    return {};
}

}  // namespace

Result<ExitRecord> parse_exit_record(std::string_view text)
{
    const auto lines = split(text, '\n');
    if (lines.front() != first_line)
        return fail(ErrorKind::damaged, "exit record: does not begin with '{}'", first_line);
    if (lines.size() < 3 || lines[lines.size() - 2] != last_line || !lines.back().empty())
        return fail(ErrorKind::damaged, "exit record: cut off, no '{}' at its end", last_line);
    ExitRecord record;
    bool has_code = false;
    for (std::size_t i = 1; i + 2 < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const auto space = std::min(line.find(' '), line.size());
        const auto value = line.substr(std::min(space + 1, line.size()));
        for (const auto& known : fields()) {
            if (known.name != line.substr(0, space)) continue;
            TRY(read_field(known, value, record));
            has_code = has_code || known.name == "code";
        }
    }
    if (!has_code) return fail(ErrorKind::damaged, "exit record: has no 'code'");
    return record;
}

std::string to_text(const ExitRecord& record)
{
    std::string out(first_line);
    out += '\n';
    for (const auto& [name, field] : fields()) {
        const auto value = std::visit(
            [&record](auto member) {
                if constexpr (std::is_same_v<decltype(member), std::string ExitRecord::*>) {
                    return as_one_line(record.*member);
                } else {
                    return fmt::format("{}", record.*member);
                }
            },
            field);
        if (name == "survivor-commands" && value.empty()) continue;  // nearly always
        out += fmt::format("{} {}\n", name, value);
    }
    out += last_line;
    out += '\n';
    return out;
}

}  // namespace ponk::model
