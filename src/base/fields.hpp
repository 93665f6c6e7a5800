// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <tuple>

// A value that is stored or sent lists its fields once, and its JSON follows from the list
// (base/field_json.hpp):
//
//   struct Program {
//       std::string script;
//       std::vector<std::string> arguments;
//
//       static constexpr auto fields()
//       {
//           return std::tuple(field("script", &Program::script),
//                             field("arguments", &Program::arguments));
//       }
//       friend bool operator==(const Program&, const Program&) = default;
//   };
namespace ponk {

template <class Owner, class Member>
struct Field {
    std::string_view name;
    Member Owner::*member;
};

template <class Owner, class Member>
constexpr Field<Owner, Member> field(std::string_view name, Member Owner::*member)
{
    return {name, member};
}

template <class T>
concept HasFields = requires
{
    T::fields();
};

}  // namespace ponk
