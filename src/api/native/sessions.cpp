// SPDX-License-Identifier: Apache-2.0
// How a page logs in, and what it is then: docs/design/sessions.md.
#include "api/native/handlers.hpp"
#include "api/native/submission.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/version.hpp"
#include "net/target.hpp"

#include <algorithm>
#include <array>

namespace ponk::api {

namespace {

Result<Sessions*> sessions_of(const Services& services)
{
    if (services.sessions == nullptr || services.codes == nullptr)
        return fail(ErrorKind::unavailable, "this daemon has no sessions");
    return services.sessions;
}

JsonObject session_json(const Sessions::Known& known)
{
    const bool is_owners = known.token.empty();
    return JsonObject{{"id", known.session.id},
                      {"role", to_string(known.role)},
                      {"owner", is_owners},
                      {"token", is_owners ? Json() : Json(known.token)},
                      {"created", utc_text(known.session.created)},
                      {"expires", utc_text(known.session.expires)}};
}

// What the page asks at its start. It has prompts where their socket would be accepted.
JsonObject own_session_json(const Services& services,
                            const Sessions::Known& known,
                            const net::Request& request)
{
    auto answer = session_json(known);
    answer.set("prompt",
               request.listener_kind != net::ListenerKind::network &&
                   services.prompts->right_of(known.session.id) != nullptr);
    return answer;
}

// Kept as long as the session.
constexpr std::size_t longest_environment = std::size_t{1} << 20;

// What belongs to the terminal of `ponk ui`, or to a run in which it was typed, and to no shell of
// a prompt.
bool is_for_prompts(const std::string& word)
{
    static constexpr std::array<std::string_view, 5> others{
        "MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "MLFLOW_TRACKING_TOKEN", "GPG_TTY", "SSH_TTY"};
    const auto name = std::string_view(word).substr(0, word.find('='));
    return !name.starts_with("PONK_RUN_") &&
           std::find(others.begin(), others.end(), name) == others.end();
}

// Prompts begin as a shell of who asked for the code would.
Result<Login> login_of(const Json& body)
{
    if (!body["prompt"].is_null() && !body["prompt"].is_bool())
        return fail(ErrorKind::invalid_argument, "'prompt' must be true or false");
    if (!body.boolean("prompt")) return Login{};
    auto asker = TRY(submitter_of(body));
    std::erase_if(asker.environment, [](const auto& word) { return !is_for_prompts(word); });
    std::size_t bytes = 0;
    for (const auto& word : asker.environment)
        bytes += word.size() + 1;
    if (bytes > longest_environment) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("the variables of this terminal have {} bytes; those of a prompt may "
                              "have {}",
                              bytes,
                              longest_environment),
                  "Run 'ponk ui --prompt' with fewer: 'env -u NAME ponk ui --prompt'."));
    }
    return Login{std::make_shared<const PromptRight>(
        PromptRight{std::move(asker.environment), asker.umask})};
}

net::Response refused_login(std::string message, std::string hint)
{
    return net::error_response(
        Error(ErrorKind::invalid_argument, std::move(message), std::move(hint)), 401);
}

// What a frame or a download may be of: what a run holds, a project's file, and lines of history.
bool may_be_signed(const std::vector<std::string>& path)
{
    if (path.size() < 3 || path[0] != "api" || path[1] != "v1") return false;
    if (path[2] == "export") return path.size() == 3;
    if (path[2] == "projects") return path.size() == 5 && path[4] == "file";
    if (path[2] != "runs" || path.size() < 5) return false;
    const auto& what = path[4];
    if (what == "artifacts") return path.size() > 5;
    if (what == "snapshot") return path.size() == 6 && path[5] == "file";
    return path.size() == 5 && (what == "artifact" || what == "log");
}

std::optional<Sessions::Known> session_of(const Sessions& sessions, const net::Request& request)
{
    const auto text = token_of(request);
    return text ? sessions.find(*text) : std::nullopt;
}

}  // namespace

// For the command line: who may use the socket may have a session that can do as much.
Result<net::Response> make_login_code(const Services& services, const Call& call)
{
    TRY(sessions_of(services));
    if (call.request.listener_kind != net::ListenerKind::unix_socket) {
        return net::error_response(Error(ErrorKind::invalid_argument,
                                         "codes for a login are made over the Unix socket only",
                                         "Run 'ponk ui' on the daemon's machine."),
                                   403);
    }
    if (services.endpoints == nullptr || services.endpoints->plain_uri.empty()) {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  "the daemon has no port on the loopback interface",
                  fmt::format("See {} for the reason.",
                              os::in_quotes(services.context().home / "daemon.log"))));
    }
    auto login = TRY(login_of(TRY(body_of(call))));
    const auto missing = services.page == nullptr ? "there is none" : services.page->missing();
    return net::json_response(JsonObject{{"missing", missing.empty() ? Json() : Json(missing)},
                                         {"code", services.codes->make(std::move(login))},
                                         {"seconds", LoginCodes::lifetime / 1000},
                                         {"address", services.endpoints->plain_uri + "/"}},
                              201);
}

