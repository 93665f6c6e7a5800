// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/fields.hpp"
#include "query/search/comparison.hpp"
#include "store/rows/tracked_rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ponk::store {

class History;

struct ModelVersion {
    std::string name = {};
    std::int64_t version = 0;
    std::int64_t created = 0;  // wall-clock milliseconds
    std::int64_t updated = 0;
    std::optional<std::string> description = std::nullopt;
    std::string stage = {};
    std::string source = {};    // as the client said it
    std::string location = {};  // where its files are
    std::string run = {};
    std::string run_link = {};
    std::string logged_model = {};
    Pairs tags = {};
    std::vector<std::string> aliases = {};  // sorted

    // Of lines of `history export`.
    static constexpr auto fields()
    {
        return std::tuple(field("version", &ModelVersion::version),
                          field("created", &ModelVersion::created),
                          field("updated", &ModelVersion::updated),
                          field("description", &ModelVersion::description),
                          field("stage", &ModelVersion::stage),
                          field("source", &ModelVersion::source),
                          field("location", &ModelVersion::location),
                          field("run_id", &ModelVersion::run),
                          field("run_link", &ModelVersion::run_link),
                          field("model_id", &ModelVersion::logged_model),
                          field("tags", &ModelVersion::tags));
    }
    friend bool operator==(const ModelVersion&, const ModelVersion&) = default;
};

struct RegisteredModel {
    std::string name = {};
    std::string description = {};
    std::int64_t created = 0;
    std::int64_t updated = 0;
    Pairs tags = {};
    std::vector<std::pair<std::string, std::int64_t>> aliases = {};  // sorted, with their versions
    std::vector<ModelVersion> latest = {};  // the newest of each stage, without aliases

    // Of lines of `history export`.
    static constexpr auto fields()
    {
        return std::tuple(field("name", &RegisteredModel::name),
                          field("description", &RegisteredModel::description),
                          field("created", &RegisteredModel::created),
                          field("updated", &RegisteredModel::updated),
                          field("tags", &RegisteredModel::tags),
                          field("aliases", &RegisteredModel::aliases));
    }
    friend bool operator==(const RegisteredModel&, const RegisteredModel&) = default;
};

struct NewVersion {
    std::string name = {};
    std::string source = {};
    std::string location = {};
    std::string run = {};
    std::string run_link = {};
    std::string description = {};
    std::string logged_model = {};
    Pairs tags = {};
};

struct RegistrySearch {
    query::search::Filter filter = {};
    std::vector<query::search::OrderKey> order_by = {};
    std::string page = {};  // `next` of the page before this one
    std::size_t limit = 100;
};

struct RegisteredPage {
    std::vector<RegisteredModel> models = {};
    std::string next = {};  // empty at the end
};

struct VersionPage {
    std::vector<ModelVersion> versions = {};
    std::string next = {};
};

// Marks models and versions that are prompts; searches leave those out unless they ask for them.
inline constexpr std::string_view prompt_tag = "mlflow.prompt.is_prompt";
bool is_prompt(const Pairs& tags);

// Names for models, each with numbered versions. Sources are texts: nothing here opens them. Safe
// to call from any thread; every write is durable on return, and of a call that fails nothing was
// stored. Errors are in MLflow's words; `conflict` when a name is taken.
class Registry {
public:
    enum class Others { keep, archive };

    explicit Registry(const History& history) : history_(history) {}

    // Models ----------------------------------------------------------------------------------

    Result<RegisteredModel>
    create(const std::string& name, const std::string& description, const Pairs& tags);
    Result<RegisteredModel> get(const std::string& name) const;
    Result<RegisteredModel> rename(const std::string& name, const std::string& new_name);
    Result<RegisteredModel> describe(const std::string& name, const std::string& description);
    // With its versions.
    Result<> remove(const std::string& name);
    // By name when no order is given.
    Result<RegisteredPage> search(const RegistrySearch& search) const;
    Result<> set_tag(const std::string& name, const std::string& key, const std::string& value);
    // Absent is fine.
    Result<> remove_tag(const std::string& name, const std::string& key);

    // Versions --------------------------------------------------------------------------------

    // Gives it the next number. Where it is a logged model's, that one is told by its tag.
    Result<ModelVersion> create_version(const NewVersion& version);
    Result<ModelVersion> get_version(const std::string& name, std::int64_t version) const;
    Result<ModelVersion> describe_version(const std::string& name,
                                          std::int64_t version,
                                          const std::optional<std::string>& description);
    // `archive`: all other versions that are in the stage leave it.
    Result<ModelVersion> set_stage(const std::string& name,
                                   std::int64_t version,
                                   const std::string& stage,
                                   Others others);
    // Its aliases go too, its number is not given again.
    Result<> remove_version(const std::string& name, std::int64_t version);
    // The newest of each stage; none named: of all stages.
    Result<std::vector<ModelVersion>> latest_versions(const std::string& name,
                                                      const std::vector<std::string>& stages) const;
    // The last changed first when no order is given.
    Result<VersionPage> search_versions(const RegistrySearch& search) const;
    Result<> set_version_tag(const std::string& name,
                             std::int64_t version,
                             const std::string& key,
                             const std::string& value);
    Result<>
    remove_version_tag(const std::string& name, std::int64_t version, const std::string& key);

    // Aliases ---------------------------------------------------------------------------------

    Result<> set_alias(const std::string& name, const std::string& alias, std::int64_t version);
    // Absent is fine.
    Result<> remove_alias(const std::string& name, const std::string& alias);
    // `invalid_argument` when there is no such alias. "latest" is the highest version.
    Result<ModelVersion> get_by_alias(const std::string& name, const std::string& alias) const;

private:
    const History& history_;
};

}  // namespace ponk::store
