"""Endpoints and roles as data: files, settings, and what is wrong with them told with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from forge.llm import ROLES, Client, Directory, Endpoint, MemoryLedger, Prices
from forge.llm.directory import SERVERS
from forge.records import InputError, Settings, Usage

from .conftest import completion

FILE = """\
endpoints:
  local: {like: vllm, model: qwen, max_concurrency: 12}
  big:
    like: openai
    model: gpt-5
    dialect: responses
roles:
  author: big
"""


@pytest.fixture
def write(tmp_path: Path):
    def make(text: str) -> Path:
        path = tmp_path / "endpoints.yaml"
        path.write_text(text)
        return path

    return make


def test_a_file_names_endpoints_and_roles_and_takes_the_rest_from_the_server(write):
    found = Directory.load(write(FILE))
    assert found.roles == {"author": "big", "teacher": "local", "judge": "local", "writer": "local"}
    local, big = found.require("teacher"), found.require("author")
    assert (local.server, local.base_url, local.max_concurrency) == ("vllm", "http://127.0.0.1:8000/v1", 12)
    assert (big.dialect, big.api_key_env, big.price.completion) == ("responses", "OPENAI_API_KEY", 10)
    assert local.price == Prices()


def test_every_server_makes_an_endpoint():
    servers = yaml.safe_load(SERVERS.read_text())["servers"]
    assert set(servers) == {"openai", "azure", "vllm", "sglang", "llama.cpp"}
    for name, fields in servers.items():
        assert Endpoint(**{"base_url": "https://x/v1", **fields}, model="m").server == name


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("model: gpt-5", "model: [1]", 5, "endpoint big: model"),
        ("like: openai", "like: opnai", 4, "there is no server 'opnai'"),
        ("dialect: responses", "dialekt: responses", 6, "Extra inputs"),
        ("author: big", "author: bigger", 8, "there is no endpoint 'bigger'"),
        ("author: big", "auther: big", 8, "there is no role 'auther'"),
        ("roles:", "rolls:", 7, "unknown key 'rolls'"),
    ],
)
def test_faults_are_told_with_file_and_line(write, old, new, line, words):
    path = write(FILE.replace(old, new))
    with pytest.raises(InputError, match=words) as caught:
        Directory.load(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_settings_name_one_endpoint_a_file_and_who_answers(write, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert not Directory.from_settings(Settings())
    with pytest.raises(InputError, match="role judge"):
        Directory.from_settings(Settings()).require("judge")
    one = Directory.from_settings(Settings(llm_base_url="http://x/v1", llm_model="m"))
    assert {one.require(role).name for role in ROLES} == {"default"}
    path = write(FILE)
    assert Directory.from_settings(Settings()).require("author").name == "big"  # the usual file, where it is
    both = Settings(
        llm_base_url="http://x/v1", llm_model="m", llm_endpoints=str(path), llm_roles="judge=default,writer=big"
    )
    found = Directory.from_settings(both)
    assert found.roles == {"author": "big", "teacher": "local", "judge": "default", "writer": "big"}
    assert set(found.choosing("default").roles.values()) == {"default"}
    with pytest.raises(InputError, match="no endpoint 'nobody'"):
        found.choosing("nobody")


@pytest.mark.parametrize(
    ("model", "price"),
    [("gpt-5-mini-2025-08-07", 2), ("gpt-5", 10), ("openai/gpt-4.1", 8), ("gpt-5-2025-08-07", 10), ("qwen", None)],
)
def test_prices_are_found_by_the_longest_name(model, price):
    found = Endpoint(base_url="https://x/v1", model=model).known_prices
    assert (found and found.completion) == price


def test_a_price_of_its_own_wins_and_cached_tokens_are_cheaper():
    endpoint = Endpoint(base_url="https://x/v1", model="gpt-5", prices=Prices(prompt=4, completion=8, cached=1))
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=500_000, cached_tokens=250_000)
    assert endpoint.price.cost(usage) == pytest.approx(0.75 * 4 + 0.25 * 1 + 0.5 * 8)


async def test_azure_gets_its_key_header_its_query_and_its_filter_is_a_refusal(server, monkeypatch):
    filtered = {"error": {"message": "The prompt was filtered", "code": "content_filter"}}
    server.script = [completion(), (400, filtered, {})]
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sesame")
    servers = yaml.safe_load(SERVERS.read_text())["servers"]
    endpoint = Endpoint(**servers["azure"], base_url=server.url, model="deployment", query={"api-version": "preview"})
    client = Client(endpoint, MemoryLedger())
    await client.chat([{"role": "user", "content": "Hi."}])
    assert server.headers[0]["api-key"] == "sesame"
    assert server.paths[0].endswith("/chat/completions?api-version=preview")
    reply = await client.chat([{"role": "user", "content": "Hm."}])
    assert (reply.finish, reply.text) == ("refusal", "The prompt was filtered")


async def test_an_older_server_is_told_the_limit_by_its_old_name(server):
    server.script = [completion()]
    endpoint = Endpoint(
        base_url=server.url, model="m", limit_name="max_tokens", parameters={"max_completion_tokens": 9}
    )
    await Client(endpoint, MemoryLedger()).chat([{"role": "user", "content": "Hi."}])
    assert server.requests[0]["max_tokens"] == 9
    assert "max_completion_tokens" not in server.requests[0]
