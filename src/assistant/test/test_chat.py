# SPDX-License-Identifier: Apache-2.0
"""Questions to a language model behind HTTP, and to a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chat_server import chat_server, completion

from behavior_assistant.chat import Answer, Chat, model_of
from behavior_assistant.endpoint import MOST_ANSWERED, MOST_ASKED, Endpoint
from behavior_assistant.errors import (
    LanguageModelError,
    NotConfiguredError,
    RefusedError,
    UnreachableError,
    UnusableAnswerError,
)
from behavior_assistant.messages import Message
from behavior_assistant.script import Script
from behavior_assistant.settings import Settings, settings_from


class Count(Answer):
    blocks: int


HOW_MANY = [Message("system", "Be brief."), Message("user", "How many blocks?")]


def ask(settings, **options):
    return Chat(Endpoint(settings), **options).ask(HOW_MANY, Count)[0]


@pytest.mark.slow
def test_an_answer_comes_over_http_with_the_schema_and_the_key():
    with chat_server(lambda _: completion({"blocks": 4})) as server:
        assert ask(Settings(url=server.url, name="small", key="s3cret")).blocks == 4
    (request,) = server.requests
    assert request["model"] == "small"
    assert request["response_format"]["json_schema"]["schema"]["required"] == ["blocks"]
    assert [each["role"] for each in request["messages"]] == ["system", "user"]
    assert "How many blocks?" in request["messages"][1]["content"]
    assert server.headers[0]["Authorization"] == "Bearer s3cret"


@pytest.mark.slow
def test_what_is_wrong_with_an_answer_is_explained_once():
    replies = iter([completion({"blocks": "many"}), completion('```json\n{"blocks": 2}\n```')])
    with chat_server(lambda _: next(replies)) as server:
        assert ask(Settings(url=server.url)).blocks == 2
    explained = server.requests[1]["messages"][-1]["content"]
    assert "blocks: Input should be a valid integer" in explained
    assert "How many blocks?" in explained


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", ["four", '{"blocks": 1, "more": 2}', "{}", "[]", '{"blocks": 1']
)
def test_a_second_answer_without_the_form_is_an_error(content):
    with (
        chat_server(lambda _: completion(content)) as server,
        pytest.raises(UnusableAnswerError, match="cannot be used"),
    ):
        ask(Settings(url=server.url))
    assert len(server.requests) == 2


def test_a_check_of_the_asker_counts_like_the_form():
    script = Script([("blocks", [{"blocks": 7}, {"blocks": 3}])])
    few = Chat(script).ask(HOW_MANY, Count, lambda count: "too many" if count.blocks > 5 else "")
    assert few[0].blocks == 3
    assert [each.role for each in few[1]] == ["system", "user", "assistant", "user", "assistant"]
    assert few[1][3].content.startswith("too many")


@pytest.mark.slow
def test_a_server_that_knows_no_schema_is_asked_without():
    def reply(request):
        return (400, b"what?") if "response_format" in request else completion({"blocks": 1})

    with chat_server(reply) as server:
        endpoint = Endpoint(Settings(url=server.url))
        for _ in range(2):
            assert Chat(endpoint).ask(HOW_MANY, Count)[0].blocks == 1
    assert ["response_format" in each for each in server.requests] == [True, False, False]


def test_a_key_is_in_no_message():
    with chat_server(lambda _: (401, b"wrong key s3cret")) as server:
        settings = Settings(url=server.url, key="s3cret")
        with pytest.raises(RefusedError, match=r"HTTP 401: wrong key \(key\)"):
            ask(settings)
    assert "s3cret" not in repr(settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body", [b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}']
)
def test_a_response_that_is_none_is_an_error(body):
    with chat_server(lambda _: (200, body)) as server, pytest.raises(UnusableAnswerError):
        ask(Settings(url=server.url))


@pytest.mark.slow
def test_sizes_are_limited_both_ways():
    with chat_server(lambda _: (200, b" " * (MOST_ANSWERED + 1))) as server:
        with pytest.raises(RefusedError, match="larger than"):
            ask(Settings(url=server.url))
        with pytest.raises(RefusedError, match="show the model less"):
            Endpoint(Settings(url=server.url)).complete([Message("user", "x" * MOST_ASKED)], {}, 9)
    assert len(server.requests) == 1


@pytest.mark.slow
def test_an_endpoint_that_hangs_is_given_up():
    with (
        chat_server(lambda _: (server.released.wait(60), completion({}))[1]) as server,
        pytest.raises(UnreachableError, match="not answered in time"),
    ):
        ask(Settings(url=server.url, timeout=0.2))


def test_an_endpoint_that_is_not_there_is_named():
    with chat_server(lambda _: completion({})) as server:
        pass
    with pytest.raises(UnreachableError, match="cannot be reached"):
        ask(Settings(url=server.url))


def test_nobody_is_asked_unless_configured(tmp_path):
    assert not settings_from({}).configured
    with pytest.raises(NotConfiguredError, match="BEHAVIOR_LANGUAGE_MODEL_URL"):
        model_of(settings_from({}))
    key = tmp_path / "key"
    key.write_text("abc\n")
    found = settings_from(
        {
            "BEHAVIOR_LANGUAGE_MODEL_URL": "http://localhost:1/v1",
            "BEHAVIOR_LANGUAGE_MODEL_KEY_FILE": str(key),
        }
    )
    assert isinstance(model_of(found), Endpoint)
    assert found.key == "abc"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"url": "localhost:8000"}, "must look like"),
        ({"url": "ftp://x/v1"}, "must look like"),
        ({"url": "http://[::1/v1"}, "cannot be read"),
        ({"url": "http://127.0.0.1:x/v1"}, "cannot be read"),
        ({"url": "http://me:pw@localhost/v1"}, "does not belong into the address"),
        ({"url": "http://10.0.0.2:8000/v1", "key": "k"}, "unencrypted"),
        ({"timeout": 0.0}, "timeout"),
        ({"url": "http://localhost/v1", "key": "s3\ncret"}, "_KEY"),
        ({"url": "http://localhost/v1", "key": "s3crét"}, "_KEY"),
    ],
)
def test_settings_that_cannot_be_are_refused(given, why):
    with pytest.raises(LanguageModelError, match=why) as error:
        Settings(**given)
    assert "s3cr" not in repr(error.value)


def test_a_line_end_is_no_part_of_a_key():
    assert settings_from({"BEHAVIOR_LANGUAGE_MODEL_KEY": "s3cret\r\n"}).key == "s3cret"


def test_keys_go_encrypted_or_stay_on_the_machine():
    assert Settings(url="https://example.org/v1", key="k").configured
    assert Settings(url="http://127.0.0.1:8000/v1", key="k").configured
    assert Settings(url="http://10.0.0.2:8000/v1").configured


def test_a_script_answers_in_turn(tmp_path):
    file = tmp_path / "script.yaml"
    file.write_text(
        "- {when: red, answers: [{blocks: 1}, {blocks: 2}]}\n- {when: '.', answers: [no]}\n"
    )
    script = model_of(Settings(script=str(file)))

    def answer(text):
        return script.complete([Message("user", text)], {}, 1.0)

    assert [json.loads(answer("a RED one"))["blocks"] for _ in range(3)] == [1, 2, 2]
    assert json.loads(answer("blue")) is False  # YAML's no


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: 1",
        "- {when: x}",
        "- {when: '(', answers: [1]}",
        "\x00",
        "[",
        "- {when: x, answers: []}",
    ],
)
def test_a_script_that_is_none_is_refused(tmp_path, text):
    file = tmp_path / "script.yaml"
    file.write_text(text)
    with pytest.raises(LanguageModelError):
        Script.load(file)
    with pytest.raises(LanguageModelError, match="cannot be read"):
        Script.load(Path(tmp_path / "none.yaml"))


def test_a_question_that_the_script_does_not_know_is_an_error():
    with pytest.raises(UnusableAnswerError, match="has no answer to: How many"):
        Script([("x{9}", [1])]).complete(HOW_MANY, {}, 1.0)
