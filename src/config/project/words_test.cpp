// SPDX-License-Identifier: Apache-2.0
// What is said, word by word: each message names the value, each hint what to write instead.
#include "config/project/check.hpp"
#include "config/text/reading_test_support.hpp"

#include <gtest/gtest.h>

namespace ponk::config {
namespace {

struct Case {
    const char* file;
    const char* text;
    const char* message;
    const char* hint;
};

constexpr Case cases[] = {
    {"a.runconfig",
     "{\n \"PrepareEnvironment\": true.\n \"Framework\":\"PySpark\"}\n",
     "'true.' is not a value: expected ',' or '}' after 'true'",
     "Write 'true,', with a comma instead of the full stop."},
    {"a.compute",
     "type: remote\naddress: h\nusername: [username]\n",
     "'username' needs text; '[username]' is a list",
     "Write your user name on that machine in place of '[username]', without brackets."},
    {"a.runconfig",
     "Target: local\nArgumentVector: train.py  --lr 0.1\n",
     "'ArgumentVector' needs a list of texts, not 'train.py  --lr 0.1'",
     "Write it as a list: [train.py, --lr, 0.1]."},
    {"a.compute",
     "type: remote\naddress: <YOUR DSVM IP>\nusername: u\n",
     "'address' still contains the placeholder '<YOUR DSVM IP>'",
     "Write the machine's name or address in its place."},
    {"a.compute",
     "type: remote\naddress:\nusername: u\n",
     "'address' is empty; a target of type 'remote' cannot be reached without it",
     "Write the machine's name or address after 'address:'."},
    {"a.compute",
     "type: localdocker\nbaseDockerImage: 'a/b:1 '\n",
     "'baseDockerImage' is 'a/b:1 ', with spaces at its end",
     "ponk reads it as 'a/b:1'; write 'a/b:1'."},
    {"a.compute",
     "type: local\nnativeSharedDirectory: \" /tmp/\"\n",
     "'nativeSharedDirectory' is ' /tmp/', with spaces before it",
     "ponk reads it as '/tmp/'; write '/tmp/'."},
    {"a.compute",
     "type: localdocker\nbaseDockerImage: a/b::1\n",
     "the image name 'a/b::1' has a double colon",
     "Write 'a/b:1'."},
    {"a.compute",
     "type: localdocker\nsharedVolumes: off\n",
     "'sharedVolumes' is 'off', which is text in YAML 1.2",
     "ponk reads it as false, as the original service did; write false."},
    {"a.compute",
     "type: localdocker\nsharedvolumes: true\n",
     "the key must be written 'sharedVolumes', not 'sharedvolumes'",
     "Write 'sharedVolumes'."},
    {"a.runconfig",
     "Target: local\nFramework: python\n",
     "'Framework' must be written 'Python', not 'python'",
     "ponk reads it as 'Python'; write 'Python'."},
    {"a.runconfig",
     "Target: local\nFramework: Pyton\n",
     "'Framework' cannot be 'Pyton'",
     "Did you mean 'Python'?"},
    {"a.runconfig",
     "Target: local\nFramework: Python\nTrackedRun: \"yes\"\n",
     "'TrackedRun' needs true or false, not 'yes' in quotes",
     "Write true, without quotes."},
    {"a.runconfig",
     "Target: local\nFramework: Python\nTrackedRun: maybe\n",
     "'TrackedRun' needs true or false, not 'maybe'",
     "Write true or false."},
    {"a.runconfig",
     "Target: local\nFramework: Python\nArgumentVector: train.py\n",
     "'ArgumentVector' needs a list of texts, not 'train.py'",
     "Write it as a list: [train.py]."},
};

TEST(Words, NameTheValueAndWhatToWriteInstead)
{
    for (const Case& each : cases) {
        const TemporaryFolder folder;
        folder.write(each.file, each.text);
        const auto found = check_files({folder.path() / each.file});
        const bool said = std::any_of(found.begin(), found.end(), [&](const Diagnostic& d) {
            return d.message == each.message && d.hint == each.hint && d.line > 0;
        });
        std::string all;
        for (const auto& d : found)
            all += "\n" + to_text(d) + "\n    " + d.hint;
        EXPECT_TRUE(said) << each.text << all;
    }
}

}  // namespace
}  // namespace ponk::config
