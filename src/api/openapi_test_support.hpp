// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "base/text.hpp"
#include "os/file.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ponk::api {

// docs/api/openapi.json of the sources, with its references followed.
class Contract {
public:
    static std::string text()
    {
        return os::read_file(PONK_SOURCE_DIR "/docs/api/openapi.json").value_or("");
    }

    Contract() : document_(parse_json(text()).value_or(Json())) {}

    [[nodiscard]] const Json& operator[](std::string_view part) const { return document_[part]; }
    [[nodiscard]] const Json& schema(const std::string& name) const
    {
        return document_["components"]["schemas"][name];
    }

    // A schema behind its reference. `|null` is told apart, however it is written.
    struct Shape {
        const Json* schema = nullptr;
        bool nullable = false;
        [[nodiscard]] std::string type() const
        {
            const auto& type = (*schema)["type"];
            if (!type.is_array()) return schema->text("type");
            for (const auto& each : type.as_array())
                if (each.as_string() != "null") return each.as_string();
            return "";
        }
    };
    [[nodiscard]] Shape shape(const Json& given) const
    {
        Shape found{&given};
        if (const auto& ways = given["anyOf"]; ways.is_array() && ways.as_array().size() == 2 &&
                                               ways.as_array()[1].text("type") == "null")
            found = {&ways.as_array()[0], true};
        if (const auto reference = found.schema->text("$ref"); !reference.empty())
            found.schema = &schema(split(reference, '/').back());
        if (const auto& types = (*found.schema)["type"]; types.is_array()) {
            for (const auto& each : types.as_array())
                found.nullable = found.nullable || each.as_string() == "null";
        }
        return found;
    }

    static std::set<std::string> names_in(const Json& object)
    {
        std::set<std::string> names;
        if (!object.is_object()) return names;
        for (const auto& [name, value] : object.as_object())
            names.insert(name);
        return names;
    }
    static std::set<std::string> words_in(const Json& list)
    {
        std::set<std::string> words;
        if (!list.is_array()) return words;
        for (const auto& word : list.as_array())
            words.insert(word.as_string());
        return words;
    }

private:
    Json document_;
};

}  // namespace ponk::api
