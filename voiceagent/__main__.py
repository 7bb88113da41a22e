"""`python -m voiceagent`: the command, where its script is not on the path."""

from voiceagent.cli import app

app()
