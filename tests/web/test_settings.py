"""The settings: where each comes from, the sentence for one that cannot be used, and that each is told and used."""

import inspect
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path

import pytest

from benchmarks.imports import PACKAGES, ROOT
from model_zoo import Engine, machine
from model_zoo.engine_settings import EngineSettings, allowed
from model_zoo.errors import InvalidInput
from model_zoo.process_folder import ProcessFolder
from model_zoo.types import MB, megabytes
from web import settings as module
from web.monitoring import look
from web.settings import Settings, WrongSetting, main, page, settings, table
from web.uploads import pasted

Write = Callable[[str], None]


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No settings but a test's own, and none left behind."""
    for variable in list(os.environ):
        if variable.startswith(module.PREFIX):
            monkeypatch.delenv(variable)
    monkeypatch.setattr(module, "SECRETS", (tmp_path / "home.toml", tmp_path / "beside.toml"))
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture
def secrets(tmp_path: Path) -> Write:
    """Write the secrets that stand beside app.py."""

    def write(text: str) -> None:
        (tmp_path / "beside.toml").write_text(text, encoding="utf-8")

    return write


def row(name: str) -> tuple[str, ...]:
    (setting,) = [row for row in table() if row[0] == name]
    return setting


def test_the_environment_goes_before_the_secrets(monkeypatch: pytest.MonkeyPatch, secrets: Write) -> None:
    secrets("password = 'of something else'\n[inside_bert]\nruns = 3\nbatch = 5\nstatus_code = 1234\n")
    monkeypatch.setenv("INSIDE_BERT_RUNS", "7")
    assert (settings().runs, settings().batch, settings().status_code) == (7, 5, "1234")
    assert row("runs")[1:3] == ("7", "environment")
    assert row("batch")[1:3] == ("5", "secrets.toml")
    assert row("page_runs")[1:3] == ("2", "default")
    monkeypatch.setenv("INSIDE_BERT_DOWNLOAD_MB", "")  # nothing is written
    settings.cache_clear()
    assert settings().download_mb is None


def test_secrets_beside_the_app_go_before_those_at_home(tmp_path: Path, secrets: Write) -> None:
    (tmp_path / "home.toml").write_text("[inside_bert]\nruns = 3\nbatch = 3\n")
    secrets("[inside_bert]\nruns = 4\n")
    assert (settings().runs, settings().batch) == (4, 3)


def test_secrets_are_found_from_any_working_directory() -> None:
    before = Path(module.__file__).resolve().parents[1]
    script = "from web import settings; print(settings.SECRETS[-1])"
    process = subprocess.run(
        [sys.executable, "-c", script], cwd="/", env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=True,
    ).stdout  # fmt: skip
    assert Path(process.strip()) == before / ".streamlit/secrets.toml"
    assert (before / "app.py").exists()


