"""Tests of single modules, in memory."""
