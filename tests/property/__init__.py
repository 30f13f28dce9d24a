"""Laws, checked by Hypothesis."""
