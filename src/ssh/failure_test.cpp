// SPDX-License-Identifier: Apache-2.0
#include "ssh/failure.hpp"

#include <gtest/gtest.h>

namespace ponk::ssh {
namespace {

struct Case {
    const char* said;
    Cause cause;
};

// As OpenSSH 7.4 to 9.9 say it.
constexpr Case cases[] = {
    {"ssh: Could not resolve hostname nobox: Name or service not known\r\n", Cause::unresolved},
    {"ssh: connect to host box port 5022: Connection refused\r\n", Cause::refused},
    {"ssh: connect to host 10.1.2.3 port 22: No route to host\r\n", Cause::unreachable},
    {"ssh: connect to host 10.1.2.3 port 22: Connection timed out\r\n", Cause::timed_out},
    {"Connection timed out during banner exchange\r\n", Cause::timed_out},
    {"Timeout, server box not responding.\r\n", Cause::timed_out},
    {"@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n…\nHost key for box has changed "
     "and "
     "you have requested strict checking.\nHost key verification failed.\n",
     Cause::host_key_changed},
    {"No ED25519 host key is known for [box]:5022 and you have requested strict checking.\r\nHost "
     "key verification failed.\r\n",
     Cause::host_key_unknown},
    {"ann@box: Permission denied (publickey,password).\r\n", Cause::denied},
    {"Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\r\n",
     Cause::denied},
    {"Load key \"/k/id\": incorrect passphrase supplied to decrypt private key\r\n"
     "ann@box: Permission denied (publickey).\r\n",
     Cause::key_unusable},
    {"@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\nann@box: Permission denied "
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
    const Address address{"ann", "box", 5022};
    std::vector<std::string> messages;
    for (const auto& [said, cause] : cases) {
        const Error error = error_from(address, said);
        EXPECT_FALSE(error.hint().empty()) << said;
        EXPECT_NE(error.message().find("box"), std::string::npos) << error.message();
        EXPECT_EQ(error.message().find('\r'), std::string::npos) << error.message();
    }
}

TEST(SshFailure, SaysWhatTheBoxWouldTake)
{
    EXPECT_EQ(offered_methods("ann@box: Permission denied (publickey,password).\r\n"),
              "publickey,password");
    EXPECT_EQ(offered_methods("no"), "");
    const Error error = error_from({"ann", "box"}, "ann@box: Permission denied (publickey).");
    EXPECT_NE(error.message().find("(it takes: publickey)"), std::string::npos);
}

TEST(SshFailure, ShowsUnknownWordsWithoutControlCharacters)
{
    const Error error = error_from({"", "box"}, "first\nodd \x1b[31mred\n");
    EXPECT_NE(error.message().find("odd \\x1b[31mred"), std::string::npos) << error.message();
}

TEST(Failure, ChangedHostKeyIsToldWithBothKeysAndWhatAcceptsIt)
{
    constexpr const char* said = "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n"
                                 "The fingerprint for the ED25519 key sent by the remote host is\n"
                                 "SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG.\r\n"
                                 "Offending ED25519 key in /home/ann/.ponk/ssh/1/known_hosts:1\r\n"
                                 "Host key verification failed.\r\n";
    const auto error = error_from({.user = "ann", .host = "box"}, said);
    EXPECT_EQ(error.kind(), ErrorKind::conflict);
    EXPECT_NE(error.message().find("it shows SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG, "
                                   "known is the one in /home/ann/.ponk/ssh/1/known_hosts:1"),
              std::string::npos)
        << error.message();
    EXPECT_NE(error.hint().find("computetarget check TARGET --fingerprint "
                                "SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'"),
              std::string::npos)
        << error.hint();
}

}  // namespace
}  // namespace ponk::ssh
