// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "store/copy/copies.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

// Reads what other stores hold, and our own lines, into a history: docs/design/import.md.
namespace ponk::importer {

// Files that belong to a run or a model.
struct Files {
    os::Fd folder = {};      // not open: they do not come
    std::string shown = {};  // where that is
    std::string why = {};    // they do not come; empty: there are none
};

// How items name the experiment that they belong to.
using ExperimentKey = std::string;

struct ExperimentItem {
    ExperimentKey key;
    store::ExperimentCopy copy;
};
struct RunItem {
    ExperimentKey experiment;
    store::RunCopy copy;
    Files files = {};
    std::string location = {};  // where its files were, as the source says it; empty: not said
};
struct ModelItem {
    ExperimentKey experiment;
    store::ModelCopy copy;
    Files files = {};
};
struct RegisteredItem {
    store::RegisteredCopy copy;
};
// Something that does not come.
struct LeftOut {
    // note: it could not be otherwise. problem: it is damaged.
    enum class Severity { note, problem } severity = Severity::problem;
    std::string why;
};

struct Item {
    std::string where;  // "runs.jsonl:3", "mlruns/0/4f…": for messages
    std::variant<ExperimentItem, RunItem, ModelItem, RegisteredItem, LeftOut> what;
};

// What there is to import, one thing after the other: an experiment comes before what belongs to
// it, runs before models. Never writes to what it reads. One thread at a time.
class Source {
public:
    virtual ~Source() = default;

    // Nothing at the end. An error ends the import; what is damaged by itself is a LeftOut.
    virtual Result<std::optional<Item>> next() = 0;
    // How much of it was read, 0 to 1.
    [[nodiscard]] virtual double fraction() const = 0;
};

}  // namespace ponk::importer
