// SPDX-License-Identifier: Apache-2.0
// ponk_points_tool FOLDER [POINTS [RUNS]]: logs series of so many points into histories below
// FOLDER, once, and measures their size on disk, and how long logging, reading and drawing them
// takes.
#include "store/history/history.hpp"
#include "store/points/chunk_codec.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace ponk;
using model::MetricPoint;
using Clock = std::chrono::steady_clock;

constexpr const char* key = "loss";

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

enum class Values { floats, doubles };

// A training: a loss that falls with noise, a step every 100 ms give or take 10; or numbers of
// which every bit is noise, but for the sign and the exponent.
class Training {
public:
    explicit Training(Values values) : values_(values) {}
    MetricPoint next()
    {
        const double loss = std::exp(-1e-6 * static_cast<double>(step_)) + 0.1 * noise_(random_);
        MetricPoint point;
        point.key = key;
        point.value =
            values_ == Values::floats ? double{static_cast<float>(loss)} : uniform_(random_);
        point.step = step_++;
        point.time = time_ += 90 + static_cast<std::int64_t>(random_() % 21);
        return point;
    }

private:
    Values values_;
    std::mt19937_64 random_{1};
    std::normal_distribution<double> noise_;
    std::uniform_real_distribution<double> uniform_{-1, 1};
    std::int64_t step_ = 0;
    std::int64_t time_ = 1'740'000'000'000;
};

RunId run_id(int number)
{
    return RunId::parse(fmt::format("01955211aa03700080000000{:08x}", number)).value();
}

Result<> add_run(store::History& history, int number)
{
    model::Run run;
    run.id = run_id(number);
    run.project = "p";
    TRY(history.create_run(run));
    return {};
}

Result<> fill(store::History& history, Values values, int runs, std::int64_t count)
{
    constexpr std::int64_t at_once = 20'000;
    for (int number = 0; number < runs; ++number) {
        TRY(add_run(history, number));
        Training training(values);
        for (std::int64_t done = 0; done < count;) {
            store::JournalBatch batch{"m", static_cast<std::uint64_t>(done), 0, {}};
            for (; done < count && batch.points.size() < at_once; ++done)
                batch.points.push_back(training.next());
            batch.to = static_cast<std::uint64_t>(done);
            TRY(history.record_metrics(run_id(number), batch));
        }
    }
    return {};
}

template <class Work>
Result<double> median_ms(Work work)
{
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
        const auto start = Clock::now();
        TRY(work());
        times.push_back(1000 * seconds_since(start));
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

Result<> measure_store(
    const std::string& folder, const char* name, Values values, int runs, std::int64_t count)
{
    const auto place = folder + "/" + name;
    const auto all = static_cast<double>(count) * runs;
    auto history = TRY(store::History::open(place));
    if (history->opening().outcome == store::Opening::Outcome::created) {
        const auto start = Clock::now();
        TRY(fill(*history, values, runs, count));
        fmt::print("{:8} stored {:.2f} million points/s\n", name, all / 1e6 / seconds_since(start));
    }
    // Closed once, so that nothing is in the write-ahead log only.
    history.reset();
    history = TRY(store::History::open(place));
    fmt::print("{:8} {:.2f} bytes a point in the database\n",
               name,
               static_cast<double>(history->sizes().database) / all);
    int next = 0;
    const auto any_run = [&] { return run_id(next++ % runs); };
    fmt::print("{:8} 1000 of {} sampled: {:.2f} ms\n", name, count, TRY(median_ms([&] {
                   return history->sampled_history(any_run(), key, std::nullopt, 1000);
               })));
    fmt::print("{:8} curve of 1000: {:.2f} ms\n",
               name,
               TRY(median_ms([&] { return history->metric_curve(any_run(), key, 1000); })));
    std::string after;
    fmt::print("{:8} page of 25,000: {:.2f} ms\n", name, TRY(median_ms([&]() -> Result<> {
                   after = TRY(history->metric_history(run_id(0), key, after, 25'000)).next;
                   return {};
               })));
    return {};
}

Result<> measure_codec(const char* name, Values values)
{
    constexpr int rounds = 500;
    Training training(values);
    store::PointColumns points;
    for (std::size_t i = 0; i < store::most_chunk_points; ++i)
        points.add(training.next());
    store::ChunkEncoder encoder;
    store::ChunkDecoder decoder;
    auto start = Clock::now();
    std::string bytes;
    for (int i = 0; i < rounds; ++i)
        bytes = encoder.encode(points);
    const double encoding = seconds_since(start);
    start = Clock::now();
    for (int i = 0; i < rounds; ++i)
        TRY(decoder.decode(bytes));
    const double decoding = seconds_since(start);
    const double all = static_cast<double>(points.size()) * rounds / 1e6;
    fmt::print("{:8} {:.2f} bytes a point in a chunk; {:.0f} million points/s in, {:.0f} out\n",
               name,
               static_cast<double>(bytes.size()) / static_cast<double>(points.size()),
               all / encoding,
               all / decoding);
    return {};
}

// So many threads, each of which logs and waits until that is on the disk.
Result<> measure_logging(const std::string& folder, int threads, std::size_t points_each)
{
    const auto history =
        TRY(store::History::open(fmt::format("{}/log-{}-{}", folder, threads, points_each)));
    for (int i = 0; i < threads; ++i)
        TRY(add_run(*history, i));
    const auto start = Clock::now();
    std::atomic<std::int64_t> calls = 0;
    {
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i) {
            running.emplace_back([&, i] {
                Training training(Values::floats);
                while (seconds_since(start) < 2) {
                    std::vector<MetricPoint> points;
                    for (std::size_t n = 0; n < points_each; ++n)
                        points.push_back(training.next());
                    if (!history->log_points(run_id(i), points)) return;
                    ++calls;
                }
            });
        }
    }
    fmt::print("{:2} threads log {:4} points each: {:.0f} calls/s, on the disk\n",
               threads,
               points_each,
               static_cast<double>(calls) / seconds_since(start));
    return {};
}

Result<> run(const std::string& folder, std::int64_t count, int runs)
{
    TRY(measure_codec("floats", Values::floats));
    TRY(measure_codec("doubles", Values::doubles));
    TRY(measure_store(folder, "floats", Values::floats, runs, count));
    TRY(measure_store(folder, "doubles", Values::doubles, runs, count));
    for (const int threads : {1, 8, 16})
        TRY(measure_logging(folder, threads, 1));
    return measure_logging(folder, 8, 1000);
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        fmt::print(stderr, "usage: ponk_points_tool FOLDER [POINTS [RUNS]]\n");
        return 2;
    }
    const auto done =
        run(argv[1], argc > 2 ? std::atoll(argv[2]) : 1'000'000, argc > 3 ? std::atoi(argv[3]) : 1);
    if (done) return 0;
    fmt::print(stderr, "{}\n", done.error().message());
    return 1;
}
