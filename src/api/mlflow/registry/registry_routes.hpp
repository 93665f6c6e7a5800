// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/mlflow/routes.hpp"

// The handlers of the registry, which share one table.
namespace ponk::api::mlflow {

Result<net::Response> create_registered_model(const Services& services, const Call& call);
Result<net::Response> get_registered_model(const Services& services, const Call& call);
Result<net::Response> rename_registered_model(const Services& services, const Call& call);
Result<net::Response> update_registered_model(const Services& services, const Call& call);
Result<net::Response> delete_registered_model(const Services& services, const Call& call);
Result<net::Response> search_registered_models(const Services& services, const Call& call);
Result<net::Response> set_registered_model_tag(const Services& services, const Call& call);
Result<net::Response> delete_registered_model_tag(const Services& services, const Call& call);
Result<net::Response> set_alias(const Services& services, const Call& call);
Result<net::Response> delete_alias(const Services& services, const Call& call);
Result<net::Response> get_by_alias(const Services& services, const Call& call);
Result<net::Response> latest_versions(const Services& services, const Call& call);

}  // namespace ponk::api::mlflow
