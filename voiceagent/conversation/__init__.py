"""What should happen next in a spoken conversation: events in, actions out.

Pure: no I/O, no clock, no ``await``. Every event carries its time and the number of the utterance
or reply it belongs to; every state that waits has a deadline. ``turn.py`` holds the rules,
``states.py`` the table of states, ``events.py`` and ``actions.py`` the vocabulary.
"""
