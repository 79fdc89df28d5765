#!/usr/bin/env python3
"""Makes data/mnist-small from a folder that holds the full MNIST set (lockstep data get mnist).

    tools/make_mnist_small.py FOLDER [OUT]         OUT is data/mnist-small by default

Takes 1,000 training and 200 test digits of each class. Which ones, and their order, follows from
sha256("mnist-small/SPLIT/INDEX"), lowest first, so that neither this script's Python nor the order
of the full set matters (MNIST's first 5,000 test digits are cleaner than its last 5,000). The
unpacked bytes are always the same; the packed ones are the same for the same zlib.
Standard library only.
"""
import gzip
import hashlib
import io
import os
import struct
import sys

PUBLISHED_SHA256 = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
SPLITS = {"train": 1000, "t10k": 200}  # digits of each class
CLASSES = 10
IMAGES, LABELS = "-images-idx3-ubyte", "-labels-idx1-ubyte"


def read_checked(folder, name):
    path = os.path.join(folder, name)
    if os.path.exists(path):
        with open(path, "rb") as file:
            content = file.read()
    else:
        with gzip.open(path + ".gz") as file:
            content = file.read()
    found = hashlib.sha256(content).hexdigest()
    if found != PUBLISHED_SHA256[name]:
        sys.exit(f"{path}: sha256 {found}, but published is {PUBLISHED_SHA256[name]}")
    return content


def write_packed(folder, name, content):
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, filename="", mtime=0) as file:
        file.write(content)
    with open(os.path.join(folder, name + ".gz"), "wb") as file:
        file.write(packed.getvalue())
    print(f"{name}: {len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}")


def chosen_indices(split, labels, per_class):
    def rank(index):
        return hashlib.sha256(f"mnist-small/{split}/{index}".encode()).digest()

    taken = [0] * CLASSES
    chosen = []
    for index in sorted(range(len(labels)), key=rank):
        if taken[labels[index]] < per_class:
            taken[labels[index]] += 1
            chosen.append(index)
    return chosen


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source = sys.argv[1]
    target = sys.argv[2] if len(sys.argv) == 3 else "data/mnist-small"
    os.makedirs(target, exist_ok=True)
    for split, per_class in SPLITS.items():
        images = read_checked(source, split + IMAGES)
        labels = read_checked(source, split + LABELS)[8:]
        height, width = struct.unpack(">II", images[8:16])
        pixels = height * width
        chosen = chosen_indices(split, labels, per_class)
        header = struct.pack(">IIII", 0x803, len(chosen), height, width)
        body = b"".join(images[16 + i * pixels:16 + (i + 1) * pixels] for i in chosen)
        write_packed(target, split + IMAGES, header + body)
        header = struct.pack(">II", 0x801, len(chosen))
        write_packed(target, split + LABELS, header + bytes(labels[i] for i in chosen))


if __name__ == "__main__":
    main()
