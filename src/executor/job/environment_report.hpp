// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

// What executors report about environments: values with a JSON form, since they travel between
// machines and are stored with runs. docs/design/environments.md describes the texts.
namespace ponk::executor {

// What a run found when it began, exactly enough to have it again.
struct EnvironmentUsed {
    std::string id;  // in the cache of the machine; empty: nothing was prepared beside an image
    std::string key;
    std::string builder;
    std::string choice;       // why that builder; where nothing was built, why these packages
    std::string reason;       // why it was built, or that it was there
    bool built = false;       // for this run
    std::string interpreter;  // the environment's own, or the one that the user manages
    std::string version;      // of that interpreter
    std::string prefix;       // where its packages are
    std::int64_t packages = 0;
    std::string lock;  // the text of lock.json
    std::string lock_digest;
    std::string image;       // id of the image that the container is made of
    std::string base_image;  // as the configuration names it
    // The base image as its registry knows it ("NAME@sha256:…"), else its id.
    std::string base_digest;
    std::int64_t memory_limit =
        0;               // bytes that the container may use; 0: no limit, or no container
    Json substitutions;  // a list of {line, column, from, to, why}, or null
};

// Something about an environment that the user should know before it is built.
struct EnvironmentRemark {
    std::string severity;  // "error": it cannot be built; "warning"; "note"
    std::string what;      // with file:line:column where there is one
    std::string hint;
};

// What `stage` would have to do.
struct Examination {
    bool ready = false;  // a run could start at once
    std::string id;      // of the environment, where it is known; empty where there is none
    std::string key;
    std::string builder;  // who would build it, or built it
    std::string choice;
    std::string reason;       // why it is ready, or is not
    std::string interpreter;  // that would run the script, where it is known without a container
    std::string version;      // of that interpreter
    std::string image;        // base image, on targets with an engine
    std::vector<EnvironmentRemark> remarks;
    Json substitutions;  // as in EnvironmentUsed
};

// One environment of a machine's cache.
struct EnvironmentEntry {
    std::string machine;  // empty: this one; else as the target's address names it
    std::string id;
    std::string key;
    std::string form;    // "prefix" or "image"
    std::string target;  // whose run asked for it first
    std::string builder;
    std::string choice;
    std::string reason;
    std::string interpreter;
    std::string prefix;
    std::string image;
    std::string base_image;
    std::string lock_digest;
    Json spec;
    std::int64_t packages = 0;
    std::int64_t size = 0;       // bytes
    std::int64_t built = 0;      // wall-clock milliseconds
    std::int64_t last_used = 0;  // wall-clock milliseconds
    bool in_use = false;
};

struct EnvironmentList {
    std::vector<EnvironmentEntry> entries;
    std::vector<std::string> problems;  // machines that could not be asked, and why
};

struct EnvironmentRemoval {
    std::int64_t freed = 0;            // bytes; 0 while somebody keeps them
    std::vector<std::string> held_by;  // containers that ended but keep an image's layers
};

// What a garbage collection goes by. Zero means no limit.
struct EnvironmentRules {
    std::chrono::hours largest_age{0};  // since the last use
    std::uint64_t largest_size = 0;     // of all on one machine together
};

struct EnvironmentGarbage {
    std::vector<EnvironmentEntry> removed;
    std::int64_t freed = 0;
    std::vector<std::string> problems;  // what could not be removed, and why
};

Json to_json(const EnvironmentUsed& used);
Json to_json(const Examination& examination);
Json to_json(const EnvironmentEntry& entry);
Json to_json(const EnvironmentList& list);
Json to_json(const EnvironmentRemoval& removal);
Json to_json(const EnvironmentRules& rules);
Json to_json(const EnvironmentGarbage& garbage);

// `damaged` for anything but an object of that kind; fields that are absent are empty.
Result<EnvironmentUsed> parse_environment_used(const Json& value);
Result<Examination> parse_examination(const Json& value);
Result<EnvironmentEntry> parse_environment_entry(const Json& value);
Result<EnvironmentList> parse_environment_list(const Json& value);
Result<EnvironmentRemoval> parse_environment_removal(const Json& value);
Result<EnvironmentRules> parse_environment_rules(const Json& value);
Result<EnvironmentGarbage> parse_environment_garbage(const Json& value);

}  // namespace ponk::executor
