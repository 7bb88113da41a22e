# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""Addresses on the web, e-mail addresses and file names, as they are said on the telephone."""

from __future__ import annotations

import re

from audio.speakable.context import words
from audio.speakable.number_words import digits
from audio.speakable.token import Reading

_TLDS = (
    "com|org|net|edu|gov|mil|info|biz|io|co|ai|app|dev|us|uk|"
    r"ca|au|de|fr|eu|me|tv|ly|example|test|local"
)
_DOMAIN = rf"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{{0,62}})\.){{1,8}}(?:{_TLDS})\b(?!\.\w)(?![-@])"
_EMAIL = re.compile(
    rf"(?:mailto:)?(?P<user>[A-Za-z0-9._%+-]{{1,64}})@(?P<host>{_DOMAIN})", re.IGNORECASE
)
_URL = re.compile(
    rf"(?P<scheme>(?:https?|ftp|wss?)://)?(?P<host>{_DOMAIN}|(?(scheme)[\w.-]{{1,253}}|(?!)))"
    r"(?::\d{1,5})?(?P<path>/[^\s?#<>\"'”’)\]]*)?(?P<query>[?#][^\s<>\"'”’)\]]*)?",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[\w-]{0,60}))\.(?P<kind>pdf|txt|csv|json|toml|yaml|yml|xml|html|py|js|"
    r"jpg|png|"
    r"docx?|xlsx?|zip|mp3|wav|exe)(?!\w)",
    re.IGNORECASE,
)
_SAID_AS_WORD = words("com org net gov info biz app dev mil example test local")
_SIGNS = {".": "dot", "-": "dash", "_": "underscore", "+": "plus", "%": "percent"}
_PIECE = re.compile(r"[A-Za-z]+|\d+|[^A-Za-z\d]")
MAX_PATH = 24
"""Characters: a longer path is left out, nobody can note it down."""


def read_web(text: str, at: int) -> Reading | None:
    """A URL without its scheme, an e-mail address, or a file name."""
    if found := _EMAIL.match(text, at):
        return Reading(found.end(), f"{_spell(found['user'])} at {_host(found['host'])}")
    if found := _URL.match(text, at):
        end = found.end()
        path = found["path"] or ""
        while end > at and text[end - 1] in ".,;:!?*_~`":
            end -= 1
        path = path[: max(0, len(path) - (found.end() - end))] if not found["query"] else path
        return Reading(end, (_host(found["host"]) + _path(path)))
    if found := _FILE.match(text, at):
        kind = found["kind"]
        said = kind if kind.lower() in ("zip", "wav") else " ".join(kind.upper())
        return Reading(found.end(), f"{_spell(found['name'])} dot {said}")
    return None


def _host(host: str) -> str:
    labels = [label for label in host.split(".") if label]
    if len(labels) > 2 and labels[0].lower() == "www":
        labels = labels[1:]
    said = [_spell(label) for label in labels[:-1]]
    last = labels[-1] if labels else ""
    said.append(last if last.lower() in _SAID_AS_WORD or len(last) > 3 else _letters(last))
    return " dot ".join(said)


def _path(path: str) -> str:
    parts = [p for p in path.split("/") if p]
    if len(path) > MAX_PATH or any(not re.fullmatch(r"[\w.-]+", p) for p in parts):
        return ""
    return "".join(f" slash {_spell(p).replace(' dash ', ' ')}" for p in parts)


def _letters(text: str) -> str:
    return " ".join(digits(c) if c.isdigit() else c.upper() for c in text if c.isalnum())


def _spell(text: str) -> str:
    said = []
    for piece in _PIECE.findall(text):
        if piece.isdigit():
            said.append(digits(piece))
        elif piece.isalpha():
            unsayable = len(piece) < 4 and not re.search("[aeiouy]", piece, re.IGNORECASE)
            said.append(_letters(piece) if unsayable else piece)
        else:
            said.append(_SIGNS.get(piece, ""))
    return " ".join(s for s in said if s)
