-- SPDX-License-Identifier: Apache-2.0
-- What spans say of the model that they called: beside them, because few spans have it and all of
-- them have a long content.
CREATE TABLE span_model (
    span INTEGER PRIMARY KEY REFERENCES span(row) ON DELETE CASCADE,
    model TEXT,
    provider TEXT,
    input_cost REAL,
    output_cost REAL,
    total_cost REAL
) STRICT;
INSERT INTO span_model(span, model, provider, input_cost, output_cost, total_cost)
SELECT row,
    CASE json_type(model) WHEN 'text' THEN json_extract(model, '$') END,
    CASE json_type(provider) WHEN 'text' THEN json_extract(provider, '$') END,
    CASE WHEN json_type(cost, '$.input_cost') IN ('integer', 'real') THEN CAST(json_extract(cost, '$.input_cost') AS REAL) END,
    CASE WHEN json_type(cost, '$.output_cost') IN ('integer', 'real') THEN CAST(json_extract(cost, '$.output_cost') AS REAL) END,
    CASE WHEN json_type(cost, '$.total_cost') IN ('integer', 'real') THEN CAST(json_extract(cost, '$.total_cost') AS REAL) END
FROM (
    SELECT row,
        json_extract(content, '$.attributes."mlflow.llm.model"') AS model,
        json_extract(content, '$.attributes."mlflow.llm.provider"') AS provider,
        json_extract(content, '$.attributes."mlflow.llm.cost"') AS cost
    FROM span WHERE json_valid(content)
) WHERE coalesce(json_valid(model), 1) AND coalesce(json_valid(provider), 1)
    AND coalesce(json_valid(cost), 1) AND (model NOT NULL OR provider NOT NULL OR cost NOT NULL);

-- Versions of prompts that traces used, as "name/version".
CREATE TABLE trace_prompt (
    trace INTEGER NOT NULL REFERENCES trace(row) ON DELETE CASCADE,
    prompt TEXT NOT NULL,
    PRIMARY KEY (prompt, trace)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_prompt_by_trace ON trace_prompt(trace);
