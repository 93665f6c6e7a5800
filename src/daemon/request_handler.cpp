// SPDX-License-Identifier: Apache-2.0
#include "daemon/request_handler.hpp"

#include "api/http/error_shape.hpp"
#include "api/mlflow/run_calls.hpp"
#include "api/router.hpp"
#include "base/text.hpp"

#include <utility>

namespace ponk::daemon {

namespace {

net::Response refusal(const net::Request& request, const Error& error)
{
    return api::error_answer("/" + join(request.path, "/"), error);
}

class NoBody final : public net::BodySource {
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& /*out*/) override { return Step::broken; }
};

net::Response broken()
{
    net::Response response;
    response.stream = std::make_unique<NoBody>();
    return response;
}

}  // namespace

RequestHandler::RequestHandler(const api::Services& services,
                               const HomeWatch& home,
                               const os::Bell& stop,
                               std::function<void(const std::string&)> tell)
    : services_(services), home_(home), stop_(stop), tell_(std::move(tell))
{
}

net::Handlers RequestHandler::handlers()
{
    return {.answer = [this](const net::Request& request) { return answer(request); },
            .receive = [this](const net::Request& head) { return receive(head); },
            .error_shape = [](std::string_view target,
                              const Error& error,
                              int status) { return api::error_answer(target, error, status); }};
}

net::Reception RequestHandler::receive(const net::Request& head)
{
    auto reception = api::receive(services_, head);
    if (reception.begin) {
        reception.begin = [this, begin = std::move(reception.begin)](const auto& request,
                                                                     const auto& respond) {
            // What is wrong then is said by `answer`.
            if (closed_ || home_.loss()) return false;
            return begin(request, [this, respond](net::Response response) {
                respond(unless_damaged(std::move(response)));
            });
        };
    }
    if (!reception.sink) return reception;
    // What a stream brings goes into the home, too.
    if (const auto loss = home_.loss()) {
        reception.sink.reset();
        reception.answer = refusal(head, *loss);
        stop_.ring();
    }
    return reception;
}

net::Response RequestHandler::answer(const net::Request& request)
{
    if (closed_) return broken();
    if (const auto loss = home_.loss()) {
        stop_.ring();
        // Whoever follows a run may still hear its end.
        auto last_words =
            request.method == "GET" ? api::dispatch(services_, request) : refusal(request, *loss);
        return last_words.status < 400 ? std::move(last_words) : refusal(request, *loss);
    }
    return unless_damaged(api::dispatch(services_, request));
}

net::Response RequestHandler::unless_damaged(net::Response response)
{
    if (response.status < 500 || !services_.history().saw_damage()) return response;
    // The next daemon sets the damaged database aside. A connection that breaks makes the client
    // ask that one.
    closed_ = true;
    tell_("stops: the database is damaged");
    stop_.ring();
    return broken();
}

void RunRequestHandler::open(std::shared_ptr<const api::Services> services)
{
    *services_.lock() = std::move(services);
}

void RunRequestHandler::close()
{
    services_.lock()->reset();
}

std::string RunRequestHandler::answer(const RunId& run, const Json& ask)
{
    const auto services = *services_.lock();
    return services ? api::answer_run(*services, run, ask) : std::string();
}

}  // namespace ponk::daemon
