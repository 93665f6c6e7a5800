// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "net/message.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::mlflow {

// The fields of a call, read as leniently as MLflow's server does: numbers may be texts, null is
// absent, names that nobody knows are ignored. What cannot be read is an `invalid_argument` in the
// words that clients look for; inside lists it names the place ("metrics[0].key").
class Fields {
public:
    // Of the query of a GET, of the JSON body otherwise. What is no JSON object counts as empty, so
    // that the first missing field is reported.
    static Result<Fields> of(const net::Request& request);
    explicit Fields(Json object, std::string place = {})
        : object_(std::move(object)), place_(std::move(place))
    {
    }

    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

    // Those without `find_` must be there.
    [[nodiscard]] Result<std::string> text(std::string_view name) const;
    [[nodiscard]] Result<std::optional<std::string>> find_text(std::string_view name) const;
    [[nodiscard]] Result<std::int64_t> integer(std::string_view name) const;
    [[nodiscard]] Result<std::optional<std::int64_t>> find_integer(std::string_view name) const;
    // NaN and infinities too, as numbers or by their names.
    [[nodiscard]] Result<double> number(std::string_view name) const;
    [[nodiscard]] Result<std::optional<double>> find_number(std::string_view name) const;
    [[nodiscard]] Result<std::optional<bool>> find_flag(std::string_view name) const;
    // A value among `names`, which count from 1, by name or number. An unknown one is refused.
    [[nodiscard]] Result<std::optional<std::string>>
    find_name(std::string_view name, const std::vector<std::string_view>& names) const;
    // Absent is empty; a single value is a list of one.
    [[nodiscard]] Result<std::vector<std::string>> texts(std::string_view name) const;
    [[nodiscard]] Result<std::vector<Fields>> objects(std::string_view name) const;
    [[nodiscard]] Result<Fields> object(std::string_view name) const;
    [[nodiscard]] Result<std::optional<Fields>> find_object(std::string_view name) const;
    // `run_id`, or `run_uuid` as older clients call it.
    [[nodiscard]] Result<std::string> run_id() const;

    [[nodiscard]] Error missing(std::string_view name) const;
    // "Invalid value 7 for parameter 'key' supplied: " and `why`, or what kind of value it is.
    [[nodiscard]] Error invalid(std::string_view name, std::string_view why = {}) const;
    [[nodiscard]] const Json& json() const { return object_; }

private:
    [[nodiscard]] const Json* find(std::string_view name) const;
    [[nodiscard]] std::string named(std::string_view name) const;

    Json object_;
    std::string place_;  // "metrics[0]." inside a list
};

}  // namespace ponk::mlflow
