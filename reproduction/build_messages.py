"""Make a folder of parallel texts from the message catalogues of the programs on this machine.

    python -m reproduction.build_messages OUTPUT --domain gtk30 --language fr --language it

Reads ``LOCALES/<language>/LC_MESSAGES/<domain>.mo`` (gettext) and writes ``OUTPUT/<language>.txt``,
one message per line: those that are translated into every language and have five or more words in
English. English itself, the language of the keys, is always written. The folder is what
``python -m reproduction languages --data OUTPUT`` takes.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from babel.messages.mofile import read_mo

FEWEST_WORDS = 5


def main() -> None:
    """Read the command line, match the messages and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="folder to write")
    parser.add_argument("--domain", action="append", required=True, help="catalogue, repeatable")
    parser.add_argument("--language", action="append", required=True, help="code, repeatable")
    parser.add_argument("--locales", type=Path, default=Path("/usr/share/locale"))
    arguments = parser.parse_args()
    languages = [code for code in arguments.language if code != "en"]
    texts: dict[str, dict[str, str]] = {code: {} for code in languages}
    for code in languages:
        for domain in arguments.domain:
            texts[code] |= messages(arguments.locales / code / "LC_MESSAGES" / f"{domain}.mo")
    common = set.intersection(*(set(those) for those in texts.values()))
    keys = sorted(key for key in common if len(key.split()) >= FEWEST_WORDS)
    arguments.output.mkdir(parents=True, exist_ok=True)
    for code, those in {**texts, "en": {key: key for key in keys}}.items():
        lines = [" ".join(those[key].split()) for key in keys]
        (arguments.output / f"{code}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(keys)} messages in {len(texts) + 1} languages")


def messages(path: Path) -> dict[str, str]:
    """Read the translations of a catalogue by their English key, those with a plural left out."""
    with path.open("rb") as file:
        catalogue = read_mo(file)
    return {
        plain(message.id): plain(message.string)
        for message in catalogue
        if isinstance(message.id, str) and isinstance(message.string, str) and message.string
    }


def plain(text: str) -> str:
    """Take out the mark of a keyboard shortcut, tags and placeholders."""
    return re.sub(r"<[^>]*>|%[-\d.]*[a-z]+|%[A-Z]", " ", text.replace("_", "")).strip()


if __name__ == "__main__":
    main()
