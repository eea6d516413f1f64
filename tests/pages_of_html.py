"""HTML as a browser would read it: its elements, and the texts in them."""

from html.parser import HTMLParser


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]
