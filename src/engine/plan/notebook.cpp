// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/notebook.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk::engine {

namespace {

// Larger ones, full of pictures, are looked at in the run only.
constexpr std::uint64_t longest_notebook = std::uint64_t{16} << 20;

Error not_this(const std::string& script, const std::string& why, std::string hint)
{
    return {ErrorKind::invalid_argument,
            fmt::format("notebook {} {}", os::in_quotes(script), why),
            std::move(hint)};
}

std::string language_of(const Json& metadata)
{
    const auto& kernel = metadata["kernelspec"];
    auto language = kernel.text("language", metadata["language_info"].text("name"));
    if (language.empty()) language = kernel.text("name") == "ir" ? "R" : "python";
    return language;
}

}  // namespace

Result<> plan_notebook(ResolvedRun& run)
{
    auto& program = run.spec.program;
    const auto file = os::open_regular(run.project / program.script, os::Links::follow);
    if (!file) return tl::unexpected(file.error());
    const auto text = TRY(os::read_at(file->get(), 0, longest_notebook + 1));
    if (text.size() <= longest_notebook) {
        const auto json = parse_json(without_byte_order_mark(text), {.odd_numbers = true});
        if (!json) {
            return tl::unexpected(not_this(program.script,
                                           "cannot be read: " + json.error().message(),
                                           "Save it again in the editor it was written with."));
        }
        const auto version = json->integer("nbformat");
        if (version != 3 && version != 4) {
            return tl::unexpected(not_this(
                program.script,
                version == 0 ? "is not a notebook: it has no 'nbformat'"
                             : fmt::format("has format {}, and ponk runs formats 3 and 4", version),
                "Save it again with a Jupyter of today."));
        }
        const auto language = language_of((*json)["metadata"]);
        if (lower(language).find("python") == std::string::npos) {
            return tl::unexpected(not_this(
                program.script,
                fmt::format("is for {}, and ponk runs those for Python", printable(language)),
                "Where Jupyter has a kernel for it: ponk submit -- jupyter execute --inplace " +
                    shell_word(program.script)));
        }
    }
    if (program.framework != "PySpark") return {};
    program.framework = "Python";
    if (!program.spark_options.empty()) {
        std::string words;
        for (const auto& word : program.spark_options)
            words += shell_word(word) + " ";
        program.variables.emplace_back("PYSPARK_SUBMIT_ARGS", words + "pyspark-shell");
        program.spark_options.clear();
    }
    return {};
}

}  // namespace ponk::engine
