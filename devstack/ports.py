"""Port numbers on the command line."""

import argparse


def port_number(text: str) -> int:
    """Read a port; 0 stands for a free one.

    Raises:
        argparse.ArgumentTypeError: it is no number from 0 to 65535.
    """
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; use 0 to 65535, 0 for a free one")
    return int(text)
