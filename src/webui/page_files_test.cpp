// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "webui/page_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ponk::webui {
namespace {

std::string packed(const std::string& index, const std::string& bytes)
{
    std::string text = "PNKPAGE1";
    for (unsigned shift = 0; shift < 32; shift += 8)
        text += static_cast<char>(index.size() >> shift & 0xFFU);
    return text + index + bytes;
}

const std::string& two_files()
{
    static const auto text = packed(
        R"({"missing":"","files":[{"name":"index.html","type":"text/html; charset=utf-8",)"
        R"("etag":"aa","at":0,"size":4,"hashed":false},{"name":"assets/x-12345678.js",)"
        R"("type":"text/javascript; charset=utf-8","etag":"bb","at":4,"size":3,"hashed":true}]})",
        "htmljs!");
    return text;
}

std::string header(const net::Response& response, std::string_view name)
{
    const auto found = std::find_if(response.headers.begin(),
                                    response.headers.end(),
                                    [name](const auto& header) { return header.first == name; });
    return found == response.headers.end() ? "" : found->second;
}

TEST(PageFiles, AreServedCompressedWithTheirRules)
{
    const auto page = *PageFiles::open(two_files());
    net::Request request;
    const auto index = *page.answer(request, "");
    EXPECT_EQ(index.body, "html");
    EXPECT_EQ(header(index, "Content-Encoding"), "gzip");
    EXPECT_EQ(header(index, "Cache-Control"), "no-cache");
    EXPECT_EQ(header(index, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(index, "Referrer-Policy"), "no-referrer");
    const auto policy = header(index, "Content-Security-Policy");
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    const auto script = *page.answer(request, "assets/x-12345678.js");
    EXPECT_EQ(script.body, "js!");
    EXPECT_NE(header(script, "Cache-Control").find("immutable"), std::string::npos);
    EXPECT_EQ(page.answer(request, "assets/none.js").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(page.answer(request, "../tokens").error().kind(), ErrorKind::not_found);
}

TEST(PageFiles, AreNotSentAgainToWhoHasThem)
{
    const auto page = *PageFiles::open(two_files());
    net::Request request;
    request.headers = {{"If-None-Match", "\"zz\", W/\"aa\""}};
    const auto same = *page.answer(request, "index.html");
    EXPECT_EQ(same.status, 304);
    EXPECT_EQ(same.body, "");
    EXPECT_EQ(header(same, "ETag"), "\"aa\"");
    request.headers = {{"If-None-Match", "\"bb\""}};
    EXPECT_EQ(page.answer(request, "index.html")->status, 200);
}

TEST(PageFiles, AProgramWithoutThemSaysWhy)
{
    const auto text = packed(R"({"missing":"there was no Node.js","files":[]})", "");
    const auto page = *PageFiles::open(text);
    EXPECT_EQ(page.missing(), "there was no Node.js");
    const auto answer = page.answer({}, "");
    EXPECT_EQ(answer.error().kind(), ErrorKind::unavailable);
    EXPECT_NE(answer.error().message().find("there was no Node.js"), std::string::npos);
}

TEST(PageFiles, DamageIsFound)
{
    EXPECT_FALSE(PageFiles::open(""));
    EXPECT_FALSE(PageFiles::open("PNKPAGE1"));
    EXPECT_FALSE(PageFiles::open(two_files().substr(0, 40)));
    EXPECT_FALSE(
        PageFiles::open(packed(R"({"missing":"","files":[{"name":"a","at":0,"size":2}]})", "x")));
}

TEST(PageFiles, WhatThisProgramCarriesCanBeRead)
{
    EXPECT_TRUE(PageFiles::open(embedded_page()));
}

}  // namespace
}  // namespace ponk::webui
