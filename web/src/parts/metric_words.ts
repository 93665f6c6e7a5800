// SPDX-License-Identifier: Apache-2.0
// Made by build/words.mjs from src/model/metric_direction.cpp: change that, then run `node build/words.mjs`.
export const lower: ReadonlySet<string> = new Set(['loss', 'error', 'err', 'mse', 'rmse', 'mae', 'mape', 'rmsle', 'smape', 'perplexity', 'ppl', 'nll', 'bpb', 'wer', 'cer', 'ter', 'fid', 'eer', 'brier', 'bce', 'msle', 'kl', 'kld', 'fpr', 'fnr', 'logloss', 'regret']);
export const higher: ReadonlySet<string> = new Set(['acc', 'accuracy', 'auc', 'auroc', 'auprc', 'roc', 'f1', 'fscore', 'precision', 'recall', 'ndcg', 'mrr', 'bleu', 'rouge', 'iou', 'miou', 'dice', 'r2', 'reward', 'score', 'psnr', 'ssim', 'kappa', 'mcc', 'meteor', 'chrf', 'specificity', 'sensitivity', 'tpr', 'tnr', 'top1', 'top5', 'gmean', 'jaccard']);
