"""What comes back from a model: code taken out of any shape of reply, then fitted into the document.

This room believes nothing a reply says about itself: labels, fence tags and line numbers are hints. It never asks a
model, and what it returns was in the reply or in the document.
"""
