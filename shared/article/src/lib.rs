//! HTML to article: title, text, main image, canonical URL, dates, author, language. Pure.
