"""Configuration: the order of its layers, errors of bad values, and secrets that stay hidden."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import Field, SecretStr, ValidationError
from vr_kernel import Config, EnvAlias, Kernel, Section, VrError, load_config
from vr_kernel.config.config import shown
from vr_kernel.config.settings import KernelSettings, StoreSettings
from vr_kernel.config.sources import TRUST_FILE

SECRET = "s3cr3t-t0ken-value"


class TalkSettings(Section):
    """Settings of a plugin."""

    rounds: Annotated[int, EnvAlias("OLD_ROUNDS")] = Field(3, ge=1)
    token: Annotated[SecretStr | None, EnvAlias("TALK_API_KEY")] = None
    model: str = ""


class Machine:
    """A user's files and environment, one setting at a time."""

    def __init__(self, environ: dict[str, str], folder: Path) -> None:
        self.environ = dict(environ)
        self.folder = folder
        self.flags: dict[str, str] = {}
        self.seed_env = Path(environ["HOME"]) / ".config" / "video-research-mcp" / ".env"
        self.config_folder = Path(environ["VR_CONFIG_DIR"])
        self.user_env = self.config_folder / ".env"
        self.toml = self.config_folder / "config.toml"
        self.project = folder / "vr.toml"

    def write(self, path: Path, text: str | bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def trust(self, folder: Path) -> None:
        self.write(self.config_folder / TRUST_FILE, f"{folder.resolve()}\n")

    def load(self) -> Config:
        return load_config(self.environ, self.flags, self.folder)


@pytest.fixture
def machine(environ: dict[str, str], working_folder: Path) -> Machine:
    return Machine(environ, working_folder)


def _refused(machine: Machine) -> VrError:
    with pytest.raises(VrError) as caught:
        machine.load()
    error = caught.value
    assert (error.code, error.category) == ("INVALID_INPUT", "CONFIG_INVALID")
    assert error.hint
    assert "\n" not in error.message
    return error


# Layers, weakest first, each a way to set how many days a cached result is kept.
LAYERS: list[Callable[[Machine, int], None]] = [
    lambda m, days: m.write(m.seed_env, f"GEMINI_CACHE_TTL_DAYS={days}\n"),
    lambda m, days: m.write(m.user_env, f"VR_KERNEL__CACHE_TTL_DAYS='{days}'\n"),
    lambda m, days: m.write(m.toml, f"[kernel]\ncache_ttl_days = {days}\n"),
    lambda m, days: m.write(m.project, f"[kernel]\ncache_ttl_days = {days}\n"),
    lambda m, days: m.environ.update(GEMINI_CACHE_TTL_DAYS=str(days)),
    lambda m, days: m.flags.update({"kernel.cache_ttl_days": str(days)}),
]
SUBSETS = list(chain.from_iterable(combinations(range(6), size) for size in range(7)))


@pytest.mark.parametrize("present", SUBSETS, ids=str)
def test_the_highest_layer_wins(machine: Machine, present: tuple[int, ...]) -> None:
    machine.trust(machine.folder)
    for layer in present:
        LAYERS[layer](machine, 100 + layer)
    config = machine.load()
    expected = 100 + present[-1] if present else 30
    assert config.kernel.cache_ttl_days == expected
    names = [str(machine.seed_env), str(machine.user_env), str(machine.toml), str(machine.project)]
    names += ["variable GEMINI_CACHE_TTL_DAYS", "--set kernel.cache_ttl_days"]
    found = config.settings("kernel", KernelSettings)
    if present:
        assert found["cache_ttl_days"].origin.startswith(names[present[-1]])
    else:
        assert found == {}


def test_layers_merge_key_by_key(machine: Machine) -> None:
    machine.trust(machine.folder)
    machine.write(machine.user_env, "VR_LOG_LEVEL=debug\nVR_STORE__BACKEND=weaviate\n")
    machine.write(machine.toml, '[kernel]\nlog_level = "info"\n[store]\nworkspace = "team"\n')
    machine.write(machine.project, '[kernel]\ntext_recognizer = "rapidocr"\n')
    machine.environ["VR_STORE__EMBEDDER"] = "other"
    config = machine.load()
    assert (config.kernel.log_level, config.kernel.text_recognizer) == ("info", "rapidocr")
    assert config.store == StoreSettings(backend="weaviate", workspace="team", embedder="other")


@pytest.mark.parametrize(
    ("variable", "text", "setting", "value"),
    [
        ("VR_PLUGINS", "video, search", "plugins", ["video", "search"]),
        ("VR_PLUGINS", '["video", "search"]', "plugins", ["video", "search"]),
        ("VR_PLUGINS", "*", "plugins", ["*"]),
        ("VR_KERNEL__PLUGINS", "video", "plugins", ["video"]),
        ("VR_KERNEL__DISABLED", "video,search", "disabled", ["video", "search"]),
        ("VR_STRICT", "1", "strict", True),
        ("VR_STRICT", "false", "strict", False),
        ("VR_LOG_LEVEL", "DEBUG", "log_level", "debug"),
        ("VR_KERNEL__LOG_FORMAT", "json", "log_format", "json"),
        ("VR_KERNEL__IMPORT_DEADLINE_S", "0.5", "import_deadline_s", 0.5),
        ("VR_ALLOWED_ROOTS", f"/a{os.pathsep}/b c", "allowed_roots", [Path("/a"), Path("/b c")]),
        ("LOCAL_FILE_ACCESS_ROOT", "/media/videos", "allowed_roots", [Path("/media/videos")]),
        ("GEMINI_CACHE_TTL_DAYS", "7.5", "cache_ttl_days", 7.5),
    ],
)
def test_a_variable_sets_its_setting(
    machine: Machine, variable: str, text: str, setting: str, value: Any
) -> None:
    machine.environ[variable] = text
    assert getattr(machine.load().kernel, setting) == value


@pytest.mark.parametrize(
    "variable", ["VR_LOG_LEVEL", "VR_KERNEL__LOG_LEVEL", "VR_ALLOWED_ROOTS", "VR_STRICT"]
)
def test_an_empty_variable_is_not_set(machine: Machine, variable: str) -> None:
    before = machine.load().kernel
    machine.environ[variable] = ""
    assert machine.load().kernel == before


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_variables_the_settings_own_name_wins(machine: Machine, order: int) -> None:
    """Whatever the order in which a shell hands them over."""
    own = [
        ("VR_KERNEL__ALLOWED_ROOTS", "/own"),
        ("VR_ALLOWED_ROOTS", "/alias"),
        ("LOCAL_FILE_ACCESS_ROOT", "/seed"),
        ("VR_KERNEL__LOG_LEVEL", "error"),
        ("VR_LOG_LEVEL", "debug"),
    ]
    machine.environ.update(own[::order])
    kernel = machine.load().kernel
    assert (kernel.allowed_roots, kernel.log_level) == ([Path("/own")], "error")
    del machine.environ["VR_KERNEL__ALLOWED_ROOTS"]
    assert machine.load().kernel.allowed_roots == [Path("/alias")]


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("GEMINI_MODEL", "gemini-x", "gemini_model", "gemini-x"),
        ("GEMINI_FLASH_MODEL", "gemini-y", "gemini_flash_model", "gemini-y"),
        ("GEMINI_THINKING_LEVEL", "low", "thinking_level", "low"),
        ("GEMINI_TEMPERATURE", "0.2", "temperature", 0.2),
        ("GEMINI_RETRY_MAX_ATTEMPTS", "5", "attempts", 5),
        ("GEMINI_RETRY_BASE_DELAY", "0.5", "retry_base_delay_s", 0.5),
        ("GEMINI_RETRY_MAX_DELAY", "30", "retry_max_delay_s", 30.0),
        ("GOOGLE_GEMINI_BASE_URL", "http://localhost:1", "gemini_base_url", "http://localhost:1"),
        ("CLEAR_CACHE_ON_SHUTDOWN", "true", "clear_context_caches", True),
    ],
)
def test_variables_of_the_first_seed_set_the_models(
    variable: str, text: str, field: str, value: object, machine: Machine
) -> None:
    assert getattr(machine.load().models, field) != value
    machine.environ[variable] = text
    assert getattr(machine.load().models, field) == value


