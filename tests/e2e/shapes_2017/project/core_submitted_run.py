# SPDX-License-Identifier: Apache-2.0
from azureml.core.run import Run

run = Run.get_submitted_run()
for n in range(3):
    run.log(name='mse', value=1.0 / (n + 1))
print('run', run.id)
