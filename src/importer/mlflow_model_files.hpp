// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/artifact_places.hpp"
#include "importer/source.hpp"
#include "importer/store_files.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ponk::importer {

// Models and the registry in an MLflow file store.
class MlflowModelFiles {
public:
    // The folder in which the registry is, beside those of experiments.
    static constexpr std::string_view registry = "models";

    MlflowModelFiles(const StoreFiles& files, const ArtifactPlaces& places)
        : files_(files), places_(places)
    {
    }

    // Models of the experiment whose folder that is.
    Result<> list_models(const std::string& experiment);
    Result<> list_registry();
    [[nodiscard]] std::size_t left() const { return models_.size() + registered_.size(); }
    // The next one; nothing at the end.
    Result<std::optional<Item>> next();

private:
    Result<Item> read_model(const std::string& experiment, const std::string& id);
    Result<> read_model_metrics(const std::string& folder, store::LoggedModel& model);
    Result<Item> read_registered(const std::string& name);
    Result<> read_version(const std::string& folder, store::RegisteredCopy& copy);

    const StoreFiles& files_;
    const ArtifactPlaces& places_;
    std::deque<std::pair<std::string, std::string>> models_;  // folder of the experiment, id
    std::deque<std::string> registered_;
    std::deque<Item> notes_;
};

// `item`, or that it is damaged and why; the others come.
Item item_or_problem(Result<Item> item, std::string where);

// Files of a run or a model: the folder beside it counts, wherever its store was when it was made.
Files files_beside(const StoreFiles& files,
                   const ArtifactPlaces& places,
                   const std::string& folder,
                   const std::string& address,
                   const std::string& id);

}  // namespace ponk::importer
