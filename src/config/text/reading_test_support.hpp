// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/document.hpp"
#include "os/file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// What the tests of the readers share.
namespace ponk::config {

// "3:1 error unknown-key", one remark per line, in order of place.
inline std::string remarks_of(Diagnostics diagnostics)
{
    sort_and_unify(diagnostics);
    std::string text;
    for (const auto& d : diagnostics) {
        text += fmt::format("{}{}:{} {} {}",
                            text.empty() ? "" : "\n",
                            d.line,
                            d.column,
                            to_string(d.severity),
                            d.code);
    }
    return text;
}

// The tree of a text that the test knows to be well formed.
inline Node tree_of(std::string_view text)
{
    Report report("f");
    auto root = read_document(text, report);
    EXPECT_TRUE(root) << text << remarks_of(report.take());
    return root ? std::move(*root) : Node();
}

// A folder that goes with the test.
class TemporaryFolder {
public:
    TemporaryFolder() : path_(*os::make_temporary_directory("/tmp", "ponk-config-")) {}
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() { (void)os::remove_tree(path_); }

    [[nodiscard]] const os::Path& path() const { return path_; }
    void write(const std::string& name, std::string_view text) const
    {
        EXPECT_TRUE(os::make_directories((path_ / name).parent_path()));
        EXPECT_TRUE(os::replace_file(path_ / name, text, 0600, os::Durable::no));
    }

private:
    os::Path path_;
};

}  // namespace ponk::config
