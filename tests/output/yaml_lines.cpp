// SPDX-License-Identifier: Apache-2.0
// For yaml_round_trip.py: each line of standard input is a JSON document, each line of standard
// output the same document as YAML, inside a JSON string.
#include "output/render.hpp"

#include <cstdio>
#include <iostream>
#include <string>

int main()
{
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto document = ponk::parse_json(line);
        if (!document) return 1;
        const auto yaml = ponk::output::render(*document, ponk::output::Format::yaml, {});
        std::puts(ponk::to_json(ponk::Json(yaml)).c_str());
    }
}
