"""Reading the opt-outs of an app; the records are tested in the suite."""

from pathlib import Path

import pytest

from ops import adopting
from ops.cloud import Outside
from tests.in_memory.documents import InMemoryDocuments


@pytest.mark.parametrize(
    "line",
    [
        "Lee, Ann <ann@example.com>,recap",
        "17,ann@example.com,recap",
        ",ann@example.com",
        '"Lee, Ann" (ann@example.com),recap',
    ],
)
def test_a_first_line_with_an_address_is_no_header(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    """An opt-out that cannot be read is named, also in the first line."""
    documents = InMemoryDocuments()
    path = tmp_path / "opt-outs.csv"
    path.write_text(f"{line}\nbob@example.com,all\n")
    outside = Outside(documents=lambda _: documents)
    assert adopting.main(["acme", f"--optouts={path}"], outside) == 1
    assert f"{path}, line 1" in capsys.readouterr().err
