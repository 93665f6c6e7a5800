// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "model/metric_journal.hpp"
#include "os/directory.hpp"
#include "relay/http.hpp"
#include "relay/relay_test_support.hpp"
#include "relay/serve.hpp"

#include <sys/socket.h>
#include <thread>

namespace ponk::relay {
namespace {

using namespace std::chrono_literals;

TEST(RelayHead, IsRead)
{
    const auto head = parse_head("PUT /a/b?c=d HTTP/1.1\r\nHost: x\r\ncontent-length: 12\r\n"
                                 "Expect: 100-continue\r\n\r\n");
    ASSERT_TRUE(head);
    EXPECT_EQ(head->method, "PUT");
    EXPECT_EQ(head->target, "/a/b?c=d");
    EXPECT_EQ(head->length, 12U);
    EXPECT_TRUE(head->keep_alive);
    EXPECT_TRUE(head->expects_continue);
    EXPECT_EQ(head->header("host"), "x");
    EXPECT_FALSE(parse_head("GET / HTTP/1.0\r\n\r\n")->keep_alive);
    EXPECT_FALSE(parse_head("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n")->keep_alive);
}

TEST(RelayHead, WhatTwoReadersCouldTakeDifferentlyIsRefused)
{
    for (const auto* text : {"",
                             "\r\n",
                             "GET / HTTP/1.1\r\n",
                             "GET  / HTTP/1.1\r\n\r\n",
                             "GET / HTTP/2\r\n\r\n",
                             "GET x HTTP/1.1\r\n\r\n",
                             "GET /\x01 HTTP/1.1\r\n\r\n",
                             "GET / HTTP/1.1\r\nno colon\r\n\r\n",
                             "GET / HTTP/1.1\r\na : b\r\n\r\n",
                             "GET / HTTP/1.1\r\n folded: b\r\n\r\n",
                             "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                             "GET / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n",
                             "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                             "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
                             "GET / HTTP/1.1\r\nContent-Length: 1\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n",
                             "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"})
        EXPECT_FALSE(parse_head(text)) << text;
}

TEST(RelayHead, SizesOfChunksAreHexadecimal)
{
    EXPECT_EQ(*parse_chunk_size("1aF"), 0x1afU);
    EXPECT_EQ(*parse_chunk_size("0;name=value"), 0U);
    for (const auto* text : {"", ";", "g", "-1", "1 ", "ffffffffffffffff"})
        EXPECT_FALSE(parse_chunk_size(text)) << text;
}

// A client of a relay that serves one connection.
class RelayConnection : public RelayTest {
protected:
    explicit RelayConnection(ForwardedRequests::Patience patience = {.usual = 50ms, .in_vain = 1ms})
        : forwarded_(*recorder_, folder_, patience)
    {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        client_ = os::Fd(ends[0]);
        server_ = std::jthread([this, socket = os::Fd(ends[1])]() mutable {
            serve(std::move(socket), *recorder_, forwarded_);
        });
    }
    ~RelayConnection() override { client_.reset(); }

    // Sends all of it, says that nothing follows, and returns all answers.
    std::string say(const std::string& text)
    {
        EXPECT_TRUE(os::write_all(client_.get(), text));
        ::shutdown(client_.get(), SHUT_WR);
        std::string all;
        char block[4096];
        for (;;) {
            const auto got = ::read(client_.get(), block, sizeof block);
            if (got <= 0) return all;
            all.append(block, static_cast<std::size_t>(got));
        }
    }
    static std::string request(const std::string& line, const std::string& more = "")
    {
        return line + " HTTP/1.1\r\nHost: 127.0.0.1:5\r\nAuthorization: Bearer t0k\r\n" + more +
               "\r\n";
    }
    std::string artifact(const std::string& path)
    {
        return "/api/2.0/mlflow-artifacts/artifacts/7/" + std::string(own_run) + "/artifacts" +
               path;
    }

