# SPDX-License-Identifier: Apache-2.0
import argparse
import sys

import tensorflow as tf
from azureml.logging import get_azureml_logger

FLAGS = None


def main(_):
    run_logger = get_azureml_logger()
    run_logger.log('learning_rate', FLAGS.learning_rate)
    x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.float32)
    step = tf.train.GradientDescentOptimizer(FLAGS.learning_rate).minimize(x * tf.Variable(0) + y)
    losses = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for n in range(5):
            _, loss = sess.run([step, step], feed_dict={x: n, y: n})
            losses.append(loss)
    run_logger.log('Losses', losses)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--learning_rate', type=float, default=0.5)
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0]] + unparsed)
