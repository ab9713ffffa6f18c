//! The article extractor for Python: `extract(html, url)` returns the keys of trafilatura's `bare_extraction`.

use curlew_article::{Article, Limits, decode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyDict;
use url::Url;

/// Address given to a page whose address is unknown. The result contains no addresses below it.
const NOWHERE: &str = "https://page.invalid/";
/// Keys for which this extractor has no values.
const UNREAD: [&str; 11] = [
    "description",
    "categories",
    "tags",
    "fingerprint",
    "id",
    "license",
    "body",
    "comments",
    "commentsbody",
    "pagetype",
    "filedate",
];

/// A page, as text or as undecoded bytes.
#[derive(FromPyObject)]
enum Html {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

/// Returns the article of a page.
#[pyfunction]
#[pyo3(signature = (html, url = None))]
fn extract<'py>(py: Python<'py>, html: Html, url: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
    let page = Url::parse(url.unwrap_or(NOWHERE)).map_err(|why| PyValueError::new_err(format!("url: {why}")))?;
    let article = py.detach(|| match &html {
        Html::Text(text) => curlew_article::extract(text, &page, &Limits::default()),
        Html::Bytes(bytes) => curlew_article::extract(&decode(bytes, None), &page, &Limits::default()),
    });
    fill(py, article.map_err(|why| PyValueError::new_err(why.to_string()))?, url.map(|_| page))
}

/// Returns an article as a dictionary; `page` is the page's address, if it is known.
fn fill(py: Python<'_>, article: Article, page: Option<Url>) -> PyResult<Bound<'_, PyDict>> {
    let somewhere = |url: &Url| !url.as_str().starts_with(NOWHERE);
    let url = article.canonical.filter(somewhere).or(page);
    let named = PyDict::new(py);
    named.set_item("title", article.title)?;
    named.set_item("author", article.author)?;
    named.set_item("hostname", url.as_ref().and_then(Url::host_str))?;
    named.set_item("url", url.map(String::from))?;
    named.set_item("sitename", article.site_name)?;
    named.set_item("date", article.published.map(|at| at.day()))?;
    named.set_item("raw_text", &article.text)?;
    named.set_item("text", article.text)?;
    named.set_item("language", article.language)?;
    named.set_item("image", article.image.filter(somewhere).map(String::from))?;
    UNREAD.iter().try_for_each(|name| named.set_item(name, py.None()))?;
    Ok(named)
}

/// The native part of the package.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(extract, module)?)
}
