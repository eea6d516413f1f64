"""The files of all components: whole, linked without sharing names, coloured by the theme alone, and such that tokens
stay text and nothing is asked from the network.
"""

import re
from dataclasses import fields
from pathlib import Path

from in_deno import deno

from viz import anatomy, cells, component, example_sentences, grid, heatmap, lines, lit_words, sketch, token_line
from viz.palette import DARK, LIGHT, Theme

FOLDERS = (component.FILES, Path(component.__file__).parents[1] / "ui" / "browser")
SCRIPTS = sorted(script for folder in FOLDERS for script in folder.rglob("*.js"))
STYLES = sorted(style for folder in FOLDERS for style in folder.rglob("*.css"))


REPORTS = {
    anatomy: ", setTriggerValue", cells: ", setTriggerValue", example_sentences: ", setTriggerValue",
    grid: ", setTriggerValue", heatmap: "", lines: ", setStateValue", lit_words: ", setTriggerValue",
    sketch: ", setTriggerValue", token_line: "",
}  # fmt: skip


def test_a_component_is_whole(tmp_path: Path) -> None:
    for module, reports in REPORTS.items():
        source = module.SOURCE
        assert set(source) == {"html", "css", "js"}
        assert all(source.values())
        exports = re.findall(r"^(?:export|import)\b.*\b", source["js"], re.MULTILINE)
        assert exports == [f"export default function render({{ data, parentElement{reports}"], module
        (tmp_path / f"{module.__name__}.js").write_text(source["js"], encoding="utf-8")
        used = set(re.findall(r"var\((--[\w-]+)", source["css"]))
        made = set(re.findall(r"(--[\w-]+):", source["css"]))
        by_scripts = set(re.findall(r"\"(--[\w-]+)\"", source["js"]))
        assert not {name for name in used - made - by_scripts if not name.startswith("--st-")}, module
    # No name is missing or declared twice, and nothing is done before `render`.
    script = tmp_path / "all.js"
    script.write_text("".join(f'import "./{module.__name__}.js";\n' for module in REPORTS), encoding="utf-8")
    deno("run", "--no-config", script)


def test_linked_modules_keep_their_names_to_themselves_and_run_once(tmp_path: Path) -> None:
    files = {
        "entry.js": """import { a } from "./a.js";
import {
  b,
  Count,
} from "./deeper/b.js";
const own = "entry";
console.log(own, a(), b, new Count().n, typeof secret);
export default function render() {}
""",
        "a.js": """// A comment.
import { b } from "./deeper/b.js";
const own = "a";
export const a = () => own + b;
""",
        "deeper/b.js": """const own = "b";
const secret = 1; // "not seen"
console.log("once");
export const b = own;
export class Count {
  n = secret;
}
export async function unused() {}
""",
    }
    (tmp_path / "deeper").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    script = tmp_path / "linked.js"
    script.write_text(component.linked(tmp_path / "entry.js"), encoding="utf-8")
    assert "A comment" not in script.read_text(encoding="utf-8")
    assert deno("run", "--no-config", script) == "once\nentry ab b 1 undefined\n"
    script.write_text(f"console.log({component.enclosed(tmp_path / 'a.js')}.a())", encoding="utf-8")
    assert deno("run", "--no-config", script) == "once\nab\n"


def test_scripts_never_write_markup_and_never_call_out() -> None:
    risky = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|fetch\(|https?:|import\("
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")  # a name, not an address
        assert re.findall(risky, text) == [], script
    assert {"pens.js", "heatmap.js", "mount.js", "browser.js"} <= {script.name for script in SCRIPTS}


# Of BertViz: the ten colours that d3 has under this name, and attributes that its scripts write.
FOREIGN_COLOURS = r'CATEGORY_10 = \[[^\]]*\]|\[fill="\w+"\]|"fill": "black"'  # the last is what SVG begins with
NAMED = "black|silver|gr[ae]y|white|maroon|red|purple|fuchsia|green|lime|olive|yellow|navy|blue|teal|aqua|orange|pink"


def test_no_colour_stands_beside_the_palette() -> None:
    named = rf"(?<![-\w])(?:{NAMED})(?![-\w])"  # in scripts the parts of a colour have such names, too
    for file in (*STYLES, *SCRIPTS):
        text = re.sub(FOREIGN_COLOURS, "", file.read_text(encoding="utf-8"))
        text = re.sub(r"/\*.*?\*/|(?m:^ *//[^\n]*$)|// [^\n]*", "", text, flags=re.DOTALL)
        assert text.strip(), file
        assert not re.findall(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b", text, re.IGNORECASE), file
        assert not re.findall(r"(?:rgba?|hsla?|okl\w+|color-mix)\(\s*[\d.]", text), file
        assert not re.findall(named if file.suffix == ".css" else rf'"{named}"', text), file


def test_the_stylesheet_of_the_theme_names_every_role_of_the_palette() -> None:
    fallbacks = re.findall(
        r"^  --(\w+): var\(--st-[\w-]+, var\(--own-(\w+)\)\);", component.text("shared/theme.css"), re.M
    )
    assert fallbacks == [(role.name, role.name) for role in fields(Theme)]
    css = component.theme_css()
    light, dark = css.split("@media (prefers-color-scheme: dark)")
    for role in fields(Theme):
        assert f"--own-{role.name}: {getattr(LIGHT, role.name)};" in light
        assert f"--own-{role.name}: {getattr(DARK, role.name)};" in dark
    assert component.colours_css(DARK) == component.colours_css(DARK, "--own-").replace("--own-", "--")
