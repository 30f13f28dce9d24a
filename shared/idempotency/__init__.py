"""Pure rules and the engine over ports: keys, request hash, admission, decisions, dispositions. No Azure here.

Read next: `engine`.
"""
