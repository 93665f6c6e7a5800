// SPDX-License-Identifier: Apache-2.0
// ponk_curves_tool FOLDER RUNS KEYS POINTS [fill]: makes a history of so many runs with so many
// series of so many points, once, and measures what their curves of 800 columns cost, from
// summaries and with all points decoded; with `fill` it only makes it.
#include "store/history/history.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace ponk;

struct Shape {
    int runs = 0;
    int keys = 0;
    std::int64_t points = 0;
};

double processor_seconds()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

RunId run_id(int number)
{
    return RunId::parse(fmt::format("01955211aa03700080000000{:08x}", number)).value();
}

std::string key_name(int key)
{
    return fmt::format("metric{:02}", key);
}

// A loss that falls with noise, as floats; a step every 100 ms give or take 10.
Result<> fill_run(store::History& history, int number, const Shape& shape)
{
    model::Run run;
    run.id = run_id(number);
    run.project = "p";
    TRY(history.create_run(run));
    std::mt19937_64 random(static_cast<std::uint64_t>(number) + 1);
    std::normal_distribution<double> noise;
    std::uint64_t read = 0;
    for (int key = 0; key < shape.keys; ++key) {
        store::JournalBatch batch{"m", read, 0, {}};
        std::int64_t time = 1'740'000'000'000;
        for (std::int64_t step = 0; step < shape.points; ++step) {
            const auto loss = std::exp(-1e-5 * static_cast<double>(step)) + 0.1 * noise(random);
            time += 90 + static_cast<std::int64_t>(random() % 21);
            batch.points.push_back(
                {key_name(key), double{static_cast<float>(loss)}, {}, step, time});
        }
        read = batch.to = batch.from + batch.points.size();
        TRY(history.record_metrics(run.id, batch));
    }
    return {};
}

Result<> measure(const store::History& history,
                 const Shape& shape,
                 const char* what,
                 store::PixelAxis axis,
                 double smoothing)
{
    const auto before = processor_seconds();
    store::PixelWindow window{INT64_MAX, INT64_MIN, 800};
    for (int run = 0; run < shape.runs; ++run) {
        for (int key = 0; key < shape.keys; ++key) {
            const auto ends = TRY(history.metric_ends(run_id(run), key_name(key), axis));
            window.from = std::min(window.from, ends->from);
            window.to = std::max(window.to, ends->to);
        }
    }
    const auto looked = processor_seconds();
    std::size_t rows = 0;
    for (int run = 0; run < shape.runs; ++run) {
        for (int key = 0; key < shape.keys; ++key)
            rows += TRY(history.metric_pixels(run_id(run), key_name(key), axis, window, smoothing))
                        ->x.size();
    }
    fmt::print("{:26} {:.3f} s CPU for the ends, {:.3f} s for {} rows\n",
               what,
               looked - before,
               processor_seconds() - looked,
               rows);
    return {};
}

enum class Work { fill, measure };

Result<> work(const std::string& folder, const Shape& shape, Work what)
{
    auto history = TRY(store::History::open(folder));
    if (history->opening().outcome == store::Opening::Outcome::created) {
        for (int run = 0; run < shape.runs; ++run)
            TRY(fill_run(*history, run, shape));
        // Closed once, so that nothing is in the write-ahead log only.
        history.reset();
        history = TRY(store::History::open(folder));
    }
    for (int turn = 0; turn < 2 && what == Work::measure; ++turn) {
        TRY(measure(*history, shape, "steps", store::PixelAxis::step, 0));
        TRY(measure(*history, shape, "times", store::PixelAxis::relative, 0));
        TRY(measure(*history, shape, "steps, all points, smooth", store::PixelAxis::step, 0.6));
    }
    return {};
}

}  // namespace

int main(int count, char** words)
{
    if (count != 5 && (count != 6 || words[5] != std::string_view("fill"))) {
        fmt::print(stderr, "usage: ponk_curves_tool FOLDER RUNS KEYS POINTS [fill]\n");
        return 2;
    }
    const auto done = work(words[1],
                           {std::atoi(words[2]), std::atoi(words[3]), std::atoll(words[4])},
                           count == 6 ? Work::fill : Work::measure);
    if (!done) fmt::print(stderr, "{}\n", done.error().message());
    return done ? 0 : 1;
}
