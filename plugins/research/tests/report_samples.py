"""Reports for tests of views and exports: a rich one, an empty one, long and hostile ones."""

from __future__ import annotations

from typing import Any

from vr_kernel import StoredRecord
from vr_plugin_research.results.assessment import EvidenceAssessment
from vr_plugin_research.results.claims import Citation, Claim, Contradiction, score_of
from vr_plugin_research.results.documents import (
    CrossReference,
    DocumentMap,
    DocumentReport,
    DocumentSection,
)
from vr_plugin_research.results.plan import PlanPhase, PlanQuestion, PlanTask, ResearchPlan
from vr_plugin_research.results.report import Coverage, ResearchReport, Round
from vr_plugin_research.results.sources import ReportSource, SourceFailure, SourceQuality
from vr_plugin_research.results.verification import CitationCheck, ClaimCheck, Verification

PDF = "https://labs.example.org/reports/cold-climate.pdf"
FILM = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
TALK = "https://media.example.net/talks/field-trial.mp4"
PAPER = "https://doi.example.org/10.1000/xyz123"
FILE = "/home/me/notes/survey.pdf"
PAGE = "https://www.energy.example.com/guides/heat-pumps?lang=en&tab=2"
TOPIC = "Do air-source heat pumps work below -15 °C?"

SOURCES = [
    ReportSource(
        number=1,
        title="Cold-climate performance of air-source heat pumps: a field study of 550 homes",
        source=PDF,
        kind="document",
        published="2024-02-11",
        origin="labs.example.org",
        quality=SourceQuality(
            score=0.88, relevance=0.97, recency=0.81, authority=0.9, independence=1.0
        ),
        cited=4,
    ),
    ReportSource(
        number=2,
        title="I ran a heat pump at -25 °C for a winter",
        source=FILM,
        kind="video",
        published="2023-04-02",
        origin="YouTube",
        quality=SourceQuality(score=0.54, relevance=0.9, recency=0.7, authority=0.2),
        cited=2,
        limits=["Captions made by a machine."],
    ),
    ReportSource(
        number=3,
        title="Defrost losses in humid winters",
        source=PAPER,
        kind="paper",
        published="2019",
        origin="Journal of Building Physics",
        quality=SourceQuality(
            score=0.31, relevance=0.8, recency=0.3, authority=0.7, retracted=True
        ),
        cited=1,
    ),
    ReportSource(number=4, title="Survey of owners", source=FILE, kind="document", cited=1),
    ReportSource(number=5, title="Field trial, first results", source=TALK, kind="video", cited=1),
    ReportSource(number=6, title="Heat pump guide", source=PAGE, origin="energy.example.com"),
]


def cited(source: int, quote: str, status: Any = "verified", **more: Any) -> Citation:
    """A quote of a source of the sample."""
    return Citation(source=source, quote=quote, status=status, **more)


FINDINGS = [
    Claim(
        id="C1",
        claim="Cold-climate models keep a coefficient of performance near 2 at -15 °C.",
        evidence_tier="CONFIRMED",
        confidence=0.93,
        reasoning="Two sources that do not depend on each other measured it in homes.",
        section="How efficient are they in deep frost?",
        citations=[
            cited(
                1,
                "the seasonal mean at outdoor temperatures between -12 and -18 °C was 2.1 across"
                " all monitored homes",
                place="p. 7",
                page=7,
            ),
            cited(2, "so at minus fifteen it still gives me two for one", start=93.4, place="1:33"),
            cited(6, "below -10 °C the efficiency falls to 1", stance="contradicts", place="Costs"),
        ],
    ),
    Claim(
        id="C2",
        claim="Backup heating was needed on fewer than 3 % of the hours of a winter.",
        evidence_tier="STRONG INDICATOR",
        confidence=0.7,
        section="How much backup heating is needed?",
        citations=[
            cited(
                1,
                "auxiliary heat ran for 2.7 percent of hours",
                "moved",
                place="p. 12",
                page=12,
                original_place="p. 21",
            ),
            cited(5, "the heating rod almost never came on", start=3725.0),
        ],
    ),
    Claim(
        id="C3",
        claim="Defrosting costs a tenth of the heat in humid winters.",
        evidence_tier="SPECULATION",
        confidence=0.25,
        section="How efficient are they in deep frost?",
        citations=[
            cited(3, "defrost cycles consumed 10.4 % of delivered heat", "not_found", page=4)
        ],
        notes=["Its source was retracted.", "The quote was not found in its source."],
    ),
    Claim(
        id="C4",
        claim="Owners are satisfied after the first winter.",
        evidence_tier="INFERENCE",
        confidence=0.5,
        reasoning="One survey, whose sample is small.",
        section="Do owners want them again?",
        citations=[cited(4, "43 of 51 would buy one again", "unchecked", page=2)],
    ),
]
CONTRADICTIONS = [
    Contradiction(
        claim_a="C1",
        claim_b="C3",
        kind="number",
        explanation="The field study includes defrosting in its mean of 2.1.",
    ),
    Contradiction(
        claim_a="C2",
        claim_b="Backup heating ran on a fifth of all hours.",
        kind="scope",
        explanation="The earlier report looked at one building of 1962.",
        report_b="r-2024-03",
    ),
]


