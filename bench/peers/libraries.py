"""The libraries, their versions, and how each is installed into an environment of its own."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADAPTERS = Path(__file__).parent / "adapters"

INSTALLED = """\
import importlib.metadata, json
found = {}
for dist in importlib.metadata.distributions():
    files = [file for file in dist.files or () if "__pycache__" not in file.parts]
    sizes = [path.stat().st_size for path in map(dist.locate_file, files) if path.is_file()]
    if dist.metadata["Name"] not in ("pip", "setuptools"):
        found[dist.metadata["Name"]] = [dist.version, sum(sizes)]
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Library:
    """One library.

    Attributes:
        distribution: Its name in the package index.
        version: The version that is asked; empty for svir, which is built from the tree.
        build: What imports it and builds a client, as its documents do.
        extra: The extra that Chat Completions need.
    """

    distribution: str
    version: str
    build: str
    extra: str = ""

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        if self.version:
            return f"{self.distribution}{self.extra}=={self.version}"
        return f"{ROOT}{self.extra}"


_OPENAI = "from openai import OpenAI; OpenAI(base_url='http://127.0.0.1:1/v1', api_key='k')"

LIBRARIES = {
    "svir": Library(
        "svir", "", "import svir; svir.Client.openai('http://127.0.0.1:1', model='m', api_key='k')"
    ),
    "openai": Library("openai", "3.57.0", _OPENAI),
    "httpx2": Library("httpx2", "2.16.2", "import httpx2; httpx2.Client(base_url='http://127.0.0.1:1')"),
    "lm15": Library(
        "lm15",
        "1.5.0",
        "from lm15 import OpenAIChatLM; OpenAIChatLM(api_key='k', base_url='http://127.0.0.1:1/v1')",
    ),
    "mistralai": Library(
        "mistralai",
        "3.7.0",
        "from mistralai.client import Mistral; Mistral(api_key='k', server_url='http://127.0.0.1:1')",
    ),
    "pydantic-ai": Library(
        "pydantic-ai-slim",
        "2.68.0",
        "from pydantic_ai import Agent\n"
        "from pydantic_ai.models.openai import OpenAIChatModel\n"
        "from pydantic_ai.providers.openai import OpenAIProvider\n"
        "provider = OpenAIProvider(base_url='http://127.0.0.1:1/v1', api_key='k')\n"
        "Agent(OpenAIChatModel('m', provider=provider))",
        "[openai]",
    ),
    "litellm": Library("litellm", "1.110.2", "import litellm"),
    "langchain-openai": Library(
        "langchain-openai",
        "1.7.4",
        "from langchain_openai import ChatOpenAI\n"
        "ChatOpenAI(model='m', base_url='http://127.0.0.1:1/v1', api_key='k')",
    ),
    "any-llm": Library("any-llm-sdk", "1.40.2", "from any_llm import completion", "[openai]"),
}


@dataclass(frozen=True)
class Subject:
    """A library used in one way: a row of the tables.

    Attributes:
        library: Its name in ``LIBRARIES``.
        adapter: The file in ``adapters/``, without its ending.
        tables: The only tables it is in; empty: all of them.
    """

    library: str
    adapter: str
    tables: tuple[str, ...] = ()


SUBJECTS = {
    "svir": Subject("svir", "with_svir"),
    "openai": Subject("openai", "with_openai"),
    "openai `.stream()`": Subject(
        "openai", "with_openai_stream", ("broken", "calls", "length", "within", "reasoning")
    ),
    "openai with options": Subject("openai", "with_openai_careful", ("where", "retries")),
    "httpx2": Subject("httpx2", "with_httpx2"),
    "lm15": Subject("lm15", "with_lm15"),
    "mistralai": Subject("mistralai", "with_mistralai"),
    "pydantic-ai": Subject("pydantic-ai", "with_pydantic_ai"),
    "litellm": Subject("litellm", "with_litellm"),
    "langchain-openai": Subject("langchain-openai", "with_langchain"),
    "any-llm": Subject("any-llm", "with_any_llm"),
}


@dataclass(frozen=True)
class Environment:
    """An installed library."""

    python: Path
    version: str
    packages: dict[str, tuple[str, int]]
    """Each package's version and the bytes of its files, compiled ones left out."""


def install(name: str, cache: Path, *, again: bool, library: Library | None = None) -> Environment:
    """Installs a library, unless the same was installed before; svir also when it is to be asked again.

    Args:
        name: Its name in ``LIBRARIES``, and of its environment.
        cache: Where environments are.
        again: Whether it is to be asked again.
        library: One that is not in ``LIBRARIES``.

    Raises:
        subprocess.CalledProcessError: It cannot be installed.
    """
    library = library or LIBRARIES[name]
    folder = cache / name
    python = folder / "bin" / "python"
    stamp = folder / ".installed"
    wanted = hashlib.sha256(f"{sys.version} {library.requirement}".encode()).hexdigest()
    if (again and not library.version) or not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {name} {library.version}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        _quiet(sys.executable, "-m", "venv", folder)
        _quiet(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", library.requirement)
        stamp.write_text(wanted)
    told = subprocess.run([python, "-c", INSTALLED], capture_output=True, check=True)
    packages = {name: (version, size) for name, (version, size) in json.loads(told.stdout).items()}
    return Environment(python, packages[library.distribution][0], packages)


def _quiet(*command: object) -> None:
    subprocess.run(list(map(str, command)), check=True, timeout=1200, stdout=subprocess.DEVNULL)
