"""The table of cases names the tests that there are."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_case_has_tests_and_every_named_case_has_a_row() -> None:
    checked = subprocess.run(
        [sys.executable, ROOT / "scripts/cases", "--check"], capture_output=True, text=True
    )
    assert (checked.stdout, checked.returncode) == ("", 0)
