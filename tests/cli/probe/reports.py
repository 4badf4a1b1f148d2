"""Reports as a probe of servers in the field would write them, and one by a server that means ill."""

from __future__ import annotations

from svir.cli.probe._report import Report, Row, Speed, Verdict

STREAM_SENT = (
    'POST /v1/chat/completions {"model":"qwen3-4b-instruct","stream":true,"max_tokens":200,'
    '"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Count from 1 to 20."}]}'
)

LLAMA = Report(
    svir="0.1.0",
    url="http://127.0.0.1:8080",
    model="qwen3-4b-instruct",
    server="llama.cpp",
    started="2026-07-01T12:03:22Z",
    seconds=41.237,
    requests=17,
    call=(
        "svir.Client.openai(\n"
        '    "http://127.0.0.1:8080",\n'
        '    model="qwen3-4b-instruct",\n'
        '    reasoning_tags=("<think>", "</think>"),\n'
        ")"
    ),
    speed=Speed(
        first_token=0.312,
        tokens_per_second=38.46,
        arrivals=tuple(0.312 + 0.026 * n + (0.19 if n > 40 else 0) for n in range(74)),
    ),
    rows=(
        Row(
            id="models.list",
            question="Are the models listed?",
            verdict=Verdict.OK,
            finding="One model, with its context length under meta.n_ctx_train.",
            sent="GET /v1/models",
            shown='{"object": "list", "data": [{"id": "qwen3-4b-instruct", "meta": {"n_ctx_train": 40960}}]}',
            strict="client.models() gives 1 model",
            lenient="the same",
        ),
        Row(
            id="stream.done",
            question="How does an answer end?",
            verdict=Verdict.OK,
            finding="With a finish reason, the usage, and [DONE].",
            sent=STREAM_SENT,
            shown=(
                'data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"created":1782907402,'
                '"id":"chatcmpl-9gQfXhMQbF4bZ1yq","model":"qwen3-4b-instruct"}\\n\\n'
                'data: {"choices":[],"usage":{"completion_tokens":74,"prompt_tokens":19,"total_tokens":93},'
                '"timings":{"prompt_ms":211.4,"predicted_per_second":38.46}}\\n\\n'
                "data: [DONE]\\n\\n"
            ),
            strict="a whole answer, finish stop",
            lenient="the same",
        ),
        Row(
            id="stream.comments",
            question="Are there keep-alive comments?",
            verdict=Verdict.DIFFERENT,
            finding="An empty comment every 30 seconds while the prompt is read.",
            sent=STREAM_SENT,
            shown=":\\n\\n",
            strict="skipped, and no time limit is reset by it",
            lenient="the same",
        ),
        Row(
            id="tools.call",
            question="Does it call a tool?",
            verdict=Verdict.OK,
            finding="One call, id and name in its first piece, arguments in 6.",
            sent='POST /v1/chat/completions {"tools": [{"type": "function", "name": "weather"}]}',
            shown='data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"7Zq","type":"function",'
            '"function":{"name":"weather","arguments":"{"}}]}}]}',
            strict="1 call to answer",
            lenient="the same",
        ),
        Row(
            id="tools.parallel",
            question="Does it call several at once?",
            verdict=Verdict.UNCLEAR,
            finding="The model called one tool where two were asked for.",
            sent="POST /v1/chat/completions",
            strict="1 call to answer",
            lenient="the same",
            advice="Ask a larger model, or ask again.",
        ),
        Row(
            id="tools.cut",
            question="What becomes of a call that the length limit cuts?",
            verdict=Verdict.BROKEN,
            finding="It says tool_calls although max_tokens cut the arguments.",
            sent='POST /v1/chat/completions {"max_tokens": 12, "tools": [{"type": "function"}]}',
            shown='data: {"choices":[{"finish_reason":"tool_calls","delta":{}}]}',
            strict="TruncatedStreamError: the arguments of a call are no JSON",
            lenient="the same",
            options=("mode='lenient'",),
            advice="Give max_tokens room for arguments, and treat an error here as an answer that was cut.",
        ),
        Row(
            id="errors.overflow",
            question="What does it say to a prompt that is too long?",
            verdict=Verdict.DIFFERENT,
            finding="HTTP 400 with exceed_context_size_error and both counts.",
            sent='POST /v1/chat/completions {"messages": [{"role": "user", "content": "(180000 letters)"}]}',
            shown='HTTP/1.1 400 Bad Request\\n\\n{"error":{"code":400,"message":"the request exceeds the '
            'available context size, try increasing it","type":"exceed_context_size_error",'
            '"n_prompt_tokens":45013,'
            '"n_ctx":8192}}',
            strict="ContextOverflowError",
            lenient="the same",
        ),
        Row(
            id="fields.max_completion_tokens",
            question="Which name has the length limit?",
            verdict=Verdict.DIFFERENT,
            finding="max_tokens alone is heeded; max_completion_tokens is ignored without a word.",
            options=("max_tokens_field='max_tokens'",),
        ),
        Row(
            id="reasoning.carrier",
            question="Where does reasoning come?",
            verdict=Verdict.OK,
            finding="In delta.reasoning_content.",
        ),
        Row(
            id="images.data",
            question="Does it take an image?",
            verdict=Verdict.UNSUPPORTED,
            finding="HTTP 500: image input is not supported; the model has no projector.",
            shown='{"error":{"code":500,"message":"image input is not supported","type":"server_error"}}',
            strict="ServerError",
            lenient="the same",
            advice="Start the server with --mmproj.",
        ),
        Row(
            id="headers.request_id",
            question="Does an answer carry a request ID?",
            verdict=Verdict.SKIPPED,
            finding="Not asked: --only left it out.",
        ),
    ),
)

