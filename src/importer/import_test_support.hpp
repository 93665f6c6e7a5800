// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/import.hpp"
#include "os/test_folder.hpp"
#include "store/copy/export_lines.hpp"
#include "store/history/history.hpp"
#include "store/tracking/tracking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::importer {

// For tests: homes with a history and artifacts, and imports into them.
struct TestHome {
    explicit TestHome(const os::Path& path)
        : folder(path), history(store::History::open(path / "history").value()),
          files(path / "artifacts")
    {
    }

    Result<Json> import(Options options)
    {
        auto import = TRY(Import::open({*history, files, [](const std::string&) { return false; }},
                                       std::move(options)));
        while (TRY(import->step())) {
        }
        return import->report().to_json();
    }
    Json imported(const os::Path& path) { return import({.path = path}).value(); }

    [[nodiscard]] std::string exported() const
    {
        store::ExportLines lines(*history, {});
        std::string text;
        while (lines.next(text).value()) {
        }
        return text;
    }
    [[nodiscard]] store::Tracking tracking() const { return store::Tracking(*history); }

    os::Path folder;
    std::unique_ptr<store::History> history;
    store::ArtifactFolder files;
};

class ImportTest : public testing::Test {
protected:
    os::Path write(const std::string& name, std::string_view text)
    {
        const auto file = place_.path() / name;
        EXPECT_TRUE(os::make_directories(file.parent_path()));
        EXPECT_TRUE(os::replace_file(file, text, 0600, os::Durable::no));
        return file;
    }

    os::TestFolder place_;
    TestHome home_{place_.path() / "home"};
};

inline std::string first_problem(const Json& report)
{
    const auto& problems = report["problems"];
    if (!problems.is_array() || problems.as_array().empty()) return {};
    const auto& first = problems.as_array().front();
    return first.text("where") + ": " + first.text("why");
}

}  // namespace ponk::importer
