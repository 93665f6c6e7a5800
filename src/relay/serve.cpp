// SPDX-License-Identifier: Apache-2.0
#include "relay/serve.hpp"

#include "base/text.hpp"
#include "mlflow/lone_surrogates.hpp"
#include "net/target.hpp"
#include "relay/artifacts.hpp"

namespace ponk::relay {

namespace {

constexpr std::size_t longest_body = std::size_t{16} << 20;
constexpr std::size_t longest_inputs = std::size_t{36} << 20;  // a profile may fill the other
constexpr std::uint64_t bytes_of_a_piece = std::uint64_t{4} << 20;

// In the same time whatever was sent.
bool is_same_text(std::string_view left, std::string_view right)
{
    unsigned char different = left.size() == right.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
        different |= static_cast<unsigned char>(left[i] ^ right[i]);
    return different == 0;
}

// Another page of a browser on this machine could otherwise speak through a name of its own.
bool is_local_name(std::string_view host)
{
    host = host.substr(0, host.rfind(':'));
    return host == "127.0.0.1" || host == "localhost";
}

// One request and its answer.
class Exchange {
public:
    Exchange(Stream& stream, const Head& head, Recorder& recorder, ForwardedRequests& asks)
        : stream_(stream), head_(head), recorder_(recorder), forwarded_(asks), body_(stream, head)
    {
    }

    // True when the connection can go on.
    bool perform()
    {
        const auto target = net::parse_target(head_.target);
        if (!target)
            return send(mlflow::refuse(Error(ErrorKind::invalid_argument, "Invalid path")));
        request_.method = head_.method == "HEAD" ? "GET" : head_.method;
        request_.path = target->path;
        request_.query = target->query;
        request_.headers = head_.headers;
        if (auto refused = check_sender()) return send(std::move(*refused));
        if (!request_.path.empty() && request_.path.front() == "ajax-api")
            request_.path.front() = "api";
        if (is_artifact_call()) return perform_artifact_call();
        return perform_call();
    }

private:
    std::optional<net::Response> check_sender() const
    {
        const auto& path = request_.path;
        if (path.size() == 1 && (path[0] == "health" || path[0] == "version")) return std::nullopt;
        if (!is_local_name(head_.header("Host")))
            return mlflow::refuse(403, "PERMISSION_DENIED", "This server is the run's own");
        if (is_same_text(head_.header("Authorization"), "Bearer " + recorder_.tracking().token))
            return std::nullopt;
        return mlflow::refuse(
            401, "UNAUTHENTICATED", "This server serves one run: send its MLFLOW_TRACKING_TOKEN");
    }

    // Also what is left of a request's body must be gone before the next one.
    bool send(net::Response response)
    {
        return send(std::move(response), body_.skip() && head_.keep_alive);
    }

    bool send(net::Response response, bool goes_on)
    {
        response = mlflow::without_lone_surrogates(std::move(response));
        auto text = response_head(response, goes_on, response.body.size());
        if (head_.method != "HEAD") text += response.body;
        return stream_.send(text) && goes_on;
    }

    bool send(const Result<>& done) { return send(done ? reply() : mlflow::refuse(done.error())); }

    bool perform_call()
    {
        const bool is_inputs = !request_.path.empty() && request_.path.back() == "log-inputs";
        auto body = body_.all(is_inputs ? longest_inputs : longest_body);
        if (!body) {
            if (body.error().kind() != ErrorKind::invalid_argument) return false;
            // Its rest may never come.
            return send(mlflow::refuse(body_.is_too_long() ? 413 : 400,
                                       "INVALID_PARAMETER_VALUE",
                                       body.error().message()),
                        false);
        }
        request_.body = std::move(*body);
        if (auto known = list_of_run()) return send(std::move(*known));
        if (auto known = answer(recorder_, request_)) return send(std::move(*known));
        return pass_on();
    }

