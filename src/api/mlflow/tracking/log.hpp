// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/mlflow/routes.hpp"
#include "engine/secrets/run_secrets.hpp"

// What clients log into a run. The first two come often; they read their bodies themselves.
namespace ponk::api::mlflow {

// The secrets that the script of a run of ours was given: it may say them in any of these calls.
Result<engine::RunSecrets> secrets_of(const Services& services, const std::string& run_id);

bool begin_log_metric(const Services& services,
                      const net::Request& request,
                      const net::Respond& respond);
bool begin_log_batch(const Services& services,
                     const net::Request& request,
                     const net::Respond& respond);
Result<net::Response> log_metric(const Services& services, const Call& call);
Result<net::Response> log_batch(const Services& services, const Call& call);
Result<net::Response> log_parameter(const Services& services, const Call& call);
Result<net::Response> set_tag(const Services& services, const Call& call);
Result<net::Response> delete_tag(const Services& services, const Call& call);

}  // namespace ponk::api::mlflow
