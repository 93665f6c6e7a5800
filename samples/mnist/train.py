# SPDX-License-Identifier: Apache-2.0
"""Learns to read handwritten digits with one hidden layer, in seconds, with NumPy only.

    ponk submit train.py --epochs 5          as a run, with history, charts and outputs
    python3 train.py --epochs 5              the same training, without any of that
"""
import argparse
import csv
import os
import time

import numpy as np

import picture

try:
    import ponk  # there in every run, without installing anything
except ImportError:
    ponk = None

HERE = os.path.dirname(os.path.abspath(__file__))
TRAINING_IMAGES = 8000  # of the 10,000; the others are the test


def log(values, step):
    if ponk is not None:
        for name in sorted(values):
            ponk.log(name, values[name], step=step)


def load():
    data = np.load(os.path.join(HERE, "data", "mnist-10k.npz"))
    images = data["images"].reshape(-1, 784).astype(np.float32) / 255.0
    labels = data["labels"].astype(np.int64)
    split = TRAINING_IMAGES
    return images[:split], labels[:split], images[split:], labels[split:]


class Network:
    """784 pixels -> hidden units (ReLU) -> 10 classes (softmax), trained by momentum SGD."""

    def __init__(self, hidden, random):
        self.weights = [
            (random.randn(784, hidden) * np.sqrt(2.0 / 784)).astype(np.float32),
            np.zeros(hidden, np.float32),
            (random.randn(hidden, 10) * np.sqrt(2.0 / hidden)).astype(np.float32),
            np.zeros(10, np.float32),
        ]
        self.velocity = [np.zeros_like(weight) for weight in self.weights]

    def forward(self, images):
        first, first_bias, second, second_bias = self.weights
        hidden = np.maximum(images.dot(first) + first_bias, 0)
        scores = hidden.dot(second) + second_bias
        scores -= scores.max(axis=1, keepdims=True)
        exponentials = np.exp(scores)
        return hidden, exponentials / exponentials.sum(axis=1, keepdims=True)

    def train_batch(self, images, labels, rate):
        hidden, probabilities = self.forward(images)
        rows = np.arange(len(labels))
        loss = -np.log(probabilities[rows, labels] + 1e-12).mean()
        error = probabilities
        error[rows, labels] -= 1
        error /= len(labels)
        back = error.dot(self.weights[2].T)
        back[hidden <= 0] = 0
        gradients = [images.T.dot(back), back.sum(axis=0), hidden.T.dot(error), error.sum(axis=0)]
        for index, gradient in enumerate(gradients):
            self.velocity[index] = 0.9 * self.velocity[index] - rate * gradient
            self.weights[index] += self.velocity[index]
        return float(loss)

    def predict(self, images):
        return self.forward(images)[1].argmax(axis=1)


def confusion_matrix(truth, guess):
    matrix = np.zeros((10, 10), np.int64)
    np.add.at(matrix, (truth, guess), 1)
    return matrix


def save(network, losses, matrix, folder="outputs"):
    os.makedirs(folder, exist_ok=True)
    names = ["hidden_weights", "hidden_bias", "output_weights", "output_bias"]
    np.savez(os.path.join(folder, "model.npz"), **dict(zip(names, network.weights)))
    picture.draw_curve(os.path.join(folder, "loss.png"), losses)
    picture.draw_matrix(os.path.join(folder, "confusion.png"), matrix.tolist())
    with open(os.path.join(folder, "confusion.csv"), "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["true digit"] + ["read as %d" % digit for digit in range(10)])
        for digit in range(10):
            writer.writerow([digit] + matrix[digit].tolist())


def main():
    parser = argparse.ArgumentParser(description="Train a small network on MNIST digits.")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--hidden", type=int, default=48)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    random = np.random.RandomState(options.seed)
    images, labels, test_images, test_labels = load()
    print("MNIST: %d digits to learn from, %d to test on" % (len(images), len(test_images)))
    network = Network(options.hidden, random)
    losses, step, accuracy = [], 0, 0.0
    began = time.time()
    for epoch in range(1, options.epochs + 1):
        order = random.permutation(len(images))
        sums = []
        for start in range(0, len(order), options.batch):
            chosen = order[start : start + options.batch]
            loss = network.train_batch(images[chosen], labels[chosen], options.rate)
            sums.append(loss)
            step += 1
            if step % 10 == 0:
                losses.append(float(np.mean(sums[-10:])))
                log({"loss": losses[-1]}, step)
        accuracy = float((network.predict(test_images) == test_labels).mean())
        log({"accuracy": accuracy, "epoch_loss": float(np.mean(sums))}, step)
        print("epoch %d/%d  loss %.4f  accuracy %.4f" % (epoch, options.epochs, np.mean(sums), accuracy))
    matrix = confusion_matrix(test_labels, network.predict(test_images))
    save(network, losses, matrix)
    worst = max(range(10), key=lambda digit: matrix[digit].sum() - matrix[digit][digit])
    print("trained in %.1f s; the digit misread most often is %d" % (time.time() - began, worst))
    print("accuracy %.4f" % accuracy)


if __name__ == "__main__":
    main()
