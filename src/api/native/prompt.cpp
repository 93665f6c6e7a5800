// SPDX-License-Identifier: Apache-2.0
// The socket of the page's command prompt: docs/design/prompt.md.
#include "api/access/audited.hpp"
#include "api/native/handlers.hpp"
#include "api/native/project_folder.hpp"
#include "api/native/prompt_place.hpp"
#include "base/base64.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/version.hpp"
#include "net/web_socket.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace ponk::api {

namespace {

using Clock = std::chrono::steady_clock;

// Codes of our own, and of RFC 6455.
constexpr int no_session = 4401;
constexpr int no_permission = 4403;
constexpr int no_project = 4404;
constexpr int wrong_message = 1008;
constexpr int failed = 1011;
constexpr int too_many = 1013;
constexpr int done = 1000;

constexpr JsonLimits message_limits{.depth = 4, .bytes = 16 * 1024, .values = 100};
// As much is shown in one message.
constexpr std::int64_t piece = 16 * 1024;
constexpr std::int64_t most_columns = 1000;
constexpr std::int64_t most_rows = 500;
// When nobody of the session lives, what others write on the terminal is none of the shell.
constexpr std::int64_t most_after_end = 64 * 1024;
constexpr char interrupt = '\x03';

// One that is larger than any screen is as large as may be.
std::optional<os::TerminalSize> size_of(const Json& message)
{
    const auto& columns = message["columns"];
    const auto& rows = message["rows"];
    const auto is_size = [](const Json& value) {
        return value.is_integer() && value.as_integer() >= 1;
    };
    if (!is_size(columns) || !is_size(rows)) return std::nullopt;
    return os::TerminalSize{static_cast<int>(std::min(columns.as_integer(), most_columns)),
                            static_cast<int>(std::min(rows.as_integer(), most_rows))};
}

class PromptDialogue final : public net::Dialogue {
public:
    PromptDialogue(const Services& services, net::Request request)
        : services_(services), options_(services.prompts->options), request_(std::move(request)),
          hello_until_(Clock::now() + options_.hello_limit)
    {
    }
    // What is open on it ends with the socket; nobody waits for that here.
    ~PromptDialogue() override
    {
        if (shell_) shell_->leave();
        shell_.reset();
        services_.prompts->forget_ended();
    }
    PromptDialogue(const PromptDialogue&) = delete;
    PromptDialogue& operator=(const PromptDialogue&) = delete;

    void attach(std::function<void()> ring) override { ring_ = std::move(ring); }

    void take(std::string_view text) override
    {
        if (closing_) return;
        const auto message = parse_json(text, message_limits);
        if (!message || !message->is_object())
            return end(wrong_message, "a message must be a JSON object");
        if (!shell_) return hello(*message);
        if ((*message)["input"].is_string()) return type((*message)["input"].as_string());
        if ((*message)["taken"].is_integer()) return taken((*message)["taken"].as_integer());
        if (const auto size = size_of(*message)) {
            static_cast<void>(shell_->resize(*size));
            return;
        }
        end(wrong_message, "a message must have 'input', 'taken', or 'columns' and 'rows'");
    }

    Step next(std::string& out) override
    {
        if (!closing_ && !shell_ && Clock::now() >= hello_until_)
            end(no_session, "nobody said whose connection this is");
        if (!closing_ && shell_) look_at_session();
        if (closing_) return Step::end;
        if (!shell_) return Step::waiting;
        if (!greeting_.empty()) {
            out = std::exchange(greeting_, {});
            return Step::message;
        }
        if (!typed_.empty()) shell_->type(typed_);
        if (dropped_ > 0 && first_.empty()) note_dropped();
        return next_shown(out);
    }

    [[nodiscard]] std::chrono::milliseconds patience() const override
    {
        if (shell_) return options_.session_interval;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(hello_until_ - Clock::now());
        return std::max(left, std::chrono::milliseconds(1));
    }

