// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/tail_reader.hpp"
#include "store/records.hpp"
#include "store/search/search_order.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

// Runs whose latest values of the metrics that a search names are not all in the table `metric`,
// because points wait in the tail: their values, as compaction will store them. The tail is small
// (history_points.cpp keeps it so), and so are these. Empty for a search without metrics.
class TailedRuns {
public:
    static Result<TailedRuns>
    read(db::Connection& reader, const TailReader& tail, const RunSearch& search);

    [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
    // All of them; those that fulfil what the search asks of metrics.
    [[nodiscard]] std::vector<std::int64_t> rows() const;
    [[nodiscard]] std::vector<std::int64_t> rows_for(const RunSearch& search) const;
    // Puts the values into the marks of columns that are metrics.
    void set_marks(std::int64_t row, const std::vector<OrderColumn>& columns, Marks& marks) const;

private:
    // Of a key; nullopt: the run has no number there.
    struct Numbers {
        std::optional<double> last;
        std::optional<double> low;
        std::optional<double> high;
    };
    static Numbers numbers_of(const LatestMetric& latest);
    static Result<Numbers> find_numbers(db::Connection& reader,
                                        std::int64_t run,
                                        const std::string& key,
                                        const PointsByKey& tail);
    using Values = std::vector<Numbers>;  // of each of `keys_`
    [[nodiscard]] const Numbers& numbers_of(const Values& values, const std::string& key) const;

    std::vector<std::string> keys_;  // sorted
    std::map<std::int64_t, Values> values_;
};

// For a statement about such runs: columns that are metrics are left empty.
std::vector<OrderColumn> without_metrics(std::vector<OrderColumn> columns);
RunSearch without_metrics(RunSearch search);

}  // namespace ponk::store
