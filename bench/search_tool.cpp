// SPDX-License-Identifier: Apache-2.0
// ponk_search_tool FOLDER [RUNS [TAILED]]: fills a history with runs, once, and measures searches
// in it; with points that wait in the tail for so many of them.
#include "query/search/filter.hpp"
#include "store/history/history.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace ponk;

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Of nine projects the first has half of the runs; details have the size of a real run's.
model::Run make_run(int number, std::mt19937_64& random)
{
    model::Run run;
    run.id = RunId::parse(fmt::format("01955211{:08x}8{:015x}", number / 100, number)).value();
    run.project = fmt::format("project-{}", number % 2 == 0 ? 0 : number % 9);
    run.project_path = "/home/ann/" + run.project;
    run.name = fmt::format("run {}", number);
    run.script_name = number % 3 == 0 ? "train.py" : "evaluate.py";
    run.target = "local";
    run.user = "ann";
    run.state = number % 20 == 0 ? model::RunState::failed : model::RunState::completed;
    run.created = 1'740'000'000'000 + number * 1000LL;
    run.started = run.created + 50;
    run.ended = run.started + static_cast<std::int64_t>(random() % 100'000);
    run.configuration = JsonObject{{"text", std::string(1200, 'c')}};
    run.tags = {{"param.lr", fmt::format("{}", 0.1 * static_cast<double>(random() % 10))},
                {"param.seed", std::to_string(number)},
                {"team", random() % 1000 == 0 ? "rare" : "usual"}};
    return run;
}

Result<> fill(store::History& history, int count)
{
    constexpr int at_once = 1000;
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform;
    for (int first = 0; first < count; first += at_once) {
        std::vector<model::Run> runs;
        for (int i = first; i < std::min(count, first + at_once); ++i)
            runs.push_back(make_run(i, random));
        TRY(history.import_runs(runs));
        for (const auto& run : runs) {
            std::vector<model::MetricPoint> points;
            for (const auto* key : {"accuracy", "loss", "f1"})
                points.push_back({key, uniform(random), {}, 0, 0});
            points.push_back({"epochs", 10, {}, 0, 0});
            TRY(history.record_metrics(run.id, {"m", 0, 1, points}));
        }
    }
    return {};
}

// The newest runs log one point each, which nobody compacts meanwhile.
Result<> add_tails(store::History& history, int count)
{
    store::RunFilter filter;
    filter.limit = 1000;
    for (int done = 0; done < count;) {
        const auto page = TRY(history.list_runs(filter));
        for (const auto& run : page.runs) {
            if (done++ == count) return {};
            const std::vector<model::MetricPoint> point{
                {"accuracy", 1.0 / (1 + done), {}, done, done}};
            TRY(history.log_points(run.id, point));
        }
        if (!page.next) return {};
        filter.before = page.next;
    }
    return {};
}

struct Question {
    const char* filter;
    std::vector<std::string> order_by;
};

Result<store::RunSearch> search_for(const Question& question, const std::string& project)
{
    store::RunSearch search;
    search.filter = TRY(query::search::parse_filter(query::search::history_runs, question.filter));
    search.order_by =
        TRY(query::search::parse_order_by(query::search::history_runs, question.order_by));
    search.scope.project = project;
    return search;
}

Result<> measure(const store::History& history, const Question& question)
{
    for (const auto* project : {"", "project-0", "project-3"}) {
        auto search = TRY(search_for(question, project));
        std::vector<double> times;
        std::size_t found = 0;
        for (int i = 0; i < 7; ++i) {
            const auto start = Clock::now();
            const auto page = TRY(history.search_runs(search));
            times.push_back(milliseconds_since(start));
            found = page.runs.size();
            if (i == 5) search.page = page.next;  // the last time: the second page
        }
        const double second = times.back();
        times.pop_back();
        std::sort(times.begin(), times.end());
        fmt::print("{:8.2f} ms {:8.2f} ms  {:4}  {:10} {} | {}\n",
                   times[times.size() / 2],
                   second,
                   found,
                   *project ? project : "all",
                   question.filter,
                   question.order_by.empty() ? "" : question.order_by.front());
    }
    return {};
}

Result<> run(const std::string& folder, int count, int tailed)
{
    const auto history = TRY(store::History::open(folder));
    if (history->opening().outcome == store::Opening::Outcome::created) TRY(fill(*history, count));
    TRY(add_tails(*history, tailed));
    fmt::print("{:>11} {:>11}  runs  project    filter | order\n", "page 1", "page 2");
    const Question questions[] = {
        {"", {}},
        {"", {"start_time DESC"}},
        {"", {"metrics.accuracy DESC"}},
        {"", {"metrics.epochs DESC"}},
        {"", {"metrics.missing"}},
        {"", {"params.lr"}},
        {"", {"end_time"}},
        {"metrics.accuracy > 0.9", {}},
        {"metrics.accuracy > 0.9", {"metrics.accuracy DESC"}},
        {"metrics.accuracy > 0.9", {"metrics.loss"}},
        {"metrics.accuracy > 0.9999", {"metrics.loss"}},
        {"metrics.accuracy > 0.9 AND params.lr = '0.1'", {"metrics.accuracy DESC"}},
        {"metrics.accuracy > 0.5 AND metrics.loss < 0.5 AND metrics.f1 > 0.5", {"start_time DESC"}},
        {"params.seed = '77777'", {"metrics.accuracy DESC"}},
        {"params.seed LIKE '777%'", {"metrics.accuracy DESC"}},
        {"tags.team = 'rare'", {"metrics.accuracy DESC"}},
        {"status = 'FAILED' AND script = 'train.py'", {"metrics.loss"}},
        {"user_id = 'bob'", {}},
        {"metrics.accuracy > 0.9 AND metrics.accuracy < 0.1", {"metrics.loss"}},
        {"metrics.accuracy > 0.5 AND user_id = 'bob'", {"metrics.loss"}},
    };
    for (const auto& question : questions)
        TRY(measure(*history, question));
    return {};
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        fmt::print(stderr, "usage: ponk_search_tool FOLDER [RUNS [TAILED]]\n");
        return 2;
    }
    const auto result =
        run(argv[1], argc > 2 ? std::atoi(argv[2]) : 100'000, argc > 3 ? std::atoi(argv[3]) : 0);
    if (!result) fmt::print(stderr, "{}\n", result.error().message());
    return result ? 0 : 1;
}
