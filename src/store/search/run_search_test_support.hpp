// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/search/filter.hpp"
#include "query/search/grammar.hpp"
#include "store/history/history_test_support.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

// For tests: runs with one-letter names that are searched for.
class SearchTest : public HistoryTest {
protected:
    struct Sample {
        std::string name;
        std::map<std::string, double> metrics = {};
        std::vector<std::pair<std::string, std::string>> tags = {};  // "param.p": parameters
        std::int64_t started = 0;
        RunState state = RunState::completed;
        std::string project = "p1";
    };

    void add_samples(const std::vector<Sample>& samples)
    {
        std::vector<model::Run> runs;
        for (const auto& sample : samples) {
            auto run = make_run(sample.project);
            // Counting up, as ids do that are made one after the other.
            run.id = RunId::parse(fmt::format("01955211aa0370008{:015x}", ids_.size())).value();
            run.name = sample.name;
            run.tags = sample.tags;
            run.started = sample.started;
            run.ended = sample.started == 0 ? 0 : sample.started + 10;
            run.state = sample.state;
            run.user = "ann";
            ids_.emplace(sample.name, run.id);
            runs.push_back(run);
        }
        ASSERT_EQ(history_->import_runs(runs).value(), runs.size());
        for (const auto& sample : samples) {
            if (sample.metrics.empty()) continue;
            std::vector<model::MetricPoint> points;
            for (const auto& [key, value] : sample.metrics)
                points.push_back({key, value, {}, 0, 0});
            log(sample.name, points);
        }
    }
    void log(const std::string& name, const std::vector<model::MetricPoint>& points)
    {
        const auto& id = ids_.at(name);
        const auto from = history_->journal_offset(id, "m").value();
        ASSERT_TRUE(history_->record_metrics(id, {"m", from, from + 1, points}));
    }

    static RunSearch search_for(const std::string& filter,
                                const std::vector<std::string>& order_by = {})
    {
        RunSearch search;
        search.filter = parsed(parse_filter(query::search::history_runs, filter));
        search.order_by = parsed(parse_order_by(query::search::history_runs, order_by));
        search.scope.limit = 1000;
        return search;
    }
    // Names of the runs, one letter each: "AB".
    std::string found(const std::string& filter, const std::vector<std::string>& order_by = {})
    {
        return names(search_for(filter, order_by));
    }
    std::string names(const RunSearch& search)
    {
        const auto page = history_->search_runs(search);
        if (!page) return page.error().message();
        std::string all;
        for (const auto& run : page->runs)
            all += run.name;
        return all;
    }
    // The same, page by page.
    std::string paged(RunSearch search, std::size_t size)
    {
        std::string all;
        search.scope.limit = size;
        for (int pages = 0; pages < 1000; ++pages) {
            const auto page = history_->search_runs(search);
            if (!page) return page.error().message();
            if (page->runs.size() > size) return "too many on a page";
            for (const auto& run : page->runs)
                all += run.name;
            if (page->next.empty()) return all;
            search.page = page->next;
        }
        return "pages without end";
    }

    std::map<std::string, RunId> ids_;

private:
    template <class T>
    static T parsed(const Result<T>& result)
    {
        EXPECT_TRUE(result) << result.error().message();
        return result.value_or(T());
    }
};

}  // namespace ponk::store
