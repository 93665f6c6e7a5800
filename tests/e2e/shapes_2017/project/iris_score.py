# SPDX-License-Identifier: Apache-2.0
import json
import pickle

import pandas
from azureml.api.realtime.services import generate_schema
from azureml.api.schema.dataTypes import DataTypes
from azureml.api.schema.sampleDefinition import SampleDefinition
from azureml.datacollector import ModelDataCollector


def init():
    global model, inputs_dc
    model = pickle.loads(pickle.dumps(max))
    inputs_dc = ModelDataCollector('model.pkl', identifier="inputs")


def run(input_df):
    inputs_dc.collect(input_df)
    return json.dumps(str(model(input_df['sepal length'])))


def main():
    df = pandas.DataFrame(data=[[3.0, 3.6, 1.3, 0.25]], columns=['sepal length', 'sepal width', 'petal length', 'petal width'])
    init()
    print("Result: " + run(df))
    generate_schema(run_func=run, inputs={"input_df": SampleDefinition(DataTypes.PANDAS, df)}, filepath='./outputs/service_schema.json')


if __name__ == "__main__":
    main()