    [[nodiscard]] std::string client() const override { return client_; }
    [[nodiscard]] Closing closing() const override
    {
        return closing_.value_or(Closing{failed, "the daemon could not go on"});
    }

private:
    void end(int code, std::string reason)
    {
        closing_ = Closing{code, std::move(reason)};
        if (shell_) shell_->close();
    }

    void hello(const Json& message)
    {
        const auto text = message.text("hello");
        const auto session =
            services_.sessions == nullptr ? std::nullopt : services_.sessions->find(text);
        look_at_ = Clock::now() + options_.session_interval;
        if (!session) {
            refused(401);
            return end(no_session, "the session is unknown or has ended");
        }
        session_ = session->session.id;
        caller_ = {session->token, session->role, session_};
        client_ = client_of(caller_);
        const auto right = session->token.empty() ? services_.prompts->right_of(session_) : nullptr;
        if (!right) {
            refused(403);
            return end(no_permission, "this session may not open prompts: 'ponk ui --prompt'");
        }
        const auto size = size_of(message);
        if (!size || !message["project"].is_string())
            return end(wrong_message, "'hello' needs 'project', 'columns' and 'rows'");
        project_ = message.text("project");
        open(*right, *size);
    }

    void open(const PromptRight& right, os::TerminalSize size)
    {
        const auto folder = folder_of(services_, project_);
        if (!folder) return end(no_project, folder.error().message());
        std::error_code problem;
        if (!std::filesystem::is_directory(*folder, problem))
            return end(no_project, "there is no folder " + os::in_quotes(*folder));
        // First of all, so that no more are begun at once than may be open.
        auto seat = services_.prompts->reserve();
        if (!seat) return end_unopened(seat.error());
        auto place = make_prompt_place(services_, *folder, right);
        if (!place) return end(failed, place.error().message());
        PromptShell::Start start;
        start.command = std::move(place->command);
        const auto shell_name = os::Path(start.command.argv[0]).filename().native();
        start.size = size;
        start.ring = ring_;
        start.may_go_on = [sessions = services_.sessions, id = session_] {
            return sessions->find_by_id(id).has_value();
        };
        start.ended = [log = services_.audit, record = record_of("ended")](os::Exit exit) mutable {
            record.object.set("code", exit.status());
            record.time = wall_milliseconds();
            if (log != nullptr) log->write(std::move(record));
        };
        start.kept = std::move(place->kept);
        // It may have ended while the place was looked for.
        if (!start.may_go_on()) return end(no_session, "the session has ended");
        auto shell = services_.prompts->open(std::move(*seat), std::move(start));
        if (!shell) return end_unopened(shell.error());
        shell_ = std::move(*shell);
        if (services_.audit != nullptr) services_.audit->write(record_of("opened"));
        first_ = place->first_line + "\r\n";
        greeting_ = to_json(
            JsonObject{{"hello",
                        JsonObject{{"session", session_},
                                   {"version", own_version()},
                                   {"folder", folder->native()},
                                   {"shell", shell_name},
                                   {"python", place->python.empty() ? Json() : place->python}}}});
    }

    void end_unopened(const Error& error)
    {
        end(error.kind() == ErrorKind::conflict ? too_many : failed, error.message());
    }

    // What is noted of it: nothing that is typed or shown.
    [[nodiscard]] audit::Record record_of(const char* what) const
    {
        audit::Record record;
        record.time = wall_milliseconds();
        record.kind = "request";
        record.who = "session:owner";
        record.listener =
            request_.listener_kind == net::ListenerKind::unix_socket ? "unix" : "loopback";
        record.peer = request_.peer;
        record.method = "GET";
        record.route = "/api/v1/ui/prompt";
        record.object.set("project", audit::bounded(project_));
        record.object.set("prompt", what);
        record.status = 101;
        record.outcome = "done";
        return record;
    }

    // In the audit log, as a call with a wrong session is.
    void refused(int status) const
    {
        Audited audited(services_.audit, request_);
        const std::vector<std::string> no_values;
        audited.route("/api/v1", "/ui/prompt", Permission::login, no_values);
        audited.caller(caller_);
        net::Response answer;
        answer.status = status;
        audited.refused(answer);
    }

