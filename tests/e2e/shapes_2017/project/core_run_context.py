# SPDX-License-Identifier: Apache-2.0
from azureml.core import Run

run = Run.get_context()
run.log('accuracy', 0.75)
run.log_list('losses', [0.5, 0.25])
run.log_row('confusion', positive=3, negative=4)
run.tag('kind', 'late')
run.complete()
