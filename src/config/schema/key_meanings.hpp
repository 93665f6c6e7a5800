// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/schema/schema.hpp"

namespace ponk::config {

// What the key does, in one or two sentences for people; its default where it has one. For a key
// without effect: that, and why. Empty only for a key that nobody has described, which a test
// finds.
std::string meaning_of(const Schema& schema, const Key& key);

}  // namespace ponk::config