def test_a_secret_is_not_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("INSIDE_BERT_STATUS_CODE", "open-sesame")
    main([])
    output = capsys.readouterr().out
    assert "open-sesame" not in output + repr(settings())
    assert "(hidden)" in output


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("RUNS", "-1", "“-1” in the environment (INSIDE_BERT_RUNS), and should be a whole number from 1 to 256."),
        ("HOSTED", "perhaps", "“perhaps”"),
        ("LOG_FORMAT", "xml", "should be text or json."),
        ("UPLOAD_MB", "51", "from 1 to 50."),
        ("THREADS", "9" * 20, "from 1 to 256"),
        ("PICKLES", "nonsense", "should be never, listed or any."),
        ("ENGINE", "grpc://a", "such as http://127.0.0.1:8000."),
        ("ROOMS_REDIS", "http://a", "such as redis://127.0.0.1:6379/0."),
        ("EMBEDDED_BY", "https://a.example; script-src *", "such as https://moodle.example.org"),
        ("RUN", "1", "Did you mean INSIDE_BERT_RUNS?"),
        ("ZZZZ", "1", "`python -m look_inside_bert.web.settings`"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(monkeypatch, name, value, message) -> None:
    monkeypatch.setenv(f"INSIDE_BERT_{name}", value)
    with pytest.raises(WrongSetting) as caught:
        settings()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


SECRET = "open-sesame"

HOSTILE: tuple[object, ...] = (
    "", " ", "\n", "x\ny", f"{SECRET}\r\nSet-Cookie: a", "\0", f"{SECRET}\0", "\ud800", "٣", "９", "\u202ex", "\x1b[2J",
    "9" * 20, "9" * 5_000, "x" * 100_000, "-1", "0", "0x10", "1e3", "2.5", "nan", "inf", "-inf", "None", "null", "[]",
    "https://a.example; script-src *", "https://a.example, *", "*", "'none'", "data:", "https://a.example/path",
    "https://a.example:99999", "https://a.example:x", "http://[::1", "http://", "https://*.*", "//a", "../x",
    f"redis://:{SECRET}@127.0.0.1:notaport", f"redis://:{SECRET}@..:1", f"redis://:{SECRET}@127.0.0.1/abc",
    f"redis://:{SECRET}@127.0.0.1/-1", "unix://", f"redis://:{SECRET}@127.0.0.1/0?nothing=1", f"redis://:{SECRET}#x@a:1",
    "redis://h:99999", "unix://", f"http://ada:{SECRET}@127.0.0.1:x", "~nobody-of-this-name/rooms.json", "/dev/null/x",
    -1, 0, 10**30, 16**6_000, 2.5, float("nan"), float("inf"), True, [], ["x", [1]], [16**6_000], {}, {"x": 1},
    date(2026, 1, 1), datetime(2026, 1, 1, 12), "INSIDE_BERT_RUNS",
)  # fmt: skip


@pytest.mark.parametrize("name", Settings.model_fields)
def test_whatever_it_is_it_works_or_is_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    field, accepted = Settings.model_fields[name], []
    for value in HOSTILE:
        for source in ("environment", "secrets"):
            with monkeypatch.context() as patch:
                if source == "secrets":
                    patch.setattr(module, "_secrets", lambda value=value: {name: value})
                elif isinstance(value, str) and "\0" not in value and value != "\ud800":
                    patch.setenv(f"INSIDE_BERT_{name.upper()}", value)
                settings.cache_clear()
                try:
                    accepted.append(getattr(settings(), name))
                except WrongSetting as wrong:
                    message = str(wrong)
                    assert message.startswith(f"The setting {name} is ")
                    assert message.endswith(". Change it, or leave it out.")
                    assert message.isprintable()
                    assert len(message) < 300
                    assert f":{SECRET}" not in message  # a password in an address
                    assert field.repr or ("“" not in message and SECRET not in message)
    assert accepted
    for value in accepted:
        if isinstance(value, str):
            assert value.isprintable()
            assert len(value) <= 2_000
        elif type(value) is int:
            least, most = (int(number) for number in re.findall(r"[\d_]+", allowed(field)))
            assert least <= value <= most


def test_an_address_that_can_be_used_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("embedded_by", "https://a.example http://*.b.example:8080"),
        ("embedded_by", "http://localhost:3000"),
        ("engine", "http://127.0.0.1:8000"),
        ("engine", "https://[::1]:8000/models"),
        ("rooms_redis", "rediss://:a%2Fb@redis.example:6379/1"),
        ("rooms_redis", "unix:///run/redis.sock"),
    ):
        monkeypatch.setenv(f"INSIDE_BERT_{name.upper()}", f" {value}\n")
        settings.cache_clear()
        assert getattr(settings(), name) == value


def test_every_number_has_bounds_which_are_said() -> None:
    for name, field in Settings.model_fields.items():
        if field.annotation in (int, float, int | None):
            assert re.fullmatch(r"a (whole )?number from [\d_.]+ to [\d_.]+", allowed(field)), name


def test_names_and_files_that_are_no_settings_are_one_sentence_too(monkeypatch, secrets, tmp_path) -> None:
    for text in ('[inside_bert]\n"a\\nb" = 1\n', f"x = {'[' * 5_000}", "x = 0x", '"INSIDE_BERT_A\\u2028B" = 1', "\0"):
        secrets(text)
        with pytest.raises(WrongSetting) as caught:
            settings()
        assert str(caught.value).isprintable()
    (tmp_path / "beside.toml").unlink()
    (tmp_path / "beside.toml").mkdir()
    with pytest.raises(WrongSetting, match="cannot be read"):
        settings()
    (tmp_path / "beside.toml").rmdir()
    monkeypatch.setenv("INSIDE_BERT_A\nB" + "x" * 100, "1")
    with pytest.raises(WrongSetting) as caught:
        settings()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_without_a_place_for_temporary_files_the_start_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    with pytest.raises(WrongSetting, match="TMPDIR"):
        settings()
    ProcessFolder("nowhere-").close()  # as at the end of the process


def test_a_start_with_a_wrong_setting_ends_in_its_sentence_alone() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "from web.settings import settings; settings()"],
        cwd=ROOT, env=os.environ | {"INSIDE_BERT_RUNS": "-1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr.startswith("The setting runs is “-1”")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[inside_bert]\nruns = 0\n", "“0” in secrets.toml"),
        ("[inside_bert]\nrun = 1\n", "Did you mean runs?"),
        ("INSIDE_BERT_RUNS = 2\n", "Write runs under [inside_bert]."),
        ("inside_bert = 2\n", "inside_bert is not a table"),
        ("[INSIDE_BERT]\nruns = 2\n", "Write [inside_bert]."),
        ("runs =", "cannot be read"),
    ],
)
def test_secrets_that_cannot_be_used_are_one_sentence(secrets: Write, text: str, message: str) -> None:
    secrets(text)
    with pytest.raises(WrongSetting) as caught:
        settings()
    assert message in str(caught.value)


