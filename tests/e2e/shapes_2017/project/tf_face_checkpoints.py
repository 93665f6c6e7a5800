# SPDX-License-Identifier: Apache-2.0
import os

import tensorflow as tf
from azureml.logging import get_azureml_logger

saver = tf.train.Saver()
with tf.Session() as sess:
    for step in (10, 20):
        _, loss = sess.run([None, None], feed_dict={})
        saver.save(sess, os.path.join('outputs', 'checkpoints', 'face'), global_step=step)
        get_azureml_logger().log('loss', loss)
