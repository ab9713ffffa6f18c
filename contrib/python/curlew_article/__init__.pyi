from typing import TypedDict

class Article(TypedDict):
    """An article, with the keys of trafilatura's `bare_extraction`. Values that are not extracted or found are None."""

    title: str | None
    author: str | None
    url: str | None
    hostname: str | None
    description: None
    sitename: str | None
    date: str | None
    categories: None
    tags: None
    fingerprint: None
    id: None
    license: None
    body: None
    comments: None
    commentsbody: None
    raw_text: str
    text: str
    language: str | None
    image: str | None
    pagetype: None
    filedate: None

def extract(html: bytes | str, url: str | None = None) -> Article:
    """Returns the article of a page; `url` is the address that it was fetched from.

    Raises ValueError if the page is not HTML or exceeds the limits, or if `url` is not a URL.
    """