def report(**changes: Any) -> ResearchReport:
    """The rich report, with some fields changed."""
    given: dict[str, Any] = {
        "report_id": "r-7f3a",
        "topic": TOPIC,
        "scope": "deep",
        "executive_summary": "Yes. Models for cold climates deliver **twice** the energy that they"
        " take at -15 °C [C1], and need little backup [C2].\n\nWhat defrosting costs is open [C3].",
        "findings": FINDINGS,
        "contradictions": CONTRADICTIONS,
        "coverage": [
            Coverage(
                question="How efficient are they in deep frost?",
                claims=2,
                sources=3,
                best_tier="CONFIRMED",
                established=True,
            ),
            Coverage(question="How much backup heating is needed?", claims=1, sources=2),
            Coverage(question="What do they cost over twenty years?"),
        ],
        "not_established": ["What do they cost over twenty years?"],
        "open_questions": ["How do they age in salty air?"],
        "methodology_critique": "Most sources come from makers of heat pumps.",
        "recommendations": ["Ask for the capacity at the design temperature."],
        "sources": SOURCES,
        "failures": [
            SourceFailure(
                source="https://paywall.example.org/article",
                code="NOT_ALLOWED",
                category="FORBIDDEN",
                message="The page answers with 403.",
                hint="Save it as a file and give that.",
            )
        ],
        "rounds": [
            Round(
                number=1,
                queries=["heat pump -15 C field study", "cold climate COP measured"],
                found=40,
                kept=8,
                read=6,
                findings=9,
            ),
            Round(number=2, queries=["defrost losses"], found=12, kept=2, read=2, findings=4,
                  novelty=0.25),
        ],
        "score": score_of(FINDINGS),
        "limits": ["Stopped after 2 of 3 rounds: the budget was used up."],
        "models": ["gemini-3-pro"],
        "created_at": "2026-02-03T10:15:00Z",
    }  # fmt: skip
    return ResearchReport(**{**given, **changes})


def document_report() -> DocumentReport:
    """A report about documents, with maps and cross-references."""
    return DocumentReport(
        **report().model_dump(),
        documents=[
            DocumentMap(
                source=1,
                title="Cold-climate performance",
                kind="field study",
                summary="What 550 homes used in two winters.",
                sections=[DocumentSection(title="Method", place="p. 3", summary="Meters.")],
                key_claims=["A mean of 2.1 in deep frost."],
            )
        ],
        cross_references=[
            CrossReference(
                topic="Backup heat",
                agreement="Both find little of it.",
                disagreement="They count hours otherwise.",
                sources=[1, 4],
            )
        ],
    )


def empty_report() -> ResearchReport:
    """A report of which nothing came."""
    return ResearchReport(report_id="r-0", topic="", scope="quick", executive_summary="")


def long_report(claims: int) -> ResearchReport:
    """A report of many claims, each with two quotes of its own source."""
    sources = [
        ReportSource(number=at, title=f"Source {at}", source=f"https://s{at}.example.org/a.pdf")
        for at in range(1, 201)
    ]
    findings = [
        Claim(
            id=f"C{at}",
            claim=f"Claim number {at} of many.",
            evidence_tier="INFERENCE",
            confidence=0.5,
            citations=[
                cited(1 + at % 200, f"quote {at} for it", page=1 + at),
                cited(1 + at % 199, f"quote {at} against it", page=3, stance="contradicts"),
            ],
        )
        for at in range(1, claims + 1)
    ]
    return report(findings=findings, sources=sources, score=score_of(findings))


HOSTILE = [
    "<script>alert(1)</script>&amp;<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png)",
    "javascript:alert(1)",
    "bidi \u202egnp.exe\u202c \u2066x\u2069 \u200b\ufeff",
    "\x1b[2J\x1b[31mred\x1b]0;owned\x07 \x9b31m \x00\x01\x0b\x0c\x1f",
    "half \ud83d and \ude00 whole \U0001f600",
    "]]> <!-- --> <?xml version='1.0'?> <!DOCTYPE x [<!ENTITY e 'x'>]> &e;",
    '} \\input{/etc/passwd} {\\bf x} % $x^2$ #1 _a ~ & " @article{x,',
    '#read("/etc/passwd") #let x = 1; *b* _i_ `r` $ x $ @ref <label> \\ // c /* c */',
    "| a | b |\n|---|---|\n# head\n- item\n```\ncode",
    "\u0645\u0631\u062d\u0628\u0627 \u4e16\u754c \u0395\u03bb \u0413\u0440\u0435\u0446\u0438\u044f",
    "a" * 3_000,
    "",
    " \n\t ",
]
"""Texts that try to be more than text."""


