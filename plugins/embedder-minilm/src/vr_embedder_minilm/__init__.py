"""Offline sentence embeddings (all-MiniLM-L6-v2, int8 ONNX) for video-research."""
