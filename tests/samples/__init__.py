"""Tests of the samples and the demo."""
