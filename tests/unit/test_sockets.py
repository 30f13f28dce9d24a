"""Unit tests open no socket; the rule of tests/conftest.py is in force."""

import socket

import pytest
from pytest_socket import SocketBlockedError


@pytest.mark.filterwarnings("ignore:A test tried to use socket.socket:UserWarning")
def test_a_network_socket_is_refused() -> None:
    with pytest.raises(SocketBlockedError):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)
