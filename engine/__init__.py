"""Latency Lab's engine: measure, prove, compare. Importable without streamlit; only `engine.child` imports torch.

The map:

    spec, result      what to measure, what came back        catalog/        techniques, variants, models, claims
    serial, messages  JSON; the words runner and child share  metrics         every number we show, with its meaning
    runner/           one experiment, from children to outcomes
    worker/, store/   queue in the background; SQLite <-> pandas frames
    stats, proof, verdict, comparison   numbers, evidence rules, the words, what divides what
    results_csv, imports/               our result file; other tools' files
    charts/, formatting                 frames -> plotly figures; numbers -> text
    child/            the measured side, in processes of its own
"""
