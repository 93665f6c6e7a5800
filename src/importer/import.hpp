// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/keyed_hash.hpp"
#include "importer/artifact_copy.hpp"
#include "importer/recognise.hpp"
#include "importer/report.hpp"
#include "importer/source.hpp"
#include "store/copy/copies.hpp"
#include "store/tracking/artifact_folder.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace ponk::importer {

// Where it goes.
struct Destination {
    store::History& history;
    store::ArtifactFolder files;
    // Whether the object store has what a digest names.
    std::function<bool(const std::string& digest)> has_object;
};

struct Options {
    os::Path path;                                // absolute
    std::optional<Format> format = std::nullopt;  // nullopt: recognised
    std::optional<os::Path> artifacts = std::nullopt;
    store::Copies::Mode mode = store::Copies::Mode::store;
    std::map<std::string, std::string> experiments = {};  // other names for them
};

// One import, done in steps so that whoever asked for it sees it go on and can end it between any
// two of them. What was imported stays; the same import again goes on with the rest. One thread.
class Import {
public:
    static Result<std::unique_ptr<Import>> open(Destination destination, Options options);

    // Some of the work; false when all is done and on the disk.
    Result<bool> step();

    [[nodiscard]] Format format() const noexcept { return format_; }
    [[nodiscard]] const Report& report() const noexcept { return report_; }
    [[nodiscard]] double fraction() const { return source_->fraction(); }

private:
    using Outcome = store::Copies::Outcome;
    using Place = store::Copies::Place;

    Import(Destination destination, Options options, Format format, std::unique_ptr<Source> source);

    // Each is one transaction. Errors here are of our own store and end the import.
    Result<> take(Item item);
    Result<> take(const std::string& where, ExperimentItem item);
    Result<> take(const std::string& where, RunItem item);
    Result<> take(const std::string& where, ModelItem item);
    Result<> take(const std::string& where, RegisteredItem item);

    const Place* place_of(const std::string& where, const ExperimentKey& key);
    // Counts it; false when it was refused, which is reported.
    Result<bool> count(Tally& tally, const std::string& where, const Result<Outcome>& outcome);
    Result<> take_files(const std::string& where,
                        const Place& place,
                        const std::string& inside,
                        Files files);
    void note_move(const Place& place, const std::string& location, const std::string& inside);
    [[nodiscard]] bool comes_here(const std::string& location) const;
    [[nodiscard]] std::string location_here(const std::string& location) const;

    Destination destination_;
    Options options_;
    Format format_;
    std::unique_ptr<Source> source_;
    store::Copies copies_;
    Report report_;
    std::map<ExperimentKey, std::optional<Place>> places_;  // nullopt: refused
    KeyedMap<std::string> moved_;                           // locations there, and here
    std::set<std::string> renamed_;                         // experiments that got another name
    std::optional<ArtifactCopy> copying_;
};

}  // namespace ponk::importer
