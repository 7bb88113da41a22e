"""What is kept of sessions: a database that is written behind the conversation, and read back."""
