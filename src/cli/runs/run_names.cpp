// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_names.hpp"

#include "base/keyed_hash.hpp"
#include "base/text.hpp"
#include "model/run_words.hpp"

#include <algorithm>

namespace ponk::cli {
namespace {

std::string_view member_of(Entity entity)
{
    switch (entity) {
    case Entity::metric:
        return "metrics";
    case Entity::param:
        return "params";
    default:
        return "tags";
    }
}

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

const Json& last_of(const Json& value)
{
    static const Json none;
    if (value.is_array()) return value.as_array().empty() ? none : value.as_array().back();
    return value.is_object() ? value["last"] : value;
}

Json value_of(const Json& run, const FieldName& name)
{
    if (name.entity == Entity::metric) return last_of(run["metrics"][name.key]);
    if (name.entity != Entity::attribute) return run[member_of(name.entity)][name.key];
    const Json* value = &run;
    for (const std::string& part : split(name.key, '.'))
        value = &(*value)[part];
    return *value;
}

std::vector<std::string> names_of(const JsonArray& runs, Entity entity)
{
    std::vector<std::string> names;
    KeyedMap<int, std::string_view> seen;
    for (const Json& run : runs) {
        const Json& values = entity == Entity::attribute ? run : run[member_of(entity)];
        if (!values.is_object()) continue;
        for (const auto& [name, value] : values.as_object()) {
            // Metrics are fields of the record as well.
            const bool own =
                entity != Entity::attribute || !(run["metrics"][name] == value) || value.is_null();
            if (own && seen.emplace(name, 0).second) names.push_back(name);
        }
    }
    return names;
}

std::vector<std::string> common_metrics(const JsonArray& newest_first, std::size_t most)
{
    struct Seen {
        std::string name;
        bool judged = false;  // says how good a run is, as far as its name tells
        std::size_t runs = 0;
    };
    std::vector<Seen> seen;
    KeyedMap<std::size_t, std::string_view> places;
    for (const Json& run : newest_first) {
        if (!run["metrics"].is_object()) continue;
        for (const auto& [name, value] : run["metrics"].as_object()) {
            if (value.is_object() || value.is_array() || name.starts_with(model::system_prefix))
                continue;
            const auto [place, fresh] = places.emplace(name, seen.size());
            if (fresh) seen.push_back({name, better_of(name) != Better::unknown});
            ++seen[place->second].runs;
        }
    }
    std::ranges::stable_sort(seen, [](const Seen& a, const Seen& b) {
        return std::pair(a.runs, a.judged) > std::pair(b.runs, b.judged);
    });
    std::vector<std::string> names;
    for (Seen& one : seen) {
        if (names.size() == most) break;
        names.push_back(std::move(one.name));
    }
    return names;
}

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

}  // namespace ponk::cli
