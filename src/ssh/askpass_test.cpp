// SPDX-License-Identifier: Apache-2.0
#include "os/process.hpp"
#include "os/socket.hpp"
#include "os/test_folder.hpp"
#include "ssh/askpass.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

namespace ponk::ssh {
namespace {

using Asker = Question::Asker;

PasswordAnswer answer_for(const Resolved& host)
{
    return {Secret(std::string("sesame")), host};
}

const Resolved host{.user = "ann", .host = "10.0.0.1"};

TEST(PasswordAnswer, AnswersTheWordsOfOpenSshForTheBox)
{
    const std::string long_user(40, 'u');
    const std::pair<Resolved, std::string> table[] = {
        {host, "ann@10.0.0.1's password: "},
        {host, "(ann@10.0.0.1) Password: "},
        {host, "(ann@10.0.0.1) ann's Password for today: "},
        {host, "Password: "},  // passed on by a version that does not say whose
        {{.user = "ann", .host = "HOST"}, "ann@host's password: "},
        {{.user = "ann", .host = "10.0.0.1", .key_alias = "Name"}, "ann@Name's password: "},
        {{.user = long_user, .host = "host"}, std::string(30, 'u') + "@host's password: "},
        {{.user = long_user, .host = "host"}, "(" + long_user + "@host) Password: "},
    };
    for (const auto& [resolved, text] : table) {
        auto answer = answer_for(resolved);
        const auto given = answer({text, Asker::started_by_us});
        ASSERT_TRUE(given) << text;
        EXPECT_EQ(given->text(), "sesame");
        EXPECT_TRUE(answer.was_given());
    }
}

TEST(PasswordAnswer, IsSilentWhereTheQuestionIsAnotherMachines)
{
    for (const char* text : {"ann@10.0.0.10's password: ",
                             "bob@10.0.0.1's password: ",
                             "joann@10.0.0.1's password: ",
                             "(ann@10.0.0.10) Password: ",
                             "(ann@jump) ann@10.0.0.1's password: ",
                             "(eve@jump) (ann@10.0.0.1) Password: ",
                             "(ann@10.0.0.1) Verification code: ",
                             "Enter passphrase for key '/home/ann/key': ",
                             "Are you sure you want to continue connecting (yes/no)? "}) {
        auto answer = answer_for(host);
        EXPECT_FALSE(answer({text, Asker::started_by_us})) << text;
        EXPECT_FALSE(answer.was_given());
        EXPECT_EQ(answer.other_question(), text);
    }
}

TEST(PasswordAnswer, IsSilentForAProgramThatTalksToSomebodyElse)
{
    auto answer = answer_for(host);
    for (const char* text :
         {"ann@10.0.0.1's password: ", "(ann@10.0.0.1) Password: ", "Password: "}) {
        EXPECT_FALSE(answer({text, Asker::somebody_else})) << text;
    }
    EXPECT_FALSE(answer.was_given());
    EXPECT_TRUE(answer.other_question().empty());
}

TEST(PasswordAnswer, IsGivenOnce)
{
    auto answer = answer_for(host);
    EXPECT_TRUE(answer({"ann@10.0.0.1's password: ", Asker::started_by_us}));
    EXPECT_FALSE(answer({"ann@10.0.0.1's password: ", Asker::started_by_us}));
}

TEST(PassphraseAnswer, OpensThatKeyAndAnswersNobodyElse)
{
    const auto answer = answer_passphrase(Secret(std::string("sesame")), "/home/ann/key");
    for (const char* text : {"Enter passphrase for key '/home/ann/key': ",
                             "Enter passphrase for \"/home/ann/key\": ",
                             "Enter passphrase: "}) {
        EXPECT_TRUE(answer({text, Asker::started_by_us})) << text;
        EXPECT_FALSE(answer({text, Asker::somebody_else})) << text;
    }
    for (const char* text : {"Enter passphrase for key '/home/ann/other': ",
                             "(eve@jump) Enter passphrase for key '/home/ann/key': ",
                             "Your passphrase, please: "})
        EXPECT_FALSE(answer({text, Asker::started_by_us})) << text;
}

// Python asks as ponk's hidden mode does; a shell stands for ssh, which starts it.
constexpr const char* ask = "import socket\n"
                            "s = socket.socket(socket.AF_UNIX)\n"
                            "s.connect('ask')\n"
                            "s.sendall(b'who?')\n"
                            "s.shutdown(1)\n"
                            "s.recv(99)\n";

TEST(AskServer, KnowsTheProgramThatWasStartedHereFromThoseBelowIt)
{
    const os::TestFolder home;
    const HostFolder folder(home.path(), {"ann", "host", 22});
    ASSERT_TRUE(folder.make());
    Synced<std::vector<Asker>> askers;
    const auto server = AskServer::start(folder, [&](const Question& question) {
        EXPECT_EQ(question.text, "who?");
        askers.lock()->push_back(question.asker);
        return std::optional<Secret>();
    });
    ASSERT_TRUE(server);
    ASSERT_TRUE(os::replace_file(folder.path() / "ask.py", ask));

    for (const char* line : {"python3 ask.py; :", "sh -c 'python3 ask.py; :'; :"}) {
        const auto done = os::run({.argv = {"/bin/sh", "-c", line}, .directory = folder.path()},
                                  after(std::chrono::seconds(60)),
                                  {});
        ASSERT_TRUE(done);
        EXPECT_EQ(done->err, "");
    }

    EXPECT_EQ(*askers.lock(), (std::vector<Asker>{Asker::started_by_us, Asker::somebody_else}));
}

}  // namespace
}  // namespace ponk::ssh
