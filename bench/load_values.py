# SPDX-License-Identifier: Apache-2.0
"""What ponk_load_tool sends, by the same arithmetic: load_tool.cpp has the other half."""
MASK = (1 << 64) - 1
FIRST_TIME = 1700000000000
KEYS_OF_BATCH = 10
POINTS_OF_BATCH = 1000


def mixed(client, number):
    x = (client * 0x9e3779b97f4a7c15 + number + 1) & MASK
    x ^= x >> 31
    x = (x * 0xbf58476d1ce4e5b9) & MASK
    return x ^ (x >> 29)


def value(client, number):
    return (mixed(client, number) >> 11) * 2.0 ** -53


def time(client, number):
    return FIRST_TIME + number * 100 + mixed(client, number) % 20


def metric_points(client, calls):
    """{key: {(step, time, value)}} after so many calls of log-metric."""
    return {"loss": {(n, time(client, n), value(client, n)) for n in range(calls)}}


def batch_points(client, calls):
    points = {}
    for n in range(calls * POINTS_OF_BATCH):
        points.setdefault("metric %d" % (n % POINTS_OF_BATCH % KEYS_OF_BATCH), set()).add(
            (n // KEYS_OF_BATCH, time(client, n), value(client, n)))
    return points


def run_values(number):
    """The values of a run to search in: metrics, parameters, tags."""
    return ({"accuracy": value(1, number), "loss": value(2, number)},
            {"lr": "0.%d" % (number % 7), "depth": "%d" % (number % 13)}, {"number": "%d" % number})
