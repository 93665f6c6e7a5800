# SPDX-License-Identifier: Apache-2.0
"""Writes the golden event files with a real writer: pip install tensorboardX numpy; make.py FOLDER"""
import os
import sys

import numpy
from tensorboardX import SummaryWriter
from tensorboardX.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2
from tensorboardX.record_writer import RecordWriter

TIME = 1700000000.25


def summaries(folder):
    """What scripts with PyTorch write."""
    writer = SummaryWriter(folder)
    writer.add_scalar("loss", 0.5, 0, walltime=TIME)
    writer.add_scalar("loss", 0.25, 1, walltime=TIME + 1)
    writer.add_scalar("accuracy/top", 0.75, 1, walltime=TIME + 1)
    writer.add_scalar("loss", float("nan"), 2, walltime=TIME + 2)
    writer.add_histogram("weights", numpy.array([1.0, 2, 3]), 2, walltime=TIME + 2, bins=[0, 2, 4])
    writer.add_text("note", "hello", 2, walltime=TIME + 2)
    writer.add_scalar("described", -2.5, 3, walltime=TIME + 3, summary_description="words")
    writer.add_scalar("before", 1e-3, -1, walltime=TIME + 3)
    writer.close()


def tensors(path):
    """What scripts with TensorFlow 2 write: one number in a tensor, in each of its forms."""
    def tensor(kind, **more):
        return tensor_pb2.TensorProto(dtype=kind, tensor_shape=tensor_shape_pb2.TensorShapeProto(), **more)

    plugin = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="scalars"))
    hparams = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="hparams"))
    values = [
        ("float", tensor(1, tensor_content=numpy.float32(0.5).tobytes()), plugin),
        ("float_val", tensor(1, float_val=[0.75]), plugin),
        ("double_val", tensor(2, double_val=[0.1]), None),
        ("int64", tensor(9, tensor_content=numpy.int64(-7).tobytes()), None),
        ("int_val", tensor(3, int_val=[-3]), None),
        ("half", tensor(19, half_val=[0x3800]), None),
        ("zero", tensor(1), plugin),
        ("text", tensor(7, string_val=[b"words"]), None),
        ("_hparams_/experiment", tensor(1), hparams),
    ]
    several = tensor_pb2.TensorProto(dtype=1, float_val=[1, 2])
    with open(path, "wb"):
        pass
    writer = RecordWriter(path)
    writer.write(event_pb2.Event(wall_time=TIME, file_version="brain.Event:2").SerializeToString())
    for step, (tag, value, metadata) in enumerate(values + [("several", several, None)]):
        summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, tensor=value, metadata=metadata)])
        writer.write(event_pb2.Event(wall_time=TIME, step=step, summary=summary).SerializeToString())
    writer.close()


folder = sys.argv[1]
scratch = os.path.join(folder, "scratch")
summaries(scratch)
os.rename(os.path.join(scratch, os.listdir(scratch)[0]), os.path.join(folder, "events.out.tfevents.summaries"))
os.rmdir(scratch)
tensors(os.path.join(folder, "events.out.tfevents.tensors"))