    // What only the daemon knows.
    bool pass_on()
    {
        const Elsewhere elsewhere{[this](const std::string& name) { return find_id(name); },
                                  [this](const std::string& id) { return find_name(id); }};
        if (auto narrowed = narrowed_search(recorder_, request_, elsewhere))
            request_.body = std::move(*narrowed);
        ForwardedRequest question{.method = request_.method,
                                  .target = head_.target,
                                  .type = head_.header("Content-Type"),
                                  .body = request_.body};
        put_own_experiment(recorder_, question.target, question.body);
        const auto answer = forwarded_.ask(question);
        if (!answer) {
            auto known = answer_alone(recorder_, request_);
            return send(known ? std::move(*known) : no_answer(answer.error()));
        }
        if (answer->status == 200) {
            if (const auto noted = note_deletion(recorder_, request_); !noted) return send(noted);
        }
        return send(response_of(*answer));
    }

    std::optional<std::string> find_id(const std::string& name)
    {
        auto id = find_experiment("get-by-name?experiment_name=" + net::percent_encode(name),
                                  "experiment_id");
        if (id == recorder_.tracking().experiment) return std::nullopt;
        return id;
    }

    std::optional<std::string> find_name(const std::string& id)
    {
        return find_experiment("get?experiment_id=" + net::percent_encode(id), "name");
    }

    std::optional<std::string> find_experiment(const std::string& call, const char* member)
    {
        const auto answer =
            forwarded_.ask({.method = "GET", .target = "/api/2.0/mlflow/experiments/" + call});
        if (!answer || answer->status != 200) return std::nullopt;
        const auto found = parse_json(answer->body);
        auto value = found ? (*found)["experiment"].text(member) : std::string();
        if (value.empty()) return std::nullopt;
        return value;
    }

    static net::Response response_of(const ForwardedAnswer& answer)
    {
        net::Response response;
        response.status = answer.status;
        response.type = answer.type;
        response.body = answer.body;
        return response;
    }

    // No status that clients repeat for minutes: a training must not wait for that.
    static net::Response no_answer(const Error& error)
    {
        if (error.kind() != ErrorKind::timeout) return mlflow::refuse(error);
        return mlflow::refuse(501, "TEMPORARILY_UNAVAILABLE", error.message());
    }

    // A file of others, in pieces: each is a question of its own.
    bool fetch_file()
    {
        std::uint64_t at = 0;
        for (std::uint64_t size = 1; at < size;) {
            const auto piece = forwarded_.ask(
                {.method = "GET",
                 .target = head_.target,
                 .range = fmt::format("bytes={}-{}", at, at + bytes_of_a_piece - 1)});
            const auto total = piece && piece->status == 206 ? size_of(piece->range) : std::nullopt;
            if (at > 0) {
                // The head is sent: what is missing is seen by the end of the connection.
                if (!total || *total != size || piece->body.empty()) return false;
            } else if (!total) {
                // An empty file has no first byte to ask for.
                if (piece && piece->status == 416) return pass_on();
                return send(piece ? response_of(*piece) : no_answer(piece.error()));
            } else {
                size = *total;
                net::Response head;
                head.type = piece->type;
                if (!body_.skip() || !stream_.send(response_head(head, head_.keep_alive, size)))
                    return false;
                if (head_.method == "HEAD") return head_.keep_alive;
            }
            if (!stream_.send(piece->body)) return false;
            at += piece->body.size();
        }
        return head_.keep_alive;
    }

    // "bytes 0-99/1000"
    static std::optional<std::uint64_t> size_of(const std::string& range)
    {
        const auto slash = range.find('/');
        const auto size =
            slash == std::string::npos ? std::nullopt : parse_integer(range.substr(slash + 1));
        if (!size || *size <= 0) return std::nullopt;
        return static_cast<std::uint64_t>(*size);
    }

    [[nodiscard]] bool is_artifact_call() const
    {
        const auto& path = request_.path;
        return path.size() >= 4 && path[0] == "api" && path[1] == "2.0" &&
               path[2] == "mlflow-artifacts" && path[3] == "artifacts";
    }

    std::optional<ArtifactPlace> find_place(std::span<const std::string> path) const
    {
        return recorder_.look(
            [&](const TrackedState& state) { return place_of(state, recorder_.tracking(), path); });
    }

