// SPDX-License-Identifier: Apache-2.0
// Loads a tracking server, ours or MLflow's, with raw HTTP over connections that stay open:
//
//     ponk_load_tool WHAT PORT TOKEN AMOUNT WHERE…
//
// - log-metric, log-batch: for AMOUNT seconds, one client for each run, 1000 points in each batch;
// - series: AMOUNT points of one key of a run;
// - floats, doubles: AMOUNT points of 10 keys in each run, as training in float32 (or not) logs
//   them, by 8 clients;
// - runs: AMOUNT runs to search in, made in an experiment by 8 clients.
//
// No two bodies are alike. What is sent follows from numbers alone (bench/load_values.py has the
// same arithmetic), so whoever measures can compare what the server has with what was answered.
// TOKEN may be empty. Prints one JSON object.
#include "base/json.hpp"
#include "base/text.hpp"
#include "http_connection.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace ponk::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t first_time = 1'700'000'000'000;
constexpr std::int64_t keys_of_batch = 10;
constexpr std::int64_t points_of_batch = 1000;
constexpr std::size_t clients_together = 8;

// A number that looks random, of the whole numbers that name it.
std::uint64_t mixed(std::uint64_t client, std::uint64_t number)
{
    auto x = client * 0x9e3779b97f4a7c15U + number + 1;
    x ^= x >> 31U;
    x *= 0xbf58476d1ce4e5b9U;
    x ^= x >> 29U;
    return x;
}

// Between 0 and 1, exact in 53 bits.
double value_of(std::uint64_t client, std::uint64_t number)
{
    return static_cast<double>(mixed(client, number) >> 11U) * 0x1p-53;
}

std::int64_t time_of(std::uint64_t client, std::uint64_t number)
{
    return first_time + static_cast<std::int64_t>(number) * 100 +
           static_cast<std::int64_t>(mixed(client, number) % 20);
}

void add_point(std::string& out,
               std::string_view key,
               std::uint64_t client,
               std::uint64_t number,
               std::uint64_t step)
{
    // Piece by piece into a buffer of its own: the load must not be what takes the time.
    fmt::basic_memory_buffer<char, 256> text;
    fmt::format_to(std::back_inserter(text),
                   FMT_COMPILE(R"({{"key":"{}","value":{},"timestamp":{},"step":{}}})"),
                   key,
                   value_of(client, number),
                   time_of(client, number),
                   step);
    out.append(text.data(), text.size());
}

struct Share {
    std::int64_t calls = 0;
    std::vector<float> milliseconds;
    std::string problem;
};

// Calls until `more` says no, and takes the time of each.
template <class MakeBody, class More>
Result<> repeat(HttpConnection& connection,
                std::string_view target,
                const MakeBody& make_body,
                const More& more,
                Share& share)
{
    std::string body;
    while (more(share.calls)) {
        body.clear();
        make_body(body, share.calls);
        const auto began = Clock::now();
        const auto answer = TRY(connection.post(target, body));
        if (answer.status != 200) {
            return fail(ErrorKind::unavailable,
                        "answer {}: {}",
                        answer.status,
                        printable(answer.body.substr(0, 300)));
        }
        share.milliseconds.push_back(
            std::chrono::duration<float, std::milli>(Clock::now() - began).count());
        ++share.calls;
    }
    return {};
}

struct Options {
    std::string what;
    std::uint16_t port = 0;
    std::string token;
    std::int64_t amount = 0;  // seconds, points or runs
    std::vector<std::string> names;
};

Result<> log_metrics(const Options& options, std::size_t client, Share& share)
{
    auto connection = TRY(HttpConnection::open(options.port, options.token));
    const auto until = Clock::now() + std::chrono::seconds(options.amount);
    return repeat(
        connection,
        "/api/2.0/mlflow/runs/log-metric",
        [&](std::string& body, std::int64_t n) {
            const auto number = static_cast<std::uint64_t>(n);
            body = fmt::format(R"({{"run_id":"{}",)", options.names[client]);
            std::string point;
            add_point(point, "loss", client, number, number);
            body.append(point, 1);
        },
        [&](std::int64_t) { return Clock::now() < until; },
        share);
}

