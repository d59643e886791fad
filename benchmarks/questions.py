"""Six written questions about the bundled talk, and the slide (from 0) that answers each.

They are other ones than the tests ask. Two are paraphrases, the last two are answered by what
is said and not by what is shown.
"""

QUESTIONS = (
    ("What did each query cost?", 4),
    ("Which index is exact but gets slow on large tables?", 2),
    ("How many numbers does a typical vector have?", 1),
    ("By how much did the response time drop?", 4),
    ("Which three subjects will the speaker look at?", 0),
    ("What should my fellow Americans not ask?", 5),
)