@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GEMINI_API_KEYS", "GOOGLE_API_KEY"])
def test_keys_are_secret_and_may_be_several(variable: str, machine: Machine) -> None:
    machine.environ[variable] = f"{SECRET}-1, {SECRET}-2"
    models = machine.load().models
    assert [key.get_secret_value() for key in models.gemini_api_keys] == [
        f"{SECRET}-1",
        f"{SECRET}-2",
    ]
    assert SECRET not in repr(models) + str(shown(models))


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("GEMINI_RETRY_MAX_ATTEMPTS", "0"),
        ("GEMINI_RETRY_MAX_ATTEMPTS", "1000"),
        ("GEMINI_RETRY_BASE_DELAY", "-1"),
        ("GEMINI_RETRY_MAX_DELAY", "1e9"),
        ("GEMINI_TEMPERATURE", "2.1"),
        ("GEMINI_THINKING_LEVEL", "hard"),
    ],
)
def test_settings_of_models_keep_within_bounds(variable: str, text: str, machine: Machine) -> None:
    machine.environ[variable] = text
    with pytest.raises(VrError, match=variable) as caught:
        machine.load()
    assert caught.value.category == "CONFIG_INVALID"


@pytest.mark.parametrize(
    ("role", "set_role", "chosen"),
    [
        ("vision", "vision", ["a/1", "b/2"]),
        ("vision", "default", ["a/1", "b/2"]),
        ("embedding", "default", []),
    ],
)
def test_a_role_without_models_takes_those_of_default(
    role: Any, set_role: str, chosen: list[str], machine: Machine
) -> None:
    machine.environ[f"VR_MODELS__{set_role.upper()}"] = "a/1, b/2"
    assert machine.load().models.models_of(role) == chosen


