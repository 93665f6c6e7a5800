// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/wire/message.hpp"

#include "base/field_json.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cstring>

namespace ponk::executor::remote {

namespace {

// A script decides how many files there are to be said something about, and how they are called.
constexpr std::size_t most_notices = 200;
constexpr std::size_t longest_notice = 4096;
constexpr std::size_t longest_text = std::size_t{64} << 10;
constexpr std::size_t most_lines = 200;
// As JobPhase has them.
constexpr std::string_view phases[] = {"queued", "starting", "running", "ended", "lost"};

tl::unexpected<Error> wrong(std::string_view what)
{
    return fail(ErrorKind::damaged, "a message of the other side: '{}' is missing or wrong", what);
}

}  // namespace

Json hello_of_daemon()
{
    return JsonObject{{"protocol", protocol_version}};
}

Json to_json(const Hello& hello)
{
    return JsonObject{{"protocol", protocol_version},
                      {"program", hello.program},
                      {"boot", hello.boot},
                      {"home", hello.home},
                      {"architecture", hello.architecture},
                      {"identity", hello.identity}};
}

Result<Hello> parse_hello(const Json& head)
{
    const auto version = head.integer("protocol");
    if (version != protocol_version) {
        return fail(ErrorKind::conflict,
                    "the other side uses version {} of the protocol, not {}",
                    version,
                    protocol_version);
    }
    return Hello{.program = printable(head.text("program")),
                 .boot = printable(head.text("boot")),
                 .home = printable(head.text("home")),
                 .architecture = printable(head.text("architecture")),
                 .identity = printable(head.text("identity"))};
}

Json error_to_json(const Error& error)
{
    return JsonObject{{"kind", to_string(error.kind())},
                      {"message", error.message().substr(0, longest_text)},
                      {"hint", error.hint().substr(0, longest_text)}};
}

Error parse_error(const Json& head)
{
    return {error_kind_from(head.text("kind")),
            shown_text(head.text("message")),
            shown_text(head.text("hint"))};
}

std::string shown_text(std::string_view text)
{
    std::string out;
    std::size_t lines = 0;
    for (const auto& line : split(text.substr(0, longest_text), '\n')) {
        if (++lines > most_lines) break;
        // What a tool said comes in lines; behind the first they stand apart from those of ours.
        if (lines > 1) out += "\n    ";
        out += printable(line);
    }
    return out;
}

Json shown_texts(const Json& answer)
{
    if (answer.is_string()) return shown_text(answer.as_string());
    if (answer.is_array()) {
        JsonArray out;
        for (const auto& item : answer.as_array())
            out.push_back(shown_texts(item));
        return out;
    }
    if (!answer.is_object()) return answer;
    JsonObject out;
    for (const auto& [name, value] : answer.as_object())
        out.set(printable(name), name == "lock" ? value : shown_texts(value));
    return out;
}

Json to_json(const Notices& notices)
{
    JsonArray out;
    for (const auto& notice : notices) {
        if (out.size() == most_notices) {
            out.emplace_back(fmt::format("and {} more like these", notices.size() - out.size()));
            break;
        }
        out.emplace_back(notice.substr(0, longest_notice));
    }
    return out;
}

Notices parse_notices(const Json& list)
{
    Notices out;
    if (!list.is_array()) return out;
    for (const auto& item : list.as_array()) {
        if (out.size() > most_notices) break;
        if (item.is_string()) out.push_back(shown_text(item.as_string().substr(0, longest_notice)));
    }
    return out;
}

JsonObject to_json(const Staged& staged)
{
    return {{"notices", to_json(staged.notices)},
            {"environment", staged.environment ? to_json(*staged.environment) : Json()},
            {"prepare_ms", staged.prepare_ms}};
}

Result<Staged> parse_staged(const Json& head)
{
    Staged staged;
    staged.notices = parse_notices(head["notices"]);
    if (const auto& used = head["environment"]; used.is_object())
        staged.environment = TRY(parse_environment_used(shown_texts(used)));
    staged.prepare_ms = std::max<std::int64_t>(0, head.integer("prepare_ms"));
    return staged;
}

Json to_json(const JobStatus& status)
{
    JsonObject out{{"phase", phases[static_cast<std::size_t>(status.phase)]},
                   {"log_length", status.log_length},
                   {"journal_length", status.journal_length},
                   {"started", status.started}};
    if (status.exit) out.set("exit", model::to_text(*status.exit));
    if (!status.reason.empty()) out.set("reason", status.reason);
    if (!status.gpu.empty()) out.set("gpu", status.gpu);
    return out;
}

Result<JobStatus> parse_job_status(const Json& head)
{
    JobStatus status;
    const auto phase = std::ranges::find(phases, head.text("phase"));
    if (phase == std::end(phases)) return wrong("phase");
    status.phase = static_cast<JobPhase>(phase - std::begin(phases));
    const auto log = head.integer("log_length", -1);
    const auto journal = head.integer("journal_length", -1);
    if (log < 0 || journal < 0) return wrong("length");
    status.log_length = static_cast<std::uint64_t>(log);
    status.journal_length = static_cast<std::uint64_t>(journal);
    status.started = head.integer("started");
    status.reason = shown_text(head.text("reason"));
    status.gpu = head.text("gpu");
    if (const auto text = head.text("exit"); !text.empty()) {
        status.exit = TRY(model::parse_exit_record(text));
        for (auto* word : {&status.exit->by,
                           &status.exit->cause,
                           &status.exit->message,
                           &status.exit->oom_evidence,
                           &status.exit->survivor_commands})
            *word = shown_text(*word);
    }
    if (status.phase == JobPhase::ended && !status.exit) return wrong("exit");
    return status;
}

JsonObject to_json(const Rest& rest)
{
    JsonObject head{{"left", rest.left},
                    {"left_files", rest.left_files},
                    {"left_bytes", rest.left_bytes},
                    {"kept_files", rest.kept_files},
                    {"kept_bytes", rest.kept_bytes},
                    {"notices", to_json(rest.notices)}};
    if (rest.kept) head.set("kept", rest.kept->text());
    return head;
}

Result<Rest> parse_rest(const Json& head)
{
    Rest rest{.left = shown_text(head.text("left")),
              .left_files = head.integer("left_files"),
              .left_bytes = head.integer("left_bytes"),
              .kept = {},
              .kept_files = head.integer("kept_files"),
              .kept_bytes = head.integer("kept_bytes"),
              .notices = parse_notices(head["notices"])};
    if (const auto text = head.text("kept"); !text.empty()) {
        Digest kept;
        if (!parse_digest(text, kept) || rest.kept_bytes < 0) return wrong("kept");
        rest.kept = kept;
    }
    return rest;
}

std::string pack_digests(const std::vector<Digest>& digests)
{
    std::string out;
    out.reserve(digests.size() * sizeof(Digest::bytes));
    for (const auto& digest : digests)
        out.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
    return out;
}

Result<std::vector<Digest>> unpack_digests(std::string_view payload)
{
    constexpr auto size = sizeof(Digest::bytes);
    if (payload.size() % size != 0) return wrong("digests");
    std::vector<Digest> out(payload.size() / size);
    for (std::size_t i = 0; i < out.size(); ++i)
        std::memcpy(out[i].bytes.data(), payload.data() + i * size, size);
    return out;
}

Json to_json(const HostAddress& host)
{
    return fields_to_json(host);
}

Result<HostAddress> parse_host(const Json& value)
{
    HostAddress host;
    TRY(read_fields(value, host));
    if (host.address.empty()) return wrong("address");
    if (host.port < 0 || host.port > 65535) return wrong("port");
    // As the first version named it.
    if (host.private_key.empty()) host.private_key = value.text("key");
    return host;
}

}  // namespace ponk::executor::remote
