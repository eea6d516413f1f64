"""Evidence from many sentences: what a corpus is, and numbers about heads that add up over its parts.

``sentences`` is the corpus, ``placing`` finds its words among a model's tokens. Nothing here runs a model: the room
``evidence`` does.
"""