Result<net::Response> log_in(const Services& services, const Call& call)
{
    auto* sessions = TRY(sessions_of(services));
    const auto body = TRY(body_of(call));
    Sessions::From from{
        .token = {}, .peer = call.request.peer, .agent = call.request.header("User-Agent")};
    std::optional<Login> login;
    if (body["code"].is_string()) {
        login = services.codes->take(body.text("code"));
        if (!login) {
            return refused_login("the code is wrong, was used, or is older than a minute",
                                 "Run 'ponk ui' for a new one.");
        }
    } else if (body["token"].is_string()) {
        from.token = body.text("token");
    } else {
        return fail(ErrorKind::invalid_argument, "'code' or 'token' is needed, as a text");
    }
    const auto made = sessions->create(from);
    if (!made && made.error().kind() == ErrorKind::not_found) {
        return refused_login(made.error().message(),
                             "'ponk token create' on the daemon's machine creates one.");
    }
    if (!made) return tl::unexpected(made.error());
    const auto known = sessions->find(made->text);
    if (!known) return fail(ErrorKind::conflict, "the token was removed meanwhile");
    if (login && login->prompt) {
        services.prompts->allow(
            known->session.id, login->prompt, [sessions](const std::string& id) {
                return sessions->find_by_id(id).has_value();
            });
    }
    auto answer = own_session_json(services, *known, call.request);
    answer.set("session", made->text);
    return net::json_response(std::move(answer), 201);
}

Result<net::Response> sign_address(const Services& services, const Call& call)
{
    const auto known = session_of(*TRY(sessions_of(services)), call.request);
    if (!known || services.addresses == nullptr)
        return fail(ErrorKind::not_found, "this request has no session: it has a token, or none");
    const auto body = TRY(body_of(call));
    const auto show = body.text("show");
    if (show != "frame" && show != "download")
        return fail(ErrorKind::invalid_argument, "'show' must be frame or download");
    net::Request of;
    std::string address;
    for (const auto& part : split(body.text("path"), '/')) {
        of.path.push_back(part);
        address += (address.empty() ? "" : "/") + net::percent_encode(part);
    }
    if (!may_be_signed(of.path)) {
        return fail(ErrorKind::invalid_argument,
                    "'path' must be of an artifact, a log, a snapshot's or project's file, or an "
                    "export, and "
                    "begin with 'api/v1/'");
    }
    address += "?";
    if (body["query"].is_object()) {
        for (const auto& [name, value] : body["query"].as_object()) {
            if (!value.is_string())
                return fail(ErrorKind::invalid_argument, "'query' must have texts");
            of.query.emplace_back(name, value.as_string());
            address +=
                net::percent_encode(name) + "=" + net::percent_encode(value.as_string()) + "&";
        }
    }
    const auto expires = wall_milliseconds() + SignedAddresses::lifetime;
    const auto how =
        show == "frame" ? SignedAddresses::Show::frame : SignedAddresses::Show::download;
    address += "signed=" + services.addresses->sign(of, known->session.id, expires, how);
    return net::json_response(JsonObject{{"address", address}, {"expires", utc_text(expires)}},
                              201);
}

Result<net::Response> show_session(const Services& services, const Call& call)
{
    const auto known = session_of(*TRY(sessions_of(services)), call.request);
    if (!known)
        return fail(ErrorKind::not_found, "this request has no session: it has a token, or none");
    auto answer = own_session_json(services, *known, call.request);
    answer.set("version", own_version());
    answer.set("server_time", utc_text(wall_milliseconds()));
    return net::json_response(std::move(answer));
}

Result<net::Response> end_own_session(const Services& services, const Call& call)
{
    auto* sessions = TRY(sessions_of(services));
    const auto known = session_of(*sessions, call.request);
    if (!known)
        return fail(ErrorKind::not_found, "this request has no session: it has a token, or none");
    TRY(sessions->remove(known->session.id));
    services.prompts->forbid(known->session.id);
    return net::json_response(JsonObject{{"deleted", known->session.id}});
}

Result<net::Response> list_sessions(const Services& services, const Call& call)
{
    const auto* sessions = TRY(sessions_of(services));
    const auto own = session_of(*sessions, call.request);
    JsonArray list;
    for (const auto& known : sessions->list()) {
        auto entry = session_json(known);
        entry.set("last_used", known.used == 0 ? Json() : Json(utc_text(known.used)));
        entry.set("peer", known.session.peer);
        entry.set("agent", known.session.agent);
        entry.set("current", own && own->session.id == known.session.id);
        list.emplace_back(std::move(entry));
    }
    return net::json_response(JsonObject{{"sessions", std::move(list)}});
}

Result<net::Response> end_session(const Services& services, const Call& call)
{
    const auto& id = call.variables.at(0);
    TRY(TRY(sessions_of(services))->remove(id));
    services.prompts->forbid(id);
    return net::json_response(JsonObject{{"deleted", id}});
}

}  // namespace ponk::api
