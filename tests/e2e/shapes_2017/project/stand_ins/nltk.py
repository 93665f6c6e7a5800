# SPDX-License-Identifier: Apache-2.0
class corpus(object):
    class stopwords(object):
        words = staticmethod(lambda language: ["the", "a", "of"])


def download(name, quiet=True):
    return True


def word_tokenize(text):
    return text.split()
