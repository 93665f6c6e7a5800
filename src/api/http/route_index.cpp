// SPDX-License-Identifier: Apache-2.0
#include "api/http/route_index.hpp"

#include "base/text.hpp"

namespace ponk::api {

struct RouteIndex::Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> fixed;
    std::unique_ptr<Node> variable;
    std::vector<const Route*> here;  // one per method
    std::vector<const Route*> rest;  // those that take all that follows
};

struct RouteIndex::Search {
    std::string_view method;
    const std::vector<std::string>& path;
    Found found;

    bool choose(const std::vector<const Route*>& routes)
    {
        for (const auto* route : routes) {
            found.known_path = true;
            if (method != route->method) continue;
            found.route = route;
            return true;
        }
        return false;
    }

    bool walk(const Node& node, std::size_t at)
    {
        if (at == path.size()) return choose(node.here);
        const auto next = node.fixed.find(path[at]);
        if (next != node.fixed.end() && walk(*next->second, at + 1)) return true;
        if (node.variable) {
            found.variables.push_back(path[at]);
            if (walk(*node.variable, at + 1)) return true;
            found.variables.pop_back();
        }
        if (!choose(node.rest)) return false;
        found.variables.push_back(
            join({path.begin() + static_cast<std::ptrdiff_t>(at), path.end()}, "/"));
        return true;
    }
};

RouteIndex::RouteIndex() : root_(std::make_unique<Node>()) {}
RouteIndex::~RouteIndex() = default;

void RouteIndex::add(std::string_view prefix, const Route& route)
{
    auto* node = root_.get();
    for (const auto& part : split(std::string(prefix) + route.pattern, '/')) {
        if (part.empty()) continue;
        if (part == "{path}") {
            node->rest.push_back(&route);
            return;
        }
        auto& next = part.starts_with('{') ? node->variable : node->fixed[part];
        if (!next) next = std::make_unique<Node>();
        node = next.get();
    }
    node->here.push_back(&route);
}

RouteIndex::Found RouteIndex::find(std::string_view method,
                                   const std::vector<std::string>& path) const
{
    Search search{method, path, {}};
    if (search.walk(*root_, 0) || method != "HEAD") return std::move(search.found);
    return find("GET", path);
}

}  // namespace ponk::api
