"""Which device a file's name or cell speaks of."""

from __future__ import annotations

import re
from pathlib import PurePath

_CHIP = re.compile(
    r"(?<![A-Za-z0-9])("
    r"(?:RTX|GTX)[ _-]?(?:A?\d{3,4})(?:[ _-]?(?:Ti|SUPER|Ada))*"
    r"|[ABH]\d{2,3}G?(?:[ _-]?(?:SXM\d?|PCIe|NVL))?(?:[ _-]?\d{2,3}GB)?"
    r"|GH200|GB200|L40S?|L4|T4|V100|P100|K80|RX[ _-]?\d{4}(?:[ _-]?XTX?)?|MI\d{3}[AX]?|Arc[ _-]?[AB]\d{3}"
    r"|TPU[ _-]?v\d\w?|Xeon[ _-]?\w*|EPYC[ _-]?\w*|Ryzen[ _-]?\w*|Jetson[ _-]?\w*"
    r")(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def from_file_name(file: str) -> str:
    """ "U11a_GTX_1080_Ti.csv" -> "GTX 1080 Ti"; without a known chip the name itself, without its ending."""
    stem = PurePath(file.replace("\\", "/")).stem
    found = _CHIP.search(stem)
    return re.sub(r"[ _]+", " ", found[1] if found else stem).strip() or file


def from_list(cell: str) -> str:
    """ "['A100', 'A100']" -> "A100 x2"; anything else is the name itself."""
    if not cell.strip().startswith("["):
        return cell.strip()
    names = [single or double for single, double in _QUOTED.findall(cell)]
    counts = {name: names.count(name) for name in names}
    return " + ".join(f"{name} x{count}" if count > 1 else name for name, count in counts.items()) or cell.strip()
