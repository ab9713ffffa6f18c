//! Runs the bundled web as a separate process, for measurements and for tests that kill processes.

use curlew_fixtureweb::{Catalogue, Farm, Uniform, serve_logged, texts};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

const USAGE: &str = "usage: curlew-fixtureweb [--listen ADDR] [--log FILE] [--sites]
                        [--demo | --hosts N --pages N --bytes N [--no-images] [--prefix NAME]
                         | --catalogue NAME[=PAGES] …]
  --listen ADDR   where to listen, default 127.0.0.1:0
  --log FILE      append each call as a JSON line when it ends
  --sites         print the start URLs first, one a line
  --demo          the bundled sites (the default)
  --hosts N …     sites that are all alike: how many, pages each, bytes a page
  --catalogue …   a site with more articles than its feed lists: wordpress, blogger, archived or sitemap
  --texts N       no sites: so many articles of all subjects in turn, a JSON line each";

struct Options {
    listen: String,
    log: Option<String>,
    sites: bool,
    uniform: Option<Uniform>,
    catalogues: Vec<(Catalogue, usize)>,
    texts: Option<usize>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "curlew-fixtureweb: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let listen = "127.0.0.1:0".to_owned();
    let mut options = Options { listen, log: None, sites: false, uniform: None, catalogues: Vec::new(), texts: None };
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
        let number = |text: String| text.parse::<usize>().map_err(|_| format!("{text} is not a number"));
        match name.as_str() {
            "--listen" => options.listen = value()?,
            "--log" => options.log = Some(value()?),
            "--sites" => options.sites = true,
            "--demo" => options.uniform = None,
            "--hosts" => options.uniform.get_or_insert_default().hosts = number(value()?)?,
            "--pages" => options.uniform.get_or_insert_default().pages = number(value()?)?,
            "--bytes" => options.uniform.get_or_insert_default().bytes = number(value()?)?,
            "--prefix" => options.uniform.get_or_insert_default().prefix = value()?,
            "--catalogue" => options.catalogues.push(catalogue(&value()?)?),
            "--texts" => options.texts = Some(number(value()?)?),
            "--no-images" => options.uniform.get_or_insert_default().images = false,
            other => return Err(format!("unknown argument {other}")),
        }
    }
    Ok(options)
}

fn catalogue(text: &str) -> Result<(Catalogue, usize), String> {
    let (name, pages) = text.split_once('=').map_or((text, None), |(name, pages)| (name, Some(pages)));
    let kind = Catalogue::ALL.into_iter().find(|kind| kind.name() == name);
    let kind = kind.ok_or_else(|| format!("{name} is no catalogue"))?;
    let pages = pages.map(|pages| pages.parse().map_err(|_| format!("{pages} is not a number"))).transpose()?;
    Ok((kind, pages.unwrap_or(kind.pages())))
}

async fn run(options: Options) -> io::Result<()> {
    if let Some(count) = options.texts {
        let mut out = io::BufWriter::new(io::stdout().lock());
        for text in texts(count) {
            serde_json::to_writer(&mut out, &text)?;
            out.write_all(b"\n")?;
        }
        return out.flush();
    }
    let farm = match &options.uniform {
        _ if !options.catalogues.is_empty() => Farm::catalogues(&options.catalogues),
        Some(uniform) => Farm::uniform(uniform),
        None => Farm::demo(),
    };
    let log: Option<File> =
        options.log.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
    let listener = tokio::net::TcpListener::bind(&options.listen).await?;
    let running = serve_logged(Arc::new(farm), listener, log).await;
    let mut out = io::stdout();
    if options.sites {
        for site in running.farm().sites() {
            writeln!(out, "{}", site.start_url)?;
        }
    }
    writeln!(out, "listening on {}", running.addr())?;
    out.flush()?;
    std::future::pending::<()>().await;
    Ok(())
}
