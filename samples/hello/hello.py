# SPDX-License-Identifier: Apache-2.0
"""The smallest run: ponk submit hello.py [NAME]"""
import os
import sys

name = sys.argv[1] if len(sys.argv) > 1 else "world"
print("Hello, %s, from Python %s in %s" % (name, sys.version.split()[0], os.getcwd()))
os.makedirs("outputs", exist_ok=True)
with open(os.path.join("outputs", "greeting.txt"), "w") as stream:
    stream.write("Hello, %s\n" % name)
