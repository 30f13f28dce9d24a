"""How Hypothesis runs here: no time limit per example, because the machine may be busy."""

from hypothesis import settings

settings.register_profile("laws", deadline=None, print_blob=True)
settings.load_profile("laws")