@pytest.mark.parametrize("how", ["variable", "Community Cloud"])
def test_the_profile_for_strangers(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = settings()
    settings.cache_clear()
    if how == "variable":
        monkeypatch.setenv("INSIDE_BERT_HOSTED", "1")
    else:
        monkeypatch.setattr(module, "_COMMUNITY_CLOUD", ROOT.parent)
    monkeypatch.setenv("INSIDE_BERT_UPLOAD_MB", "7")
    hosted = settings()
    assert (hosted.hosted, hosted.any_model, hosted.error_details) == (True, False, False)
    assert hosted.longest_text < plain.longest_text
    assert hosted.download_mb is not None
    assert hosted.upload_mb == 7  # what is set by hand stays
    assert row("any_model")[1:3] == ("off", "profile hosted")
    assert row("upload_mb")[2] == "environment"
    settings.cache_clear()
    monkeypatch.setenv("INSIDE_BERT_HOSTED", "0")
    assert settings().any_model


def test_a_container_has_less_memory_than_its_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The cgroup's file says so; without a limit it says "max"."""
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(machine, "CGROUPS", (limit,))
    limit.write_text("max\n")
    machine_limit = machine.memory_limit()
    limit.write_text(f"{700 * MB}\n")
    assert machine.memory_limit() == 700 * MB < machine_limit
    assert (settings().process_memory_mb, settings().result_memory_mb) == (595, 35)


def read_in(source: str) -> set[str]:
    """The settings that a file reads: ``settings().name``, or of a name that ``settings()`` was given."""
    variables = re.findall(r"\b(\w+) = (?:\w+\.)?settings\(\)$", source, re.MULTILINE)
    read_of = "|".join([r"\bsettings\(\)", *(rf"\b{name}" for name in variables)])
    return set(re.findall(rf"(?:{read_of})\.(\w+)", source))


def test_each_is_told_and_used() -> None:
    packages = [ROOT / package for package in PACKAGES if package != "benchmarks"]
    files = [*ROOT.glob("*.py"), *(path for package in packages for path in package.rglob("*.py"))]
    sources = [path.read_text(encoding="utf-8") for path in files if path != ROOT / "web/settings.py"]
    importing = r"^\s*from web(\.settings)? import .*settings"
    read = set().union(*(read_in(source) for source in sources if re.search(importing, source, re.MULTILINE)))
    for name, field in Settings.model_fields.items():
        assert str(field.description).endswith("."), name
        # "hosted" decides the defaults of the others, and no more; those of the engine are given to it all together.
        assert name in read | {"hosted"} | EngineSettings.model_fields.keys()


def test_the_device_and_the_number_format_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (Settings().arguments()["device"], Settings().arguments()["dtype"]) == (None, None)
    monkeypatch.setenv("INSIDE_BERT_DEVICE", "cpu")
    monkeypatch.setenv("INSIDE_BERT_DTYPE", "bfloat16")
    info = Engine(**settings().arguments()).info("embedded/tinybert")
    assert (info.device, info.dtype) == ("cpu", "bfloat16")
    settings.cache_clear()
    monkeypatch.setenv("INSIDE_BERT_DEVICE", "tpu")
    monkeypatch.setenv("INSIDE_BERT_DTYPE", "float64")
    with pytest.raises(WrongSetting) as caught:
        settings()
    assert "“tpu” in the environment (INSIDE_BERT_DEVICE), and should be cuda, mps or cpu." in str(caught.value)
    assert "should be float32, bfloat16 or float16." in str(caught.value)


def test_the_engine_takes_all_that_is_its_own() -> None:
    chosen = Settings(model_memory_mb=3, result_memory_mb=2, download_mb=None, any_model=False, pickles="never")
    arguments = chosen.arguments()
    assert len(arguments) == len(EngineSettings.model_fields)
    assert set(arguments) < set(inspect.signature(Engine).parameters)
    assert (arguments["model_bytes"], arguments["result_bytes"]) == (3 * MB, 2 * MB)
    assert arguments["download_bytes"] is None
    assert (arguments["any_model"], arguments["pickles"]) == (False, "never")


def test_the_page_of_settings_is_up_to_date() -> None:
    """python -m web.settings --markdown > docs/settings.md"""
    assert (ROOT / "docs/settings.md").read_text(encoding="utf-8") == page()
    assert "Pydantic" not in page()  # every default is said in words
    for name, value in module._HOSTED.items():
        assert Settings.model_fields[name].default != value


def test_a_megabyte_of_the_settings_is_one_on_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSIDE_BERT_PROCESS_MEMORY_MB", "1000")
    monkeypatch.setenv("INSIDE_BERT_UPLOAD_MB", "1")
    assert megabytes(look().memory_limit) == "1,000 MB"
    assert len(pasted("x" * 10**6).data) == 10**6
    with pytest.raises(InvalidInput, match=r"is 1\.1 MB; files may be up to 1 MB"):
        pasted("x" * 1_100_000)
