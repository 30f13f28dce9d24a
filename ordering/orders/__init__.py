"""Orders: the operations on them, their documents, their events, and the decisions.

Read next: `operations`, `placing`.
"""