    // As often as the shell's own thread does, and when that has ended it, which tells why.
    void look_at_session()
    {
        if (Clock::now() < look_at_ && !shell_->exit()) return;
        look_at_ = Clock::now() + options_.session_interval;
        if (!services_.sessions->find_by_id(session_)) end(no_session, "the session has ended");
    }

    void type(std::string_view text)
    {
        // Ctrl-C is for the program that does not read what was typed before.
        if (text.ends_with(interrupt)) {
            typed_.clear();
            shell_->drop_typed();
        }
        const auto room = options_.most_typed - std::min(options_.most_typed, typed_.size());
        const auto fits = std::min(room, text.size());
        typed_ += text.substr(0, fits);
        dropped_ += text.size() - fits;
        if (!typed_.empty()) shell_->type(typed_);
    }

    void note_dropped()
    {
        first_ += fmt::format(
            "\r\nponk: {} bytes of typed text were dropped: the program does not read\r\n",
            std::exchange(dropped_, 0));
    }

    void taken(std::int64_t bytes)
    {
        if (bytes < taken_ || bytes > shown_)
            return end(wrong_message, "'taken' is not a number of bytes that were shown");
        taken_ = bytes;
    }

    // No more is read than the page can have before it has taken what it was sent.
    Step next_shown(std::string& out)
    {
        const auto room = std::min(options_.window - (shown_ - taken_), piece);
        if (room <= 0) return Step::waiting;
        auto bytes = std::exchange(first_, {});
        // Asked before the last bytes are read: what comes behind the answer is none of the shell.
        const auto exit = shell_->exit();
        if (bytes.empty()) {
            const auto wanted = exit ? std::min(room, most_after_end - after_end_) : room;
            if (wanted > 0) shell_->read(bytes, static_cast<std::size_t>(wanted));
            if (exit) after_end_ += static_cast<std::int64_t>(bytes.size());
        }
        if (!bytes.empty()) {
            shown_ += static_cast<std::int64_t>(bytes.size());
            out = to_json(JsonObject{{"output", to_base64(bytes)}});
            return Step::message;
        }
        if (!exit) return Step::waiting;
        if (said_end_) {
            end(done, "the shell has ended");
            return Step::end;
        }
        said_end_ = true;
        shell_->leave();
        out = to_json(JsonObject{
            {"ended",
             JsonObject{
                 {"code", exit->status()},
                 {"signal", exit->signal == 0 ? Json() : Json(os::signal_name(exit->signal))}}}});
        return Step::message;
    }

    const Services& services_;
    const Prompts::Options& options_;
    net::Request request_;
    Clock::time_point hello_until_;
    std::function<void()> ring_;
    Caller caller_;
    std::string session_;
    std::string client_;
    std::string project_;
    std::shared_ptr<PromptShell> shell_;  // once it is known whose it is
    std::string greeting_;
    std::string first_;           // our own words, shown before those of the shell
    std::string typed_;           // and not read yet
    std::size_t dropped_ = 0;     // of what was typed, and not told yet
    Clock::time_point look_at_;   // at the session
    std::int64_t after_end_ = 0;  // bytes read since nobody of the session lives
    std::int64_t shown_ = 0;
    std::int64_t taken_ = 0;
    bool said_end_ = false;
    std::optional<Closing> closing_;
};

}  // namespace

Result<net::Response> begin_prompt(const Services& services, const Call& call)
{
    // A shell is for who sits at this machine, or has come to it by a tunnel of their own.
    if (call.request.listener_kind == net::ListenerKind::network) {
        return net::error_response(Error(ErrorKind::invalid_argument,
                                         "command prompts are opened on the loopback port only",
                                         "Run 'ponk ui --prompt' on the daemon's machine."),
                                   403);
    }
    return net::begin_web_socket(call.request,
                                 std::make_unique<PromptDialogue>(services, call.request));
}

}  // namespace ponk::api
