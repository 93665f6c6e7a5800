// SPDX-License-Identifier: Apache-2.0
// The schemas of docs/api/openapi.json have the fields of the tables that JSON is written from.
#include "api/access/tokens.hpp"
#include "api/openapi_test_support.hpp"
#include "gpu/verdict/verdict.hpp"
#include "importer/recognise.hpp"
#include "model/run_field_list.hpp"
#include "model/run_request.hpp"
#include "model/run_spec.hpp"

namespace ponk::api {
namespace {

class OpenApiFields : public testing::Test {
protected:
    template <class T>
    void expect_type(const Json& given, const std::string& where)
    {
        const auto [schema, nullable] = contract_.shape(given);
        const auto type = contract_.shape(given).type();
        if constexpr (is_optional<T>) {
            EXPECT_TRUE(nullable) << where;
            expect_value<typename T::value_type>(*schema, type, where);
        } else {
            expect_value<T>(*schema, type, where);
        }
    }

    template <class T>
    void expect_value(const Json& schema, const std::string& type, const std::string& where)
    {
        if constexpr (std::same_as<T, bool>) {
            EXPECT_EQ(type, "boolean") << where;
        } else if constexpr (std::integral<T> || std::same_as<T, std::chrono::seconds>) {
            EXPECT_EQ(type, "integer") << where;
        } else if constexpr (std::same_as<T, std::string> || std::same_as<T, Digest> ||
                             std::same_as<T, RunId>) {
            EXPECT_EQ(type, "string") << where;
        } else if constexpr (NamedEnum<T>) {
            EXPECT_EQ(Contract::words_in(schema["enum"]), words(names_of(T()))) << where;
        } else if constexpr (std::same_as<T, std::vector<std::string>>) {
            EXPECT_EQ(type, "array") << where;
            EXPECT_EQ(schema["items"].text("type"), "string") << where;
        } else if constexpr (std::same_as<T, TextPairs>) {
            EXPECT_EQ(type, "object") << where;
            EXPECT_EQ(schema["additionalProperties"].text("type"), "string") << where;
        } else if constexpr (std::same_as<T, Counts>) {
            EXPECT_EQ(type, "object") << where;
            EXPECT_EQ(schema["additionalProperties"].text("type"), "integer") << where;
        } else if constexpr (std::same_as<T, Error>) {
            EXPECT_EQ(schema, contract_.schema("Problem")) << where;
        } else if constexpr (is_list<T>) {
            EXPECT_EQ(type, "array") << where;
            expect_type<typename T::value_type>(schema["items"], where);
        } else if constexpr (HasFields<T>) {
            expect_fields<T>(schema, where);
        } else {
            // What it holds is not in a table.
            static_assert(std::same_as<T, Json>);
        }
    }

    // `others`: fields that do not come from the table.
    template <HasFields T>
    void
    expect_fields(const Json& schema, const std::string& where, std::set<std::string> others = {})
    {
        const auto look = [&](const auto& field) {
            using Member = std::remove_cvref_t<decltype(std::declval<T>().*field.member)>;
            const std::string name(field.name);
            expect_type<Member>(schema["properties"][name], where + "." + name);
            EXPECT_TRUE(others.insert(name).second) << where << "." << name;
        };
        std::apply([&](const auto&... field) { (look(field), ...); }, T::fields());
        EXPECT_EQ(Contract::names_in(schema["properties"]), others) << where;
    }

    template <class Member>
    void expect_field(const model::run_fields::RunField<Member>& field, const Json& schema)
    {
        using Empty = typename model::run_fields::RunField<Member>::Empty;
        const bool may_be_null = field.empty != Empty::null || contract_.shape(schema).nullable;
        EXPECT_TRUE(may_be_null) << field.name;
        expect_type<Member>(schema, "Run." + std::string(field.name));
    }
    void expect_field(const model::run_fields::ShownTime& field, const Json& schema)
    {
        EXPECT_TRUE(contract_.shape(schema).nullable) << field.name;
        EXPECT_EQ(schema.text("format"), "date-time") << field.name;
    }
    static void expect_field(const model::run_fields::Computed& /*field*/, const Json& /*schema*/)
    {
    }

    template <class Range>
    static std::set<std::string> words(const Range& names)
    {
        std::set<std::string> all;
        for (const auto& name : names)
            all.emplace(name);
        return all;
    }
    [[nodiscard]] std::set<std::string> words_of(const std::string& name) const
    {
        return Contract::words_in(contract_.schema(name)["enum"]);
    }

    Contract contract_;
};

TEST_F(OpenApiFields, OfARunAreThoseOfItsTableAndOfItsAnswer)
{
    const auto& schema = contract_.schema("Run");
    // Of api/native/run_json.cpp and runs.cpp, which know more than the run.
    std::set<std::string> names{"experiment",
                                "experiment_id",
                                "duration",
                                "duration_ms",
                                "metrics",
                                "deleted_utc",
                                "imported_utc",
                                "unreachable",
                                "child_runs",
                                "metrics_left_out",
                                "attachments",
                                "configuration"};
    auto required = Contract::words_in(schema["required"]);
    const auto look = [&](const auto& field) {
        if ((field.forms & model::run_fields::api) == 0) return;
        const std::string name(field.name);
        EXPECT_TRUE(names.insert(name).second) << name;
        EXPECT_EQ(required.count(name), 1U) << name;
        expect_field(field, schema["properties"][name]);
    };
    std::apply([&](const auto&... field) { (look(field), ...); }, model::run_fields::list());
    EXPECT_EQ(Contract::names_in(schema["properties"]), names);
}

TEST_F(OpenApiFields, OfARunsSpecificationAreThoseOfItsTables)
{
    expect_fields<model::RunSpec>(contract_.schema("RunSpec"), "RunSpec", {"version"});
}

TEST_F(OpenApiFields, OfASubmitAreThoseOfItsTable)
{
    expect_fields<model::RunRequest>(
        contract_.schema("RunRequest"), "RunRequest", {"environment", "umask"});
}

TEST_F(OpenApiFields, WordsAreThoseOfTheProgram)
{
    EXPECT_EQ(words_of("State"), words(model::run_state_words));
    std::set<std::string> kinds;
    for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind)
        kinds.insert(to_string(static_cast<ErrorKind>(kind)));
    EXPECT_EQ(words_of("ErrorKind"), kinds);
    std::set<std::string> verdicts;
    for (int verdict = 0; verdict <= static_cast<int>(gpu::Verdict::not_requested); ++verdict)
        verdicts.insert(gpu::to_string(static_cast<gpu::Verdict>(verdict)));
    EXPECT_EQ(words_of("Verdict"), verdicts);
    std::set<std::string> roles;
    for (int role = 0; role <= static_cast<int>(Role::administer); ++role)
        roles.insert(to_string(static_cast<Role>(role)));
    EXPECT_EQ(words_of("Role"), roles);
    for (const auto& format : words_of("ImportFormat"))
        EXPECT_TRUE(importer::parse_format(format)) << format;
}

}  // namespace
}  // namespace ponk::api