    ForwardedRequests forwarded_;
    os::Fd client_;
    std::jthread server_;
};

TEST_F(RelayConnection, OneConnectionCarriesManyRequests)
{
    const auto said =
        say("GET /health HTTP/1.1\r\nHost: x\r\n\r\n" + request("GET /api/3.0/mlflow/server-info") +
            request("GET /ajax-api/2.0/mlflow/runs/get?run_id=" + std::string(own_run)));
    EXPECT_NE(said.find("\r\n\r\nOK"), std::string::npos);
    EXPECT_NE(said.find("multipart_uploads_enabled"), std::string::npos);
    EXPECT_NE(said.find("\"run_name\":\"train.py\""), std::string::npos);
}

TEST_F(RelayConnection, WithoutTheTokenNothingIsTold)
{
    const auto said = say("GET /api/2.0/mlflow/runs/get HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                          "Authorization: Bearer t0x\r\n\r\n");
    EXPECT_TRUE(said.starts_with("HTTP/1.1 401 ")) << said;
}

TEST_F(RelayConnection, WhoSendsTooMuchHearsSo)
{
    constexpr std::size_t size = std::size_t{20} << 20;
    const auto said = say(request("POST /api/2.0/mlflow/runs/log-batch",
                                  fmt::format("Content-Length: {}\r\n", size)) +
                          std::string(size, ' '));
    EXPECT_TRUE(said.starts_with("HTTP/1.1 413 ")) << said;
}

TEST_F(RelayConnection, NobodyWaitsForAChunkThatIsTooLarge)
{
    ASSERT_TRUE(os::write_all(
        client_.get(),
        request("POST /api/2.0/mlflow/runs/log-batch", "Transfer-Encoding: chunked\r\n") +
            "fffffffffffffff\r\n{"));
    char block[12] = {};
    EXPECT_EQ(::recv(client_.get(), block, sizeof block, MSG_WAITALL), 12);
    EXPECT_EQ(std::string_view(block, sizeof block), "HTTP/1.1 413");
}

TEST_F(RelayConnection, AChunkWithoutASizeIsNoRequest)
{
    const auto said =
        say(request("POST /api/2.0/mlflow/runs/log-batch", "Transfer-Encoding: chunked\r\n") +
            "zz\r\n{}\r\n0\r\n\r\n");
    EXPECT_TRUE(said.starts_with("HTTP/1.1 400 ")) << said;
}

TEST_F(RelayConnection, ANameOfSomebodyElseIsRefused)
{
    const auto said = say("GET /api/2.0/mlflow/runs/get HTTP/1.1\r\nHost: evil.example\r\n"
                          "Authorization: Bearer t0k\r\n\r\n");
    EXPECT_TRUE(said.starts_with("HTTP/1.1 403 ")) << said;
}

TEST_F(RelayConnection, ArtifactsGoToOutputsAndComeBack)
{
    const auto said = say(
        request("PUT " + artifact("/model/a.txt"), "Content-Length: 5\r\n") + "hello" +
        request("PUT " + artifact("/b.txt"), "Transfer-Encoding: chunked\r\n") +
        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" +
        request("GET " + artifact("/b.txt"), "Range: bytes=1-3\r\n") +
        request("GET /api/2.0/mlflow/artifacts/list?path=model&run_id=" + std::string(own_run)) +
        request("GET " + artifact("/none")));
    EXPECT_EQ(*os::read_file(folder_ / "outputs/model/a.txt"), "hello");
    EXPECT_EQ(*os::read_file(folder_ / "outputs/b.txt"), "abcde");
    EXPECT_NE(said.find("206 Partial Content"), std::string::npos);
    EXPECT_NE(said.find("\r\n\r\nbcd"), std::string::npos);
    EXPECT_NE(said.find(R"({"path":"model/a.txt","is_dir":false,"file_size":5})"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("RESOURCE_DOES_NOT_EXIST"), std::string::npos);
}

TEST_F(RelayConnection, NoPathLeadsOutOfTheOutputs)
{
    ASSERT_TRUE(os::make_directories(folder_ / "outputs"));
    ASSERT_TRUE(os::replace_file(folder_ / "secret", "s3cret"));
    std::filesystem::create_symlink("../secret", folder_ / "outputs/link");
    std::filesystem::create_symlink("..", folder_ / "outputs/up");
    std::string all;
    for (const auto* path : {"/../secret",
                             "/%2e%2e/secret",
                             "/..%2fsecret",
                             "/link",
                             "/up/secret",
                             "//etc/passwd",
                             "/a%00b",
                             "/..%5csecret",
                             "/%252e%252e/secret"})
        all += request("GET " + artifact(path));
    all += request("PUT " + artifact("/up/new"), "Content-Length: 1\r\n") + "x";
    const auto said = say(all);

    EXPECT_EQ(said.find("s3cret"), std::string::npos);
    EXPECT_EQ(said.find(" 200 "), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

TEST_F(RelayConnection, AFolderMayBeNamedFromWhereItIs)
{
    const auto list =
        "GET /api/2.0/mlflow/artifacts/list?run_id=" + std::string(own_run) + "&path=";
    auto all = request("PUT " + artifact("/dir/a.txt"), "Content-Length: 1\r\n") + "x";
    for (const auto* path : {"dir", "./dir", "dir/.", "./dir/./", ".", "dir/.."})
        all += request(list + path);
    const auto said = say(all);
    std::size_t listed = 0;
    for (auto at = said.find("dir/a.txt"); at != std::string::npos;
         at = said.find("dir/a.txt", at + 1))
        ++listed;
    EXPECT_EQ(listed, 4U) << said;
    EXPECT_NE(said.find(R"("path":"dir",)"), std::string::npos) << said;
    EXPECT_NE(said.find("\"Invalid path\""), std::string::npos) << said;
}

TEST_F(RelayConnection, FilesThatNobodyWouldBeShownLaterAreNotTaken)
{
    std::string all;
    for (const auto* path : {"/a;b.txt", "/C:/x.txt", "/a%23b", "/a%0ab", "/%2541"})
        all += request("PUT " + artifact(path), "Content-Length: 1\r\n") + "x";
    const auto said = say(all);
    EXPECT_EQ(said.find(" 200 "), std::string::npos) << said;
    EXPECT_NE(said.find("Invalid path"), std::string::npos) << said;
}

TEST_F(RelayConnection, WhatOnlyTheDaemonKnowsIsRefusedWithoutOne)
{
    const auto said = say(request("POST /api/2.0/mlflow/runs/search",
                                  "Content-Type: application/json\r\nContent-Length: 2\r\n") +
                          "{}" + request("GET /health"));
    EXPECT_TRUE(said.starts_with("HTTP/1.1 501 ")) << said;
    EXPECT_NE(said.find("\r\n\r\nOK"), std::string::npos);
}

// One whose daemon may take its time.
class AnsweredConnection : public RelayConnection {
protected:
    AnsweredConnection() : RelayConnection({.usual = 1min, .in_vain = 1min}) {}
};

TEST_F(AnsweredConnection, FilesOfOthersComeInPieces)
{
    // The daemon's part.
    const std::jthread daemon([this](const std::stop_token& stop) {
        std::size_t answered = 0;
        const std::vector<std::string> answers{
            "{\"status\":206,\"type\":\"text/x\",\"range\":\"bytes 0-2/5\"}\nabc",
            "{\"status\":206,\"type\":\"text/x\",\"range\":\"bytes 3-4/5\"}\nde"};
        EXPECT_TRUE(os::make_directories(folder_ / "answers"));
        while (answered < answers.size() && !stop.stop_requested()) {
            std::vector<Json> asked;
            const auto entries = os::list_directory(folder_ / "journal");
            for (const auto& entry : *entries) {
                const auto bytes = os::read_file(folder_ / "journal" / entry.name);
                asked = model::read_journal(*bytes, 0).asks;
            }
            if (asked.size() <= answered) continue;
            EXPECT_EQ(asked[answered].text("range"),
                      answered == 0 ? "bytes=0-4194303" : "bytes=3-4194306");
            EXPECT_TRUE(os::replace_file(folder_ / "answers" / asked[answered].text("ask"),
                                         answers[answered]));
            ++answered;
        }
    });
    const auto said =
        say(request("GET /api/2.0/mlflow-artifacts/artifacts/9/models/m-1/artifacts/f") +
            request("PUT /api/2.0/mlflow-artifacts/artifacts/9/models/m-1/artifacts/f",
                    "Content-Length: 1\r\n") +
            "x");
    EXPECT_TRUE(said.starts_with("HTTP/1.1 200 ")) << said;
    EXPECT_NE(said.find("Content-Length: 5\r\n"), std::string::npos) << said;
    EXPECT_NE(said.find("\r\n\r\nabcdeHTTP/1.1 403 "), std::string::npos) << said;
}

}  // namespace
}  // namespace ponk::relay
