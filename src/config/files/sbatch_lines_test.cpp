// SPDX-License-Identifier: Apache-2.0
#include "config/files/sbatch_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

auto option(const char* name, const char* value, unsigned line)
{
    return SbatchOption{name, value, line};
}

TEST(SbatchLines, AreReadAsSbatchReadsThem)
{
    const auto found = parse_sbatch_lines("job.sh",
                                          "#!/bin/bash\n"
                                          "#SBATCH --partition=gpu --exclusive\n"
                                          "#SBATCH -p big -N1 -t 1:00 # an hour\r\n"
                                          "\n"
                                          "# a remark\n"
                                          "#SBATCH --comment \"two words\"\n"
                                          "##SBATCH --mem=1G\n"
                                          "#SBATCHES\n"
                                          "module load cuda\n"
                                          "#SBATCH --too=late\n");
    EXPECT_THAT(found.value(),
                ElementsAre(option("partition", "gpu", 2),
                            option("exclusive", "", 2),
                            option("partition", "big", 3),
                            option("nodes", "1", 3),
                            option("time", "1:00", 3),
                            option("comment", "two words", 6)));
    EXPECT_THAT(parse_sbatch_lines("a.py", "print(1)\n").value(), IsEmpty());
    EXPECT_THAT(parse_sbatch_lines("a.py", "").value(), IsEmpty());
}

TEST(SbatchLines, WhatIsNoOptionIsNamedWithItsLine)
{
    for (const char* text : {"#!/bin/sh\n#SBATCH partition=gpu\n",
                             "#!/bin/sh\n#SBATCH -Z 1\n",
                             "#!/bin/sh\n#SBATCH hetjob\n"}) {
        const auto found = parse_sbatch_lines("job.sh", text);
        ASSERT_FALSE(found) << text;
        EXPECT_THAT(found.error().message(), HasSubstr("job.sh:2: '"));
    }
}

}  // namespace
}  // namespace ponk::config
