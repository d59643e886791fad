"""Fields of study by the numbers that OpenAlex has for its fields, those of Scopus."""

from __future__ import annotations

from collections.abc import Mapping

FIELD_IDS: Mapping[str, tuple[int, ...]] = {
    "Agricultural and Food Sciences": (11,),
    "Art": (12,),
    "Biology": (11, 13, 24),
    "Business": (14, 18),
    "Chemistry": (15, 16),
    "Computer Science": (17,),
    "Economics": (20,),
    "Education": (33,),
    "Engineering": (15, 21, 22),
    "Environmental Science": (23,),
    "Geography": (19, 33),
    "Geology": (19,),
    "History": (12,),
    "Law": (33,),
    "Linguistics": (12, 33),
    "Materials Science": (25,),
    "Mathematics": (26,),
    "Medicine": (24, 27, 29, 30, 34, 35, 36),
    "Philosophy": (12,),
    "Physics": (31,),
    "Political Science": (33,),
    "Psychology": (28, 32),
    "Sociology": (33,),
}
"""Wider than asked where OpenAlex has no field of its own: its Social Sciences hold six of them."""
