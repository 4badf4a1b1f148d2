"""openai with options that change where requests go: no retries, no redirects, no environment."""

from harness import Answer, Job, main
from openai import DefaultHttpxClient
from with_openai import ask as ask_openai


def ask(job: Job, image: str | None) -> Answer:
    http = DefaultHttpxClient(follow_redirects=False, trust_env=False)
    return ask_openai(job, image, max_retries=0, http_client=http)


if __name__ == "__main__":
    main(ask)
