"""Texts: links that lead somewhere, and nothing of the machine they were written on."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.architecture.sources import DEPLOYED, ROOT, tracked
from tests.running_stack import deployed_app

BINARY = {".bin", ".png"}


def test_links_between_the_documents_lead_somewhere() -> None:
    pages = [path for path in tracked() if path.suffix == ".md"]
    assert len(pages) > 10
    dead = [
        f"{page}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / page).read_text(encoding="utf-8"))
        if "://" not in target and not (ROOT / page.parent / target).exists()
    ]
    assert dead == []


def test_files_that_the_documents_name_are_there() -> None:
    named = {
        (page, name)
        for page in tracked()
        if page.suffix == ".md"
        for name in re.findall(
            r"`((?:shared|tests|docs|infra|samples|devstack|ordering|blueprints)/[\w./-]+)`",
            (ROOT / page).read_text(encoding="utf-8"),
        )
    }
    assert [f"{page}: {name}" for page, name in sorted(named) if not (ROOT / name).exists()] == []


def test_no_file_names_the_machine_it_was_written_on() -> None:
    home = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/")
    texts = {path: (ROOT / path).read_bytes() for path in tracked() if path.suffix not in BINARY}
    own = Path(__file__).relative_to(ROOT)
    found = [str(path) for path, text in texts.items() if path != own and home.search(text.decode("utf-8", "replace"))]
    assert found == []


def test_what_is_deployed_runs_alone(tmp_path: Path) -> None:
    app = deployed_app(tmp_path / "app")
    assert {path.name for path in app.iterdir()} == {
        *DEPLOYED, "host.json", "requirements.txt", "constraints.txt", "infra",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", "import function_app, shared; print(shared.__file__)"],
        cwd=app,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(app / "shared" / "__init__.py")