@pytest.mark.parametrize("variable", ["VR_CACHE_DIR", "GEMINI_CACHE_DIR"])
def test_the_cache_folder_is_where_a_variable_says(
    machine: Machine, tmp_path: Path, variable: str
) -> None:
    del machine.environ["VR_CACHE_DIR"]
    machine.environ[variable] = str(tmp_path / "elsewhere")
    assert machine.load().paths.cache == tmp_path / "elsewhere"


@pytest.mark.parametrize("variable", ["VR_CACHE_DIR", "GEMINI_CACHE_DIR"])
@pytest.mark.parametrize("file", ["user_env", "seed_env"])
def test_the_cache_folder_is_where_a_users_file_says(
    machine: Machine, tmp_path: Path, variable: str, file: str
) -> None:
    machine.write(getattr(machine, file), f"{variable}={tmp_path / 'elsewhere'}\n")
    assert machine.load().paths.cache == tmp_path / "cache"  # the environment is stronger
    del machine.environ["VR_CACHE_DIR"]
    assert machine.load().paths.cache == tmp_path / "elsewhere"


def test_our_cache_variable_wins_over_the_seeds(machine: Machine, tmp_path: Path) -> None:
    machine.environ["GEMINI_CACHE_DIR"] = str(tmp_path / "seed")
    assert machine.load().paths.cache == tmp_path / "cache"


def test_folders_lie_where_the_environment_says(machine: Machine, tmp_path: Path) -> None:
    paths = machine.load().paths
    assert (paths.state, paths.config) == (tmp_path / "state", tmp_path / "config")
    assert {paths.artifacts.parent, paths.models.parent, paths.journal.parent} == {paths.state}
    assert not paths.state.exists()


