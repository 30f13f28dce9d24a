"""What dev.py stands on: a Python 3.13, `.venv`, child processes, the running local stack.

Standard library alone, and loadable by any Python from 3.8 on: it runs before anything is installed.
"""
