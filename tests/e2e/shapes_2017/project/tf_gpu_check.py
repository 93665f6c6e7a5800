# SPDX-License-Identifier: Apache-2.0
import tensorflow as tf

with tf.device('/gpu:0'):
    a = tf.constant([1.0, 2.0], shape=[1, 2], name='a')
    b = tf.constant([1.0, 2.0], shape=[2, 1], name='b')
c = tf.matmul(a, b)
with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
    print(sess.run(c, feed_dict={}))
