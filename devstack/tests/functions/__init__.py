"""Tests of the Functions host."""
