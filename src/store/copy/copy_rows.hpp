// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/connection.hpp"
#include "store/copy/copies.hpp"
#include "store/points/tail_reader.hpp"

// Copies from and into tables. Used inside transactions.
namespace ponk::store {

Result<ExperimentCopy> read_experiment_copy(db::Connection& connection, std::int64_t row);
struct StoredCopy {
    std::int64_t row = 0;
    std::int64_t experiment = 0;
    RunCopy copy;  // without points
};
Result<std::optional<StoredCopy>> find_run_copy(db::Connection& connection, const RunId& id);
Result<std::optional<ModelCopy>> find_model_copy(db::Connection& connection, const std::string& id);
Result<std::optional<RegisteredCopy>> find_registered_copy(db::Connection& connection,
                                                           const std::string& name);

Result<> insert_run_copy(db::Connection& writer, std::int64_t experiment, const RunCopy& run);
Result<> insert_model_copy(db::Connection& writer, const ModelCopy& model, std::size_t& left_out);
Result<> insert_registered_copy(db::Connection& writer, const RegisteredCopy& registered);

// What differs, in a few words; nothing when they are the same.
Result<std::optional<std::string>> find_difference(db::Connection& connection,
                                                   const TailReader& tail,
                                                   const StoredCopy& stored,
                                                   const RunCopy& run);
std::optional<std::string> find_difference(const ModelCopy& stored, const ModelCopy& model);
std::optional<std::string> find_difference(const RegisteredCopy& stored,
                                           const RegisteredCopy& registered);

}  // namespace ponk::store
