# SPDX-License-Identifier: Apache-2.0
import re
from collections import Counter

import nltk
from azureml.logging import get_azureml_logger
from nltk import corpus

nltk.download('stopwords')
logger = get_azureml_logger()
stop = set(corpus.stopwords.words('english'))
words = Counter(word for word in re.findall('[a-z]+', open('data/campaign.txt').read().lower()) if word not in stop)
for rank, (word, count) in enumerate(words.most_common(2), 1):
    logger.log("Top %d" % rank, word)
    logger.log("Count %d" % rank, count)
logger.upload('outputs/words.txt', '\n'.join(sorted(words)))
