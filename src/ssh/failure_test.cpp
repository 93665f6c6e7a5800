// SPDX-License-Identifier: Apache-2.0
#include "os/test_folder.hpp"
#include "ssh/failure.hpp"
#include "ssh/offending_key.hpp"

#include <gmock/gmock.h>

namespace ponk::ssh {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;

struct Case {
    const char* said;
    Cause cause;
};

// As OpenSSH 7.4 to 9.9 say it.
constexpr Case cases[] = {
    {"ssh: Could not resolve hostname nobox: Name or service not known\r\n", Cause::unresolved},
    {"ssh: connect to host host port 5022: Connection refused\r\n", Cause::refused},
    {"ssh: connect to host 10.1.2.3 port 22: No route to host\r\n", Cause::unreachable},
    {"ssh: connect to host 10.1.2.3 port 22: Connection timed out\r\n", Cause::timed_out},
    {"Connection timed out during banner exchange\r\n", Cause::timed_out},
    {"Timeout, server host not responding.\r\n", Cause::timed_out},
    {"@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n…\nHost key for host has "
     "changed "
     "and "
     "you have requested strict checking.\nHost key verification failed.\n",
     Cause::host_key_changed},
    {"No ED25519 host key is known for [host]:5022 and you have requested strict checking.\r\nHost "
     "key verification failed.\r\n",
     Cause::host_key_unknown},
    {"ann@host: Permission denied (publickey,password).\r\n", Cause::denied},
    {"Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\r\n",
     Cause::denied},
    {"Load key \"/k/id\": incorrect passphrase supplied to decrypt private key\r\n"
     "ann@host: Permission denied (publickey).\r\n",
     Cause::key_unusable},
    {"@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\nann@host: Permission denied "
     "(publickey).\n",
     Cause::key_unusable},
    {"Unable to negotiate with 10.0.0.1 port 22: no matching host key type found. Their offer: "
     "ssh-rsa,ssh-dss\r\n",
     Cause::algorithms},
    {"kex_exchange_identification: read: Connection reset by peer\r\n", Cause::closed},
    {"Connection closed by 10.0.0.1 port 22\r\n", Cause::closed},
    {"ann@jump: Permission denied (publickey).\r\nkex_exchange_identification: Connection closed "
     "by "
     "remote host\r\nConnection closed by UNKNOWN port 65535\r\n",
     Cause::jump_failed},
    {"channel 0: open failed: connect failed: Connection refused\r\nstdio forwarding failed\r\n"
     "Connection closed by UNKNOWN port 65535\r\n",
     Cause::jump_failed},
    {"", Cause::other},
    {"something that nobody has seen yet", Cause::other},
};

TEST(SshFailure, TellsCausesApartByWhatSshSays)
{
    for (const auto& [said, cause] : cases)
        EXPECT_STREQ(to_string(find_cause(said)), to_string(cause)) << said;
}

TEST(SshFailure, EveryCauseHasItsOwnWordsAndANextStep)
{
    const Address address{"ann", "host", 5022};
    std::vector<std::string> messages;
    for (const auto& [said, cause] : cases) {
        const Error error = error_from(address, said);
        EXPECT_FALSE(error.hint().empty()) << said;
        EXPECT_NE(error.message().find("host"), std::string::npos) << error.message();
        EXPECT_EQ(error.message().find('\r'), std::string::npos) << error.message();
    }
}

TEST(SshFailure, SaysWhatTheBoxWouldTake)
{
    EXPECT_EQ(offered_methods("ann@host: Permission denied (publickey,password).\r\n"),
              "publickey,password");
    EXPECT_EQ(offered_methods("no"), "");
    const Error error = error_from({"ann", "host"}, "ann@host: Permission denied (publickey).");
    EXPECT_NE(error.message().find("(it accepts: publickey)"), std::string::npos);
}

TEST(SshFailure, ShowsUnknownWordsWithoutControlCharacters)
{
    const Error error = error_from({"", "host"}, "first\nodd \x1b[31mred\n");
    EXPECT_NE(error.message().find("odd \\x1b[31mred"), std::string::npos) << error.message();
}

TEST(Failure, ChangedHostKeyIsToldWithBothKeysAndWhatAcceptsIt)
{
    const os::TestFolder folder;
    ASSERT_TRUE(os::replace_file(folder.path() / "known_hosts",
                                 "# of before\nbox ssh-ed25519 "
                                 "AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhsc"
                                 "HR4f\n"));
    // Our ssh runs in the host's folder, so the name it tells is relative.
    constexpr const char* said = "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n"
                                 "The fingerprint for the ED25519 key sent by the remote host is\n"
                                 "SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG.\r\n"
                                 "Offending ED25519 key in known_hosts:2\r\n"
                                 "Host key verification failed.\r\n";
    const auto known = offending_key(said, folder.path());
    const auto error = name_target(
        error_of(find_cause(said), {.user = "ann", .host = "host"}, said, known), "gpu");
    EXPECT_EQ(error.kind(), ErrorKind::conflict);
    EXPECT_THAT(error.message(),
                MatchesRegex(".*it shows SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG, known "
                             "is ED25519 SHA256:[A-Za-z0-9+/]+ .line 2 of '/.*/known_hosts'."));
    EXPECT_THAT(error.hint(),
                HasSubstr("computetarget check gpu --fingerprint "
                          "SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'"));
    EXPECT_EQ(offending_key("Offending ED25519 key in known_hosts:9\n", folder.path()), "");
    EXPECT_EQ(offending_key("nothing of that", folder.path()), "");
    std::filesystem::resize_file(folder.path() / "known_hosts", (1 << 20) + 1);
    EXPECT_EQ(offending_key(said, folder.path()), "") << "what is so large is no such file";
}

TEST(Failure, AJumpHostIsQuotedAndEachOfItsReasonsHasItsOwnAdvice)
{
    constexpr const char* lost = "kex_exchange_identification: Connection closed by remote host\r\n"
                                 "Connection closed by UNKNOWN port 65535\r\n";
    const auto told = [&](const std::string& said) {
        return error_from({"", "host"}, said + lost);
    };
    const auto key = told("No ED25519 host key is known for jump and you have requested strict "
                          "checking.\r\nHost key verification failed.\r\n");
    EXPECT_THAT(key.message(), EndsWith("failed: Host key verification failed."));
    EXPECT_THAT(key.hint(), HasSubstr("jump host's own key"));
    const auto denied = told("ann@jump: Permission denied (publickey).\r\n");
    EXPECT_THAT(denied.message(), EndsWith("failed: ann@jump: Permission denied (publickey)."));
    EXPECT_THAT(denied.hint(), HasSubstr("IdentityFile"));
    const auto beyond = told("channel 0: open failed: connect failed: Connection refused\r\n"
                             "stdio forwarding failed\r\n");
    EXPECT_THAT(beyond.message(), EndsWith("connect failed: Connection refused"));
    EXPECT_THAT(beyond.hint(), HasSubstr("not 'host' from there"));
    EXPECT_THAT(told("").message(), EndsWith("Connection closed by UNKNOWN port 65535"));
}

}  // namespace
}  // namespace ponk::ssh