void add_batch(std::string& body, const std::string& run, std::uint64_t client, std::int64_t call)
{
    fmt::format_to(std::back_inserter(body), R"({{"run_id":"{}","metrics":[)", run);
    for (std::int64_t i = 0; i < points_of_batch; ++i) {
        if (i > 0) body += ',';
        const auto number = static_cast<std::uint64_t>(call * points_of_batch + i);
        static const auto keys = [] {
            std::vector<std::string> all;
            for (std::int64_t key = 0; key < keys_of_batch; ++key)
                all.push_back(fmt::format("metric {}", key));
            return all;
        }();
        add_point(body,
                  keys[static_cast<std::size_t>(i % keys_of_batch)],
                  client,
                  number,
                  number / keys_of_batch);
    }
    body += "]}";
}

Result<> log_batches(const Options& options, std::size_t client, Share& share)
{
    auto connection = TRY(HttpConnection::open(options.port, options.token));
    const auto until = Clock::now() + std::chrono::seconds(options.amount);
    return repeat(
        connection,
        "/api/2.0/mlflow/runs/log-batch",
        [&](std::string& body, std::int64_t call) {
            add_batch(body, options.names[client], client, call);
        },
        [&](std::int64_t) { return Clock::now() < until; },
        share);
}

Result<> log_series(const Options& options, std::size_t client, Share& share)
{
    auto connection = TRY(HttpConnection::open(options.port, options.token));
    return repeat(
        connection,
        "/api/2.0/mlflow/runs/log-batch",
        [&](std::string& body, std::int64_t call) {
            body += fmt::format(R"({{"run_id":"{}","metrics":[)", options.names[client]);
            const auto end = std::min(options.amount, (call + 1) * points_of_batch);
            for (auto n = call * points_of_batch; n < end; ++n) {
                if (!body.ends_with('[')) body += ',';
                const auto number = static_cast<std::uint64_t>(n);
                add_point(body, "loss", client, number, number);
            }
            body += "]}";
        },
        [&](std::int64_t call) { return call * points_of_batch < options.amount; },
        share);
}

// Full runs, one after the other; each of their calls has a hundred steps of all keys.
Result<> fill_runs(const Options& options, std::atomic<std::int64_t>& next, Share& share)
{
    auto connection = TRY(HttpConnection::open(options.port, options.token));
    const bool narrow = options.what == "floats";
    const auto runs = static_cast<std::int64_t>(options.names.size());
    for (auto run = next++; run < runs; run = next++) {
        const auto client = static_cast<std::uint64_t>(run);
        const auto begun = share.calls;
        TRY(repeat(
            connection,
            "/api/2.0/mlflow/runs/log-batch",
            [&](std::string& body, std::int64_t call) {
                body += fmt::format(R"({{"run_id":"{}","metrics":[)", options.names[client]);
                const auto first = (call - begun) * points_of_batch;
                const auto end = std::min(options.amount, first + points_of_batch);
                for (auto n = first; n < end; ++n) {
                    if (n > first) body += ',';
                    const auto number = static_cast<std::uint64_t>(n);
                    const auto step = number / keys_of_batch;
                    const auto value = value_of(client, number);
                    fmt::format_to(std::back_inserter(body),
                                   R"({{"key":"metric {}","value":{},"timestamp":{},"step":{}}})",
                                   number % keys_of_batch,
                                   narrow ? static_cast<double>(static_cast<float>(value)) : value,
                                   time_of(client, step),
                                   step);
                }
                body += "]}";
            },
            [&](std::int64_t call) { return (call - begun) * points_of_batch < options.amount; },
            share));
    }
    return {};
}

// What runs to search in have: two metrics, two parameters and a tag.
void add_run_values(std::string& body, const std::string& run, std::uint64_t number)
{
    fmt::format_to(
        std::back_inserter(body),
        R"({{"run_id":"{}","metrics":[{{"key":"accuracy","value":{},"timestamp":{},"step":1}},)"
        R"({{"key":"loss","value":{},"timestamp":{},"step":1}}],)"
        R"("params":[{{"key":"lr","value":"0.{}"}},{{"key":"depth","value":"{}"}}],)"
        R"("tags":[{{"key":"number","value":"{}"}}]}})",
        run,
        value_of(1, number),
        time_of(1, number),
        value_of(2, number),
        time_of(1, number),
        number % 7,
        number % 13,
        number);
}

