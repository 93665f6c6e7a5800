# SPDX-License-Identifier: Apache-2.0
class Tokenizer(object):
    def fit_on_texts(self, texts):
        self.word_index = {word: number for number, word in enumerate(sorted(set(" ".join(texts).lower().split())), 1)}

    def texts_to_sequences(self, texts):
        return [[self.word_index[word] for word in text.lower().split()] for text in texts]
