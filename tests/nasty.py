"""Texts that would be something else than text wherever they are not escaped."""

import re

NASTY = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--",
    "$x$",
    "[a](javascript:alert(1))",
    "![a](http://example.org/x.png)",
    '=HYPERLINK("http://example.org")',
    "@SUM(A1)",
    "\u202egnp",
    "&amp;",
    "\"'`",
    "``` **b**",
    ":material/home:",
    ":red[x]",
    ":rainbow-background[x]",
    "%{evil}",
    "# h\n\n- l",
    "\\textbf{x}",
)

# What of them Markdown would take for something else, where no backslash precedes it.
MARKDOWN = re.compile(
    r"(?<!\\)(?:<img|</?script|<!--|\$x\$|\]\(javascript|\]\(http://example|:material/home:|:red\[|\*\*b\*\*|&amp;)"
)
