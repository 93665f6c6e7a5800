# SPDX-License-Identifier: Apache-2.0
import os

import cntk as C
from azureml.logging import get_azureml_logger
from cntk.io import CTFDeserializer, MinibatchSource, StreamDef, StreamDefs
from cntk.logging import ProgressPrinter

if not C.device.try_set_default_device(C.device.gpu(0)):
    C.device.try_set_default_device(C.device.cpu())
x, y = C.input_variable(784), C.input_variable(10)
with C.layers.default_options(activation=C.ops.relu, init=C.glorot_uniform()):
    z = C.layers.Sequential([C.layers.Dense(400), C.layers.Dense(10)])
learner = C.sgd(z.parameters, C.learning_rate_schedule(0.2, C.UnitType.minibatch))
trainer = C.Trainer(z, (C.cross_entropy_with_softmax(z, y), C.classification_error(z, y)), [learner], [ProgressPrinter(freq=2, tag='Training')])
source = MinibatchSource(CTFDeserializer('data/digits.txt', StreamDefs(labels=StreamDef(field='labels', shape=2),
                                                                      features=StreamDef(field='features', shape=2))))
losses = []
for _ in range(4):
    trainer.train_minibatch(source.next_minibatch(2))
    losses.append(trainer.previous_minibatch_loss_average)
logger = get_azureml_logger()
logger.log("Training Loss", losses)
logger.log("Error Rate", trainer.test_minibatch(None))
z.save(os.path.join('outputs', 'mnist.model'))
