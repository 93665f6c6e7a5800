// SPDX-License-Identifier: Apache-2.0
#include "model/metric_direction.hpp"

#include <gtest/gtest.h>

namespace ponk::model {
namespace {

TEST(MetricDirection, IsKnownByTheWordsOfAName)
{
    for (const char* name :
         {"loss", "val_loss", "valLoss", "train/loss", "logloss", "RMSE", "eval.wer"})
        EXPECT_EQ(better_of(name), Better::lower) << name;
    for (const char* name :
         {"accuracy", "val_acc", "testAccuracy", "f1", "roc_auc", "neg_mean_squared_error"})
        EXPECT_EQ(better_of(name), Better::higher) << name;
    for (const char* name : {"lr", "epoch", "time", "glossary", "loss_accuracy", "", "temperature"})
        EXPECT_EQ(better_of(name), Better::unknown) << name;
}

}  // namespace
}  // namespace ponk::model
