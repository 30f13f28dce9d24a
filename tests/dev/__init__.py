"""Tests of dev.py and what it stands on."""
