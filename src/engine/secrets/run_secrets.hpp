// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/plan/resolve_run.hpp"
#include "model/metric_journal.hpp"
#include "secrets/redactor.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::engine {

// What a script says may hold the secrets that it was given. Everything of it that ponk stores or
// shows goes through this first. Immutable after loading.
class RunSecrets {
public:
    // Nothing to hide: before the script begins, or without secrets.
    RunSecrets() = default;
    // Fails when a value cannot be read; then nothing that the script said may be used.
    static Result<RunSecrets> load(const Context& context, const RunSpec& spec);
    // Those that a stored run was given; a client's run has none.
    static Result<RunSecrets> load(const Context& context, const model::Run& run);

    // Null when the run has no secrets.
    [[nodiscard]] const std::shared_ptr<const secrets::RedactionPatterns>& patterns() const noexcept
    {
        return patterns_;
    }
    [[nodiscard]] std::string hide(std::string_view text) const;
    [[nodiscard]] Error hide(const Error& error) const;
    // What the user called it: a name and tags.
    void hide(std::string& name, std::vector<std::pair<std::string, std::string>>& tags) const;
    // Names, texts, parameters and tags; and numbers that are a secret's value.
    void hide(model::JournalPiece& piece) const;
    // Renames what lies in a folder under a name that reveals a secret, and changes links that lead
    // to such a name. Links are not followed. A folder that is not there is a success.
    [[nodiscard]] Result<> hide_names(const Path& folder) const;

private:
    std::shared_ptr<const secrets::RedactionPatterns> patterns_;
    std::vector<double> numbers_;
};

}  // namespace ponk::engine
