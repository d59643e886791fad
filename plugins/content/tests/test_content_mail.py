"""E-mails and mailboxes through `content_read`: heads, words, attachments; what is made to hurt."""

from __future__ import annotations

import tempfile
from base64 import encodebytes
from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from contentkit import Desk, open_desk
from vr_kernel import Code, VrError

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLAIN = b"Content-Type: text/plain; charset=utf-8\n\n"
PAGE = b"Content-Type: text/html; charset=utf-8\n\n"
HEAD = b"From: a@b.c\nSubject: Words\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """One desk, and with it one parser, for all tests; no temporary file is left behind."""
    folder, left = tmp_path_factory.mktemp("mail"), tmp_path_factory.mktemp("left")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(left))
        patch.setattr(tempfile, "tempdir", None)
        settings = {"plugins.content.max_chars": "20000"}
        async with open_desk(folder, settings=settings) as opened:
            yield opened
        assert _names(left) == []


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def multipart(form: str, *parts: bytes, boundary: bytes = b"edge") -> bytes:
    """Parts together, with the head that says so."""
    begun = b'Content-Type: multipart/%s; boundary="%s"\n\n' % (form.encode(), boundary)
    return (
        begun
        + b"".join(b"--%s\n%s\n" % (boundary, each) for each in parts)
        + (b"--%s--\n" % boundary)
    )


async def read(desk: Desk, content: bytes, name: str = "a.eml", **arguments: Any) -> Any:
    return await desk.read(desk.write(name, content), **arguments)


async def words_of(desk: Desk, content: bytes) -> str:
    """The text of a message without its place and the head of `HEAD`."""
    text: str = (await read(desk, content)).text
    return text.removeprefix("[message 1]\n\nFrom: a@b.c\nSubject: Words\n\n")


async def refused(desk: Desk, content: bytes, name: str = "a.eml") -> VrError:
    with pytest.raises(VrError) as caught:
        await read(desk, content, name)
    assert caught.value.hint
    return caught.value


async def test_a_message_has_its_head_its_plain_words_and_names_of_attachments(
    desk: Desk,
) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"] = "Zoë Ångström <zoe@x.org>", "a@x.org, b@x.org"
    mail["Cc"], mail["Bcc"] = "c@x.org", "hidden@x.org"
    mail["Date"], mail["Subject"] = "Mon, 01 Jan 2024 10:00:00 +0100", "Grüße aus Köln"
    mail.set_content("Plain wörds\n\nand more")
    mail.add_alternative("<p>HTML words</p>", subtype="html")
    mail.add_attachment(b"PK\3\4", maintype="application", subtype="zip", filename="bild Ü.zip")
    mail.add_attachment("words of a file", filename="notes.txt")
    found = await read(desk, mail.as_bytes())
    assert found.text.split("\n") == [
        "[message 1]",
        "",
        "From: Zoë Ångström <zoe@x.org>",
        "To: a@x.org, b@x.org",
        "Cc: c@x.org",
        "Date: Mon, 01 Jan 2024 10:00:00 +0100",
        "Subject: Grüße aus Köln",
        "",
        "Plain wörds",
        "",
        "and more",
        "",
        "Attachments:",
        "- bild Ü.zip",
        "- notes.txt",
    ]
    assert (found.title, found.mime) == ("Grüße aus Köln", "message/rfc822")
    assert [(it.title, it.place) for it in found.outline] == [("Grüße aus Köln", "message 1")]


async def test_a_page_alone_is_read_as_text_without_its_scripts(desk: Desk) -> None:
    page = b"<h1>T=FCr</h1><script>RUN()</script><table><tr><th>A<th>B<tr><td>1<td>2</table>"
    head = b"Content-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: "
    said = await words_of(desk, HEAD + head + b"quoted-printable\n\n" + page)
    assert said == "# Tür\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"


async def test_only_the_alternative_of_a_plain_part_is_left_out(desk: Desk) -> None:
    page = PAGE + b"<p>the page</p>"
    footer = PLAIN + b"footer of the list"
    plain = multipart("alternative", PLAIN + b"plainly", page, boundary=b"inner")
    related = multipart("related", page, b"Content-Type: image/png; name=a.png\n\nx", boundary=b"r")
    nested = multipart("alternative", PLAIN + b"plainly", related, boundary=b"inner")
    empty = multipart("alternative", PLAIN + b"  \n", page, boundary=b"inner")
    calendar = multipart("alternative", PLAIN + b"come", b"Content-Type: text/calendar\n\nBEGIN")
    said = {
        multipart("mixed", page, footer): "the page\n\nfooter of the list",
        multipart("mixed", plain, footer): "plainly\n\nfooter of the list",
        multipart("mixed", empty, footer): "the page\n\nfooter of the list",
        nested: "plainly\n\nAttachments:\n- a.png",
        calendar: "come\n\nAttachments:\n- text/calendar",
    }
    assert [await words_of(desk, HEAD + each) for each in said] == [*said.values()]


async def test_a_forwarded_message_keeps_the_head_that_its_words_have(desk: Desk) -> None:
    inner = b"Content-Type: message/rfc822\n\nFrom: d@e.f\nSubject: Inner\n\ninner words"
    said = await words_of(desk, HEAD + multipart("mixed", PLAIN + b"See below", inner))
    assert said == "See below\n\nFrom: d@e.f\nSubject: Inner\n\ninner words"


@pytest.mark.parametrize(
    ("raw", "subject"),
    [
        ("=?utf-8?q?Gr=C3=BC=C3=9Fe?= =?utf-8?b?5pel5pys?=", "Grüße日本"),
        ("=?utf-8?b?5g==?= =?utf-8?b?l6U=?=", "日"),
        ("Re: =?iso-8859-1?Q?Gr=FC=DFe?= to all", "Re: Grüße to all"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?bogus?Q?words?= and =?utf-8?B?!!!?=", "words and"),
        ("=?punycode?Q?words?=", "words"),
        ("folded\n over\n\tlines", "folded over lines"),
        ("größer", "größer"),
    ],
)
async def test_words_of_a_head_are_decoded_as_they_are_meant(
    desk: Desk, raw: str, subject: str
) -> None:
    found = await read(desk, b"From: a@b.c\nSubject: " + raw.encode() + b"\n\nwords")
    assert found.title == subject


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [
        ("us-ascii", "utf-8"), ("utf-8", "latin-1"), ("", "latin-1"), ("x-unknown", "utf-8"),
        ("utf-16", "utf-8"), ("idna", "utf-8"), ("undefined", "utf-8"), ("punycode", "utf-8"),
        ("zlib", "utf-8"), ("koi8-r\0", "utf-8"), ("x" * 9_999, "utf-8"), ("gb2312", "gb18030"),
    ],
)  # fmt: skip
async def test_a_charset_that_is_missing_broken_or_a_lie_costs_no_word(
    desk: Desk, charset: str, encoding: str
) -> None:
    words = "Grüße für alle, die größere Häuser mögen"
    head = f'Content-Type: text/plain; charset="{charset}"\n' if charset else ""
    body = head.encode() + b"Content-Transfer-Encoding: 8bit\n\n" + words.encode(encoding)
    assert await words_of(desk, HEAD + body) == words


async def test_messages_of_a_mailbox_have_their_numbers_and_a_line_of_words_begins_none(
    desk: Desk,
) -> None:
    box = (
        b"From a@b Mon Jan  1 10:00:00 2024\nSubject: Plans\n\nfirst\n>From here, quoted\n\n"
        b"From x@y Tue Jan  2 10:00:00 2024\nSubject: Re: Plans\n\nsecond\n\nFrom my house\n"
        b"one sees the sea.\n\n"
        b"From x@y Tue Jan  2 11:00:00 2024\nReceived: from nowhere\n\n\n"
        b"From c@d Wed Jan  3 10:00:00 2024\r\nSubject: =?utf-8?q?Pl=C3=A4ne?=\r\n\r\nlast\r\n"
    )
    found = await read(desk, box, "a.mbox")
    assert (found.title, found.mime, found.limits) == ("a.mbox", "application/mbox", [])
    assert [(it.title, it.place) for it in found.outline] == [
        ("Plans", "message 1"), ("Re: Plans", "message 2"), ("Pläne", "message 4"),
    ]  # fmt: skip
    second = await read(desk, box, "a.mbox", locator="message 2")
    assert second.text == (
        "[message 2]\n\nSubject: Re: Plans\n\nsecond\n\nFrom my house\none sees the sea."
    )
    assert "first\nFrom here, quoted" in found.text


async def test_a_damaged_message_costs_itself_alone(desk: Desk) -> None:
    nested = b"".join(
        multipart("mixed", boundary=b"%d" % n)[: -len(b"--%d--\n" % n)] + b"--%d\n" % n
        for n in range(1_200)
    )
    box = b"From a\nSubject: One\n\nfirst\n\nFrom b\nSubject: Two\n" + nested
    found = await read(desk, box + b"\nFrom c\nSubject: Three\n\nthird\n", "b.mbox")
    assert [it.place for it in found.outline] == ["message 1", "message 3"]
    assert found.limits == ["1 of its messages could not be read."]


async def test_a_long_message_is_cut_into_parts_up_to_the_bound(desk: Desk) -> None:
    lines = b"".join(b"line %d of a long message\n" % number for number in range(2_000))
    path = desk.write("long.eml", HEAD + b"\n" + lines)
    found = await desk.read(path)
    assert found.total > 10
    assert found.limits == ["Only its first 20,000 characters were read; see max_chars."]
    text = found.text
    while found.next_cursor:
        found = await desk.read(path, cursor=found.next_cursor)
        text += found.text
    assert text.count("[message 1]\n\n") >= 10
    assert 19_000 < len(text.replace("[message 1]\n\n", "")) < 20_200


def nested(depth: int) -> bytes:
    """A message with parts within parts, and words in the innermost."""
    begun = (
        b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(depth)
    )
    return HEAD + b"".join(begun) + PLAIN + b"innermost"


async def test_parts_are_read_in_parts_up_to_a_depth_that_no_mail_has(desk: Desk) -> None:
    assert await words_of(desk, nested(100)) == "innermost"
    error = await refused(desk, nested(10_000))
    assert (error.code, error.category) == (Code.UNSUPPORTED, "DOCUMENT_DAMAGED")
    error = await refused(desk, HEAD + b"Content-Type: message/rfc822\n\n" * 10_000)
    assert error.category == "DOCUMENT_DAMAGED"


HURTING = {
    "base64 words": (
        HEAD + PLAIN[:-1] + b"Content-Transfer-Encoding: base64\n\n"
        + encodebytes(b"many words " * 400_000),
        "many words many",
    ),
    "base64 file": (
        HEAD + multipart(
            "mixed", PLAIN + b"short", b"Content-Type: application/pdf; name=big.pdf\n"
            b"Content-Transfer-Encoding: base64\n\n" + encodebytes(bytes(4_000_000)),
        ),
        "short\n\nAttachments:\n- big.pdf",
    ),
    "base64 damaged": (
        HEAD + b"Content-Transfer-Encoding: base64\n\n!!!=====" + b"A" * 1_000_001, "Subject: Words"
    ),
    "parts": (
        HEAD + multipart("mixed", *[PLAIN + b"part"] * 5_000),
        "- and others: more parts are not read",
    ),
    "subject": (b"From: a@b\nSubject: " + b"x " * 2_000_000 + b"\n\nwords", "x x x"),
    "addresses": (b"From: a@b\nTo: " + b"a@b, ((" * 100_000 + b"\n\nwords", "a@b, (("),
    "encoded": (b"From: a@b\nSubject: " + b"=?utf-8?q?a?= " * 50_000 + b"\n\nwords", "aaaa"),
    "names": (
        HEAD + b"Content-Type: image/png; " + b"".join(b"name*%d=a; " % n for n in range(20_000)),
        "- aaaa",
    ),
    "heads": (b"From: a@b\n" + b"Subject: s\n" * 50_000 + b"\nwords", "words"),
}  # fmt: skip


@pytest.mark.parametrize("name", HURTING)
async def test_a_mail_that_is_made_to_hurt_is_read_within_bounds(desk: Desk, name: str) -> None:
    content, kept = HURTING[name]
    found = await read(desk, content)
    texts = [found.text]
    while found.next_cursor:
        found = await desk.read(desk.folder / "a.eml", cursor=found.next_cursor)
        texts.append(found.text)
    assert kept in "\n".join(texts)
    assert sum(map(len, texts)) < 22_000


@pytest.mark.parametrize(
    ("name", "content", "category"),
    [
        ("words.eml", b"only words\nand no head\n", "DOCUMENT_DAMAGED"),
        ("binary.eml", b"From: a@b\n\n" + bytes(3_000), "NOT_AS_NAMED"),
        ("document.eml", b"%PDF-1.7\n", "NOT_AS_NAMED"),
        ("riddle.eml", HEAD + b"Content-Type: multipart/mixed\n" + b"\n--" * 150_000,
         "DOCUMENT_DAMAGED"),
        ("none.eml", b"", "DOCUMENT_EMPTY"),
        ("silent.eml", b"Message-Id: <1@b>\n\n \n", "DOCUMENT_EMPTY"),
        ("words.mbox", b"only words\n", "NOT_AS_NAMED"),
        ("silent.mbox", b"From a@b\nReceived: x\n\n", "DOCUMENT_EMPTY"),
        ("headless.mbox", b"From a@b\nonly words\n", "DOCUMENT_DAMAGED"),
    ],
)  # fmt: skip
async def test_what_is_no_mail_is_refused_and_the_next_one_is_read(
    desk: Desk, name: str, content: bytes, category: str
) -> None:
    error = await refused(desk, content, name)
    assert (error.code, error.category) == (Code.UNSUPPORTED, category)
    assert await words_of(desk, HEAD + b"\nafter " + name.encode()) == f"after {name}"
