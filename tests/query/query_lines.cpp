// SPDX-License-Identifier: Apache-2.0
// Answers a stream of queries for differential.py: each line of standard input is the JSON array
// [expression, document], each line of standard output {"value": …} or {"error": message}.
#include "query/jmespath.hpp"

#include <cstdio>
#include <iostream>
#include <string>

namespace {

ponk::Result<ponk::Json> answer(const std::string& line)
{
    const auto request = TRY(ponk::parse_json(line));
    const auto& parts = request.as_array();
    const auto expression = TRY(ponk::query::parse_jmespath(parts.at(0).as_string()));
    return expression.search(parts.at(1));
}

}  // namespace

int main()
{
    std::string line;
    while (std::getline(std::cin, line)) {
        auto value = answer(line);
        ponk::JsonObject reply;
        if (value) {
            reply.set("value", std::move(*value));
        } else {
            reply.set("error", value.error().message());
        }
        std::puts(ponk::to_json(ponk::Json(std::move(reply))).c_str());
    }
}
