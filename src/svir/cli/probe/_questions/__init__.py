"""What is asked about a server, a module for each group of questions.

A question is a function from the evidence to a finding. It sends nothing and reads no clock, so it can be
asked of any recorded answer.
"""

from __future__ import annotations

from svir.cli.probe._questions import (
    _errors,
    _fields,
    _finish,
    _format,
    _images,
    _leaving,
    _models,
    _reasoning,
    _roles,
    _speed,
    _stream,
    _tools,
    _usage,
)
from svir.cli.probe._questions._finding import Finding, Question, row

__all__ = ["GROUPS", "QUESTIONS", "Finding", "Question", "row"]

QUESTIONS: tuple[Question, ...] = (
    *_models.QUESTIONS,
    *_stream.QUESTIONS,
    *_usage.QUESTIONS,
    *_finish.QUESTIONS,
    *_tools.QUESTIONS,
    *_reasoning.QUESTIONS,
    *_format.QUESTIONS,
    *_images.QUESTIONS,
    *_roles.QUESTIONS,
    *_fields.QUESTIONS,
    *_errors.QUESTIONS,
    *_leaving.QUESTIONS,
    *_speed.QUESTIONS,
)
"""Every question, in the order of the report."""

GROUPS: tuple[str, ...] = tuple(dict.fromkeys(question.group for question in QUESTIONS))
