"""The commands: ask a question, list the models, keep a local server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import svir
from svir.cli._connect import KEY, choose_model, connect, listed, start_local
from svir.cli._exits import INTERRUPTED
from svir.cli._local import LocalServerError
from svir.cli._output import Output, say
from svir.cli._question import build_request

if TYPE_CHECKING:
    from pathlib import Path

    from svir.cli._connect import Server
    from svir.cli._output import Shows
    from svir.cli._question import Question

__all__ = ["ask", "list_models", "run_local"]

ENDS: dict[svir.FinishReason, str] = {
    svir.FinishReason.LENGTH: "The length limit cut the answer: it is not whole.",
    svir.FinishReason.CONTENT_FILTER: "The server's filter withdrew the answer: do not use what was printed.",
    svir.FinishReason.REFUSAL: "The model refused: what was printed is its refusal.",
    svir.FinishReason.TOOL_CALLS: "The model asked for a tool, and there is none here.",
}


def ask(question: Question, server: Server) -> int:
    """Prints the answer, and returns the exit code."""
    output = Output()
    # Everything that can be wrong here is found before a server is started or asked.
    request = build_request(question)
    with connect(server, output) as client:
        try:
            if not (server.model or server.local):
                request = request.replace(model=choose_model(client))
            if question.raw:
                relay(client, request, output)
                return 0
            completion = show(client, request, output)
        except KeyboardInterrupt:  # leaving the stream's block has closed the connection
            output.end_text()
            say("svir: interrupted: the connection is closed, the answer is not whole")
            return INTERRUPTED
        except svir.Error:
            output.end_text()
            raise
    say(*summary(completion))
    if question.json_schema is not None:
        completion.parse(Any)
    return 0


def show(client: svir.Client, request: svir.Request, output: Shows) -> svir.Completion:
    """Prints the events of an answer as they come."""
    with client.stream(request) as stream:
        for event in stream:
            match event:
                case svir.TextDelta(text):
                    output.text(text)
                case svir.ReasoningDelta(_, text):
                    output.thought(text)
                case svir.Completed(completion):
                    output.end_text()
                    return completion
                case _:  # pieces of a call: the summary tells of it
                    pass
        return stream.complete()


def relay(client: svir.Client, request: svir.Request, output: Output) -> None:
    """Prints the bytes of the answer unchanged (D20)."""
    with client.send(request) as raw:
        for chunk in raw:
            output.raw(chunk)
    output.end_text()


def summary(completion: svir.Completion) -> list[str]:
    """What is to be said about an answer: how it ended, its tokens and its speed."""
    said = [f"finish {completion.finish}"]
    if (usage := completion.usage) is not None:
        said.append(f"{usage.input} tokens in" + (f" ({usage.cached} cached)" if usage.cached else ""))
        said.append(f"{usage.output} out" + (f" ({usage.reasoning} reasoning)" if usage.reasoning else ""))
    else:
        said.append("no token counts sent")
    if (speed := completion.tokens_per_second) is not None:
        said.append(f"{speed:.1f} tokens/s")
    if completion.dropped:
        said.append(f"this server does not take {', '.join(completion.dropped)}")
    return [f"[{'; '.join(said)}]", ENDS.get(completion.finish, "")]


def list_models(server: Server) -> int:
    """Prints the IDs of the server's models, one a line."""
    output = Output()
    with connect(server, output) as client:
        for model in listed(client):
            output.text(f"{model}\n")
    return 0


def run_local(gguf: Path | None, port: int) -> int:
    """Keeps a local server running until it is interrupted."""
    output = Output()
    with start_local(gguf, port, output) as server:
        try:  # its lines are read by programs too, which may end it at once
            output.text(f"export SVIR_URL={server.url}\nexport {KEY}={server.api_key}\n")
            say(
                f"Serving {server.model} until Ctrl-C. With these two lines in another shell:",
                'svir ask "Why do rivers meander?"',
            )
            server.ended()
        except KeyboardInterrupt:
            say("svir: stopped")
            return 0
        raise LocalServerError("the local model server ended by itself")