Result<> make_runs(const Options& options, std::atomic<std::int64_t>& next, Share& share)
{
    auto connection = TRY(HttpConnection::open(options.port, options.token));
    for (auto number = next++; number < options.amount; number = next++) {
        const auto made = TRY(connection.post(
            "/api/2.0/mlflow/runs/create",
            fmt::format(R"({{"experiment_id":"{}","start_time":{},"run_name":"run {}"}})",
                        options.names.at(0),
                        first_time + number,
                        number)));
        const auto run = TRY(parse_json(made.body))["run"]["info"].text("run_id");
        if (run.empty()) return fail(ErrorKind::damaged, "no run: {}", printable(made.body));
        std::string body;
        add_run_values(body, run, static_cast<std::uint64_t>(number));
        const auto answer = TRY(connection.post("/api/2.0/mlflow/runs/log-batch", body));
        if (answer.status != 200)
            return fail(
                ErrorKind::unavailable, "answer {}: {}", answer.status, printable(answer.body));
        ++share.calls;
    }
    return {};
}

double part_of(const std::vector<float>& sorted, double part)
{
    if (sorted.empty()) return 0;
    const auto last = static_cast<double>(sorted.size() - 1);
    return static_cast<double>(sorted[static_cast<std::size_t>(part * last)]);
}

Result<Json> run(const Options& options)
{
    std::atomic<std::int64_t> next{0};
    const auto one = [&](std::size_t client, Share& share) -> Result<> {
        if (options.what == "log-metric") return log_metrics(options, client, share);
        if (options.what == "log-batch") return log_batches(options, client, share);
        if (options.what == "series") return log_series(options, client, share);
        if (options.what == "floats" || options.what == "doubles")
            return fill_runs(options, next, share);
        if (options.what == "runs") return make_runs(options, next, share);
        return fail(ErrorKind::invalid_argument, "no load '{}'", options.what);
    };
    const bool shared =
        options.what == "runs" || options.what == "floats" || options.what == "doubles";
    const auto clients = shared ? clients_together : options.names.size();
    std::vector<Share> shares(clients);
    std::vector<std::thread> threads;
    const auto began = Clock::now();
    for (std::size_t client = 0; client < clients; ++client) {
        threads.emplace_back([&, client] {
            if (const auto done = one(client, shares[client]); !done)
                shares[client].problem = done.error().message();
        });
    }
    for (auto& thread : threads)
        thread.join();
    const auto seconds = std::chrono::duration<double>(Clock::now() - began).count();
    std::int64_t calls = 0;
    JsonArray each;
    std::vector<float> times;
    for (const auto& share : shares) {
        if (!share.problem.empty()) return fail(ErrorKind::unavailable, "{}", share.problem);
        calls += share.calls;
        each.emplace_back(share.calls);
        times.insert(times.end(), share.milliseconds.begin(), share.milliseconds.end());
    }
    std::sort(times.begin(), times.end());
    return Json(JsonObject{{"calls", calls},
                           {"seconds", seconds},
                           {"each", std::move(each)},
                           {"p50_ms", part_of(times, 0.5)},
                           {"p99_ms", part_of(times, 0.99)}});
}

}  // namespace
}  // namespace ponk::bench

int main(int count, char** words)
{
    using namespace ponk;
    if (count < 6) {
        std::fputs("see the head of bench/load_tool.cpp\n", stderr);
        return 2;
    }
    const bench::Options options{words[1],
                                 static_cast<std::uint16_t>(parse_integer(words[2]).value_or(0)),
                                 words[3],
                                 parse_integer(words[4]).value_or(0),
                                 {words + 5, words + count}};
    const auto result = bench::run(options);
    if (!result) {
        std::fprintf(stderr, "%s\n", result.error().message().c_str());
        return 1;
    }
    std::printf("%s\n", to_json(*result).c_str());
    return 0;
}
