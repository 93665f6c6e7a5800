// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/artifact_places.hpp"
#include "importer/mlflow_schema.hpp"
#include "importer/source.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace ponk::importer {

// The database of an MLflow server, SQLite, of MLflow 1.x to 3.x. A server may be using it: it is
// opened for reading, and each run is read in a moment of its own.
Result<std::unique_ptr<Source>> open_mlflow_database(const os::Path& file,
                                                     const std::optional<os::Path>& artifacts);

// Models and the registry in such a database.
class MlflowModels {
public:
    MlflowModels(db::Connection& database, const MlflowSchema& schema, std::string shown);

    Result<> list();
    [[nodiscard]] std::size_t left() const { return models_.size() + registered_.size(); }
    // The next one; nothing at the end.
    Result<std::optional<Item>> next(const ArtifactPlaces& places);

private:
    Result<Item> read_model(const std::string& id, const ArtifactPlaces& places);
    Result<Item> read_registered(const std::string& name);
    Result<> read_versions(store::RegisteredCopy& copy);

    db::Connection& database_;
    const MlflowSchema& schema_;
    std::string shown_;
    std::deque<std::string> models_;
    std::deque<std::string> registered_;
    std::deque<Item> notes_;
};

// Key and value of rows that belong to `owner`; NULL is not text.
Result<store::Pairs>
read_foreign_pairs(db::Connection& database, const std::string& sql, const std::string& owner);

}  // namespace ponk::importer
