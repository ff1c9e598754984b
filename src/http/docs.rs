//! `GET /docs`: the public routes for a person to read and try, written from the same tables as `/openapi.json`. No scripts.

use super::{
    Call, caching,
    openapi::{self, Answer, Group, OPERATIONS, Operation, Shape},
};
use crate::error::ApiError;
use actix_web::{
    HttpResponse,
    http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS},
};
use std::{fmt::Write, sync::OnceLock};

const STYLE: &str = include_str!("../assets/docs.css");
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Answers with the page.
pub(super) fn page(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    static PAGE: OnceLock<[String; 2]> = OnceLock::new();
    call.no_query()?;
    let [real, simulated] = PAGE.get_or_init(|| [false, true].map(written));
    let page = if call.state.simulated { simulated } else { real };
    let mut response = text(page, "text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}

/// Answers with its style.
pub(super) fn style(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    Ok(text(STYLE, "text/css; charset=utf-8"))
}

fn text(body: &'static str, media: &'static str) -> HttpResponse {
    let mut response = caching::json(body.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Writes the page.
fn written(simulated: bool) -> String {
    let mut out = String::with_capacity(64 * 1024);
    // Writing to a text does not fail.
    write(&mut out, simulated).ok();
    out
}

fn write(out: &mut String, simulated: bool) -> std::fmt::Result {
    out.push_str(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <title>Quorate: the API</title><link rel=stylesheet href=\"docs/style.css\"><body>",
    );
    if simulated {
        out.push_str("<p class=simulated role=status>SIMULATED: the prices are made up.</p>");
    }
    out.push_str(
        "<header><h1>Quorate <span>the API</span></h1><p>Prices are decimal texts, times are RFC 3339 in UTC, durations end in <code>_ms</code>, a field is \
         never absent: <code>null</code> means that the venue does not say. Refusals are <code>application/problem+json</code> with a <code>code</code>. For \
         programs: <a href=\"openapi.json\">openapi.json</a>.</p><nav aria-label=Routes>",
    );
    for (group, name, _) in Group::ALL {
        write!(out, "<h2>{name}</h2><ul>")?;
        for operation in OPERATIONS.iter().filter(|operation| operation.group == group) {
            write!(out, "<li><a href=\"#{}\"><b>{}</b> {}</a>", operation.id, operation.method.to_uppercase(), operation.path)?;
        }
        out.push_str("</ul>");
    }
    out.push_str("</nav></header><main>");
    for (group, name, about) in Group::ALL {
        write!(out, "<section><h2>{name}</h2><p>{about}</p>")?;
        for operation in OPERATIONS.iter().filter(|operation| operation.group == group) {
            article(out, operation)?;
        }
        out.push_str("</section>");
    }
    objects(out)?;
    out.push_str("</main></body></html>");
    Ok(())
}

fn article(out: &mut String, operation: &Operation) -> std::fmt::Result {
    let Operation { path, method, id, about, .. } = operation;
    write!(out, "<article id={id}><h3><b>{}</b> <code>{path}</code></h3><p>{about}</p>", method.to_uppercase())?;
    let tried = tried(operation);
    match operation.body {
        false => write!(out, "<p><a href=\"{}\">try it: <code>{}</code></a></p>", escaped(&tried), escaped(&tried))?,
        true => out.push_str("<p>The body is a JSON object of the parameters below; lists may be lists.</p>"),
    }
    if let Some((about, example)) = operation.captured {
        write!(out, "<p class=captured><code>{{{}}}</code> is {about}, such as <code>{example}</code>.</p>", openapi::captured_name(path))?;
    }
    if openapi::own_of(operation).count() > 0 || operation.takes.is_some() {
        out.push_str("<div class=wide><table><caption>Parameters</caption><tr><th>name<th>what it may be<th>what it does");
        let needed = |needed: bool| if needed { " <em>needed</em>" } else { "" };
        for own in openapi::own_of(operation) {
            write!(out, "<tr><td><code>{}</code>{}<td>{}<td>{}", own.name, needed(own.needed), own.shape.words(), own.about)?;
        }
        for term in openapi::terms_of(operation) {
            let shape = openapi::shape_of(term).words();
            write!(out, "<tr><td><code>{}</code>{}<td>{shape}<td>{}", term.name, needed(openapi::is_needed(term)), term.about)?;
        }
        out.push_str("</table></div>");
    }
    if let Answer::Json(shape) = &operation.answer {
        write!(out, "<p>Answers with {}.</p>", linked(shape))?;
    }
    out.push_str("<details><summary>Refusals</summary><div class=wide><table><tr><th>status<th>code<th>what it means");
    for (status, codes) in openapi::problems(operation) {
        for code in codes {
            write!(out, "<tr><td>{status}<td><code>{}</code><td>{}", code.slug(), code.title())?;
        }
    }
    out.push_str("</table></div></details></article>");
    Ok(())
}

/// Gives the address at which a person may try an operation, relative to this page.
fn tried(operation: &Operation) -> String {
    let (before, after) = operation.path.split_once('{').unwrap_or((operation.path, ""));
    let example = operation.captured.map_or("", |(_, example)| example);
    let after = after.split_once('}').map_or("", |(_, after)| after);
    let query = if operation.example.is_empty() { String::new() } else { format!("?{}", operation.example) };
    format!("{}{example}{after}{query}", before.trim_start_matches('/'))
}

fn objects(out: &mut String) -> std::fmt::Result {
    out.push_str("<section><h2>Objects</h2><p>What answers are made of. There may come to be more fields.</p>");
    for object in openapi::objects() {
        write!(
            out,
            "<article id={0}><h3>{0}</h3><p>{1}</p><div class=wide><table><tr><th>field<th>what it is<th>what it says",
            object.name, object.about
        )?;
        for member in object.all() {
            let absent = if member.optional { " <em>may be absent</em>" } else { "" };
            write!(out, "<tr><td><code>{}</code>{absent}<td>{}<td>{}", member.name, linked(&member.shape), member.about)?;
        }
        out.push_str("</table></div></article>");
    }
    out.push_str("</section>");
    Ok(())
}

/// Says what a value may be, with links to the objects.
fn linked(shape: &Shape) -> String {
    match shape {
        Shape::Object(object) => format!("<a href=\"#{0}\">{0}</a>", object.name),
        Shape::List(of) => format!("list of {}", linked(of)),
        Shape::Map(of) => format!("object of {}", linked(of)),
        Shape::OrNull(of) => format!("{} or null", linked(of)),
        Shape::Either(shapes) => shapes.iter().map(linked).collect::<Vec<_>>().join(" or "),
        plain => format!("<span>{}</span>", plain.words()),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_within_the_page_leads_somewhere() {
        let page = written(false);
        let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(links.len() > OPERATIONS.len());
        assert!(links.iter().all(|id| page.contains(&format!("<article id={id}>"))), "{links:?}");
        assert!(!page.contains("SIMULATED") && written(true).contains("SIMULATED"));
    }

    #[test]
    fn what_may_be_tried_is_relative_so_that_a_scope_may_hold_it() {
        let of = |id: &str| tried(OPERATIONS.iter().find(|operation| operation.id == id).unwrap());
        assert_eq!(of("quotes"), "v1/quotes/BTC-USDT");
        assert_eq!(of("convert"), "v1/convert?from=BTC&to=EUR&amount=0.5");
    }
}