def hostile_report(text: str) -> DocumentReport:
    """A report in which every text is one that others chose."""
    citation = Citation(
        source=1, quote=text, status="moved", place=text, page=7, link=text, original_place=text
    )
    against = citation.model_copy(update={"stance": "contradicts", "page": None, "start": 5.0})
    claim = Claim(
        id=text,
        claim=text,
        evidence_tier="CONFIRMED",
        confidence=0.5,
        reasoning=text,
        section=text,
        citations=[citation, against],
        notes=[text],
    )
    source = ReportSource(
        number=1, title=text, source=text, published=text, origin=text, snapshot=text, limits=[text]
    )
    return DocumentReport(
        report_id=text,
        topic=text,
        scope="deep",
        executive_summary=text,
        findings=[claim, claim],
        contradictions=[
            Contradiction(claim_a=text, claim_b=text, kind="date", explanation=text, report_b=text)
        ],
        coverage=[Coverage(question=text)],
        not_established=[text],
        open_questions=[text],
        methodology_critique=text,
        recommendations=[text],
        sources=[source],
        failures=[SourceFailure(source=text, code=text, category=text, message=text, hint=text)],
        rounds=[Round(number=1, queries=[text])],
        score=score_of([claim, claim]),
        limits=[text],
        models=[text],
        created_at=text,
        files={text: text},
        plan_id=text,
        documents=[
            DocumentMap(
                source=1,
                title=text,
                kind=text,
                summary=text,
                sections=[DocumentSection(title=text, place=text, summary=text)],
                key_claims=[text],
            )
        ],
        cross_references=[
            CrossReference(topic=text, agreement=text, disagreement=text, sources=[1])
        ],
    )


def plan(text: str = "") -> ResearchPlan:
    """A plan; with a text, of that alone, as far as a plan takes it."""
    text = text.encode(errors="replace").decode()[:500]
    return ResearchPlan(
        topic=text or TOPIC,
        scope="deep",
        questions=[PlanQuestion(question=text or "How much frost?", queries=[text or "frost COP"])],
        phases=[
            PlanPhase(
                name=text or "Gather",
                description=text or "Search and read.",
                tasks=[PlanTask(task=text or "Search the web", model=text[:200] or "fast")],
                done_when=text or "nothing new is found",
            )
        ],
        task_decomposition=[text or "Search the web"],
        stakeholders=[text or "Owners"],
        constraints=[text or "Open sources only"],
        plan_id="p-1",
        rounds=3,
        most_sources=20,
        cost_low_usd=0.1,
        cost_high_usd=0.45,
        cost_basis=text or "20 pages of 3,000 tokens",
        model="gemini-3-pro",
        limits=[text] if text else [],
    )


def assessment() -> EvidenceAssessment:
    """A claim that was assessed, with quotes for and against it."""
    first = FINDINGS[0]
    return EvidenceAssessment(
        claim=first.claim,
        tier="CONFIRMED",
        confidence=0.9,
        reasoning="Measured twice.",
        supporting=first.supporting,
        contradicting=first.contradicting,
        sources=SOURCES[:2],
        score=score_of(FINDINGS[:1]),
        model="gemini-3-pro",
    )


def verification() -> Verification:
    """A report that was checked again, of which a claim went stale."""
    return Verification(
        report_id="r-7f3a",
        topic=TOPIC,
        claims=4,
        stand=3,
        score=score_of(FINDINGS),
        changed_claims=[
            ClaimCheck(
                claim="C2",
                text=FINDINGS[1].claim,
                change="stale",
                tier_before="STRONG INDICATOR",
                tier_now="INFERENCE",
            )
        ],
        changed_citations=[
            CitationCheck(
                claim="C2",
                source=1,
                quote="auxiliary heat ran for 2.7 percent of hours",
                before="verified",
                now="not_found",
                place="p. 12",
                reason="The page has another text now.",
            )
        ],
    )


def report_record(made: ResearchReport, key: str = "") -> StoredRecord:
    """A report as it is recorded."""
    fields = {
        "topic": made.topic,
        "scope": made.scope,
        "executive_summary": made.executive_summary,
        "claims": [claim.claim for claim in made.findings],
        "sources": [source.source for source in made.sources],
        "score": made.score.share,
        "snapshots": [],
        "report_json": made.model_dump_json(),
    }
    return StoredRecord("ResearchReports", key or made.report_id, fields)
