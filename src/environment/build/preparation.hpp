// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/cache/record.hpp"
#include "environment/spec/request.hpp"
#include "environment/tools/rattler.hpp"

#include <functional>
#include <memory>

namespace ponk::environment {

struct Built {
    Record record;
    Lock lock;
};

// One environment that is wanted: what names it, whether it is there, how it is made. The two
// forms differ in these answers only.
struct Preparation {
    EnvironmentSpec spec;
    std::string id;
    std::string builder;  // empty where only the build itself finds out
    std::string choice;   // why that builder
    // Why what the record says is not so any more ("its image was removed"); empty when it is.
    std::function<Result<std::string>(const Record& record, std::stop_token stop)> fault;
    // Whether it could be built now: who would do it and why, or what is missing.
    std::function<Result<std::pair<std::string, std::string>>(std::stop_token stop)> examine;
    // One that is there though the cache has no record of it.
    std::function<Result<std::optional<Built>>(std::stop_token stop)> adopt;
    std::function<Result<Built>(const BuildContext& context)> build;
};

// Asks what is at hand, builds nothing. `settings` must outlive the result.
Result<Preparation> plan_prefix(const Settings& settings,
                                const Request& request,
                                PackageRequest packages,
                                std::stop_token stop);
// Brings the base image when it is not there (with `progress`; without one it is only missing).
Result<Preparation> plan_image(const Settings& settings,
                               const Request& request,
                               PackageRequest packages,
                               const Progress& progress,
                               std::stop_token stop);

}  // namespace ponk::environment