    bool perform_artifact_call()
    {
        const bool is_list = request_.path.size() == 4;
        std::vector<std::string> path(request_.path.begin() + 4, request_.path.end());
        if (is_list) {
            // Read as a path is, with the same limits.
            const auto named = request_.parameter("path").value_or("");
            if (!named.empty()) {
                const auto parsed = segments_of(named);
                if (!parsed) return send(mlflow::refuse(parsed.error()));
                path = *parsed;
            }
        }
        const auto place = find_place(path);
        if (!place && request_.method != "GET")
            return send(mlflow::refuse(403,
                                       "PERMISSION_DENIED",
                                       "A run may store and remove only its own files, and those "
                                       "of runs, models and traces that it created"));
        if (!place) return is_list ? pass_on() : fetch_file();
        const auto& tracking = recorder_.tracking();
        if (request_.method == "PUT") return send_stored(store_artifact(tracking, *place, body_));
        if (request_.method == "DELETE") return send(remove_artifact(tracking, *place));
        if (request_.method != "GET")
            return send(mlflow::refuse(404, mlflow::endpoint_not_found, "No such call"));
        if (is_list) return send_list(list_artifacts(tracking, *place, Names::base), {});
        return send_file(*place);
    }

    static Result<std::vector<std::string>> segments_of(const std::string& text)
    {
        auto segments = split(text, '/');
        std::erase(segments, ".");
        for (const auto& segment : segments) {
            if (segment.empty() || segment == ".." || segment.find('\\') != std::string::npos ||
                segment.find('\0') != std::string::npos)
                return fail(ErrorKind::invalid_argument, "Invalid path");
        }
        return segments;
    }

    bool send_stored(const Result<>& stored)
    {
        if (!stored) return send(mlflow::refuse(stored.error()));
        net::Response response;  // its body is empty
        return send(std::move(response));
    }

    bool send_list(Result<JsonArray> files, JsonObject out)
    {
        if (!files) return send(mlflow::refuse(files.error()));
        if (!files->empty()) out.append("files", std::move(*files));
        return send(reply(std::move(out)));
    }

    bool send_file(const ArtifactPlace& place)
    {
        auto file = open_artifact(recorder_.tracking(), place, head_.header("Range"));
        if (!file) return send(mlflow::refuse(file.error()));
        const bool goes_on = body_.skip() && head_.keep_alive;
        if (!stream_.send(response_head(file->head, goes_on, file->size))) return false;
        if (head_.method == "HEAD") return goes_on;
        return stream_.send_file(file->file.get(), file->offset, file->size) && goes_on;
    }

    // artifacts/list and get-artifact name a run, not its place.
    std::optional<net::Response> list_of_run() const
    {
        const auto& path = request_.path;
        if (request_.method != "GET" ||
            path != std::vector<std::string>{"api", "2.0", "mlflow", "artifacts", "list"})
            return std::nullopt;
        const auto run =
            request_.parameter("run_id").value_or(request_.parameter("run_uuid").value_or(""));
        const auto& tracking = recorder_.tracking();
        std::vector<std::string> full{tracking.experiment, run, "artifacts"};
        auto inside = request_.parameter("path").value_or("");
        if (inside.ends_with('/')) inside.pop_back();  // it says that a folder is meant
        if (!inside.empty()) {
            const auto segments = segments_of(inside);
            if (!segments) return mlflow::refuse(segments.error());
            full.insert(full.end(), segments->begin(), segments->end());
        }
        const auto place = find_place(full);
        if (!place) return std::nullopt;
        auto files = list_artifacts(tracking, *place, Names::from_root);
        if (!files) return mlflow::refuse(files.error());
        JsonObject out{{"root_uri", artifact_uri(tracking, run)}};
        if (!files->empty()) out.append("files", std::move(*files));
        return reply(std::move(out));
    }

    Stream& stream_;
    const Head& head_;
    Recorder& recorder_;
    ForwardedRequests& forwarded_;
    Body body_;
    net::Request request_;
};

}  // namespace

void serve(os::Fd socket, Recorder& recorder, ForwardedRequests& asks)
{
    Stream stream(std::move(socket));
    for (;;) {
        const auto head = stream.read_head();
        if (!head) {
            if (head.error().kind() != ErrorKind::invalid_argument) return;
            const auto refused = mlflow::refuse(head.error());
            static_cast<void>(
                stream.send(response_head(refused, false, refused.body.size()) + refused.body));
            return stream.close_gently();
        }
        if (!*head) return;
        if (!Exchange(stream, **head, recorder, asks).perform()) return stream.close_gently();
    }
}

}  // namespace ponk::relay
