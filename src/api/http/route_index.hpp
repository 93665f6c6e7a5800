// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/route.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::api {

// Finds the route of an address without looking at all of them. A fixed word wins over a variable,
// a variable over "{path}". Not changed once it is asked.
class RouteIndex {
public:
    RouteIndex();
    ~RouteIndex();
    RouteIndex(const RouteIndex&) = delete;
    RouteIndex& operator=(const RouteIndex&) = delete;

    void add(std::string_view prefix, const Route& route);

    struct Found {
        const Route* route = nullptr;
        std::vector<std::string> variables;
        bool known_path = false;  // another method is answered there
    };
    [[nodiscard]] Found find(std::string_view method, const std::vector<std::string>& path) const;

private:
    struct Node;
    struct Search;
    std::unique_ptr<Node> root_;
};

}  // namespace ponk::api
