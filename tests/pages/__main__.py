"""`python tests/pages [FOLDER]`: writes the generated pages."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tests' folder

from pages.pages import main

if __name__ == "__main__":
    sys.exit(main())