def test_the_home_folder_is_the_one_of_the_given_environment(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "real-home"
    machine.write(real / ".config" / "video-research-mcp" / ".env", "VR_LOG_LEVEL=debug\n")
    monkeypatch.setenv("HOME", str(real))
    assert machine.load().kernel.log_level == "warning"
    del machine.environ["HOME"]
    assert machine.load().kernel.log_level == "warning"
    machine.environ["HOME"] = str(real)
    assert machine.load().kernel.log_level == "debug"


def test_a_project_file_counts_only_where_it_is_trusted(machine: Machine, tmp_path: Path) -> None:
    machine.write(machine.project, '[kernel]\nallowed_roots = ["/"]\n')
    assert machine.load().kernel.allowed_roots == []
    for other in (machine.folder.parent, machine.folder / "inner", tmp_path / "workshop"):
        machine.trust(other)
        assert machine.load().kernel.allowed_roots == []
    machine.trust(machine.folder)
    assert machine.load().kernel.allowed_roots == [Path("/")]


def test_an_untrusted_project_file_is_not_even_parsed(machine: Machine) -> None:
    machine.write(machine.project, "this is [no TOML")
    machine.load()
    machine.trust(machine.folder)
    assert str(machine.project) in _refused(machine).message


@pytest.mark.parametrize("trusted", [False, True])
def test_a_variables_file_in_the_working_folder_is_not_read(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    for folder in (machine.folder, machine.folder.parent):
        machine.write(folder / ".env", "VR_LOG_LEVEL=debug\nVR_STORE__WORKSPACE=evil\n")
    if trusted:
        machine.trust(machine.folder)
    monkeypatch.chdir(machine.folder)
    config = machine.load()
    assert (config.kernel.log_level, config.store.workspace) == ("warning", "default")


def test_variables_in_a_file_are_not_expanded(machine: Machine) -> None:
    machine.environ["OTHER"] = "leaked"
    machine.write(machine.user_env, "VR_KERNEL__TEXT_RECOGNIZER=${OTHER}\nexport VR_STRICT=1\n")
    kernel = machine.load().kernel
    assert (kernel.text_recognizer, kernel.strict) == ("${OTHER}", True)


@pytest.mark.parametrize(
    ("text", "named", "hinted"),
    [
        ("[kernel", "not valid TOML", "Correct"),
        ("[kernel]\nlog_level = debug\n", "line 2", "Correct"),
        (b"[kernel]\nlog_level = '\xff'\n", "not valid TOML", "Correct"),
        ("[models]\n[models]\n", "twice", "both under one heading"),
        ("[kernle]\nlog_level = 'debug'\n", "[kernle]", "'kernel'"),
        ("log_level = 'debug'\n", "[log_level]", "[kernel]"),
        ("kernel = 3\n", "kernel is not a section", "[kernel]"),
        ("plugins = ['video']\n", "plugins is not a section", "[plugins]"),
        ("[plugins]\nvideo = 1\n", "plugins.video is not a section", "[plugins.video]"),
        ("[kernel]\nlog_levle = 'debug'\n", "'log_levle'", "'log_level'"),
        ("[store]\nworkspaces = 'x'\n", "'workspaces'", "'workspace'"),
        ("[kernel]\nxyzzy = 1\n", "'xyzzy'", "Settings: plugins,"),
        ("[kernel]\nlog_level = 'loud'\n", "log_level", "Correct"),
        ("[kernel]\nlog_level = 3\n", "log_level", "Correct"),
        ("[kernel]\nstrict = 'maybe'\n", "strict", "Correct"),
        ("[kernel]\nplugins = 3\n", "plugins", "Correct"),
        ("[kernel]\ncache_ttl_days = 0\n", "cache_ttl_days", "Correct"),
        ("[kernel]\ncache_ttl_days = 'soon'\n", "cache_ttl_days", "Correct"),
        ("[kernel]\nimport_deadline_s = -1\n", "import_deadline_s", "Correct"),
        ("[kernel]\nallowed_roots = [3]\n", "allowed_roots", "Correct"),
        ("[store]\nworkspace = 'a b'\n", "workspace", "Correct"),
        ("[store]\nworkspace = '../x'\n", "workspace", "Correct"),
        ("[store]\nbackend = {name = 'x'}\n", "backend", "Correct"),
    ],
)
def test_a_broken_file_names_the_place_and_the_remedy(
    machine: Machine, text: str | bytes, named: str, hinted: str
) -> None:
    machine.write(machine.toml, text)
    error = _refused(machine)
    assert named in error.message
    assert str(machine.toml) in error.message
    assert hinted in error.hint


def test_a_file_that_cannot_be_read_is_named(machine: Machine) -> None:
    machine.toml.mkdir(parents=True)
    assert str(machine.toml) in _refused(machine).message


def test_variables_that_are_no_text_are_named(machine: Machine) -> None:
    machine.write(machine.user_env, b"VR_LOG_LEVEL=\xff\xfe\n")
    assert str(machine.user_env) in _refused(machine).message


@pytest.mark.parametrize(
    ("variables", "flags", "named", "hinted"),
    [
        ({"VR_KERNEL__LOG_LEVLE": "debug"}, {}, "variable VR_KERNEL__LOG_LEVLE", "'log_level'"),
        ({"VR_LOG_LEVEL": "loud"}, {}, "variable VR_LOG_LEVEL", "Correct"),
        ({"GEMINI_CACHE_TTL_DAYS": "-1"}, {}, "variable GEMINI_CACHE_TTL_DAYS", "Correct"),
        ({"VR_ALLOWED_ROOTS": "~no-such-user-here/x"}, {}, "variable VR_ALLOWED_ROOTS", "Correct"),
        ({"VR_STORE__WORKSPACE": "a/b"}, {}, "variable VR_STORE__WORKSPACE", "Correct"),
        ({}, {"kernel.log_levle": "debug"}, "--set kernel.log_levle", "'log_level'"),
        ({}, {"kernel.log_level": "loud"}, "--set kernel.log_level", "Correct"),
        ({}, {"kernle.log_level": "debug"}, "--set kernle.log_level", "'kernel'"),
        ({}, {"plugin.video.x": "1"}, "--set plugin.video.x", "[plugins.NAME]"),
        ({}, {"log_level": "debug"}, "--set log_level", "--set kernel.log_level=debug"),
        ({}, {"": "debug"}, "--set", "--set kernel.log_level=debug"),
    ],
)
def test_a_broken_variable_or_flag_is_named(
    machine: Machine, variables: dict[str, str], flags: dict[str, str], named: str, hinted: str
) -> None:
    machine.environ |= variables
    machine.flags = flags
    error = _refused(machine)
    assert named in error.message
    assert hinted in error.hint


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    toml=st.binary(max_size=80) | st.text(alphabet="[]kernelplugs.=\n\"1{}' ", max_size=80),
    variables=st.binary(max_size=60),
    level=st.sampled_from(["debug", "INFO"]) | texts,
    names=texts,
)
def test_any_content_is_read_or_refused_with_a_typed_error(
    machine: Machine, toml: bytes | str, variables: bytes, level: str, names: str
) -> None:
    machine.write(machine.toml, toml)
    machine.write(machine.user_env, variables)
    machine.environ |= {"VR_LOG_LEVEL": level, "VR_PLUGINS": names, "VR_ALLOWED_ROOTS": names}
    try:
        kernel = machine.load().kernel
    except VrError as error:
        refused = error.category
    else:
        refused = ""
        assert kernel.log_level == (level.lower() or "warning")
    assert refused in {"", "CONFIG_INVALID"}


# Sections of plugins.


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("talk", "VR_TALK__ROUNDS"),
        ("ocr-rapid", "VR_OCR_RAPID__ROUNDS"),
        ("ocr-rapid", "VR_PLUGINS__OCR_RAPID__ROUNDS"),
        ("models", "VR_PLUGINS__MODELS__ROUNDS"),
        ("talk", "OLD_ROUNDS"),
    ],
)
async def test_a_plugin_gets_its_own_section(
    start: Any, make_plugin: Any, machine: Machine, name: str, variable: str
) -> None:
    machine.write(machine.toml, f"[plugins.{name}]\nrounds = 4\nmodel = 'best'\n")
    machine.environ[variable] = "5"
    plugins = {name: make_plugin(settings=TalkSettings), "other": make_plugin()}
    kernel = await start(plugins, config=machine.load())
    assert kernel.settings == {name: TalkSettings(rounds=5, model="best")}


