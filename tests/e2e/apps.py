"""Copies of the app with something put into them."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.running_stack import deployed_app


def slow_app(folder: Path, *, queue: dict[str, Any], service_bus: dict[str, Any] | None = None) -> Path:
    """The app with slow commits, and with other settings of the queue and the host."""
    app = deployed_app(folder / "app")
    shutil.copy(Path(__file__).with_name("slow.py"), app)
    with (app / "function_app.py").open("a", encoding="utf-8") as file:
        file.write("\nimport slow\n\nslow.arm()\n")
    topology = json.loads((app / "infra" / "topology.json").read_text(encoding="utf-8"))
    topology["serviceBus"]["queues"]["orders"]["local"] |= queue
    (app / "infra" / "topology.json").write_text(json.dumps(topology), encoding="utf-8")
    host = json.loads((app / "host.json").read_text(encoding="utf-8"))
    host["extensions"]["serviceBus"] |= service_bus or {}
    (app / "host.json").write_text(json.dumps(host), encoding="utf-8")
    return app


def blocking_app(folder: Path) -> Path:
    """The app, and beside it functions that block."""
    app = deployed_app(folder / "app")
    shutil.copy(Path(__file__).with_name("blocking.py"), app)
    with (app / "function_app.py").open("a", encoding="utf-8") as file:
        file.write("\nimport blocking\n\napp.register_functions(blocking.bp)\n")
    return app


def impatient_app(folder: Path) -> Path:
    """The app whose timers run every second."""
    app = deployed_app(folder / "app")
    path = app / "blueprints" / "look_after_orders.py"
    text = path.read_text(encoding="utf-8")
    assert '"0 * * * * *"' in text
    path.write_text(text.replace('"0 * * * * *"', '"* * * * * *"'), encoding="utf-8")
    return app