# The same machine after an update, behind a proxy that holds answers back.
PROXIED = Report(
    svir="0.1.0",
    url="https://models.example.org/team",
    model="qwen3-4b-instruct",
    server="nginx/1.27.0",
    started="2026-07-02T09:41:00Z",
    seconds=66.0,
    requests=16,
    call=(
        'svir.Client.openai("https://models.example.org/team", '
        'model="qwen3-4b-instruct", api_key_env="TEAM_KEY")'
    ),
    speed=Speed(first_token=2.9, tokens_per_second=24.9, arrivals=(2.9,) * 40 + (2.902,) * 33 + (2.91,)),
    rows=(
        LLAMA.rows[0],
        Row(
            id="stream.done",
            question="How does an answer end?",
            verdict=Verdict.BROKEN,
            finding="Without [DONE]: the connection is closed after the usage.",
            sent=STREAM_SENT,
            shown='data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}]}\\n\\n',
            strict="TruncatedStreamError: the stream ended without [DONE]",
            lenient="a whole answer, finish stop",
            options=("mode='lenient'", "connect_timeout=20.0"),
            advice="Tell whoever runs the proxy.",
        ),
        LLAMA.rows[3],
        LLAMA.rows[5],
        Row(
            id="errors.overflow",
            question="What does it say to a prompt that is too long?",
            verdict=Verdict.DIFFERENT,
            finding="HTTP 413 and a page of HTML.",
            shown="HTTP/1.1 413 Content Too Large\\n\\n<html>\\r\\n<head><title>413</title></head>\\r\\n",
            strict="UnsupportedError",
            lenient="the same",
        ),
        *LLAMA.rows[7:10],
        Row(
            id="headers.redirect",
            question="Does it redirect?",
            verdict=Verdict.OK,
            finding="No.",
        ),
    ),
)

HOSTILE_WORDS = (
    "<script>alert(1)</script>",
    "</style><script>alert(2)</script>",
    "</pre></details><img src=x onerror=alert(3)>",
    "\"'><svg onload=alert(4)>",
    "<!--",
    "]]>",
    "&lt;b&gt;",
    "javascript:alert(5)",
    "NUL \0, bell \7, escape \x1b]8;;http://evil.example\x1b\\, CSI \x9b31m",
    "\u202eright to left\u202c, isolated \u2067x\u2069, mark \u200f",
    "no width \u200b\u2060\ufeff, soft\u00adhyphen, tag \U000e0041",
    "lone \ud800 surrogate, line\u2028break, next line\x85, CR\r\nLF",
    "x" * 3000,
)
"""What a server may send to whoever looks at its answers."""

WORDS = "\n".join(HOSTILE_WORDS)

HOSTILE = Report(
    svir=WORDS,
    url=WORDS,
    model=WORDS,
    server=WORDS,
    started=WORDS,
    seconds=-1e308,
    requests=-(10**18),
    call=WORDS,
    speed=Speed(
        first_token=float("nan"), tokens_per_second=float("inf"), arrivals=(float("inf"), -1.0, 1e308)
    ),
    rows=tuple(
        Row(
            id=f"{WORDS}.{verdict}",
            question=WORDS,
            verdict=verdict,
            finding=WORDS,
            sent=WORDS,
            shown=WORDS,
            strict=WORDS,
            lenient=WORDS,
            options=(WORDS, WORDS),
            advice=WORDS,
        )
        for verdict in Verdict
    ),
)
