"""A saved picture of the lines, as its tests read it."""

import re
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


class Drawing:
    """A saved SVG, read by an XML parser: its texts, and what is drawn between the two columns."""

    def __init__(self, content: bytes) -> None:
        self.root = ElementTree.fromstring(content)
        assert {element.tag for element in self.root.iter()} <= {
            f"{SVG}{tag}" for tag in ("svg", "g", "rect", "path", "circle", "text", "title", "desc", "metadata")
        }
        self.texts = [element.text for element in self.root.iter(f"{SVG}text")]
        self.legend = [element.attrib["fill"] for element in self.root.iter(f"{SVG}circle")]
        self.background = next(self.root.iter(f"{SVG}rect")).attrib["fill"]

    def lines(self) -> list[tuple[str, float, list[float]]]:
        """Colour, opacity and (x1, y1, x2, y2) of each line in a head's colour."""
        return [
            (path.attrib["stroke"], float(path.attrib["stroke-opacity"]), [float(number) for number in line])
            for path in self.root.iter(f"{SVG}path")
            if path.attrib["stroke"].startswith("#")
            for line in re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", path.attrib["d"])
        ]
