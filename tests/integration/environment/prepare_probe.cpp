// SPDX-License-Identifier: Apache-2.0
// What the daemon does with environments, as a program for tests: a request in JSON on standard
// input, the answer in JSON on standard output, progress on standard error. SIGTERM cancels.
#include "config/project/config_file.hpp"
#include "environment/cache/remove_image.hpp"
#include "environment/prepare.hpp"

#include <csignal>
#include <iostream>
#include <iterator>
#include <thread>
#include <unistd.h>

namespace ponk::environment {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> own_environment()
{
    std::vector<std::string> words;
    for (char** word = ::environ; *word != nullptr; ++word)
        words.emplace_back(*word);
    return words;
}

Result<Request> read_request(const Json& input)
{
    Request request;
    request.project = input.text("project", "p");
    request.target = input.text("target", "t");
    request.root = input.text("root");
    request.file = "conda_dependencies.yml";
    request.interpreter = input.text("interpreter");
    if (input.boolean("substitute")) request.substitutions = Request::Substitutions::known;
    config::Report report(request.file);
    const auto root = config::load_document(request.root, request.file, report);
    if (!root) return tl::unexpected(config::to_error(report.take()));
    request.conda = config::read_conda(*root, report);
    if (const auto& lock = input["lock"]; lock.is_object())
        request.lock = TRY(parse_lock(to_json(lock)));
    if (const auto socket = input.text("socket"); !socket.empty()) {
        request.image = ImageRequest{TRY(dockerapi::Engine::connect(socket, after(30s))),
                                     input.text("base"),
                                     {},
                                     input.text("network")};
    }
    return request;
}

Json answer_of(const Prepared& prepared)
{
    JsonObject variables;
    for (const auto& [name, value] : prepared.variables)
        variables.set(name, value);
    return JsonObject{{"record", to_json(prepared.record)},
                      {"lock", parse_json(to_text(prepared.lock)).value()},
                      {"built", prepared.built},
                      {"reason", prepared.reason},
                      {"path_front", prepared.path_front},
                      {"variables", std::move(variables)},
                      {"substitutions", to_json(prepared.substitutions)}};
}

Json answer_of(const Outlook& outlook)
{
    return JsonObject{{"ready", outlook.ready},
                      {"key", outlook.key},
                      {"builder", outlook.builder},
                      {"reason", outlook.reason},
                      {"missing", outlook.missing ? Json(outlook.missing->message()) : Json()}};
}

Result<Json> collect(const Cache& cache, const Json& input)
{
    GarbageRules rules;
    rules.largest_age = std::chrono::hours(input.integer("age_hours"));
    rules.largest_size = static_cast<std::uint64_t>(input.integer("bytes"));
    const auto result = TRY(cache.collect_garbage(rules, {}));
    JsonArray removed;
    for (const auto& entry : result.removed)
        removed.emplace_back(entry.record.id);
    return Json(JsonObject{{"removed", std::move(removed)}, {"freed", result.freed}});
}

Result<Json> listed(const Cache& cache)
{
    JsonArray list;
    for (const auto& entry : TRY(cache.list()))
        list.push_back(JsonObject{{"record", to_json(entry.record)},
                                  {"last_used", entry.last_used},
                                  {"in_use", entry.in_use}});
    return Json(std::move(list));
}

Result<Json> act(const Json& input, const std::stop_token& stop)
{
    const auto settings = settings_from(input.text("home"), own_environment());
    const auto action = input.text("action", "prepare");
    const Cache cache(settings.home);
    if (action == "list") return listed(cache);
    if (action == "gc") return collect(cache, input);
    if (action == "remove") {
        const auto record = TRY(cache.get(input.text("name")));
        TRY(cache.remove(record, image_remover()));
        return Json(record.id);
    }
    const auto request = TRY(read_request(input));
    if (action == "check") return answer_of(TRY(check(settings, request, stop)));
    const auto prepared = TRY(prepare(
        settings, request, [](const std::string& line) { std::cerr << line << std::endl; }, stop));
    if (const auto hold = input.integer("hold_ms"); hold > 0) {
        std::cerr << "holding" << std::endl;
        std::this_thread::sleep_for(std::chrono::milliseconds(hold));
    }
    return answer_of(prepared);
}

}  // namespace
}  // namespace ponk::environment

int main()
{
    using namespace ponk;
    sigset_t ending;
    ::sigemptyset(&ending);
    ::sigaddset(&ending, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
    std::stop_source stop;
    std::thread([ending, stop]() mutable {
        int number = 0;
        ::sigwait(&ending, &number);
        stop.request_stop();
    }).detach();
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    const auto input = parse_json(text);
    if (!input) return 2;
    const auto answer = environment::act(*input, stop.get_token());
    if (answer) {
        std::cout << to_json(*answer, JsonStyle::pretty) << std::endl;
        return 0;
    }
    std::cout << to_json(JsonObject{{"error", answer.error().message()},
                                    {"hint", answer.error().hint()},
                                    {"kind", to_string(answer.error().kind())}})
              << std::endl;
    return 1;
}
