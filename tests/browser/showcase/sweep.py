# SPDX-License-Identifier: Apache-2.0
"""All widths and rates, one run each."""
import itertools
import subprocess

WIDTHS = [64, 128, 256, 512]
RATES = [0.001, 0.003, 0.01]

for hidden, rate in itertools.product(WIDTHS, RATES):
    # Each begins when a card is free.
    command = ["ponk", "submit", "--async", "--gpus", "1", "--tag", "sweep=width", "train.py"]
    subprocess.run([*command, "--hidden", str(hidden), "--lr", str(rate)], check=True)
