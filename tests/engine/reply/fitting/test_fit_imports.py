"""New imports of a reply go to the top of the document. Marks as in `support.fitting`."""

from __future__ import annotations

import pytest
from support.fitting import fitted

from stet_ls.engine.api.request import TargetKind

# -- imports


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        ("import os\nimport sys\n\nimport rich\n", "import re", "import os\nimport re\nimport sys\n\nimport rich\n"),
        ("import rich\n", "import re", "import re\n\nimport rich\n"),
        ("import os\n", "import rich as re", "import os\n\nimport rich as re\n"),
        ("from os import path\n", "from os import path, sep as re", "from os import path\nfrom os import sep as re\n"),
        ("import re\n", "import re", "import re\n"),
        ("import os\n", "import json", "import os\n"),
        ('"""Doc."""\n', "import re", '"""Doc."""\n\nimport re\n'),
        ("# Licence\n# of many lines\n", "import re", "# Licence\n# of many lines\n\nimport re\n"),
        ("#!/usr/bin/env python\n", "import re", "#!/usr/bin/env python\n\nimport re\n"),
        ("from __future__ import annotations\n", "import re", "from __future__ import annotations\n\nimport re\n"),
        ("import os\n", "from __future__ import annotations", "from __future__ import annotations\n\nimport os\n"),
        ("", "import re", "import re\n"),
    ],
    ids=[
        "sorted in", "new section above", "new section below", "only what is missing", "known", "unused", "docstring",
        "licence", "shebang", "after future", "future first", "no imports",
    ],
)  # fmt: skip
def test_new_python_imports_are_placed_at_the_top(before: str, code: str, after: str) -> None:
    gap = "\n\n" if before else ""
    document = f"{before}{gap}def f():\n    return 0\n"
    text, _ = fitted(document, f"{code}\n\ndef f():\n    return re\n", name="f")
    assert text == f"{after}\n{'' if not before else chr(10)}def f():\n    return re\n"


def test_imports_inside_the_target_are_not_moved() -> None:
    text, _ = fitted("«import os\nx = 1»\ny = 2\n", "import re\nx = re", kind=TargetKind.STATEMENTS)
    assert text == "import re\nx = re\ny = 2\n"
