"""The functions: one file per trigger group, the only importers of azure.functions.

Azure scales each group on its own; a file is a scale unit.
"""
