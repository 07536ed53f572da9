"""`python -m stet_ls.server.cli.docs [FOLDER]`: writes the generated pages."""

from __future__ import annotations

import sys

from stet_ls.server.cli.docs.pages import main

if __name__ == "__main__":
    sys.exit(main())
