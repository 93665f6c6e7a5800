// SPDX-License-Identifier: Apache-2.0
#include "model/metric_direction.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace ponk::model {
namespace {

// The page has these two lists, too: `node build/words.mjs` in web/ takes them from here.
constexpr std::string_view lower_words[] = {
    "loss",       "error", "err",  "mse", "rmse", "mae", "mape", "rmsle",   "smape",
    "perplexity", "ppl",   "nll",  "bpb", "wer",  "cer", "ter",  "fid",     "eer",
    "brier",      "bce",   "msle", "kl",  "kld",  "fpr", "fnr",  "logloss", "regret"};
constexpr std::string_view higher_words[] = {
    "acc",         "accuracy", "auc",  "auroc", "auprc", "roc",   "f1",     "fscore", "precision",
    "recall",      "ndcg",     "mrr",  "bleu",  "rouge", "iou",   "miou",   "dice",   "r2",
    "reward",      "score",    "psnr", "ssim",  "kappa", "mcc",   "meteor", "chrf",   "specificity",
    "sensitivity", "tpr",      "tnr",  "top1",  "top5",  "gmean", "jaccard"};

// "valLoss", "val_loss", "train/loss.total": the words of a name, in small letters.
std::vector<std::string> words_of(std::string_view name)
{
    std::vector<std::string> words(1);
    char before = 0;
    for (const char c : name) {
        const bool small = c >= 'a' && c <= 'z';
        const bool large = c >= 'A' && c <= 'Z';
        const bool digit = c >= '0' && c <= '9';
        const bool begins = large && before >= 'a' && before <= 'z';
        if (begins || !(small || large || digit)) words.emplace_back();
        if (small || large || digit) words.back() += c;
        before = c;
    }
    for (std::string& word : words)
        word = lower(word);
    std::erase(words, "");
    return words;
}

template <class Words>
bool knows(const Words& known, const std::string& word)
{
    return std::ranges::count(known, std::string_view(word)) > 0;
}

}  // namespace

Better better_of(std::string_view metric)
{
    bool down = false;
    bool up = false;
    bool turned = false;
    for (const std::string& word : words_of(metric)) {
        turned = turned || word == "neg" || word == "negative";
        down = down || knows(lower_words, word) || word.ends_with("loss");
        up = up || knows(higher_words, word) || word.ends_with("acc") || word.ends_with("accuracy");
    }
    if (down == up) return Better::unknown;
    return down != turned ? Better::lower : Better::higher;
}

}  // namespace ponk::model
