"""The wire protocol: the OpenAI Realtime API's events (GA shape) to and from ours. No I/O.

``client_events`` reads what a client sends, ``dispatch`` turns it into calls on a session,
``encoder`` turns the conversation's actions into ``server_events``, and ``session_config`` is the
session object both sides agree on. What the protocol lacks is added as events named
``voiceagent.*``, sent only to clients that ask for them.
"""
