"""lm15, `OpenAIChatLM.stream`."""

from pathlib import Path

from harness import main
from lm15 import ImagePart, Message, OpenAIChatLM, Request, TextPart


def blocking(url):
    lm = OpenAIChatLM(api_key="k", base_url=url)

    def call():
        request = Request(model="m", messages=(Message.user("Why do rivers meander?"),))
        for event in lm.stream(request):
            delta = getattr(event, "delta", None)
            yield getattr(delta, "text", None)

    return call


def send(url, *parts):
    request = Request(model="m", messages=(Message.user(list(parts)),))
    for _ in OpenAIChatLM(api_key="k", base_url=url).stream(request):
        pass


def send_image(url, path):
    send(url, TextPart("What is this?"), ImagePart(path=Path(path)))


def send_text(url, path):
    send(url, TextPart(Path(path).read_text(encoding="utf-8")))


main(blocking=blocking, send_image=send_image, send_text=send_text)