@pytest.mark.parametrize(
    ("section", "named"),
    [
        ("rounds = 0", "rounds"),
        ("rounds = 'many'", "rounds"),
        ("ruonds = 3", "Did you mean 'rounds'?"),
        ("token = 3", "token"),
    ],
)
async def test_a_bad_section_takes_out_that_plugin_alone(
    start: Any, make_plugin: Any, machine: Machine, section: str, named: str
) -> None:
    machine.write(machine.toml, f"[plugins.talk]\n{section}\n[plugins.good]\nrounds = 9\n")
    plugins = {name: make_plugin(settings=TalkSettings) for name in ("talk", "good", "plain")}
    kernel: Kernel = await start(plugins, config=machine.load())
    states = {status.name: (status.state.value, status.reason) for status in kernel.plugins()}
    assert states["talk"][0] == "broken"
    assert named in states["talk"][1]
    assert str(machine.toml) in states["talk"][1]
    assert [states[name] for name in ("good", "plain", "infra")] == [("loaded", "")] * 3
    assert kernel.settings["good"] == TalkSettings(rounds=9)

    machine.environ["VR_STRICT"] = "1"
    with pytest.raises(VrError, match="talk"):
        await start(plugins, config=machine.load())


async def test_sections_of_plugins_that_are_not_installed_do_no_harm(
    start: Any, machine: Machine
) -> None:
    machine.write(machine.toml, "[plugins.absent]\nanything = 1\n")
    machine.environ["VR_ABSENT__ANYTHING"] = "2"
    assert (await start(config=machine.load())).settings == {}


