// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/artifacts/media_type.hpp"

#include <gtest/gtest.h>

namespace ponk::api::mlflow {
namespace {

TEST(MediaType, IsToldByTheName)
{
    for (const auto* name : {"a.txt", "b.JSON", "MLmodel", "conda.yaml", "x.py", "MLproject"})
        EXPECT_EQ(media_type(name), "text/plain") << name;
    EXPECT_EQ(media_type("a.tar.png"), "image/png");
    for (const auto* name : {"model.pkl", "log", "png", "a.", ""})
        EXPECT_EQ(media_type(name), "application/octet-stream") << name;
    EXPECT_EQ(attachment("a \"b\".txt"),
              "attachment; filename=\"a _b_.txt\"; filename*=UTF-8''a%20%22b%22.txt");
    EXPECT_EQ(attachment("plain.txt"), "attachment; filename=\"plain.txt\"");
    EXPECT_EQ(http_date(784'111'777'000), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace ponk::api::mlflow
