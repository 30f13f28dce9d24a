"""A mutant: a file of the repository with one rule taken out."""

from dataclasses import dataclass
from pathlib import Path


class PatchError(Exception):
    """A mutant's text is not found exactly once: the code has changed, and the mutant must follow."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule that is taken out, and the test that must notice.

    Attributes:
        name: what the mutated product does, in one word with hyphens.
        file: path within the repository.
        text: found exactly once in the file.
        becomes: what stands there instead.
        test: pytest's address of the test that must fail.
    """

    name: str
    file: str
    text: str
    becomes: str
    test: str

    def of(self, source: str) -> str:
        """The mutated source.

        Raises:
            PatchError: `text` is not there, or more than once.
        """
        if (found := source.count(self.text)) != 1:
            raise PatchError(f"{self.name}: its text is found {found} times in {self.file}, not once:\n{self.text}")
        return source.replace(self.text, self.becomes)

    def put_into(self, root: Path) -> None:
        """Mutate the file below `root`.

        Raises:
            PatchError: see `of`.
        """
        path = root / self.file
        path.write_text(self.of(path.read_text(encoding="utf-8")), encoding="utf-8")
