// SPDX-License-Identifier: Apache-2.0
#include "importer/copy_limits.hpp"

#include "base/text.hpp"
#include "model/logged_limits.hpp"
#include "model/run_words.hpp"

#include <fmt/format.h>

namespace ponk::importer {

namespace {

namespace limits = model::limits;

Result<> check(std::string_view what, std::string_view text, std::size_t most)
{
    // Characters have one byte or more.
    const auto length = text.size() > most ? utf8_length(text) : 0;
    if (length <= most) return {};
    return fail(ErrorKind::invalid_argument,
                "{} has {} characters, at most {} are kept",
                what,
                length,
                most);
}

Result<> check_pairs(std::string_view what,
                     const store::Pairs& pairs,
                     std::size_t most,
                     std::size_t most_of_key = limits::key)
{
    std::size_t all = 0;
    for (const auto& [key, value] : pairs)
        all += key.size() + value.size();
    if (pairs.size() > limits::tags || all > limits::all_tags)
        return fail(ErrorKind::invalid_argument,
                    "it has {} tags or parameters of {}, at most {} of {} are kept",
                    pairs.size(),
                    byte_size_text(all),
                    limits::tags,
                    byte_size_text(limits::all_tags));
    for (const auto& [key, value] : pairs) {
        const auto named = fmt::format("{} '{}'", what, printable(first_characters(key, 40)));
        TRY(check("the name of " + named, key, most_of_key));
        TRY(check(named, value, most));
    }
    return {};
}

Result<> check_input(const store::DatasetInput& input)
{
    const auto& dataset = input.dataset;
    TRY(check("the name of a dataset", dataset.name, limits::dataset_name));
    TRY(check("the digest of a dataset", dataset.digest, limits::dataset_digest));
    TRY(check("the source of a dataset", dataset.source, limits::dataset_source));
    TRY(check("the source type of a dataset", dataset.source_type, limits::dataset_name));
    TRY(check("the schema of a dataset", dataset.schema.value_or(""), limits::dataset_schema));
    TRY(check("the profile of a dataset", dataset.profile.value_or(""), limits::dataset_profile));
    return check_pairs(
        "tag of a dataset", input.tags, limits::input_tag_value, limits::input_tag_key);
}

}  // namespace

Result<> check_limits(const store::ExperimentCopy& experiment)
{
    TRY(check("its name", experiment.name, limits::experiment_name));
    TRY(check("its location", experiment.location, limits::logged_text));
    return check_pairs("tag", experiment.tags, limits::experiment_tag_value);
}

Result<> check_limits(const store::RunCopy& run)
{
    TRY(check("its name", run.run.name, limits::logged_text));
    TRY(check("its user", run.run.user, limits::logged_text));
    // Parameters are tags with a word before their names.
    TRY(check_pairs("tag or parameter",
                    run.run.tags,
                    limits::logged_text,
                    limits::key + model::parameter_prefix.size()));
    for (const auto& [key, points] : run.points.keys()) {
        const auto named = fmt::format("metric '{}'", printable(first_characters(key, 40)));
        TRY(check("the name of " + named, key, limits::key));
        for (const auto& text : points.texts)
            TRY(check("a text of " + named, text, limits::logged_text));
    }
    for (const auto& input : run.inputs.datasets)
        TRY(check_input(input));
    return {};
}

Result<> check_limits(const store::ModelCopy& model)
{
    TRY(check("its name", model.model.name, limits::experiment_name));
    TRY(check_pairs("parameter", model.model.params, limits::logged_text));
    return check_pairs("tag", model.model.tags, limits::logged_text);
}

Result<> check_limits(const store::RegisteredCopy& registered)
{
    TRY(check("its name", registered.model.name, limits::experiment_name));
    TRY(check("its description", registered.model.description, limits::logged_text));
    TRY(check_pairs("tag", registered.model.tags, limits::logged_text));
    for (const auto& version : registered.versions) {
        TRY(check(
            "the description of a version", version.description.value_or(""), limits::logged_text));
        TRY(check("the source of a version", version.source, limits::logged_text));
        TRY(check_pairs("tag of a version", version.tags, limits::logged_text));
    }
    return {};
}

}  // namespace ponk::importer