def test_settings_cannot_be_changed_by_accident(machine: Machine) -> None:
    config = machine.load()
    with pytest.raises(ValidationError):
        config.kernel.strict = True  # type: ignore[misc]


# Secrets.


@pytest.mark.parametrize(
    "given_as",
    [
        lambda m: m.write(m.toml, f"[plugins.talk]\ntoken = '{SECRET}'\n"),
        lambda m: m.write(m.user_env, f"TALK_API_KEY={SECRET}\n"),
        lambda m: m.environ.update(VR_TALK__TOKEN=SECRET),
        lambda m: m.flags.update({"plugins.talk.token": SECRET}),
    ],
)
async def test_a_secret_reaches_its_plugin_and_is_never_shown(
    start: Any, make_plugin: Any, machine: Machine, given_as: Callable[[Machine], None]
) -> None:
    given_as(machine)
    machine.environ["VR_LOG_LEVEL"] = "debug"
    kernel: Kernel = await start(
        {"talk": make_plugin(settings=TalkSettings)}, config=machine.load()
    )
    settings = kernel.settings["talk"]
    assert isinstance(settings, TalkSettings)
    assert settings.token is not None
    assert settings.token.get_secret_value() == SECRET
    for text in (str(shown(settings)), repr(settings), str(kernel.plugins())):
        assert SECRET not in text
    assert shown(settings) == {"rounds": 3, "token": "set", "model": ""}


@pytest.mark.parametrize(
    "section",
    [
        f"token = '{SECRET}'\nrounds = '{SECRET}'",
        f"tokne = '{SECRET}'",
        f"token = ['{SECRET}']",
        f"token = {{value = '{SECRET}'}}",
        f"rounds = '{SECRET}'",
    ],
)
async def test_a_secret_in_a_broken_section_is_not_shown(
    start: Any,
    make_plugin: Any,
    machine: Machine,
    section: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    machine.write(machine.toml, f"[plugins.talk]\n{section}\n")
    machine.environ["VR_LOG_LEVEL"] = "debug"
    kernel: Kernel = await start(
        {"talk": make_plugin(settings=TalkSettings)}, config=machine.load()
    )
    assert "broken" in str(kernel.plugins())
    captured = capfd.readouterr()
    assert SECRET not in str(kernel.plugins()) + captured.out + captured.err


@pytest.mark.parametrize(
    "text",
    [f"[plugins.talk]\ntoken = {SECRET}\n", f"[plugins.talk]\ntoken = '{SECRET}\n", f"{SECRET}"],
)
def test_a_secret_in_a_file_that_is_no_toml_is_not_shown(machine: Machine, text: str) -> None:
    machine.write(machine.toml, text)
    error = _refused(machine)
    assert SECRET not in error.message + error.hint


@pytest.mark.parametrize(
    "value",
    [
        SecretStr(SECRET),
        [SecretStr(SECRET)],
        {"key": SecretStr(SECRET)},
        ({"key": [SecretStr(SECRET)]},),
        TalkSettings(token=SecretStr(SECRET)),
    ],
)
def test_a_secret_is_only_said_to_be_set(value: Any) -> None:
    assert SECRET not in str(shown(value))
    assert "set" in str(shown(value))


def _as_own(monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str]) -> None:
    monkeypatch.delenv("VR_STRICT", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)


class Shop(Section):
    """A plugin's section whose variable chooses the plugin's store, too."""

    url: Annotated[
        str, EnvAlias("SHOP_URL"), EnvAlias("SHOP_URL", means="shop", sets="store.backend")
    ] = ""


def test_a_variable_of_a_plugin_may_choose_its_store(tmp_path: Path) -> None:
    """An address chooses the store behind it; the setting's own variable wins, and a flag."""
    home = {"HOME": str(tmp_path), "SHOP_URL": "http://localhost:8080"}
    config = load_config(home, working_folder=tmp_path)
    assert config.store.backend == "embedded"
    assert config.section("plugins.shop", Shop).url == "http://localhost:8080"
    assert config.store.backend == "shop"
    assert config.settings("store", type(config.store))["backend"].origin == "variable SHOP_URL"
    over = config.with_flags({"store.backend": "embedded"})
    assert over.section("plugins.shop", Shop).url
    assert over.store.backend == "embedded"
    own = load_config({**home, "VR_STORE__BACKEND": "embedded"}, working_folder=tmp_path)
    assert own.section("plugins.shop", Shop).url
    assert own.store.backend == "embedded"
